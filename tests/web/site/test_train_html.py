"""The page about training: with `headway serve` it trains, and without a server it says how to get one."""

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("markdown_it")

from autograder.courses.transformer import TRANSFORMER
from autograder.web.site import build


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["server", "browser", "none"])
def test_page_trains_only_with_a_server(backend):
    files = build.pages(TRANSFORMER, backend)
    page = files["train.html"].decode()
    assert ("assets/training.js" in page) == (backend == "server")
    assert ("headway serve my-transformer" in page) == (backend != "server")
    assert 'aria-current="page">Train' in page
    for name in ("training.js", "training_plot.js", "training.css"):
        assert f"assets/{name}" in files or backend != "server"
        assert f"assets/{name}" not in files or backend != "browser"
