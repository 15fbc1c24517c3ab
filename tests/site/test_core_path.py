"""The core path on the website: what is further is folded until it is asked for."""

from __future__ import annotations

from pathlib import Path

PAGE = "chapters/08_plain.html"
SECRET, IN_IT, SECOND = "The first secret.", "Its end.", "The second secret."


def visible(page) -> set[str]:
    return {t for t in (SECRET, IN_IT, SECOND, "Seen by all.") if page.get_by_text(t).is_visible()}


ALL = {SECRET, IN_IT, SECOND, "Seen by all."}


def test_a_first_visitor_sees_the_core_and_its_headings(scratch: Path, serve, visit) -> None:
    seen = visit(f"{serve(scratch)}/{PAGE}", folded=True)
    assert visible(seen.page) == {"Seen by all."}
    for heading in ("Further: A branch, and more", "Further: A second branch"):
        assert seen.page.get_by_role("heading", name=heading).is_visible()
    assert "2 further sections are folded." in seen.page.get_by_role("status").inner_text()
    assert seen.problems == []


def test_the_choice_is_kept_for_the_other_chapters(scratch: Path, serve, visit) -> None:
    page = visit(f"{serve(scratch)}/{PAGE}", folded=True).page
    page.get_by_role("button", name="All of it").press("Enter")
    assert visible(page) == ALL
    page.reload()
    assert visible(page) == ALL
    assert page.get_by_role("button", name="All of it").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="The core").click()
    page.reload()
    assert visible(page) == {"Seen by all."}


def test_one_section_opens_by_its_button(scratch: Path, serve, visit) -> None:
    page = visit(f"{serve(scratch)}/{PAGE}", folded=True).page
    button = page.get_by_role("button", name="Show this section").first
    button.press("Enter")
    assert visible(page) == {SECRET, IN_IT, "Seen by all."}
    assert page.get_by_text("1 further section is folded.").is_visible()
    page.get_by_role("button", name="Fold this section").click()
    assert visible(page) == {"Seen by all."}


def test_a_link_opens_what_it_leads_into(scratch: Path, serve, visit) -> None:
    address = f"{serve(scratch)}/{PAGE}"
    seen = visit(address, folded=True)
    page = seen.page
    for anchor in ("in-it", "a-branch-and-more", "further-a-branch-and-more"):
        seen.go(f"{address}#{anchor}")
        assert visible(page) == {SECRET, IN_IT, "Seen by all."}, anchor
    seen.go(address)
    assert visible(page) == {"Seen by all."}
    page.evaluate("location.hash = 'in-it'")
    page.get_by_text(IN_IT).wait_for()
    seen.go(f"{serve(scratch)}/chapters/07_scratch.html")
    page.get_by_role("link", name="its part", exact=True).click()
    page.get_by_text(IN_IT).wait_for()


def test_a_search_in_the_page_opens_what_it_finds(scratch: Path, serve, visit) -> None:
    page = visit(f"{serve(scratch)}/{PAGE}", folded=True).page
    bodies = page.locator(".further-body")
    assert bodies.evaluate_all("all => all.every(e => e.hidden === 'until-found')")
    bodies.first.dispatch_event("beforematch")
    assert visible(page) == {SECRET, IN_IT, "Seen by all."}


def test_paper_shows_everything(scratch: Path, serve, visit) -> None:
    page = visit(f"{serve(scratch)}/{PAGE}", folded=True).page
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert visible(page) == ALL
    assert not page.locator(".further-bar").is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert visible(page) == {"Seen by all."}


def test_without_a_script_nothing_is_folded(scratch: Path, browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((scratch / PAGE).as_uri())
    assert visible(page) == ALL
    context.close()
