"""“Talk to the model” in the hand: links of every kind, failures, the focus, Back, a finger.

Whatever the address says and whatever fails, the page says so in one sentence and goes on; what a
reader does can be taken back, stays in sight, and leaves the focus where it was.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.site.accessibility import NARROW
from tests.site.talk_page import (
    CAPTION,
    CONNECTION,
    METERED,
    ask,
    focused,
    force,
    load,
    said,
    settled,
    switch_off,
    tab,
    undo,
)
from transformer_book.studies.interventions import parts_of
from transformer_book.widgets.talk import EXAMPLES, answers

DEFAULT = EXAMPLES["captions-de-en"][0]
RAW = ("fetch", "undefined", "null", "JSON", "TypeError", "Unexpected", "NaN")
STATE = """() => ({
    model: document.querySelector(".talk select").selectedOptions[0].textContent,
    text: document.querySelector(".talk textarea").value,
    did: [...document.querySelectorAll(".talk .did li")].map(e => e.firstChild.textContent.trim()),
    notice: [...document.querySelectorAll(".talk .notice p")].map(e => e.textContent),
})"""


def notice(page: Page) -> str:
    return page.locator(".talk .notice").inner_text()


# --- the address ----------------------------------------------------------------------------------

# What stands in the address -> the text, what is said to be done, and words of each complaint.
LINKS = [
    ("", DEFAULT, [], []),
    ("text=Ein+Hund.&change=head:cross.1.2", "Ein Hund.", ["layer 2, head 3"], []),
    ("model=captions-de-en&force=12.7", DEFAULT, ["The first 2 tokens are set"], []),
    ("model=foo&text=Ein+Hund.", "Ein Hund.", [], ["There is no model “foo”"]),
    ("model=&text=Ein+Hund.", "Ein Hund.", [], ["There is no model “”"]),
    (f"model={'m' * 5000}", DEFAULT, [], ["There is no model “mmm"]),
    ("text=", DEFAULT, [], ["The text in the address is empty"]),
    ("text=%20%0A", DEFAULT, [], ["The text in the address is empty"]),
    (f"text={'Hund+' * 1000}", ("Hund " * 400), [], ["has 5000 characters: the first 2000"]),
    ("text=%FF%00&text=b", "\ufffd\x00", [], ["says “text” more than once"]),
    ("change=", DEFAULT, [], ["cannot be changed by “”"]),
    ("change=head:cross.7.0", DEFAULT, [], ["cannot be changed by “head:cross.7.0”"]),
    (
        "change=scale:2&change=toString:1&change=scale:2&change=causal:on",
        DEFAULT,
        ["scores are multiplied by 2"],
        ["cannot be changed by “toString:1”, nor by 1 more"],
    ),
    (f"change={'x' * 5352}", DEFAULT, [], ["cannot be changed by “xxx"]),
    (
        "&".join(f"change=scale:{i}" for i in range(90)),
        DEFAULT,
        [f"scores are multiplied by {i}." for i in range(64)],
        ["makes 90 changes: the first 64"],
    ),
    ("force=", DEFAULT, [], []),
    ("force=abc", DEFAULT, [], ["Nothing is forced: “abc” is not a list of token numbers"]),
    ("force=5.", DEFAULT, [], ["Nothing is forced: “5.” is not"]),
    ("force=-1", DEFAULT, [], ["Nothing is forced: “-1” is not"]),
    ("force=999999", DEFAULT, [], ["cannot say the token 999999, only those from 2 to 748"]),
    ("force=1", DEFAULT, [], ["cannot say the token 1,"]),
    (f"force={'9' * 6000}", DEFAULT, [], ["cannot say the token 999"]),
    (f"force={'.'.join(['5'] * 2000)}", DEFAULT, [], ["names 2000 tokens, but the model writes"]),
    ("model=foo&force=5", DEFAULT, [], ["no model “foo”", "belong to another model"]),
    ("Model=series&changes=scale:2", DEFAULT, [], ["says “Model”", "says “changes”"]),
    ("utm_source=mail&x=y", DEFAULT, [], []),
]


def test_every_link_is_shown_before_loading_and_its_faults_are_named(talk, site, serve) -> None:
    seen = talk()
    for query, text, did, complaints in LINKS:
        seen.go(f"{serve(site)}/book/talk.html?{query}")
        seen.page.locator(".talk textarea").wait_for()
        found = seen.page.evaluate(STATE)
        case = query[:80]
        assert seen.problems == [], case
        assert found["text"] == text, case
        assert len(found["did"]) == len(did), case
        assert all(part in line for part, line in zip(did, found["did"], strict=True)), case
        assert len(found["notice"]) == len(complaints), (case, found["notice"])
        for part, line in zip(complaints, found["notice"], strict=True):
            assert part in line and len(line) < 300, case
    # What is left of such a link works.
    seen.go(f"{serve(site)}/book/talk.html?force=999999&change=scale:x&change=scale:2")
    load(seen.page)
    seen.page.locator('.result[data-column="changed"]').wait_for()
    assert said(seen.page).startswith("The small boy")
    assert "999999" in notice(seen.page)
    assert seen.problems == []


def test_the_page_knows_the_same_changes_as_the_model(talk, package) -> None:
    """The grammar stands three times, and is one."""
    config = package("captions-de-en").model.config
    specs = [
        *("head:cross.0.3", "head:cross.0.4", "head:cross.2.0", "head:cross.0", "head:cross.0.1.2"),
        *("head:toString.0.0", "average:encoder.1.0", "average:encoder.-1.0", "head:cross.0.1.0"),
        *("weight:cross.0.2.3.1.0.5", "weight:cross.0.2.3.1.x", "weight:cross.0.2.64.1.1"),
        *("weight:cross.0.2.3.1", "layer:decoder.1", "layer:cross.1", "layer:decoder.1.0"),
        *("feed_forward:encoder.0", "residual:encoder.0", "residual:encoder.2", "scale:1e3"),
        *("scale:1", "scale:-0.5", "scale:101", "scale:", "scale:1.", "scale", "temperature:0"),
        *("temperature:0.5", "temperature:0.001", "causal:off", "causal:on", "causal", "causal:"),
        *("positions:off", "positions:source", "positions:both", "", ":", "constructor:0"),
    ]
    right = []
    for spec in specs:
        try:
            parts_of(spec, config)
            right.append(True)
        except ValueError:
            right.append(False)
    found = talk().page.evaluate(
        """async specs => {
            const {fits} = await import(new URL("../_static/model/widgets/talk_state.js", location));
            const {models} = JSON.parse(document.querySelector("script.talk-models").textContent);
            return specs.map(spec => fits(spec, models[0].config));
        }""",
        specs,
    )
    assert dict(zip(specs, found, strict=True)) == dict(zip(specs, right, strict=True))
    assert 10 < sum(right) < len(right) - 10


# --- what fails -----------------------------------------------------------------------------------

FAULTS = {
    "offline": ("**/pretrained/**", None, "cannot be reached: check your connection"),
    "missing": ("**/model.safetensors*", {"status": 404}, "(status 404): reload the page"),
    "no JSON": ("**/config.json*", {"body": "<!doctype html>"}, "config.json is damaged"),
    "of another": ("**/config.json*", {"body": "{}"}, "load the model again"),
    "vocabulary": ("**/source_vocabulary.json*", {"body": "[1]"}, "load the model again"),
    "rules": ("**/rules/*.json*", {"body": "{"}, "is damaged"),
    "weights": ("**/model.safetensors*", {"body": "x" * 999}, "load the model again"),
    "no worker": ("**/worker.js", None, "could not be started: check your connection"),
    "mad worker": (
        "**/worker.js",
        {"body": "throw new Error('Cannot read')", "content_type": "text/javascript"},
        "could not be started: check your connection",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_fails_while_loading_is_one_sentence_and_then_it_loads(fault, talk) -> None:
    where, answer, sentence = FAULTS[fault]
    seen = talk(text="Ein Hund schläft.", change="head:cross.0.0")
    page = seen.page
    page.route(where, lambda route: route.fulfill(**answer) if answer else route.abort())
    button = page.get_by_role("button", name="Load the model")
    button.press("Enter")
    page.locator(".talk .notice p").wait_for()
    said_of_it = notice(page)
    assert sentence in said_of_it and not any(word in said_of_it for word in RAW[:3] + RAW[4:])
    assert said_of_it.count("\n") == 0 and len(said_of_it) < 200
    button.wait_for()
    assert focused(page).startswith("Load the model")
    assert page.locator(".talk textarea").input_value() == "Ein Hund schläft."
    assert page.locator(".talk .did li").count() == 1
    page.unroute(where)
    load(page)
    assert said(page) == "A dog is sleeping."
    assert notice(page) == ""


@pytest.mark.parametrize(
    "dies",
    [
        "() => worker.dispatchEvent(new Event('error'))",  # while nothing is asked
        "() => { worker.postMessage = () => worker.dispatchEvent(new Event('error')); }",
    ],
)
def test_a_model_that_dies_can_be_loaded_again(dies, talk) -> None:
    seen = talk(
        text="Ein Hund schläft.",
        begin=f"""{METERED}
        window.Worker = class extends Worker {{
            constructor(...given) {{ super(...given); window.worker = this; }}
        }};""",
    )
    page = seen.page
    load(page)
    page.evaluate(dies)
    ask(page, "Ein Kind schläft.")
    assert "load it again" in notice(page)
    assert page.locator(".talk textarea").input_value() == "Ein Kind schläft."
    load(page)
    assert said(page) == "A child is sleeping."


def test_what_is_typed_is_never_echoed_at_length(talk, package) -> None:
    """An error quotes at most 80 characters; what is too long for the model says the limit."""
    seen = talk(model="series")
    page = seen.page
    load(page)
    for text in (
        "q" * 5352,
        "sin(" + "a" * 3000 + ")",
        "1/(sin(a*x)" + "+sin(b*x)*a*b*c*d" * 9 + ")",
        "cos(" + "a+" * 60 + "a)",
        "2" * 190,
        "x**" + "9" * 150,
        "(" * 90 + "x" + ")" * 90,
    ):
        ask(page, text)
        with pytest.raises(ValueError) as error:
            package("series").encode(text)
        assert notice(page) == str(error.value)
        assert len(notice(page)) < 480
    page.locator(".talk select").first.select_option(index=0)
    load(page)
    ask(page, "Hund " * 500)
    assert "at most 64; translate it sentence by sentence" in notice(page)
    ask(page, "Hund " + "x" * 5000)
    assert max(map(len, page.locator(".talk .pieces > *").all_inner_texts())) <= 80
    assert max(map(len, page.locator(".talk .note").all_inner_texts())) < 400
    assert seen.problems == []


# --- what a reader does ---------------------------------------------------------------------------


def test_every_action_keeps_the_focus_and_can_be_taken_back(talk) -> None:
    seen = talk(text=CAPTION)
    page = seen.page
    load(page)
    before = said(page)
    texts = []

    def press(locator, key: str = "Enter") -> str:
        locator.focus()
        page.keyboard.press(key)
        settled(page)
        text = focused(page)
        assert page.evaluate("document.activeElement !== document.body"), text
        return text

    page.locator(".talk .said").nth(2).click()
    runner_up = page.locator(".talk .candidate").nth(1)
    name = runner_up.text_content().split()[0]
    assert press(runner_up).startswith(name), "the focus has left the candidate"
    forced = said(page)
    texts.append(forced)
    assert forced != before and "force=" in page.url
    assert page.locator(".talk .candidates .title").inner_text().startswith("Step 3:")
    assert "are set, the last of them by you" in page.locator(".talk .did").inner_text()
    assert "is left out" in page.locator(".talk .notes").first.inner_text()
    tab(page, "Beam")
    assert "it is left out" in page.get_by_role("tabpanel").inner_text()
    tab(page, "Change")
    press(page.get_by_role("button", name="Change it"))
    assert said(page) == forced, "a change forgets what was set"
    assert page.locator(".talk .did li").count() == 2
    press(page.get_by_role("button", name="Take back"))
    press(page.get_by_role("button", name="Let it choose"))
    assert said(page) == before
    press(page.get_by_role("button", name="Undo"))
    assert said(page) == forced
    press(page.get_by_role("button", name="Undo"))
    press(page.get_by_role("button", name="Undo"))
    assert said(page) == forced and page.locator(".talk .did li").count() == 1
    assert press(page.get_by_role("button", name="Undo")) == "Undo"
    assert said(page) == before and "force=" not in page.url
    press(page.locator(".talk .examples button").last)
    tab(page, "Attention")
    for field in ("which", "row"):
        page.get_by_role("tabpanel").get_by_label(field).focus()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.tagName") == "SELECT"
    tab(page, "Steps")
    page.get_by_role("button", name="Step on").focus()
    page.keyboard.press("Enter")
    page.locator('.steps-of-token .title:has-text("2. ")').wait_for()
    assert focused(page) == "Step on"
    assert seen.problems == []


def test_back_and_forward_go_through_what_was_done(talk) -> None:
    seen = talk(text=CAPTION)
    page = seen.page
    load(page)
    first = page.url
    before = said(page)
    force(page, 2)
    forced = said(page)
    ask(page, "Ein Hund schläft.")
    page.go_back()
    page.wait_for_function(
        "t => document.querySelector('.talk .result').textContent === t", arg=forced
    )
    assert page.locator(".talk textarea").input_value() == CAPTION
    page.go_back()
    page.wait_for_function(
        "t => document.querySelector('.talk .result').textContent === t", arg=before
    )
    assert page.url == first, "Back has left the page"
    page.go_forward()
    page.wait_for_function(
        "t => document.querySelector('.talk .result').textContent === t", arg=forced
    )
    assert seen.problems == []


def test_another_model_keeps_what_fits_it(talk) -> None:
    seen = talk(text="Ein Kind schläft.", change=["head:cross.1.2", "scale:2"])
    page = seen.page
    load(page)
    models = page.locator(".talk select").first
    models.select_option(label="German → English, captions of photographs")
    assert page.locator(".talk textarea").input_value() == "Ein Kind schläft."
    assert page.locator(".talk .did li").count() == 2
    assert page.locator(".talk > .status").inner_text() == "", "the old translation is still told"
    assert "not loaded yet" in said(page)
    models.select_option(label="English → Italian, captions of this book")
    assert page.locator(".talk textarea").input_value() == EXAMPLES["captions-en-it"][0]
    assert "Your text waits at the model" in notice(page)
    models.select_option(label="German → English, captions of this book")
    assert page.locator(".talk textarea").input_value() == "Ein Kind schläft."
    settled(page)
    assert said(page) == "A child is sleeping."
    undo(page)
    assert page.locator(".talk textarea").input_value() == EXAMPLES["captions-en-it"][0]
    assert seen.problems == []


def test_capitals_that_hide_a_word_are_named(talk, package) -> None:
    seen = talk(text="EIN HUND SCHLÄFT.")
    page = seen.page
    load(page)
    assert package("captions-de-en").respelled("EIN HUND SCHLÄFT.") == "Ein Hund schläft."
    page.get_by_role("button", name="Write “Ein Hund schläft.”").press("Enter")
    settled(page)
    assert said(page) == "A dog is sleeping."
    assert page.locator(".talk .hints").inner_text() == ""
    assert page.evaluate("document.activeElement !== document.body")
    assert package("multi30k-de-en").respelled("ein HUND") == "ein Hund"
    assert package("captions-de-en").respelled("Der Drache schläft.") is None


def test_words_that_stay_are_not_all_that_is_told(talk, package) -> None:
    """Which head has moved most, by how much, and how sure the words are: as Python computes it."""
    seen = talk(text=DEFAULT)
    page = seen.page
    load(page)
    switch_off(page, layer=1, head=1)
    change = ["head:cross.0.0"]
    translator = package("captions-de-en")
    both = []
    for changes in ([], change):
        *_, done = answers(translator, {"task": "translate", "text": DEFAULT, "changes": changes})
        both.append(done)
    before, after = both
    assert before["translation"]["ids"] == after["translation"]["ids"]
    moved = {}
    for kind, layers in before["attention"].items():
        for layer, (one, other) in enumerate(zip(layers, after["attention"][kind], strict=True)):
            shape = one["H"], one["T"], one["S"]
            gap = np.abs(one["weights"] - other["weights"]).reshape(shape).sum(-1) / 2
            for head, value in enumerate(gap.mean(-1)):
                moved[kind, layer, head] = value
    (kind, layer, head), most = max(moved.items(), key=lambda item: item[1])
    told = page.locator(".talk .moved").inner_text()
    name = {"cross": "cross-attention"}.get(kind, f"the {kind}'s self-attention")
    assert told.startswith(f"The words stay. Inside, layer {layer + 1}, head {head + 1} of {name}")
    assert f"{100 * most:.0f} % of its attention" in told
    assert f"; {sum(value >= 0.005 for value in moved.values())} of 24 heads moved." in told
    p, q = (np.array(each["translation"]["probabilities"]) for each in both)
    step = int(np.abs(p - q).argmax())
    token = before["translation"]["tokens"][step]
    assert f"“{token}” had a probability of {100 * p[step]:.1f} %" in told
    tab(page, "Attention")
    page.get_by_role("tabpanel").get_by_label("show").select_option(label="what your changes move")
    assert page.locator(".talk .large .less").count(), "nothing is drawn of what a head has lost"
    # Words that change are marked, and not by a colour alone.
    tab(page, "Change")
    panel = page.get_by_role("tabpanel")
    panel.get_by_label("change").select_option(label="make attention sharper or flatter")
    panel.get_by_label("factor").select_option(label="0.00")
    panel.get_by_role("button", name="Change it").click()
    settled(page)
    marks = page.locator('.result[data-column="changed"] mark')
    assert marks.count() and "underline" in marks.first.evaluate(
        "e => getComputedStyle(e).textDecorationLine"
    )
    assert page.locator(".talk .said.differs .spoken", has_text="changed").count()
    assert seen.problems == []


# --- a phone, a slow connection -------------------------------------------------------------------


def test_on_a_phone_the_result_stays_in_sight_and_a_finger_reads_the_map(talk) -> None:
    seen = talk(text=CAPTION, width=NARROW)
    page = seen.page
    page.set_viewport_size({"width": NARROW, "height": 740})
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def touch(place: dict) -> None:
        point = {"x": place["x"] + place["width"] / 2, "y": place["y"] + place["height"] / 2}
        session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    try:
        load(page)
        tab(page, "Change")
        button = page.get_by_role("button", name="Change it")
        button.scroll_into_view_if_needed()
        touch(button.bounding_box())
        page.locator('.result[data-column="changed"]').wait_for()
        settled(page)
        header = page.locator(".bd-header-article").bounding_box()
        for result in page.locator(".talk .result").all():
            place = result.bounding_box()
            assert place["y"] + place["height"] <= 740, "the result is below the screen"
            assert place["y"] >= header["height"] - 1, "the result is below the header"
        tab(page, "Attention")
        cell = page.locator(".talk .large .weight").first
        cell.evaluate("e => e.scrollIntoView({block: 'end'})")  # not below the result
        touch(cell.bounding_box())
        page.locator(".talk .readout", has_text="looks at").wait_for()
    finally:
        session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        session.detach()
    assert seen.problems == []


def test_beside_the_map_the_sentence_stays_in_sight_and_nothing_is_cut_off(talk) -> None:
    page = talk(text=CAPTION, width=820).page
    page.set_viewport_size({"width": 820, "height": 700})
    load(page)
    settled(page)
    # No pane scrolls by itself: what is too long for the screen scrolls with the page.
    assert (
        page.eval_on_selector_all(
            ".talk .panes > *, .talk .held",
            "all => all.filter(e => e.scrollHeight > e.clientHeight + 1).map(e => e.className)",
        )
        == []
    )
    last = page.locator(".talk .look-pane details").last
    last.evaluate("e => e.scrollIntoView({block: 'end'})")
    page.wait_for_function("window.scrollY > 100")
    header = page.locator(".bd-header-article").bounding_box()
    for shown in (page.locator(".talk textarea"), page.locator(".talk .result").first):
        place = shown.bounding_box()
        assert header["height"] - 1 <= place["y"] <= 700 - place["height"]


@pytest.mark.parametrize(
    ("begin", "state", "loads"),
    [
        (CONNECTION, {}, True),
        (CONNECTION, {"model": "multi30k-de-en"}, False),
        (METERED, {}, False),
        (CONNECTION.replace("4g", "3g"), {}, False),
        (CONNECTION.replace("{eff", "{type: 'cellular', eff"), {}, False),
    ],
)
def test_a_small_model_loads_by_itself_unless_that_costs(begin, state, loads, talk) -> None:
    seen = talk(begin=begin, **state)
    page = seen.page
    if loads:  # when the browser is idle: until then the page offers to load it
        status = page.locator(".talk > .status").filter(has_text=re.compile("^Translation"))
        status.wait_for(state="attached")
        settled(page)
        assert said(page) == "The small boy is playing in the garden."
        assert page.url.endswith("talk.html"), "the page has changed its address by itself"
        assert page.evaluate("document.activeElement === document.body"), "it has taken the focus"
    else:
        page.evaluate("new Promise(idle => requestIdleCallback(idle))")
        page.evaluate("new Promise(idle => requestIdleCallback(idle))")
        assert not [each for each in seen.requests if "safetensors" in each]
        assert page.get_by_role("button", name="Load the model").is_visible()
        page.get_by_role("button", name="Translate").click()  # asks for it
        settled(page)
        assert said(page).endswith(".")
    assert seen.problems == []


def test_each_control_has_a_line_of_help_and_the_first_examples_are_answered_rightly(
    talk,
    package,
) -> None:
    page = talk().page
    tab(page, "Change")
    panel = page.get_by_role("tabpanel")
    for i in range(panel.get_by_label("change").locator("option").count()):
        panel.get_by_label("change").select_option(index=i)
        for field in panel.locator("select").all():
            described = field.get_attribute("aria-describedby")
            assert page.locator(f"[id='{described}']").inner_text().endswith(".")
    series = package("series")
    for text in EXAMPLES["series"][:2]:
        assert series.translate(text) == series.encode(text).right
    models = json.loads(page.locator("script.talk-models").text_content())["models"]
    assert [each["examples"] for each in models] == list(EXAMPLES.values())


def test_the_tree_has_as_many_beams_as_the_model_is_shipped_with(talk, package) -> None:
    text = "Ein Hund schläft."
    seen = talk(model="multi30k-de-en", text=text)
    page = seen.page
    load(page)
    tab(page, "Beam")
    page.get_by_role("button", name="Draw the tree of the search").press("Enter")
    tree = page.locator('[data-explorer="BeamExplorer"]')
    tree.wait_for()
    best = package("multi30k-de-en").search([text])[0]
    assert tree.locator("output").first.inner_text() == "5"
    shown = tree.locator('[data-number="result.sentence"]').first.inner_text()
    assert shown == " ".join(best.tokens)
    assert seen.problems == []
