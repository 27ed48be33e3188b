"""The attention viewer in a real browser: what it shows, mouse and keyboard, and that hostile text stays text."""

import json

import numpy as np
import pytest

from autograder.course.stubs import bundled
from autograder.courses.transformer.training.settings import TrainingSettings
from autograder.models.plot_data import PLOTS, functions_in_folder
from autograder.models.plots import draw
from autograder.models.plots.inputs import PlotInputs
from autograder.models.plots.viewer import embed
from autograder.models.training import checkpoint

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=document.title='taken'><!--"


@pytest.fixture(scope="module")
def page(official, tmp_path_factory):
    """The page of an untrained model whose vocabulary is hostile; its text and its weights."""
    gpt = official("gpt")
    chars = sorted(set(HOSTILE + "&\n\u2028"))
    model = {"n_layers": 2, "n_heads": 3, "d_model": 12, "block_size": 200, "init_std": 0.5}
    config = gpt.GPTConfig(vocab_size=len(chars), **model)
    params = gpt.init_gpt(config, np.random.default_rng(0))
    settings = TrainingSettings(
        preset="names", data="<b>names", model=model, batch_size=4, lr=0.01, schedule="constant",
        steps=1, seed=0, prompt="\n", data_sha256="",
    )  # fmt: skip
    run = checkpoint.Checkpoint(settings, chars, 1, params, {})
    text = "\n&\u2028" + HOSTILE
    with functions_in_folder(bundled("solutions")) as functions:
        html = draw(PLOTS["attention-viewer"], PlotInputs(functions, text, lambda: run))
    path = tmp_path_factory.mktemp("viewer") / "viewer.html"
    path.write_text(html, "utf-8")
    cache = gpt.gpt(np.array([chars.index(char) for char in text])[None], params, config)[1]
    return path, text, np.stack([cache[f"blocks.{i}.weights"][0] for i in range(2)])


CHROMIUM_FLAGS = ("window-size=1200,900",)


@pytest.fixture(scope="module")
def browser(page, browser):
    browser.get(page[0].as_uri())
    return browser


def opacities(browser):
    """How strongly each character is colored: one row for each head."""
    return np.array(
        browser.execute_script(
            """return [...document.querySelectorAll("#heads figure")].map((figure) =>
                 [...figure.querySelectorAll("span")].map((span) => {
                   const color = getComputedStyle(span).backgroundColor.match(/[\\d.]+/g).map(Number);
                   return color.length === 4 ? color[3] : 1; }))"""
        )
    )


def test_page_is_self_contained(page):
    html = page[0].read_text("utf-8")
    assert "http://" not in html and "https://" not in html and "default-src 'none'" in html
    assert html.count("</script>") == 2, "text must not end a script element"
    assert len(html) < 3_000_000


def test_embed_escapes_markup():
    hostile = {"text": HOSTILE + "\u2028]]>&amp;"}
    assert not set("<>&") & set(embed(hostile))
    assert json.loads(embed(hostile)) == hostile


@pytest.mark.browser
def test_page_shows_weights_of_every_head(page, browser):
    _, text, weights = page
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    assert browser.title == PLOTS["attention-viewer"].title
    buttons = browser.find_elements(By.CSS_SELECTOR, "#text button")
    assert len(buttons) == len(text) and HOSTILE.replace(" ", "␣") in "".join(button.text for button in buttons)
    assert "<b>names" in browser.find_element(By.ID, "about").text
    assert not browser.find_elements(By.CSS_SELECTOR, "img, b")
    flat = weights.reshape(6, len(text), len(text))
    assert np.allclose(opacities(browser), flat[:, -1], atol=0.005), "the last character is selected first"
    for query in (7, 40):
        ActionChains(browser).move_to_element(buttons[query]).perform()
        assert np.allclose(opacities(browser), flat[:, query], atol=0.005)
        assert f"position {query}" in browser.find_element(By.ID, "status").text
    assert not [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]]


@pytest.mark.browser
def test_page_works_with_keyboard(page, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    weights = page[2].reshape(6, len(page[1]), -1)

    def focused():
        return browser.switch_to.active_element

    browser.execute_script("document.activeElement.blur()")
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    for key, query in ((Keys.HOME, 0), (Keys.ARROW_RIGHT, 1), (Keys.ARROW_RIGHT, 2), (Keys.ARROW_LEFT, 1)):
        focused().send_keys(key)
        assert focused().get_attribute("aria-pressed") == "true"
        assert np.allclose(opacities(browser), weights[:, query], atol=0.005), key
    focused().send_keys(Keys.END)
    assert np.allclose(opacities(browser), weights[:, -1], atol=0.005)


@pytest.mark.browser
def test_page_follows_color_scheme(browser):
    color_pairs = set()
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        script = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color].join()"
        color_pairs.add(browser.execute_script(script))
    assert len(color_pairs) == 2
