# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of pages in headless Chromium share."""
import json
import re

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

LIGHT_ABOVE, DARK_BELOW = 200, 60  # the mean of red, green and blue of a background


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1200,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def requests(browser):
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def set_scheme(browser, scheme):
    """The colours that the reader prefers, "light" or "dark"."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def set_width(browser, pixels):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": True})


def mean_colour(text):
    return sum(float(x) for x in re.findall(r"[\d.]+", text)[:3]) / 3


def run_tests(page, tests):
    """Prints TAP of functions of a browser and the page's path. Returns the exit status."""
    browser = start_browser()
    bad = 0
    print(f"1..{len(tests)}")
    try:
        for number, test in enumerate(tests, 1):
            try:
                test(browser, page)
                print(f"ok {number} - {test.__doc__}")
            except Exception as error:  # whatever it is, the test has failed
                print(f"not ok {number} - {test.__doc__}\n# {type(error).__name__}: {error}".replace("\n", "\n# "))
                bad += 1
    finally:
        browser.quit()
    return 1 if bad else 0
