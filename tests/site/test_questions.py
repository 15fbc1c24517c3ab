"""Questions that are answered on the page, what the browser remembers, and "Your progress"."""

from __future__ import annotations

import gzip
import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from questions import bank

from tests.site.accessibility import violations
from transformer_book.support.atomic_files import read_json

CHAPTER = "chapters/21_looking_inside.html"
PROGRESS = "book/progress.html"
KEY = "transformer-book-memory"
DAY = 86_400_000  # milliseconds
ID = "21/ask-yourself/2"
ENTROPY = f'details[data-question="{ID}"]'
# What is thrown says where: the theme is not prepared for it, and the book's scripts are.
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new Error(new Error().stack); } });"
NO_ROOM = "Storage.prototype.setItem = () => { throw new Error(new Error().stack); };"


def remembered(page: Page) -> dict:
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')") or "{}")


def memory(grade: int = 3, days: float = 30, chosen: object = None) -> dict:
    """A memory in which one question was answered, so many days ago."""
    at = int(time.time() * 1000 - days * DAY)
    return {"version": 1, "answers": {ID: [[at, grade, chosen]]}, "read": {}, "last": None}


def with_memory(state: dict) -> str:
    """A script that puts it there, once."""
    text = json.dumps(json.dumps(state))
    return f"if (!localStorage.getItem('{KEY}')) localStorage.setItem('{KEY}', {text});"


def test_an_option_is_chosen_with_the_keyboard_and_remembered(site, serve, visit) -> None:
    seen = visit(f"{serve(site)}/{CHAPTER}")
    page = seen.page
    box = page.locator(".box-predict").first
    told = box.locator(".question-told")
    expect(told).to_have_text("Choose an answer by opening it.")
    wrong = box.locator("details[data-option]:not([data-right])").first
    right = box.locator("details[data-right]")
    wrong.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(told).to_contain_text("Not right.")
    expect(wrong.locator(".question-mark")).to_have_text("Not right")
    expect(wrong.locator("p").first).to_be_visible()
    expect(right.locator(".question-mark")).to_have_count(0)
    right.locator("summary").focus()
    page.keyboard.press("Space")
    expect(right.locator(".question-mark")).to_have_text("Right")
    # The first choice counts, and it is there in a new window.
    name = wrong.get_attribute("data-question")
    ((_, grade, chosen),) = remembered(page)["answers"][name]
    assert (grade, str(chosen)) == (1, wrong.get_attribute("data-option"))
    other = page.context.new_page()
    try:
        other.goto(page.url)
        mine = other.locator(".box-predict").first
        expect(mine.locator(".question-told")).to_contain_text("were not right")
        expect(mine.locator(".is-wrong")).to_have_count(1)
        # Two tabs at once: what each says is kept.
        mine.locator(".question-again").click()
        mine.locator("details[data-right] summary").click()
        page.locator(f"{ENTROPY} + form input").fill("7/4")
        page.locator(f"{ENTROPY} + form input").press("Enter")
        answers = remembered(page)["answers"]
        assert [entry[1] for entry in answers[name]] == [1, 3]
        assert [entry[1:] for entry in answers[ID]] == [[3, "7/4"]]
    finally:
        other.close()
    assert seen.problems == []


def test_the_question_of_the_landing_page_is_answered_there(scratch, serve, visit) -> None:
    seen = visit(f"{serve(scratch)}/book/landing.html")
    box = seen.page.locator(".box-predict")
    box.locator("details[data-right] summary").click()
    expect(box.locator(".question-told")).to_contain_text("Right.")
    assert list(remembered(seen.page)["answers"]) == ["landing/predict/1"]
    seen.page.reload()
    expect(box.locator(".question-told")).to_contain_text("were right")
    seen.go(f"{serve(scratch)}/{PROGRESS}")  # it needs its figure: it is asked nowhere else
    expect(seen.page.locator(".progress-place")).to_contain_text("Nothing is due now")
    bank = seen.page.evaluate("bookQuestions")
    assert "landing/predict/1" not in bank
    # What a question needs where it stands alone is a comment on its own page.
    seen.go(f"{serve(scratch)}/chapters/07_scratch.html")
    expect(seen.page.locator(".box-predict").first).not_to_contain_text("nobody sees this")


def test_numbers_are_judged_and_thoughts_are_rated(site, serve, visit) -> None:
    page = visit(f"{serve(site)}/{CHAPTER}", width=360, scheme="dark").page
    form = page.locator(f"{ENTROPY} + form")
    told = form.locator(".question-told")
    for typed, says in (
        ("much", "Type a number, such as 0.5 or 1/2."),
        ("2", "Not 2. Try again, or open the answer."),
        ("1,75", "Right."),
    ):
        form.locator("input").fill(typed)
        form.get_by_role("button", name="Check").click()
        expect(told).to_have_text(says)
    expect(page.locator(ENTROPY)).to_have_attribute("open", "")
    assert [entry[1:] for entry in remembered(page)["answers"][ID]] == [[1, "2"]]
    thought = page.locator("details[data-question]:not([data-option], [data-number])").first
    thought.locator("summary").click()
    thought.get_by_role("button", name="Partly").click()
    expect(thought.locator(".question-told")).to_have_text("You knew a part of it.")
    name = thought.get_attribute("data-question")
    assert remembered(page)["answers"][name][0][1:] == [2, None]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


@pytest.mark.parametrize(
    ("begin", "says"), [(NO_STORAGE, "keep nothing"), (NO_ROOM, "no room")], ids=["private", "full"]
)
def test_without_storage_one_sentence_says_so(site, serve, visit, begin: str, says: str) -> None:
    seen = visit(f"{serve(site)}/{CHAPTER}", begin=begin)
    box = seen.page.locator(".box-predict:visible").first  # in the core: nothing is unfolded here
    box.locator("summary").first.click()
    expect(box.locator(".question-told")).to_contain_text(says)
    assert [each for each in seen.problems if "/_static/js/" in each] == []


@pytest.mark.parametrize(
    ("begin", "says"),
    [(NO_STORAGE, "keep nothing"), ("", "open from a folder")],
    ids=["private", "folder"],
)
def test_your_progress_says_what_does_not_work(site: Path, visit, begin: str, says: str) -> None:
    seen = visit(f"{site.as_uri()}/{PROGRESS}", begin=begin)
    expect(seen.page.locator(".progress-problem")).to_contain_text(says)
    expect(seen.page.locator(".progress-place tr")).to_have_count(
        len({each.page for each in bank()}) + 2  # the head, and the gym
    )
    assert [each for each in seen.problems if "/_static/js/" in each] == []


def test_a_finger_answers(site: Path, serve, reading_browser: Browser) -> None:
    with reading_browser.new_context(
        viewport={"width": 360, "height": 700}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        page.goto(f"{serve(site)}/{CHAPTER}")
        box = page.locator(".box-predict:visible").first
        box.locator("details[data-right] > summary").tap()
        expect(box.locator(".question-told")).to_contain_text("Right.")
        box.locator(".question-again").tap()
        box.locator("details:not([data-right]) > summary").first.tap()
        expect(box.locator(".question-told")).to_contain_text("Not right.")
        assert [
            sorted(entry[1] for entry in log) for log in remembered(page)["answers"].values()
        ] == [[1, 3]]


def test_what_was_read_is_marked_and_the_landing_page_leads_back(site, serve, visit) -> None:
    seen = visit(f"{serve(site)}/{CHAPTER}")
    page = seen.page
    for head in page.locator(".bd-article section > h2").all():
        head.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function(f"(localStorage.getItem('{KEY}') ?? '').includes('21_looking_inside')")
    mark = page.locator("nav.bd-links .current .reading-mark").first
    expect(mark).to_have_text(" (read)")
    seen.go(f"{serve(site)}/book/landing.html")
    on = page.locator(".go-on")
    expect(on).to_contain_text("Go on where you were:")
    on.click()
    page.wait_for_url("**/21_looking_inside.html#*")
    assert seen.problems == []


def test_what_is_due_is_reviewed_and_comes_back_later(site, serve, visit) -> None:
    state = memory()
    state["answers"]["21/check-entropy/1"] = [[1, 3, None]]  # of a notebook's checks
    seen = visit(f"{serve(site)}/{PROGRESS}", begin=with_memory(state))
    page = seen.page
    place = page.locator(".progress-place")
    expect(place).to_contain_text("1 question is due.")
    assert violations(page) == []
    # Without a mouse: typed, and on to the next by Tab and Enter.
    place.locator("form input").focus()
    page.keyboard.type("1.75")
    page.keyboard.press("Enter")
    expect(place.locator(".question-told")).to_have_text("Right.")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Next question":
            break
    page.keyboard.press("Enter")
    expect(place).to_contain_text("Nothing is due now")
    expect(place.locator("tr", has_text="21")).to_contain_text("1 of")
    expect(place.locator("tr", has_text="21").locator("td").last).to_have_text("1")
    assert len(remembered(page)["answers"][ID]) == 2
    page.reload()
    expect(place).to_contain_text("Nothing is due now")
    assert seen.problems == []


def test_progress_is_saved_deleted_and_added_again(site, serve, visit, tmp_path: Path) -> None:
    seen = visit(
        f"{serve(site)}/{PROGRESS}", begin=with_memory(memory(days=0.01)), width=360, scheme="dark"
    )
    page, place = seen.page, seen.page.locator(".progress-place")
    with page.expect_download() as waiting:
        place.get_by_role("button", name="Save as a file").click()
    saved = tmp_path / "saved.json"
    waiting.value.save_as(saved)
    assert read_json(saved)["answers"] == remembered(page)["answers"]
    damaged = tmp_path / "damaged.json"
    entry = [int(time.time() * 1000), 9, None]
    wrong = json.dumps({**memory(), "answers": {"<b>": [entry]}})
    before = remembered(page)
    for text in ("", saved.read_text()[:-5], wrong, '{"version": 2}'):
        damaged.write_text(text)
        place.locator("input[type=file]").set_input_files(damaged)
        expect(place.locator(".progress-keep [role=status]")).to_contain_text("nothing was changed")
        place.locator(".progress-keep [role=status]").evaluate("each => (each.textContent = '')")
    assert remembered(page) == before
    place.get_by_role("button", name="Delete everything").press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Yes, delete it"
    page.keyboard.press("Enter")
    expect(place).to_contain_text("Everything is deleted.")
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('transformer-book'))"
    assert page.evaluate(kept) == []
    place.locator("input[type=file]").set_input_files(saved)
    expect(place).to_contain_text("The file is added to what was here.")
    assert remembered(page)["answers"] == before["answers"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
    assert seen.problems == []


def test_where_storage_is_full_review_and_import_say_so(site, serve, visit, tmp_path) -> None:
    begin = with_memory(memory()) + NO_ROOM
    page = visit(f"{serve(site)}/{PROGRESS}", begin=begin).page
    place, before = page.locator(".progress-place"), remembered(page)
    place.locator("form input").fill("1.75")
    place.locator("form input").press("Enter")
    expect(place.locator(".question-told")).to_contain_text("no room")
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(memory(grade=1)))
    place.locator("input[type=file]").set_input_files(saved)
    expect(place.locator(".progress-keep [role=status]")).to_contain_text("no room")
    assert remembered(page) == before


def test_a_page_grows_by_at_most_12_kb(site: Path) -> None:
    """By its scripts, and by what each question's folds say of it; gzipped."""

    def size(data: bytes) -> int:
        return len(gzip.compress(data))

    names = ("memory", "questions", "reading")
    scripts = sum(size((site / "_static" / "js" / f"{name}.js").read_bytes()) for name in names)
    told = re.compile(
        rb' data-(?:question|option|right|number|within)="[^"]*"|<!-- (?:alone|figure): .*?-->',
        re.DOTALL,
    )
    grown = {}
    for page in (site / "chapters").glob("*.html"):
        whole = page.read_bytes()
        grown[page.stem] = scripts + size(whole) - size(told.sub(b"", whole))
    assert scripts < min(grown.values()) and max(grown.values()) <= 12_000, grown


def test_what_is_not_readable_is_left_alone(site, serve, visit) -> None:
    begin = f"localStorage.setItem('{KEY}', '{{\"version\": 7}}');"
    page = visit(f"{serve(site)}/{PROGRESS}", begin=begin).page
    expect(page.locator(".progress-problem")).to_contain_text("cannot be read")
    assert remembered(page) == {"version": 7}
