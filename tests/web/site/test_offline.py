"""The built site without a network: what was loaded works, and no cache mixes two builds."""

import pytest
from support.static_server import serve
from support.waiting import wait_until

from autograder.courses.transformer import TRANSFORMER
from autograder.web.site import build

pytest.importorskip("selenium")

pytestmark = pytest.mark.browser


KEPT = """
    const done = arguments[0], paths = (requests) => requests.map(({ url }) => new URL(url).pathname.slice(1));
    caches.keys().then(async (names) => done(Object.fromEntries(await Promise.all(names.map(
        async (name) => [name.split(" ")[2], paths(await (await caches.open(name)).keys())])))));"""


def kept(browser, version):
    """Return the paths that the cache of a version has."""
    return {*browser.execute_async_script(KEPT).get(version, ())}


def test_what_was_loaded_works_offline_and_an_update_replaces_it(browser):
    files = build.pages(TRANSFORMER, "none") | {"favicon.ico": b""}
    worker = files["service_worker.js"].decode()
    first = worker.split('VERSION = "')[1][:64]
    files["glossary.html"] += b"<p>of another build</p>"
    needed = {"softmax.html", "assets/site.js", "assets/text.css", "assets/vendor/source-serif-4.woff2"}
    with serve(files, policy="") as address:
        browser.get(address + "softmax.html")
        wait_until(lambda: needed <= kept(browser, first), what=lambda: browser.execute_async_script(KEPT))
        browser.get(address + "glossary.html")
        assert "of another build" in browser.page_source and "glossary.html" not in kept(browser, first)
        files["service_worker.js"] = worker.replace(first, "next").encode()
        browser.execute_script("navigator.serviceWorker.getRegistration().then((found) => found.update())")
        wait_until(lambda: not kept(browser, first), what=lambda: browser.execute_async_script(KEPT))
        browser.get(address + "softmax.html")
        wait_until(lambda: needed <= kept(browser, "next"), what=lambda: browser.execute_async_script(KEPT))
    browser.get(address + "softmax.html#softmax.softmax")
    browser.refresh()
    assert browser.execute_script("return getComputedStyle(document.querySelector('h1')).fontWeight") == "700"
    assert browser.execute_script("return document.querySelector('button.theme').hidden") is False
    browser.get(address + "glossary.html")
    assert "You are offline" in browser.page_source
