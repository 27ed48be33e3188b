"""Only pages of the local server get answers: tokens, Host, Origin, content types, headers, embedding."""

import pytest
from support.editing import unchanged

from autograder.web.serve.access import HEADERS, Access

OPEN = {"module": "softmax"}


def test_address_leads_to_the_pages_with_a_cookie(server):
    browser = server.browser()
    entered = browser.get(f"/?token={server.access.url_token}", follow_redirects=False)
    assert entered.status_code == 303 and entered.headers["location"] == server.url("")
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and f"path={server.url('')}".lower() in cookie
    page = browser.get(server.url(""))
    assert page.status_code == 200
    assert f'<meta name="headway-token" content="{server.access.api_token}">' in page.text
    for path, media_type in (("assets/lesson.js", "text/javascript"), ("assets/icon.svg", "image/svg+xml")):
        response = browser.get(server.url(path))
        assert response.headers["content-type"].startswith(media_type)
        assert server.access.api_token not in response.text
    assert browser.get(server.url("nothing.html")).status_code == 404


def test_address_for_a_browser_works_once(server):
    address = server.access.single_use_address()
    assert server.browser().get(address, follow_redirects=False).status_code == 303
    assert server.browser().get(address, follow_redirects=False).status_code == 403


def test_secrets_differ_and_change_with_each_start():
    secrets = [getattr(Access(1), name) for name in ("url_token", "path", "cookie", "api_token") for _ in range(3)]
    assert len(set(secrets)) == 12 and min(map(len, secrets)) >= 32


WRONG_QUERIES = ["", "?token=", "?token=wrong", "?token=\u00e9", "?nothing", "?token=%00" + "&a=1" * 50]


@pytest.mark.parametrize("query", WRONG_QUERIES)
def test_wrong_url_token_is_refused(server, query):
    assert server.browser().get(f"/{query}", follow_redirects=False).status_code in (400, 403)


def test_pages_need_the_cookie_and_the_path(server):
    other_browser = server.browser()
    for path in ("", "index.html", "assets/lesson.js"):
        assert other_browser.get(server.url(path)).status_code == 403
    assert other_browser.get(server.url(""), headers={"Cookie": "headway=wrong"}).status_code == 403
    for path in ("/index.html", "/assets/lesson.js", f"/{server.access.path[:-1]}/", "/api/open"):
        response = server.client.get(path)
        assert response.status_code == 404 and server.access.api_token not in response.text


@pytest.mark.parametrize("host", ["evil.org", "evil.org:8791", "127.0.0.1", "127.0.0.1:80", "localhost:8792", ""])
def test_foreign_host_is_refused(server, host):
    for path in (f"/?token={server.access.url_token}", server.url(""), server.url("assets/lesson.js")):
        response = server.client.get(path, headers={"Host": host}, follow_redirects=False)
        assert response.status_code == 403 and "set-cookie" not in response.headers
    assert server.post("open", OPEN, Host=host).status_code == 403


def test_localhost_is_this_machine_too(server):
    assert Access(80).hosts == {"localhost", "127.0.0.1", "localhost:80", "127.0.0.1:80"}
    browser = server.browser("localhost")
    browser.get(f"/?token={server.access.url_token}")
    assert server.post("open", OPEN, client=browser, Origin="http://localhost:8791").status_code == 200
    assert server.post("open", OPEN, client=browser).status_code == 403, "the origin is another one"


WRONG_HEADERS = {
    "X_Headway_Token": [None, "", "wrong"],
    "Origin": ["http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8791", "null"],
    "Sec_Fetch_Site": ["cross-site", "same-site", "none"],
    "Cookie": ["headway=wrong"],
}


@pytest.mark.parametrize(("name", "value"), [(name, v) for name, values in WRONG_HEADERS.items() for v in values])
def test_request_of_another_page_is_refused(server, name, value):
    assert server.post("open", OPEN, **{name: value}).status_code == 403
    headers = {**server.page_headers, name.replace("_", "-"): value}
    sent = {name: value for name, value in headers.items() if value is not None}
    assert server.client.get(server.url("api/events"), headers=sent).status_code == 403


def test_request_needs_the_cookie_and_no_origin(server):
    assert server.post("open", OPEN, client=server.browser()).status_code == 403
    assert server.post("open", OPEN, Origin=None, Sec_Fetch_Site=None).status_code == 200


@pytest.mark.parametrize(
    "media_type", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_other_content_types_are_refused(server, media_type):
    for sent, status in ((media_type, 415), ("Application/JSON; charset=utf-8", 200)):
        assert server.post("open", content=b'{"module": "softmax"}', Content_Type=sent).status_code == status


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"])
def test_other_methods_change_nothing(server, method):
    sent = {**server.page_headers, "Content-Type": "application/json"}
    reset = {"headers": sent, "content": b'{"function": "softmax.softmax"}'}
    if method != "GET":
        entered = server.browser().request(method, server.access.single_use_address(), follow_redirects=False)
        assert entered.status_code == 403 and "set-cookie" not in entered.headers
    with unchanged(server.folder):
        response = server.client.request(method, server.url("api/reset"), **reset)
        assert response.status_code in (404, 405)
        assert not any(name.startswith("access-control") for name in response.headers)
        assert server.client.request(method, server.url(""), headers=server.page_headers).status_code in (200, 405)


def test_other_pages_cannot_embed_a_page(server):
    embedding = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    assert server.client.get(server.url(""), headers=embedding).status_code == 403
    script = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert server.client.get(server.url("assets/lesson.js"), headers=script).status_code == 403
    followed = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert server.client.get(server.url(""), headers=followed).status_code == 200, "a link that is followed"


@pytest.mark.slow
def test_every_response_has_the_headers(server):
    responses = [
        server.browser().get("/"), server.browser().get(f"/?token={server.access.url_token}", follow_redirects=False),
        server.browser().get("/", headers={"Host": "evil.example"}), server.client.get(server.url("")),
        server.client.get(server.url("nothing")), server.client.get(server.url("assets/lesson.js")),
        server.client.get(server.url("api/reset")), server.post("open", OPEN),
        server.post("open", OPEN, X_Headway_Token="wrong"), server.post("nothing"), server.post("open", content=b"{"),
        server.post("open", content=b" " * (2 << 20)),
    ]  # fmt: skip
    assert {response.status_code for response in responses} >= {200, 303, 400, 403, 404, 413}
    for response in responses:
        for name, value in HEADERS.items():
            assert response.headers[name] == value, (response.status_code, name)
        assert response.headers.get_list("content-security-policy") == [HEADERS["Content-Security-Policy"]]
        assert "server" not in response.headers
        assert not any(name.startswith("access-control") for name in response.headers)
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy


@pytest.mark.parametrize("header", [
    "Host=evil.example", "Origin=http://evil.example", "Sec-Fetch-Site=cross-site", "X-Headway-Token=x",
    "Content-Type=text/plain",
])  # fmt: skip
def test_header_given_twice_is_refused(server, header):
    name, _, other = header.partition("=")
    own = [("Host", "127.0.0.1:8791"), ("Content-Type", "application/json"), *server.page_headers.items()]
    for headers in ([*own, (name.lower(), other)], [(name.lower(), other), *own], [*own, *own]):
        response = server.client.post(server.url("api/open"), headers=headers, content=b'{"module": "softmax"}')
        assert response.status_code == 400 and "given twice" in response.text


def test_websockets_are_closed(server):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), server.client.websocket_connect(server.url("api/events")):
        pass
