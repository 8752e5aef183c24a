"""The page in a real browser: it draws what the files say, asks nobody, and takes names for names."""

import json
import shutil
import time
from itertools import pairwise
from urllib.parse import urlsplit

import pytest

from shiftstate.machine.page.build import PAGE, gather, write_page
from shiftstate.machine.page.lens_form import check_lens
from shiftstate.machine.page.render import chart_library, render
from tests.machine.page.filled import HOSTILE, NAME, add_authors, add_lenses, add_words, fill
from tests.machine.page.mutants import mutants, small_lens
from tests.machine.page.rivers import rivers

pytest.importorskip("plotly", reason="the page's charts need the extra `report`")
webdriver = pytest.importorskip("selenium.webdriver", reason="these tests need selenium, of the extra `dev`")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="no Chromium with its driver: install chromium and chromium-driver to see the page tested",
)
PATIENCE = 60
"""Seconds for the page to be drawn on a busy machine."""


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,900",
        "--disable-dev-shm-usage",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def directory(tmp_path_factory, trial, outcome):
    place = tmp_path_factory.mktemp("report") / NAME
    fill(place, trial, outcome)
    add_lenses(place)
    add_words(place)
    write_page(place)
    data, lenses = gather(place)
    add_authors(data)  # a Table 2, too
    (place / "all.html").write_text(render(data, [lens.content for lens in lenses], chart_library()), "utf-8")
    return place


def wait(browser, condition):
    end = time.monotonic() + PATIENCE
    while not (found := browser.execute_script(f"return {condition}")):
        assert time.monotonic() < end, f"{condition} never came true; the console says {browser.get_log('browser')}"
        time.sleep(0.02)
    return found


def open_page(browser, path):
    browser.get(path.as_uri())
    wait(browser, "document.documentElement.dataset.ready === 'true'")


def open_all(browser, path):
    """With every chart drawn."""
    open_page(browser, path)
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    for number in range(browser.execute_script("return document.querySelectorAll('.chart').length")):
        browser.execute_script(f"document.querySelectorAll('.chart')[{number}].scrollIntoView()")
        wait(browser, f"document.querySelectorAll('.chart')[{number}].querySelector('.main-svg') !== null")
    browser.execute_script("scrollTo(0, 0)")


@pytest.fixture
def page(browser, directory):
    open_page(browser, directory / PAGE)
    return browser


def texts(browser, selector):
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return browser.execute_script(script, selector)


def table(browser, selector):
    """Rows of (text, data-value) cells."""
    script = """return [...document.querySelectorAll(`${arguments[0]} tbody tr`)].map((row) =>
        [...row.cells].map((cell) => [cell.textContent, cell.dataset.value ?? null]))"""
    return browser.execute_script(script, selector)


def test_everything_is_drawn_without_a_word_on_the_console_or_a_request(browser, directory):
    browser.get_log("browser")
    browser.get_log("performance")
    open_all(browser, directory / "all.html")
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert sum(url.startswith("file:") for url in sent) == 1
    assert {urlsplit(url).scheme for url in sent} <= {"file", "data", "blob"}
    headings = {"Figure 1", "Table 1", "Table 2", "Claims", "Training by training", "Learning curves",
                "Running time", "The lens", "Words", "How it was made"}  # fmt: skip
    assert set(texts(browser, "h2")) == headings == set(texts(browser, "nav a"))


def test_the_policy_stops_a_request_and_a_strange_script(page):
    page.execute_script("""
        window.blocked = [];
        document.addEventListener('securitypolicyviolation', (event) => window.blocked.push(event.effectiveDirective));
        fetch('http://localhost:9/').catch(() => {});
        const script = document.createElement('script');
        script.textContent = 'window.hacked = 1';
        document.head.append(script);""")
    wait(page, "window.blocked.length >= 2")
    assert set(page.execute_script("return window.blocked")) == {"connect-src", "script-src-elem"}
    assert page.execute_script("return window.hacked") is None
    page.get_log("browser")


def test_the_tables_say_what_summary_and_claims_say(page, directory):
    summary = json.loads((directory / "summary.json").read_text())
    for experiment in ("figure1", "table1"):
        rows = table(page, f"table[data-experiment={experiment}]")
        lines = [line for line in summary if line["experiment"] == experiment]
        assert len(rows) == len(lines)
        for row, line in zip(rows, sorted(lines, key=lambda line: (line["K"], line["L"])), strict=True):
            assert [text for text, _ in row][:4] == [
                line["filter"].upper(),
                str(line["K"]),
                str(line["L"]),
                str(line["n"]),
            ]
            assert float(row[4][1]) == line["mean"]
            shown = [float(part) for part in row[4][0].split(" ± ")]
            said = [100 * line[key] for key in ("mean", "std") if line[key] is not None]
            assert shown == pytest.approx(said, abs=0.0501)
            assert float(row[6][1]) == line["mean_best"]
            published = row[7][1] if len(row) > 7 else None  # a column if anybody published numbers
            assert published == (None if line["paper_mean"] is None else str(line["paper_mean"]))
    claims = json.loads((directory / "claims.json").read_text())
    rows = table(page, "table.claims")
    assert [(row[0][0], row[1][1], row[5][1]) for row in rows] == [
        (claim["claim"], claim["verdict"], str(claim["n"])) for claim in claims
    ]
    assert [row[2][1] and float(row[2][1]) for row in rows] == [claim["effect"] for claim in claims]
    assert [row[4][1] and float(row[4][1]) for row in rows] == [claim["p"] for claim in claims]


def test_a_partial_record_is_called_partial(page):
    badges = texts(page, "#badges li")
    assert badges[0] == "Figure 1: 18 of 900 trainings (partial)"
    assert badges[1:] == ["Table 1: 6 trainings", "6 diverged; they count with the value they have"]
    assert texts(page, "blockquote p") == ["As <b>I</b> read it."]
    (command,) = texts(page, "#command")
    assert command.startswith("shiftstate reproduce figure1 --preset paper --out ")


def drawn(browser, panel=0):
    script = """return [...document.querySelectorAll('#lens-panels svg')[arguments[0]].querySelectorAll('.node')]
        .map((node) => [JSON.parse(node.dataset.value ?? 'null'), node.getAttribute('fill')])"""
    return browser.execute_script(script, panel)


def test_the_arrow_keys_move_the_states_and_gates_to_the_values_of_the_file(page, directory):
    lens = json.loads((directory / "lens" / "lssm.json").read_text())
    sample = lens["layers"][0]["sample"]
    slider = page.find_element(By.ID, "lens-k")
    seen = []
    for k in range(lens["layers"][0]["K"] + 1):
        assert page.find_element(By.CSS_SELECTOR, ".slider output").text == f"k = {k} of 5"
        values = drawn(page)
        assert [value for value, _ in values] == sample["states"][k][0]
        for panel, name in enumerate(sample["gates"], start=1):
            wanted = [None] * 12 if k == 0 else sample["gates"][name][k - 1][0]
            assert [value for value, _ in drawn(page, panel)] == wanted
        seen.append(tuple(color for _, color in values))
        slider.send_keys(Keys.ARROW_RIGHT)
    assert len(set(seen)) == len(seen)  # every k looks different
    slider.send_keys(Keys.HOME)
    assert page.find_element(By.CSS_SELECTOR, ".slider output").text == "k = 0 of 5"


def test_larger_values_have_other_colours_than_smaller_ones(page):
    page.find_element(By.ID, "lens-k").send_keys(Keys.END)
    values = drawn(page)
    by_color = {}
    for value, color in values:
        by_color.setdefault(color, []).append(value)
    ordered = sorted(by_color.values(), key=min)
    assert all(max(lower) < min(higher) for lower, higher in pairwise(ordered))


def test_layers_channels_quantities_nodes_and_lenses_can_be_chosen(page, directory):
    lens = json.loads((directory / "lens" / "lssm.json").read_text())
    field = {one.find_element(By.TAG_NAME, "label").text: Select(one.find_element(By.TAG_NAME, "select"))
             for one in page.find_elements(By.CSS_SELECTOR, "#lens .field")}  # fmt: skip
    assert [option.text for option in field["Node"].options][: len(HOSTILE) - 1][0] == HOSTILE[0]
    field["Layer"].select_by_index(1)
    field = {one.find_element(By.TAG_NAME, "label").text: Select(one.find_element(By.TAG_NAME, "select"))
             for one in page.find_elements(By.CSS_SELECTOR, "#lens .field")}  # fmt: skip
    field["Show"].select_by_value("outputs")
    field["Channel"].select_by_index(1)
    field["Node"].select_by_index(7)
    for _ in range(3):
        page.find_element(By.ID, "lens-k").send_keys(Keys.ARROW_RIGHT)
    sample = lens["layers"][1]["sample"]
    assert [value for value, _ in drawn(page)] == sample["outputs"][3][1]
    rows = {row[0][0]: float(row[1][1]) for row in table(page, "#lens-values")}
    assert rows["state w₃"] == sample["states"][3][1][7]
    assert rows["memory c₃"] == sample["memories"][3][1][7]
    assert rows["forget gate"] == sample["gates"]["forget"][2][1][7]
    field["Training"].select_by_index(1 - field["Training"].options.index(field["Training"].first_selected_option))
    assert (
        page.execute_script("return document.querySelectorAll('#lens-panels svg').length") == 1
    )  # a GCNN has no gates


def test_a_node_under_the_pointer_tells_its_values(page, directory):
    lens = json.loads((directory / "lens" / "lssm.json").read_text())
    page.execute_script("""const node = document.querySelectorAll('#lens-panels .node')[7];
        node.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 50, clientY: 50 }));""")
    (told,) = texts(page, "#tip")
    assert lens["graph"]["names"][7] in told
    assert "state w₀: " in told
    assert page.execute_script("return document.getElementById('tip').hidden") is False


def test_hostile_names_are_text_everywhere(browser, directory):
    open_all(browser, directory / "all.html")
    assert browser.execute_script("return window.hacked") is None
    assert (
        browser.execute_script("return document.querySelectorAll('main script, main img, main b, main i').length") == 0
    )
    assert texts(browser, "h1 bdi") == [NAME]
    assert browser.title == f"{' '.join(NAME.split())} – shiftstate"
    assert texts(browser, "table[data-experiment=table2] tbody th bdi") == HOSTILE
    assert set(texts(browser, "#words .label")) == {f"\u2068{word}\u2069" for word in [*HOSTILE, "the", "of"]}
    assert set(texts(browser, "#words select option")) >= set(HOSTILE)
    labels = "".join(texts(browser, "#experiment-table2 .ytick text"))
    for word in HOSTILE[:2]:
        assert word in labels
    assert browser.execute_script("return document.querySelectorAll('#experiment-table2 .chart a[href]').length") == 0


@pytest.mark.parametrize("width", [360, 768])
def test_a_phone_scrolls_down_only(browser, directory, width):
    size = {"width": width, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        open_all(browser, directory / "all.html")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        wide = """return [...document.querySelectorAll('main section, main figure, main p, main pre, main dl')]
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.tagName)"""
        assert browser.execute_script(wide) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_page_follows_the_readers_colours(browser, directory):
    colors = {}
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        open_page(browser, directory / PAGE)
        text = "getComputedStyle(document.querySelector('#experiment-figure1 .xtick text')).fill"
        colors[scheme] = browser.execute_script(f"return [getComputedStyle(document.body).backgroundColor, {text}]")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert all(light != dark for light, dark in zip(colors["light"], colors["dark"], strict=True))


def test_charts_in_print_are_all_drawn_and_fit(browser, directory):
    open_page(browser, directory / PAGE)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    width = "box.querySelector('.main-svg')?.width.baseVal.value ?? 0"
    boxes = f"[...document.querySelectorAll('.chart')].map((box) => {width})"
    widths = wait(browser, f"(({boxes}).every((width) => width > 0)) && {boxes}")
    assert set(widths) == {660}
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")


def test_figures_are_described_and_tables_have_headings(browser, directory):
    open_page(browser, directory / "all.html")
    unnamed = (
        "return [...document.querySelectorAll('[role=img], [role=region]')].filter((one) => !one.ariaLabel).length"
    )
    assert browser.execute_script(unnamed) == 0
    described = browser.execute_script("return document.querySelector('#experiment-figure1 .chart').ariaLabel")
    assert "K = 4: GCNN 31.7 %, RSN 36.7 %, LSSM 41.7 %" in described
    script = """return [...document.querySelectorAll('table')].every((one) => one.caption && one.caption.textContent &&
        [...one.querySelectorAll('th')].every((head) => ['row', 'col'].includes(head.scope)))"""
    assert browser.execute_script(script)
    unlabelled = """return [...document.querySelectorAll('select, input')].filter((one) => !one.labels.length).length"""
    assert browser.execute_script(unlabelled) == 0


def test_the_first_tab_offers_to_skip_to_the_results(page):
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to the results"
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "content"


def test_learning_curves_and_error_bars_can_be_chosen(page):
    read = "document.querySelector('#experiment-figure1 .chart').data[0].error_y.array"
    half = page.execute_script(f"return {read}")
    page.execute_script("document.querySelectorAll('#experiment-figure1 input[type=radio]')[1].click()")
    assert page.execute_script(f"return {read}") == pytest.approx([2 * value for value in half])
    page.execute_script(
        "document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('#curves').scrollIntoView()"
    )
    wait(page, "document.querySelector('#curves .main-svg') !== null")
    cell = Select(page.find_element(By.CSS_SELECTOR, "#curves select"))
    assert [option.text for option in cell.options] == [
        "Figure 1, K = 4", "Figure 1, K = 16", "Table 1, L = 2", "Table 1, L = 4"
    ]  # fmt: skip
    cell.select_by_index(3)
    last = page.execute_script("return document.querySelector('#curves .chart').data.at(-1)")
    assert last["y"] == pytest.approx([40, 33.33])


def test_an_empty_directory_says_how_to_fill_it(browser, tmp_path):
    add_words(tmp_path)
    write_page(tmp_path)
    browser.get((tmp_path / PAGE).as_uri())
    assert texts(browser, "#badges li") == ["no finished training is stored yet"]
    assert "shiftstate inspect" in texts(browser, "#lens pre")[0]


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """The page of a study with other axes and a metric in units, of which less is better."""
    path = tmp_path_factory.mktemp("other") / PAGE
    path.write_text(render(rivers(), [], chart_library()), "utf-8")
    return path


def test_a_study_with_other_axes_and_a_metric_of_which_less_is_better_is_shown_by_its_own_words(browser, other):
    browser.get_log("browser")
    open_all(browser, other)
    assert browser.get_log("browser") == []
    heads = texts(browser, "#experiment-rivers th[scope=col]")
    assert heads == ["model", "horizon", "n", "mean ± std", "95 % interval"]  # nothing published, no best epoch
    rows = table(browser, "#experiment-rivers table")
    assert [[text for text, _ in row][:4] for row in rows] == [
        ["Kalman filter", "1", "7", "2.00 ± 0.50"],
        ["Far-seeing network", "1", "7", "3.00 ± 0.50"],
        ["Kalman filter", "24", "7", "12.50 ± 0.50"],
        ["Far-seeing network", "24", "7", "8.25 ± 0.50"],
    ]
    assert texts(browser, "#experiment-rivers td.best") == ["2.00 ± 0.50", "8.25 ± 0.50"]  # the smaller ones
    assert "lower is better" in texts(browser, "#experiment-rivers caption")[0]
    shown = "document.querySelector('#experiment-rivers .chart')"
    assert browser.execute_script(f"return {shown}.layout.yaxis.title.text") == "\u2068mean absolute error (m³/s)\u2069"
    assert browser.execute_script(f"return {shown}.data.map((one) => one.marker.color)") == ["#123456", "#abcdef"]
    assert browser.execute_script(f"return {shown}.data[0].y") == [2.0, 12.5]
    assert "24 h ahead: Kalman filter 12.50 m³/s, Far-seeing network 8.25 m³/s" in browser.execute_script(
        f"return {shown}.ariaLabel"
    )
    assert browser.execute_script(f"return {shown}.layout.shapes[0].y0") == 9


def test_pairs_count_the_smaller_value_as_better_if_less_is_better(browser, other):
    open_all(browser, other)
    Select(browser.find_elements(By.CSS_SELECTOR, "#trainings select")[1]).select_by_visible_text("Kalman filter")
    told = browser.execute_script("return document.querySelector('#trainings .chart').ariaLabel")
    assert told.endswith("better in 3 of 6.")  # 24 hours ahead
    (caption,) = texts(browser, "#trainings figcaption")
    assert "Dots below the dotted line" in caption
    assert "the same place, river basin, year" in caption


def test_claims_that_were_not_run_are_counted_apart(browser, other):
    open_page(browser, other)
    assert texts(browser, "#claims > p") == [
        "Of 5 claims 1 holds, 1 does not hold, 1 is undecided by these results, 2 were not run."
    ]
    rows = table(browser, "table.claims")
    assert [row[1][1] for row in rows] == ["holds", "does not hold", "undecided", "not run", "not run"]
    assert texts(browser, "table.claims th[scope=col]")[2] == "effect (m³/s)"
    assert [row[2][0] for row in rows] == ["−4.25"] * 3 + ["–"] * 2


def test_without_a_chart_library_the_page_has_its_tables_and_says_so(browser, tmp_path):
    (tmp_path / PAGE).write_text(render(rivers() | {"charts": False}, [], None), "utf-8")
    browser.get_log("browser")
    open_page(browser, tmp_path / PAGE)
    assert browser.get_log("browser") == []
    assert "without its charts" in texts(browser, "#no-charts")[0]
    assert browser.execute_script("return document.querySelectorAll('.chart').length") == 0
    assert len(table(browser, "#experiment-rivers table")) == 4


def test_every_lens_that_is_read_can_be_drawn(browser, tmp_path):
    """Of the lenses with a strange value in one place, some of those that the reader accepts."""
    read = list(dict.fromkeys(json.dumps(content) for content in mutants(small_lens()) if accepted(content)))
    some = [json.loads(text) for text in read[:: max(1, len(read) // 20)]]
    data = rivers() | {"lenses": [{"id": str(place), "title": str(place), "note": ""} for place in range(len(some))]}
    (tmp_path / PAGE).write_text(render(data, some, chart_library()), "utf-8")
    browser.get_log("browser")
    open_all(browser, tmp_path / PAGE)
    script = """
        const choose = (control, place) => {
          control.selectedIndex = place;
          control.dispatchEvent(new Event('change'));
        };
        choose(document.querySelector('#lens select'), arguments[0]);
        const slider = document.getElementById('lens-k');
        slider.value = slider.max;
        slider.dispatchEvent(new Event('input'));
        const curves = () => document.querySelector('#lens .lens .field select');
        for (let curve = 0; curve < curves().options.length; curve += 1) choose(curves(), curve);
        return document.querySelectorAll('#lens-panels .main .node').length"""
    assert len(some) >= 20
    assert [browser.execute_script(script, place) for place in range(len(some))] == [4] * len(some)
    assert browser.get_log("browser") == []


def accepted(content):
    try:
        check_lens(content)
    except ValueError:
        return False
    return True
