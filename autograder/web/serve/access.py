"""Decide which requests the local server answers: only those of its own pages, opened by the user who started it.

Another page in the same browser must not reach the server, whatever address or name it uses, and neither may a request
of another local program that has seen a cookie: cookies do not belong to a port. Therefore the pages live below a
random path, to which the cookie is limited, and requests for data need a further token that only the pages contain.
"""

import hmac
import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "headway"
TOKEN_HEADER = "x-headway-token"
PAGE_HEADER = "x-headway-page"
MAX_BODY, MAX_IMPORT = 1 << 20, 20 << 20  # bytes of a request, and of one that brings an archive
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# The headers that decide about access.
_DECISIVE = ("host", "origin", "sec-fetch-site", TOKEN_HEADER, "content-type")
OPEN_THE_ADDRESS = "Open the address that headway serve has printed in your terminal.\n"


def _new_secret() -> str:
    return secrets.token_urlsafe(24)


@dataclass
class Access:
    """The secrets of one run of the server, and the addresses that lead to it."""

    port: int
    url_token: str = field(default_factory=_new_secret)  # in the address that the terminal shows
    path: str = field(default_factory=_new_secret)  # the first part of the path of every page
    cookie: str = field(default_factory=_new_secret)
    api_token: str = field(default_factory=_new_secret)  # in the pages, for their requests
    _single_use: set[str] = field(default_factory=set)

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the header Host that are answered: a name that points here by DNS rebinding is not one."""
        names = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        return frozenset(names | {"127.0.0.1", "localhost"} if self.port == 80 else names)

    def address(self) -> str:
        """Return the address for the user, which works until the server ends."""
        return f"http://127.0.0.1:{self.port}/?token={self.url_token}"

    def single_use_address(self) -> str:
        """Return an address that works once: other users can see the command line of a browser that is started."""
        token = _new_secret()
        self._single_use.add(token)
        return f"http://127.0.0.1:{self.port}/?token={token}"

    def accepts_url_token(self, token: str) -> bool:
        """Return whether a token in an address is valid; a token for a single use is not valid again."""
        if _equal(token, self.url_token):
            return True
        used = {valid for valid in self._single_use if _equal(token, valid)}
        self._single_use -= used
        return bool(used)


def _equal(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


class Guard:
    """The outermost part of the server: answers nothing but requests of its own pages, and adds headers to responses.

    What it lets through has the path below the random one, in `scope["path"]`.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            response = self._answer_here(scope)
        except HTTPException as refusal:
            response = PlainTextResponse(refusal.detail, refusal.status_code)
        await (response or self._app)(scope, receive, send_with_headers)

    def _answer_here(self, scope: Scope) -> Response | None:
        """Return the response to a request that the application must not see; None for all others."""
        request = HTTPConnection(scope)
        headers = request.headers
        for name in _DECISIVE:
            if len(headers.getlist(name)) > 1:
                raise HTTPException(400, f"The header {name} is given twice.\n")
        if headers.get("host", "") not in self._access.hosts:
            raise HTTPException(403, "Wrong Host header: this server is for this machine only.\n")
        if scope["path"] == "/":
            return self._enter(scope["method"], request.query_params.get("token", ""))
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if not _equal(first, self._access.path):
            raise HTTPException(404, f"There is no such page. {OPEN_THE_ADDRESS}")
        if not _equal(request.cookies.get(COOKIE, ""), self._access.cookie):
            raise HTTPException(403, OPEN_THE_ADDRESS)
        if rest.startswith("api/"):
            self._require_own_page(scope["method"], headers)
        else:
            _require_navigation_or_own_page(scope["method"], headers)
        scope["path"] = f"/{rest}"
        scope["raw_path"] = scope["path"].encode()
        return None

    def _enter(self, method: str, token: str) -> Response:
        if method != "GET" or not self._access.accepts_url_token(token):
            raise HTTPException(403, OPEN_THE_ADDRESS)
        path = f"/{self._access.path}/"
        response = RedirectResponse(path, 303)
        response.set_cookie(COOKIE, self._access.cookie, path=path, httponly=True, samesite="strict")
        return response

    def _require_own_page(self, method: str, headers: Headers) -> None:
        """Raise HTTPException unless a request for data comes from a page of this server."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin != f"http://{headers['host']}":
            raise HTTPException(403, "Wrong Origin header.\n")
        if site is not None and site != "same-origin":
            raise HTTPException(403, "Wrong Sec-Fetch-Site header.\n")
        if not _equal(headers.get(TOKEN_HEADER, ""), self._access.api_token):
            raise HTTPException(403, "Wrong or missing token.\n")
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and media_type != "application/json":
            raise HTTPException(415, "The body must be JSON.\n")


def _require_navigation_or_own_page(method: str, headers: Headers) -> None:
    """Raise HTTPException for a page's file that another page embeds."""
    if method not in ("GET", "HEAD"):
        raise HTTPException(405, "Pages can only be read.\n")
    is_navigation = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_navigation:
        raise HTTPException(403, "Another page must not embed this one.\n")
