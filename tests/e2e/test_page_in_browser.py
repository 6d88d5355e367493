"""The page of an answer in a real browser: what pointing, focusing and keys show, and that hostile text stays text."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from citeloop.state.models import Conflict
from tests.answers import AFTER, BEFORE, LEAVE, Said, passages_of, response_of

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no browser here: none of {', '.join(NAMES)}")
CONFLICT = Conflict(about="how long it lasts", values=("16 weeks", "14 weeks"), citation_ids=(1, 2))


class Opened(NamedTuple):
    """A page, and what it did that a page of this kind never does."""

    page: Page
    requests: list[str]
    complaints: list[str]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # For this module alone: while it is open, no event loop can be started in this thread.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])


def opened(
    browser: Browser, folder: Path, said: tuple[Said, ...] = LEAVE, *, question: str = "How long?", **context: object
) -> Opened:
    """The page of ``said``, read from a file."""
    file = folder / "answer.html"
    response = response_of(said, question=question, status="low_confidence", conflicts=(CONFLICT,))
    file.write_text(response.to_html(passages_of(said)), encoding="utf-8")
    page = browser.new_context(reduced_motion="reduce", **context).new_page()  # type: ignore[arg-type]
    watched = Opened(page, [], [])
    page.on("request", lambda request: watched.requests.append(request.url))
    page.on("console", lambda message: watched.complaints.append(message.text))
    page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    page.on("dialog", lambda dialog: watched.complaints.append(dialog.message))
    page.goto(file.as_uri())
    return watched


def shows(page: Page, number: int) -> None:
    """The evidence of one claim is there to see, its sentence highlighted within its passage, and no other's is."""
    card, mark = page.locator(f"#evidence-{number}"), page.locator(f"#evidence-{number} mark")
    expect(card).to_be_visible()
    expect(mark).to_be_visible()
    expect(mark).to_be_in_viewport()
    expect(mark).to_have_text(LEAVE[number - 1].source)
    expect(mark).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(mark).to_have_css("text-decoration-line", "underline")
    assert page.locator(f"#evidence-{number} blockquote").inner_text() == BEFORE + LEAVE[number - 1].source + AFTER
    expect(page.locator(".card:visible")).to_have_count(1)


def test_pointing_at_a_claim_shows_its_source_sentence(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path).page
    expect(page.locator(".card:visible")).to_have_count(0)
    for number in (1, 3):
        page.locator(f"#claim-{number}").hover()
        shows(page, number)
    page.locator("h1").hover()
    expect(page.locator(".card:visible")).to_have_count(0)


def test_the_evidence_stays_while_the_pointer_is_on_it(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path).page
    page.locator("#claim-1").hover()
    page.locator("#evidence-1 mark").hover()
    page.wait_for_timeout(500)  # longer than it lingers
    shows(page, 1)
    page.locator("#claim-3").focus()
    shows(page, 1)  # what the pointer is on goes before what has the focus


def test_the_keyboard_alone_reaches_claim_evidence_and_back(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path).page
    page.locator("#answer").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#claim-1")).to_be_focused()
    shows(page, 1)
    page.keyboard.press("Enter")
    expect(page.locator("#evidence-1")).to_be_focused()
    shows(page, 1)
    page.locator("#evidence-1 .back a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#claim-1")).to_be_focused()


def test_it_needs_no_scripting(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, java_script_enabled=False).page
    page.locator("#claim-2").hover()
    shows(page, 2)


def test_on_a_narrow_screen_the_evidence_covers_neither_the_claim_nor_the_edge(
    browser: Browser, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path, viewport={"width": 320, "height": 640}).page
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.locator("#claim-3").focus()
    shows(page, 3)
    claim, card = page.locator("#claim-3").bounding_box(), page.locator("#evidence-3").bounding_box()
    assert claim and card
    assert claim["y"] + claim["height"] <= card["y"]
    page.locator("#evidence-3 .close").click()
    expect(page.locator(".card:visible")).to_have_count(0)


def test_in_print_every_claim_has_its_evidence(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path).page
    page.emulate_media(media="print")
    expect(page.locator(".card:visible")).to_have_count(len(LEAVE))
    boxes = [page.locator(f"#evidence-{number}").bounding_box() for number in (1, 2)]
    assert boxes[0] and boxes[1] and boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]


def test_verdicts_are_told_without_colour(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path).page
    names = ("Supported", "Partly supported", "Contradicted", "Not supported")
    for number, name in enumerate(names, start=1):
        link = page.get_by_role("link", name=f"{LEAVE[number - 1].claim} ({name})", exact=True)
        expect(link).to_have_id(f"claim-{number}")
    drawn = page.locator(".claim").evaluate_all("all => all.map(one => getComputedStyle(one).textDecorationStyle)")
    assert len(set(drawn)) == len(names)
    expect(page.locator("#claim-1")).to_have_accessible_description(LEAVE[0].source)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_passes_the_rules_of_axe(browser: Browser, tmp_path: Path, scheme: str) -> None:
    page = opened(browser, tmp_path, color_scheme=scheme).page
    page.locator("summary").click()
    page.locator("#claim-2").focus()
    violations = Axe().run(page).response["violations"]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in violations] == []


def test_text_from_right_to_left_runs_from_right_to_left(browser: Browser, tmp_path: Path) -> None:
    hebrew = Said("חופשת הורות נמשכת 16 שבועות.", "supported", "חופשת הורות נמשכת 16 שבועות בשכר מלא.")
    page = opened(browser, tmp_path, (hebrew,), question="כמה זמן נמשכת חופשת הורות?").page
    for selector in ("h1", "#answer p", "#evidence-1 .said"):
        expect(page.locator(selector)).to_have_css("direction", "rtl")
    expect(page.locator("html")).to_have_css("direction", "ltr")


def test_hostile_text_runs_nothing_and_loads_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile = (
        "</style></title><script>window.ran = 1</script><img src='http://192.0.2.1/x.png' onerror='window.ran = 2'>"
        "<iframe src='javascript:parent.ran = 3'></iframe><svg onload='window.ran = 4'>\x00\u202e"
    )
    said = tuple(Said(f"{hostile} {number}", "partly", f"{hostile} {number}", hostile) for number in (1, 2))
    page, requests, complaints = opened(browser, tmp_path, said, question=hostile)
    page.locator("#claim-2").hover()
    page.locator("summary").click()
    expect(page.locator("#evidence-2 mark")).to_contain_text("<script>window.ran = 1</script>")
    assert page.evaluate("window.ran") is None
    assert page.locator("script, img, iframe, svg").count() == 0
    assert requests == [(tmp_path / "answer.html").as_uri()]
    assert complaints == []


def test_the_policy_stops_what_the_escaping_would_let_through(browser: Browser, tmp_path: Path) -> None:
    page, _, complaints = opened(browser, tmp_path)
    failed: list[Request] = []
    page.on("requestfailed", lambda request: failed.append(request))
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        const image = document.createElement("img");
        image.src = "http://192.0.2.1/x.png";
        document.body.append(script, image);
    }""")
    expect(page.locator("body > img")).to_have_count(1)
    assert page.evaluate("window.ran") is None
    assert len([told for told in complaints if "Content Security Policy" in told]) == 2
    assert [request.failure for request in failed] == ["csp"]
