"""“Talk to the model” in a real browser, with all other hosts cut off.

What the page says is what the package says: translations, probabilities, runners-up, and what
becomes of them when a token is forced or a part of the model is switched off.
"""

from __future__ import annotations

import re
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Error, Route

from tests.site.accessibility import NARROW, cut_options, resize, violations, width_of
from tests.site.talk_page import (
    CAPTION,
    METERED,
    PAGE,
    agree,
    ask,
    focused,
    force,
    goes_on,
    load,
    said,
    said_by,
    settled,
    shipped,
    steps,
    stopped_at_the_first_token,
    switch_off,
    tab,
    undo,
)
from tests.system import PATIENCE
from tests.test_talk_links import queries
from transformer_book.layers import Residual
from transformer_book.studies.inspection import silenced_heads
from transformer_book.studies.interventions import changed
from transformer_book.translator import Translator
from transformer_book.verified import verified_search
from transformer_book.widgets import BeamExplorer
from transformer_book.widgets.beam import LONGEST
from transformer_book.widgets.talk import Talk, answers

# Of this project's own making, as all sentences here.
PHOTOGRAPH = "Zwei junge Männer spielen vor einem großen Haus mit einem Hund Fußball."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("captions-de-en", CAPTION),
        ("captions-en-it", "The boy isn't sleeping on the small sofa."),
        ("multi30k-de-en", PHOTOGRAPH),
        ("multi30k-de-en", "Ein Eisvogel isst Käsespätzle, ein Eisvogel nicht."),
        ("multi30k-en-de", "An old man with a red cap doesn't look into the camera."),
        ("series", "exp(a*x) * sin(b*x)"),
    ],
)
def test_the_page_says_what_the_package_says(name, text, talk, package, tell) -> None:
    seen = talk(model=name)
    load(seen.page)
    ask(seen.page, text)
    translator = package(name)
    (greedy,) = translator.search([text], beam_size=1, n_candidates=6)
    assert said(seen.page) == greedy.text
    agree(steps(seen.page), said_by(greedy))
    agree(steps(seen.page, "candidate"), list(greedy.candidates[0]))
    if translator.decoding.beam_size > 1:
        assert shipped(seen.page) == translator.translate(text)
    rare = seen.page.locator(".talk .columns .note", has_text="Seldom or never seen in training")
    named = greedy.rare if translator.known_words else ()  # of unknown words, the frames tell
    assert rare.all_inner_texts() == [
        f"Seldom or never seen in training: {', '.join(named)}." for _ in named[:1]
    ]
    assert greedy.text in seen.page.locator(".talk > .status").inner_text()
    assert seen.problems == []
    note = seen.page.locator(".talk .note", has_text="tokens per second").inner_text()
    tell(f"{name} in Chromium, {len(greedy.tokens)} tokens: {note}")


def test_a_runner_up_that_is_forced_is_said_and_the_model_goes_on(talk, package) -> None:
    seen = talk(model="captions-de-en", text=CAPTION)
    load(seen.page)
    translator = package("captions-de-en")
    (greedy,) = translator.search([CAPTION], beam_size=1, n_candidates=6)
    step = 2
    seen.page.locator(".talk .said").nth(step).click()
    agree(steps(seen.page, "candidate"), list(greedy.candidates[step]))
    token = greedy.candidates[step][1][0]
    seen.page.locator(".talk .candidate").nth(1).click()
    settled(seen.page)
    right = goes_on(translator, CAPTION, [*greedy.tokens[:step], token])
    assert [t for t, _ in steps(seen.page)] == right
    assert "force=" in seen.page.url
    assert seen.problems == []


def test_a_head_that_is_switched_off_is_off_in_python_too(talk, package) -> None:
    """By the controls of the page, and by the address that it then has."""
    seen = talk(model="captions-de-en", text=CAPTION)
    load(seen.page)
    page = seen.page
    switch_off(page, layer=2, head=3)
    translator = package("captions-de-en")
    attention = translator.model.decoder.layers[1].cross_attention
    before = translator.search([CAPTION], beam_size=1)[0]
    with silenced_heads(attention, 2):
        (greedy,) = translator.search([CAPTION], beam_size=1)
        best = translator.translate(CAPTION)
    assert greedy.tokens != before.tokens or greedy.probabilities != before.probabilities
    page.wait_for_function("document.querySelectorAll('.talk .shipped').length === 2")
    assert (said(page), said(page, "changed")) == (before.text, greedy.text)
    agree(steps(page), said_by(greedy))
    assert shipped(page, 1) == best
    assert "change=head%3Across.1.2" in page.url
    page.reload()
    page.locator(".talk textarea").wait_for()
    load(page)
    page.wait_for_function("document.querySelectorAll('.talk .shipped').length === 2")
    assert said(page, "changed") == greedy.text
    page.get_by_role("button", name="Take back").click()
    page.locator('.talk .result[data-column="changed"]').wait_for(state="hidden")
    assert "change=" not in page.url
    assert seen.problems == []


def test_what_a_link_changes_is_what_the_page_shows(talk, package) -> None:
    """The residual connections of one layer: without them the sentence falls apart."""
    seen = talk(model="multi30k-de-en", text=PHOTOGRAPH, change=["residual:decoder.0", "scale:1"])
    load(seen.page)
    translator = Translator.from_pretrained("multi30k-de-en")
    for module in translator.model.modules():
        if hasattr(module, "scale") and hasattr(module, "n_heads"):
            module.scale = 1.0
    for module in translator.model.decoder.layers[0].modules():
        if isinstance(module, Residual):
            module.residual = False
    (right,) = translator.search([PHOTOGRAPH], beam_size=1)
    assert said(seen.page) == package("multi30k-de-en").translate(PHOTOGRAPH, beam_size=1)
    assert said(seen.page, "changed") == right.text
    assert seen.problems == []


@pytest.mark.parametrize("chapter", ["12_encoder"])
def test_a_link_of_a_chapter_leads_to_what_it_says(
    chapter, site: Path, serve, visit, package
) -> None:
    """From the page of the chapter, on this site, with the change already made."""
    seen = visit(f"{serve(site)}/chapters/{chapter}.html", begin=METERED)
    links = seen.page.locator('a[href*="talk.html?"]')
    (address,) = links.evaluate_all("all => all.map(a => a.getAttribute('href'))")
    query = queries(chapter[:2])[0]
    assert address == f"../{PAGE}?{query}"
    asked = parse_qs(query)
    links.click()
    seen.page.locator(".talk textarea").wait_for()
    load(seen.page)
    (name,), (text,) = asked["model"], asked["text"]
    translator = package(name)
    assert said(seen.page) == translator.translate(text, beam_size=1)
    with changed(translator.model, asked["change"]):
        assert said(seen.page, "changed") == translator.translate(text, beam_size=1)


def test_a_wrong_link_is_answered_in_one_sentence(talk) -> None:
    seen = talk(model="series", text="sin(a*x)", change="head:cross.7.0")
    load(seen.page)
    assert (
        "cannot be changed by “head:cross.7.0”" in seen.page.locator(".talk .notice").inner_text()
    )
    assert said(seen.page)  # the model as it was trained
    assert seen.problems == []


def test_bad_input_is_answered_in_one_sentence_and_the_model_goes_on(talk, package) -> None:
    seen = talk(model="multi30k-de-en", text="Ein Hund.")
    load(seen.page)
    page, notice = seen.page, seen.page.locator(".talk .notice")
    for text, sentence in (
        ("", "There is nothing to translate: the text is empty."),
        (" \u200b\x07 ", "There is nothing to translate: the text is empty."),
        ("Hund " * 2000, "this model reads at most 128; translate it sentence by sentence."),
    ):
        ask(page, text)
        assert notice.inner_text().endswith(sentence)
    for text in ("ア" * 9, "Ein\x00 Hund\u00ad sch\x1fläft", "🐕🐕🏽‍🦺"):
        ask(page, text)
        assert notice.inner_text() == ""
        assert said(page) == package("multi30k-de-en").translate(text, beam_size=1)
    page.get_by_label("model", exact=True).select_option(label="formula → its Taylor series")
    load(page)
    for wrong in ("2x", "sin(x+1)", "1/(sin(a*x)+sin(b*x))"):
        ask(page, wrong)
        with pytest.raises(ValueError) as error:
            package("series").encode(wrong)
        assert notice.inner_text() == str(error.value)
    ask(page, "sin(a*x)")
    assert said(page) == package("series").translate("sin(a*x)")
    assert page.locator(".talk .note", has_text="Checked: agrees to O(x**6).").count() == 1
    # The answer to this one is wrong: among the candidates of a beam stands a right one.
    ask(page, "sin(a*x)**2*exp(b*x)")
    page.get_by_role("button", name="Look for an answer that passes").press("Enter")
    page.get_by_text("this one passes").wait_for()
    right = verified_search(package("series"), "sin(a*x)**2*exp(b*x)", 16)
    assert right.passed and right.translation.text != said(page)
    assert page.locator(".talk .note .shipped").inner_text() == right.translation.text
    assert page.locator(":focus").get_by_text(f"{right.checks} different ones").count() == 1
    assert seen.problems == []


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"\x07", "it is cut off"),
        (b"<!doctype html>" * 9, "no safetensors file"),
        (b"\x02\0\0\0\0\0\0\0{}", "it belongs to another model"),
    ],
)
def test_a_damaged_model_is_named_and_can_be_loaded_again(body, sentence, talk) -> None:
    seen = talk(model="captions-de-en", text="Ein Hund schläft.")
    path = "**/model.safetensors*"
    seen.page.route(path, lambda route: route.fulfill(body=body))
    seen.page.get_by_role("button", name="Load the model").click()
    seen.page.locator(".talk .notice", has_text=sentence).wait_for()
    seen.page.unroute(path)
    load(seen.page)
    assert said(seen.page) == "A dog is sleeping."
    assert seen.problems == []


def test_loading_can_be_cancelled(talk) -> None:
    seen = talk(model="captions-de-en", text="Ein Hund schläft.")
    held: list[Route] = []
    seen.page.route("**/model.safetensors*", lambda route: held.append(route))
    with seen.page.expect_request("**/model.safetensors*"):
        seen.page.get_by_role("button", name="Load the model").click()
    assert seen.page.locator(".talk progress").is_visible()
    seen.page.get_by_role("button", name="Cancel").click()
    seen.page.locator(".talk .notice", has_text="Loading was cancelled.").wait_for()
    for route in held:
        with suppress(Error):  # the page may have let go of it
            route.abort()
    seen.page.unroute("**/model.safetensors*")
    load(seen.page)
    assert said(seen.page) == "A dog is sleeping."


def test_from_a_folder_one_sentence_says_why_it_cannot_work(site: Path, visit) -> None:
    seen = visit((site / PAGE).as_uri())
    place = seen.page.locator(".talk-place")
    assert re.match(
        r"Your browser runs the model only on pages that come from a server: \S.*\.$",
        place.inner_text(),
    )
    assert seen.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_while_it_talks(scheme, talk) -> None:
    seen = talk(
        model="series", text="cos(a*x)**2/sin(b*x)", change="average:cross.0.1", scheme=scheme
    )
    page = seen.page
    load(page)
    page.wait_for_function("document.querySelectorAll('.talk .small').length === 24")
    assert violations(page, ".bd-article") == []
    # By keyboard alone: one Tab stop for all steps, arrows between them.
    page.locator('.talk .columns [aria-pressed="true"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    pressed = page.locator(".talk .columns section").last.locator(".said").nth(1)
    assert pressed.get_attribute("aria-pressed") == "true"
    assert page.locator(".talk .candidates .title").inner_text().startswith("Step 2:")
    # The tabs are one Tab stop, too: an arrow opens the next.
    page.get_by_role("tab", name="Attention").focus()
    for name in ("Change", "Steps", "Beam"):
        page.keyboard.press("ArrowRight")
        panel = page.get_by_role("tabpanel", name=name)
        panel.locator("button, select").first.wait_for()
        assert focused(page) == name
        assert page.get_by_role("tabpanel").count() == 1
        assert violations(page, ".talk") == []
    page.keyboard.press("Home")
    resize(page, NARROW, 800)
    assert violations(page, ".bd-article") == []
    for name in ("Change", "Steps", "Beam"):
        tab(page, name)
        assert width_of(page) == NARROW
        assert cut_options(page) == []
    assert seen.problems == []


# --- the tree, the steps ---------------------------------------------------------------------------


def test_the_tree_and_the_steps_are_the_packages(talk, package) -> None:
    """Both for a sentence that the reader types; by keyboard, and read aloud."""
    changes = ["temperature:2"]
    seen = talk(model="captions-de-en", text=CAPTION, change=changes)
    page = seen.page
    load(page)
    translator = package("captions-de-en")
    (greedy,) = translator.search([CAPTION], beam_size=1)
    tab(page, "Beam")
    page.get_by_role("button", name="Draw the tree of the search").press("Enter")
    tree = page.locator('[data-explorer="BeamExplorer"]')
    tree.wait_for()
    *_, done = answers(translator, {"task": "beam", "text": CAPTION})
    explorer = BeamExplorer([done["search"]], beam_size=4, length_penalty=0.6, step=LONGEST)
    numbers = explorer.numbers()
    for path in ("result.sentence", "greedy.sentence", "verdict"):
        part = numbers
        for name in path.split("."):
            part = part[name]
        if path == "verdict":
            while page.locator("[data-tab=beam] [aria-disabled=false]", has_text="Step on").count():
                page.locator("[data-tab=beam] button", has_text="Step on").click()
        assert tree.locator(f'[data-number="{path}"]').first.inner_text() == part
    assert tree.get_by_label("search").locator("option").all_inner_texts() == [
        CAPTION,
        f"{CAPTION}, changed",
    ]

    tab(page, "Steps")
    fields = page.locator(".steps-of-token")
    fields.get_by_label("stack").select_option("0")
    fields.get_by_label("layer").select_option(label="2")
    fields.get_by_label("token").select_option("3")
    fields.get_by_role("button", name="step 9: weights").click()
    ids = translator.target_vocabulary.tokens
    question = {
        "task": "steps",
        "text": CAPTION,
        "tokens": [ids.index(token) for token in greedy.tokens],
        "stack": "encoder",
        "layer": 1,
        "position": 3,
        "changes": changes,
    }
    *_, done = answers(translator, question)
    stages = [step["stage"] for step in done["steps"]]
    page.wait_for_function(
        "n => document.querySelectorAll('.steps-of-token .stages button').length === n",
        arg=len(stages),
    )
    weights = done["steps"][stages.index("weights")]
    fields.locator("summary").press("Enter")
    fields.locator("td").first.wait_for()
    shown = fields.locator("td").all_inner_texts()
    H, S = weights["shape"]
    right = weights["data"].reshape(H, S).T.flatten()
    assert [float(x.replace("−", "-")) for x in shown] == pytest.approx(right, abs=6e-4)
    assert f"(H, S) = ({H}, {S})" in fields.inner_text()
    assert violations(page, ".bd-article") == []
    resize(page, NARROW, 800)
    assert width_of(page) == NARROW
    assert seen.problems == []


# --- in a notebook ----------------------------------------------------------------------------------

SHOW = """async ([code, css, about]) => {
    document.head.append(Object.assign(document.createElement("style"), {textContent: css}));
    const address = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
    const {default: {render}} = await import(address);
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    let hear;
    render({
        el: document.body,
        model: {
            get: () => about,
            on: (event, heard) => (hear = heard),
            off: () => {},
            send: async question => {
                for (const [answer, numbers] of await python(question)) hear(answer, numbers.map(bytes));
            },
        },
    });
}"""


def test_in_a_notebook_python_answers_the_same_front_end(browser: Browser) -> None:
    """The widget's own module, style and state; its messages answered as the kernel does."""
    widget = Talk("captions-de-en", text=CAPTION, changes=["head:cross.1.2"])
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    sent: list[tuple[dict, list[str]]] = []
    asked: list[str] = []

    def send(content: dict, buffers: list[bytes]) -> None:
        sent.append((content, [b64encode(each).decode() for each in buffers]))

    def python(question: dict) -> list[tuple[dict, list[str]]]:
        sent.clear()
        asked.append(question["task"])
        widget._answer(widget, question, [])
        return list(sent)

    widget.send = send
    page.expose_function("python", python)
    page.set_content('<!doctype html><html lang="en"><title>notebook</title><body>')
    page.evaluate(SHOW, [widget._esm, widget._css, widget.about])
    settled(page)
    translator = widget.translator
    (before,) = translator.search([CAPTION], beam_size=1)
    attention = translator.model.decoder.layers[1].cross_attention
    with silenced_heads(attention, 2):
        (after,) = translator.search([CAPTION], beam_size=1)
    assert (said(page), said(page, "changed")) == (before.text, after.text)
    agree(steps(page), said_by(after))
    asked.clear()
    first = stopped_at_the_first_token(page)
    page.wait_for_function("() => python({task: 'next'}).then(() => true)")
    assert before.text.startswith(first)
    assert asked == ["translate", "next", "next"]  # the last one is this test's own
    force(page, 0)
    undo(page)
    tab(page, "Steps")
    page.locator(".steps-of-token .stages button").first.wait_for()
    ask(page, "Ein Hund schläft.")
    tab(page, "Beam")
    page.get_by_role("button", name="Draw the tree of the search").click()
    page.locator('[data-explorer="BeamExplorer"]').wait_for()
    ask(page, "")
    assert "the text is empty" in page.locator(".talk .notice").inner_text()
    page.close()
