#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report in headless Chromium: nothing leaves the page, tables sort and filter, both colour schemes and narrow
screens read well, nothing is lost without scripts or on paper. Speaks TAP: tests/browser/report.py PROGRAM FOLDER"""
import base64
import os
import re
import subprocess
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import DARK_BELOW, LIGHT_ABOVE, mean_colour, requests, run_tests, set_scheme, set_width

CONFIG = """
question: "Does <script>document.title = 'hacked'</script> stay text?"
problems: ["clusters(n=64, d=8, count=4)", "gaussian(n=48, d=8)"]
strategies: [uniform, segment_means, kmeans]
landmarks: [4, 8]
cores: [iterative(steps=6)]
trials: 8
metrics: error
plots: [error]
claims:
  - {id: better, says: "<img src=x onerror=\\"document.title = 'hacked'\\"> less error", source: "<b>here</b>",
     compare: {strategy: [kmeans, uniform], metric: error}, expect: {ratio: [0, 1]}}
"""
NARROW = 400  # pixels


def make_report(program, folder):
    os.makedirs(folder, exist_ok=True)
    config, run = os.path.join(folder, "page.yaml"), os.path.join(folder, "run")
    with open(config, "w", encoding="utf-8") as out:
        out.write(CONFIG)
    subprocess.run([program, "run", config, "-q", "-o", run], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "report", run], check=True, stdout=subprocess.DEVNULL)
    return os.path.realpath(os.path.join(run, "report.html"))


def column(browser, box, index):
    script = "return [...arguments[0].querySelectorAll('tbody tr')].map(r => r.cells[arguments[1]].textContent)"
    return browser.execute_script(script, box, index)


def tables(browser):
    """Each table's box with the texts of its head."""
    for box in browser.find_elements(By.CSS_SELECTOR, ".table"):
        yield box, [head.text.strip(" \u2191\u2193") for head in box.find_elements(By.TAG_NAME, "th")]


def button_of(head):
    return head.find_element(By.CSS_SELECTOR, "[role=button]")


def table_with(browser, name):
    return next((box, heads.index(name)) for box, heads in tables(browser) if name in heads)


def test_quiet(browser, page):
    """the page loads itself alone, without an error, and its names stay text"""
    browser.get("file://" + page)
    assert [url for url in requests(browser) if not url.startswith("data:")] == ["file://" + page]
    assert browser.get_log("browser") == []
    assert browser.title == "page"
    body = browser.find_element(By.TAG_NAME, "body").text
    # NOLINT(wording): the experiment's own
    assert "Does <script>document.title = 'hacked'</script> stay text?" in body
    # NOLINT(wording): likewise
    assert "<img src=x onerror=\"document.title = 'hacked'\"> less error" in body and "<b>here</b>" in body
    assert len(browser.find_elements(By.CSS_SELECTOR, "main script, b")) == 0
    drawn = browser.execute_script(
        "return [...document.images].map(i => [i.src.slice(0, 19), i.complete && i.naturalWidth])")
    assert drawn and all(kind == "data:image/svg+xml;" and width > 100 for kind, width in drawn), drawn


def test_policy(browser, page):
    """what another script adds to the page may neither run nor be fetched"""
    browser.execute_script("const s = document.createElement('script'); s.textContent = 'document.title = 1';"
                           "document.body.append(s);"
                           "document.body.insertAdjacentHTML('beforeend', '<img src=\"file:///etc/hostname\">')")
    assert browser.title == "page"
    # NOLINT(wording): Chromium's
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))
    browser.get("file://" + page)
    browser.get_log("browser")


def test_sort(browser, _):
    """a click on a head sorts numbers by value, a second one turns them over; the order of equals stays; keys do too"""
    box, index = table_with(browser, "ratio")
    head = box.find_elements(By.TAG_NAME, "th")[index]
    before = column(browser, box, index)
    assert len(before) >= 6
    button_of(head).click()
    values = [float(text) for text in column(browser, box, index)]
    assert values == sorted(values) and head.get_attribute("aria-sort") == "ascending"
    button_of(head).send_keys(Keys.ENTER)
    values = [float(text) for text in column(browser, box, index)]
    assert values == sorted(values, reverse=True) and head.get_attribute("aria-sort") == "descending"
    names = box.find_elements(By.TAG_NAME, "th")[0]
    by_value = {}
    for name, value in zip(column(browser, box, 0), column(browser, box, index)):
        by_value.setdefault(name, []).append(value)
    button_of(names).click()
    assert column(browser, box, 0) == sorted(column(browser, box, 0), key=str.lower)
    assert column(browser, box, index) == [v for name in sorted(by_value) for v in by_value[name]]
    assert head.get_attribute("aria-sort") is None


def test_small_numbers(browser, _):
    """numbers with exponents, marks and brackets sort by value, and what is no number stands last"""
    script = """const table = document.createElement('table');
        table.innerHTML = '<thead><tr><th class="number">x</th></tr></thead><tbody>' +
            ['(8.2)', '7e-13~', '-', '0.79 [0.7, 0.8]', '-3', 'infinite', '12*']
                .map(t => `<tr><td>${t}</td></tr>`).join('') + '</tbody>';
        document.body.append(table);
        sortRows(table, 0, 1);
        const order = [...table.tBodies[0].rows].map(row => row.textContent);
        table.remove();
        return order"""
    assert browser.execute_script(script) == ["-3", "7e-13~", "0.79 [0.7, 0.8]", "(8.2)", "12*", "infinite", "-"]


def test_filter(browser, page):
    """the box above a long table leaves the rows that have all words"""
    script = """const box = document.querySelector('.table:has(tbody tr:nth-child(13))');
        return box && box.previousElementSibling.querySelector('input')"""
    field = browser.execute_script(script)
    assert field, "no table is long enough for a filter"
    box = browser.execute_script("return arguments[0].closest('.filter').nextElementSibling", field)
    rows = box.find_elements(By.CSS_SELECTOR, "tbody tr")
    browser.execute_script("arguments[0].closest('details')?.setAttribute('open', '')", field)
    word = rows[0].find_elements(By.TAG_NAME, "td")[0].text
    field.send_keys(word)
    shown = [row for row in rows if row.is_displayed()]
    assert 0 < len(shown) < len(rows), (word, len(shown), len(rows))
    assert all(word.lower() in row.text.lower() for row in shown)
    field.send_keys(" nowhere")
    assert not any(row.is_displayed() for row in rows)
    field.clear()
    field.send_keys("x", Keys.BACKSPACE)
    assert all(row.is_displayed() for row in rows)


def test_schemes(browser, _):
    """light on dark, or dark on light, as the reader has it; figures too"""
    for scheme in "light", "dark":
        set_scheme(browser, scheme)
        style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
        paper, ink = (mean_colour(browser.execute_script(style, "body", name)) for name in ("backgroundColor", "color"))
        turned = browser.execute_script(style, "img", "filter")
        light = scheme == "light"
        assert (paper > LIGHT_ABOVE and ink < DARK_BELOW) if light else (paper < DARK_BELOW and ink > LIGHT_ABOVE), \
            (paper, ink)
        assert (turned == "none") == light, turned


def test_narrow(browser, _):
    """on a narrow screen the page itself does not scroll sideways; wide tables do, within"""
    set_width(browser, NARROW)
    assert browser.execute_script("return document.documentElement.scrollWidth") == NARROW
    assert browser.execute_script(
        "return [...document.querySelectorAll('.table')].some(t => t.scrollWidth > t.clientWidth)")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def print_pages(browser, pdf):
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    with open(pdf, "wb") as out:
        out.write(base64.b64decode(printed["data"]))
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout
    return text.split("\f")[:-1]


def test_paper(browser, page):
    """on paper nothing is folded or lost, no heading stands alone at the end of a page, and wide tables lie across"""
    pdf = os.path.join(os.path.dirname(page), "report.pdf")
    pages = print_pages(browser, pdf)
    sizes = subprocess.run(["pdfinfo", "-l", "99", pdf], check=True, capture_output=True, text=True).stdout
    assert 2 <= len(pages) <= 20 and all(text.strip() for text in pages), len(pages)
    widths = [float(width) for width in re.findall(r"Page +\d+ size: +([\d.]+)", sizes)]
    assert len(widths) == len(pages) and max(widths) > 800 > 600 > min(widths), widths
    text = "\n".join(pages)
    for wanted in ("text?", "reproduced", "Caveats", "seed: 20", "bootstrap"):
        assert wanted in text, wanted
    headings = [h.text for h in browser.find_elements(By.CSS_SELECTOR, "h2, h3, h4, h5")]
    for shift in range(0, 100, 12):  # mm: the ends of pages fall elsewhere
        browser.execute_script(f"document.querySelector('h2').style.paddingTop = '{shift}mm'")
        for number, last in enumerate((p.strip().splitlines()[-1].strip() for p in print_pages(browser, pdf)[:-1]), 1):
            assert last not in headings, f"{shift} mm further down, page {number} ends with the heading '{last}'"
    browser.get("file://" + page)


def test_long_table(browser, page):
    """a table that goes on on the next page has its head there too"""
    browser.execute_script("const body = document.querySelector('.table tbody');"
                           "document.querySelector('.table th').lastChild.textContent = 'HEAD';"
                           "for (let i = 0; i < 200; i++) body.append(body.rows[0].cloneNode(true))")
    pages = print_pages(browser, os.path.join(os.path.dirname(page), "long.pdf"))
    assert sum("HEAD" in text for text in pages) >= 3, len(pages)
    browser.get("file://" + page)


def test_plain(browser, page):
    """without scripts all is there to read"""
    cells = "return [...document.querySelectorAll('td')].map(c => c.textContent).sort().join('|')"
    with_scripts = browser.execute_script(cells)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get("file://" + page)
    found = browser.execute_cdp_cmd("Runtime.evaluate",
                                    {"expression": cells.removeprefix("return "), "returnByValue": True})
    assert found["result"]["value"] == with_scripts
    assert not browser.find_elements(By.CSS_SELECTOR, "input, [role=button]")


if __name__ == "__main__":
    sys.exit(run_tests(make_report(os.path.abspath(sys.argv[1]), sys.argv[2]),
                       [test_quiet, test_policy, test_sort, test_small_numbers, test_filter, test_schemes, test_narrow,
                        test_paper, test_long_table, test_plain]))
