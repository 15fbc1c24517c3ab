"""“Talk to the model” as the tests use it: what they press, and what it then shows."""

from __future__ import annotations

import pytest
import torch
from playwright.sync_api import Page

from transformer_book.tokens import EOS, PAD, SOS
from transformer_book.translator import Translation, Translator

PAGE = "book/talk.html"
CAPTION = "Der kleine Junge spielt mit einem Hund im Garten."
# What a browser says of its connection; where each byte may cost, no model loads unless asked for.
CONNECTION = 'Object.defineProperty(navigator, "connection", {value: {effectiveType: "4g"}});'
METERED = CONNECTION.replace("{effective", "{saveData: true, effective")


def load(page: Page) -> None:
    page.get_by_role("button", name="Load the model").click()
    settled(page)


def settled(page: Page) -> None:
    """Wait until the page has told what became of the text, or offers to load the model."""
    page.wait_for_function(
        """() => { const talk = document.querySelector(".talk");
        const offers = b => b.textContent.startsWith("Load the model") && !b.hidden;
        return !talk.hasAttribute("data-busy")
            && (talk.querySelector(":scope > .status").textContent.startsWith("Translation")
            || talk.querySelector(".notice").textContent !== ""
            || [...talk.querySelectorAll("button")].some(offers)); }"""
    )


def ask(page: Page, text: str) -> None:
    page.locator(".talk textarea").fill(text)
    page.locator(".talk > .status").evaluate("e => (e.textContent = '')")
    page.get_by_role("button", name="Translate", exact=True).click()
    settled(page)


def said(page: Page, column: str = "trained") -> str:
    return page.locator(f'.talk .result[data-column="{column}"]').inner_text()


def shipped(page: Page, n: int = 0) -> str:
    return page.locator(".talk .shipped").nth(n).inner_text()


def steps(page: Page, kind: str = "said") -> list[tuple[str, float]]:
    """Tokens and their probabilities in per cent, as the page shows them."""
    columns = page.locator(".talk .columns section:not([hidden])")
    buttons = (columns.last if kind == "said" else page.locator(".talk .candidates")).locator(
        f".{kind}:not(.stale)"
    )
    shown = buttons.evaluate_all(
        "all => all.map(e => [e.children[0].textContent, e.children[1].textContent])"
    )
    return [(token, float(p.removesuffix(" %"))) for token, p in shown]


def agree(shown: list[tuple[str, float]], right: list[tuple[str, float]]) -> None:
    assert [token for token, _ in shown] == [token for token, _ in right]
    assert [p for _, p in shown] == pytest.approx([100 * p for _, p in right], abs=0.06)


def said_by(found: Translation) -> list[tuple[str, float]]:
    return list(zip(found.tokens, found.probabilities, strict=True))


@torch.no_grad()
def goes_on(translator: Translator, text: str, said: list[str]) -> list[str]:
    """All tokens, if the model has said these and goes on greedily: step by step, without a cache."""
    ids = [SOS, *translator.target_vocabulary.encode(said)]
    source = torch.tensor([translator.encode(text).ids])
    while ids[-1] != EOS:
        logits = translator.model(source, torch.tensor([ids]))[0, -1]
        logits[[PAD, SOS]] = -torch.inf
        ids.append(int(logits.argmax()))
    return [translator.target_vocabulary.tokens[i] for i in ids[1:]]


def focused(page: Page) -> str:
    """The text of what has the focus."""
    return page.evaluate("document.activeElement.textContent")


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def force(page: Page, step: int) -> None:
    """Press the first runner-up of a step."""
    page.locator(".talk .said").nth(step).click()
    page.locator(".talk .candidate").nth(1).click()
    settled(page)


def undo(page: Page) -> None:
    page.get_by_role("button", name="Undo").click()
    settled(page)


def switch_off(page: Page, *, layer: int, head: int) -> None:
    """Switch off a head of cross-attention by the controls; both are counted from 1."""
    tab(page, "Change")
    fields = page.get_by_role("tabpanel", name="Change")
    for label, value in (("layer", layer), ("head", head)):
        fields.get_by_label(label, exact=True).select_option(label=str(value))
    fields.get_by_role("button", name="Change it").click()
    settled(page)


# Press “Translate”, and “Stop” once the first token is there: before any message may come.
STOP_AT_FIRST = """() => new Promise(done => {
    const talk = document.querySelector(".talk");
    const press = name => [...talk.querySelectorAll("button")].find(each => each.textContent === name).click();
    new MutationObserver((_, observer) => {
        if (talk.querySelectorAll(".columns section:not([hidden]) .said:not(.stale)").length !== 1) return;
        observer.disconnect();
        press("Stop");
        done();
    }).observe(talk, {childList: true, subtree: true});
    press("Translate");
})"""


def stopped_at_the_first_token(page: Page) -> str:
    """Translate and stop as soon as anything is said: what is shown."""
    page.evaluate(STOP_AT_FIRST)
    page.locator(".talk .notice", has_text="Stopped.").wait_for()
    assert len(steps(page)) == 1
    return said(page)
