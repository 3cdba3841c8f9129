# SPDX-License-Identifier: BSD-3-Clause
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from studies_data import KERNEL, NONE, OVERSUBSCRIBE, planted, record

from iocomp_studies.report.page import make_page
from iocomp_studies.results.archer2 import read_archer2

CELLS = {NONE: 1.0, KERNEL: 1.03, OVERSUBSCRIBE: 1.3}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    marked = record(KERNEL, 3, 99.0, marks=["not verified: file <b>"], failed="")
    published = [one for one in read_archer2() if one["cell"]["client"] == "hpcg"]
    records = [*planted(CELLS), marked, *published]
    path.write_text(make_page(records, ["x.jsonl:7: torn: …"], ["stream: no SMT here"]))
    return path


def test_the_page_needs_nothing_else(page: Path) -> None:
    text = page.read_text()
    links = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert [link for link in links if not link.startswith("#")] == []
    assert "@import" not in text
    ids = re.findall(r' id="?([^" >]+)', text)
    assert len(ids) == len(set(ids))


def test_the_page_says_what_happened(page: Path) -> None:
    text = page.read_text()
    assert "x.jsonl:7: torn" in text
    assert "stream: no SMT here" in text
    assert "not verified: file &lt;b&gt;" in text
    assert re.search(r"stream, kernel, 1 rank, 1 MiB: wall time .* % longer", text)


def test_the_page_tells_cells_of_one_name_apart_and_the_load_around_them() -> None:
    load = {"before": 0.51, "after": 1.26}
    records = []
    for words in (("--loops", "20"), ("--loops", "40")):
        cell = replace(KERNEL, arguments=words)
        records.append(record(cell, 0, 1.0, load=load, mapping={"seats": [], "found": "3 servers"}))
    text = make_page(records, [], [])
    for words in ("--loops 20", "--loops 40"):
        (row,) = re.findall(rf"<tr><td>[^<]*1 MiB {words}</td>.*?</tr>", text)
        assert "0.5, 1.3" in row
        assert "3 servers" in row


def test_every_point_of_a_figure_is_in_it(page: Path) -> None:
    text = page.read_text()
    (block,) = re.findall(r"<script type=\"application/json\" id=drawings>(.*?)</script>", text)
    drawings = json.loads(block)
    assert len(drawings) > 6
    for drawing in drawings:
        for number in range(len(drawing["points"])):
            assert f'id="{drawing["name"]}-{number}"' in text


def test_figures_can_be_pointed_at_and_switched_in_a_browser(page: Path) -> None:
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By

    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(word)
    if not Path("/usr/bin/chromedriver").exists():
        pytest.skip("there is no Chromium here (tools/install-dependencies browser)")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    try:
        browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    except WebDriverException as error:
        pytest.skip(f"Chromium does not start here: {error}")
    try:
        browser.get(page.as_uri())

        def shown() -> list[str]:
            figures = browser.find_elements(By.CSS_SELECTOR, ".figures figure")
            return [one.get_attribute("id") for one in figures if one.is_displayed()]

        (first,) = shown()
        # Another figure.
        buttons = browser.find_elements(By.CSS_SELECTOR, ".figures nav button")
        assert len(buttons) >= 6
        (sets,) = [one for one in buttons if one.text == "HPCG: one set of CG"]
        sets.click()
        (second,) = shown()
        assert second != first
        assert sets.get_attribute("aria-pressed") == "true"
        # Another variant of it.
        from selenium.webdriver.support.select import Select

        choice = Select(browser.find_element(By.ID, "variant"))
        choice.select_by_index(len(choice.options) - 1)
        (third,) = shown()
        assert third not in (first, second)
        choice.select_by_index(0)
        # A point says what it is.
        (wall,) = [one for one in buttons if one.text == "STREAM: wall time, by mapping"]
        wall.click()
        (second,) = shown()
        figure = browser.find_element(By.ID, second)
        points = figure.find_elements(By.CSS_SELECTOR, "[id].point")
        told = browser.find_element(By.ID, "told")
        assert not told.is_displayed()
        webdriver.ActionChains(browser).move_to_element(points[0]).perform()
        assert told.is_displayed()
        assert re.search(
            r"here, .*: [\d.]+ \([\d.]+ to [\d.]+\); wall time, s; 9 results", told.text
        )
        # A series can be taken out.
        series = browser.find_elements(By.CSS_SELECTOR, ".series button")
        name = series[0].text
        mine = [one for one in points if one.get_attribute("data-series") == name]
        assert mine
        assert all(one.is_displayed() for one in mine)
        series[0].click()
        assert not any(one.is_displayed() for one in mine)
        series[0].click()
        assert all(one.is_displayed() for one in mine)
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    finally:
        browser.quit()


def test_a_section_without_anything_in_it_is_left_out() -> None:
    published = [one for one in read_archer2() if one["cell"]["ranks"] == 256]
    names = re.findall(r"<h2>(.*?)</h2>", make_page(published))
    assert names == ["Conclusions", "Figures", "Where it ran"]
    bare = make_page([record(replace(KERNEL, client="command"), 0, 1.0, marks=["failed"])])
    assert re.findall(r"<h2>(.*?)</h2>", bare) == [
        "Conclusions", "Where it ran", "Failed or marked: kept, never averaged",
    ]  # fmt: skip
    assert "None." not in bare
    assert "drawings" not in bare
