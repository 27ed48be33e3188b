"""Chromium without a window, as the tests of pages use it."""

import contextlib
import shutil

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
    "disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1440,1000",
)  # fmt: skip


@contextlib.contextmanager
def chromium(profile, *more_flags):
    """Start Chromium with an empty profile in the folder `profile`; skip the test where there is none."""
    if not (BROWSER and DRIVER):
        pytest.skip("no Chromium with chromedriver: apt-get install chromium chromium-driver")
    pytest.importorskip("selenium")
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = BROWSER
    for flag in (*FLAGS, *more_flags, f"user-data-dir={profile}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    except WebDriverException:  # another process may have taken the port that Selenium had found free
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()
