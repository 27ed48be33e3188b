"""The whole site: valid, accessible pages without inline scripts, whose links lead somewhere."""

import json
import re
import sys

import pytest
from support import commands, toy_course
from support.html_rules import read_page

from autograder.cli import SECTIONS
from autograder.cli.web import command_help
from autograder.course import Assignment, Curriculum, registry
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import HeadwayError
from autograder.web.site import build
from autograder.web.site.guides import GUIDES


def built_site(backend):
    return build.pages(TRANSFORMER, backend, commands=command_help(), repository="https://example.org/headway")


def read_pages(site):
    return {name: read_page(data.decode()) for name, data in site.items() if name.endswith(".html")}


@pytest.fixture(scope="module")
def site():
    return built_site("none")


@pytest.fixture(scope="module")
def html_pages(site):
    return read_pages(site)


def test_pages_obey_the_rules_and_their_links_resolve(site, html_pages):
    assert len(html_pages) > len(TRANSFORMER.modules) + len(GUIDES)
    assert {name: page.problems for name, page in html_pages.items() if page.problems} == {}
    assert list(broken_links(site, html_pages)) == []


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["server", "browser", "none"])
def test_pages_obey_the_rules_and_have_what_their_back_end_can_do(site, backend):
    files = built_site(backend)
    assert backend != "none" or files == site, "it is the same each time"
    pages = {name: data.decode() for name, data in files.items() if name.endswith(".html")}
    assert {name: problems for name, page in pages.items() if (problems := read_page(page).problems)} == {}
    start, train = pages["index.html"], pages["train.html"]
    assert 'aria-current="page">Train' in train
    assert ("headway serve my-transformer" in train) == (backend != "server")
    assert ("assets/map.svg" in files) == (backend != "none")
    for name, page in (("training", train), ("home", start)):
        assert (f'<script type="module" src="assets/{name}.js">' in page) == (backend != "none")
        assert (f"assets/{name}.js" in files) == (backend != "none")
    assert ("service_worker.js" in files) == (backend != "server"), "which has an API and a token"
    imported = re.findall(r'<link rel="modulepreload" href="assets/(.+)">', pages["softmax.html"])
    assert "search.js" in imported and len(imported) == len({*imported}) and "site.js" not in imported
    assert {f"backend_{backend}.js", "vendor/codemirror.js"}.isdisjoint(imported) == (backend == "none")
    assert all(f"assets/{name}" in files for name in imported)


def broken_links(site, html_pages):
    for name, page in html_pages.items():
        for link in (link for link in page.links if not link.startswith(("https://", "mailto:"))):
            file, _, anchor = link.partition("#")
            target = file or name
            if target not in site or (anchor and anchor not in html_pages[target].ids):
                yield f"{name}: {link}"


def test_exercises_besides_the_course_have_a_page_and_links_to_it(site):
    text = site["numpy_warmup.html"].decode()
    assert "NumPy in half an hour</h1>" in text and "shape_of_one_text" in text
    assert '<a class="code" href="numpy_warmup.html">' in site["tokenizer.html"].decode()


@pytest.mark.slow
def test_links_to_the_repository_are_optional(site):
    assert b'href="https://example.org/headway/tests/fuzz/' in site["security.html"]
    plain = build.pages(TRANSFORMER, "none")
    assert b"example.org/headway" not in b"".join(plain.values())
    assert "commands.html" not in plain


def test_search_index_has_an_entry_for_each_heading(site, html_pages):
    entries = json.loads(site["assets/search.json"])
    for name, page in html_pages.items():
        listed = [entry for entry in entries if entry[0] == name]
        assert len(listed) >= len(page.headings) - 1, name  # without "Terms on this page"
        assert all(anchor in page.ids for _, anchor, *_ in listed if anchor)
    assert any("temperature" in text for *_, text in entries)


def test_search_index_holds_the_text_of_main_only():
    page = "<h1>Menu</h1><main><h1>One</h1><p>Text<nav>x</nav><pre>x</pre><math>x</math></p></main><p>x</p>"
    assert json.loads(build.search_index({"a.html": page.encode()})) == [["a.html", "", "One", "One", "Text"]]


def test_commands_page_has_every_command(site):
    page = site["commands.html"].decode()
    assert all(f'<section id="headway-{name}"' in page for names in SECTIONS.values() for name in names)
    assert "<code>--no-checks</code>" in page


@pytest.mark.parametrize("backend", ["none", "browser", "server"])
def test_policy_allows_no_inline_code(backend):
    policy = build.content_security_policy(backend)
    assert "unsafe-inline" not in policy
    assert (policy == "") == (backend == "server"), "a server sends its policy as a header"
    assert ("cdn.jsdelivr.net" in policy) == (backend == "browser")
    assert "https:" not in build.content_security_policy(backend, local_pyodide=True)


def test_pages_to_read_load_no_editor(site):
    page = site["softmax.html"]
    assert b'<html lang="en" data-backend="none">' in page
    assert b'"Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;self&#39;;' in page
    assert not [name for name in site if "codemirror" in name or "backend" in name]


@pytest.mark.slow
def test_scripts_are_served_without_their_types():
    files = build.static_files("server") | build.static_files("browser")
    scripts = [data for name, data in files.items() if name.endswith(".js") and "/" not in name]
    assert not any(b"/**" in data for data in scripts) and sum(map(len, scripts)) < 161_000


@pytest.mark.slow
def test_command_writes_the_site(tmp_path):
    commands.succeed("site", "--out", "book", "--no-checks", cwd=tmp_path, run=commands.headway)
    assert (tmp_path / "book" / "softmax.html").is_file()
    assert (tmp_path / "book" / "assets" / "site.css").is_file()
    commands.refusal("site", "--out", "book", "--no-checks", "--pyodide", ".", cwd=tmp_path, run=commands.headway)


def test_course_of_another_package(tmp_path, monkeypatch):
    toy_course.install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    registry.load.cache_clear()
    site = build.pages(registry.load("toy"), "none")
    registry.load.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "toycourse"]:
        del sys.modules[name]
    pages = read_pages(site)
    assert {name: page.problems for name, page in pages.items() if page.problems} == {}
    assert list(broken_links(site, pages)) == []
    assert "glossary.html" not in site and "train.html" not in site
    page = site["averages.html"].decode()
    points = re.findall(r'data-function="(\S+)" data-points="(\S+)"', page)
    assert points == [("averages.mean_of", "2"), ("averages.variance", "3")]
    assert page.count('<div class="cell"') == 2
    start = site["index.html"].decode()
    assert "transformer" not in start.lower()
    menu = re.search(r'<nav class="pages".*?</nav>', start, re.DOTALL)[0]
    assert re.findall(r">(\w[\w ]*)</a>", menu) == ["Lessons", "Instructors"]


def test_assignment_with_the_name_of_a_page_is_refused():
    assignment = Assignment(1, "glossary", "Words", TRANSFORMER.assignments[0].functions)
    course = Curriculum((assignment,), "words", TRANSFORMER.package, "Words")
    with pytest.raises(HeadwayError, match="glossary"):
        build.pages(course, "none")
