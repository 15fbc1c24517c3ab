"""The website as the tests see it: built once, served locally, looked at in a browser."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from build_site import build_site
from common import ALONE, ROOT, served
from filelock import FileLock
from playwright.sync_api import Browser, Error, Locator, Page, Request, sync_playwright

from tests.site.scratch import write_scratch_book
from tests.site.talk_page import METERED
from tests.site.talk_page import PAGE as TALK
from tests.system import PATIENCE, built_once, chromium
from transformer_book.translator import Translator

FLAGS = [
    *ALONE,
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Most pages are left after seconds: to optimise their scripts, and to look often for garbage, takes
# longer than it saves.
ROOM = "--min-semi-space-size=64 --max-semi-space-size=128"  # megabytes


# As a reader has it who has once asked for all of a chapter (book/assets/js/further.js).
UNFOLDED = 'try { localStorage.setItem("transformer-book-further", "all") } catch {}'

# What takes minutes begins first, so that no process ends long after the others. While one process
# builds the site, for the explorers, another has those that need none.
FIRST = ("test_widgets", "test_jupyterlab", "test_slides", "test_heads", "test_pages_served")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The website comes last: it shows the outputs that the chapters' tests have just validated."""
    here = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        if here not in item.path.parents:
            return 0
        name = item.path.stem
        return 1 + (FIRST.index(name) if name in FIRST else len(FIRST))

    items.sort(key=place)


def built(root: Path, output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(output / ".building"):  # another test run may be at it
            return build_site(root, output, execute="off", quiet=True)
    except subprocess.CalledProcessError as error:
        said = (error.stdout + error.stderr).splitlines()
        wrong = [line for line in said if "WARNING" in line or "ERROR" in line] or said[-20:]
        pytest.fail("The website does not build:\n" + "\n".join(wrong), pytrace=False)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book, built from the committed outputs; warnings are errors."""
    return built_once(tmp_path_factory, "site", lambda: built(ROOT, ROOT / "_build" / "tests"))


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book with the real configuration: one notebook of boxes, figures and widgets."""

    def build() -> Path:
        root = tmp_path_factory.mktemp("scratch")
        write_scratch_book(root)
        return built(root, root)

    return built_once(tmp_path_factory, "scratch", build)


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[[str], Browser]]:
    """A function that starts a browser: flags of its JavaScript -> it."""
    with sync_playwright() as playwright:

        def started(flags: str) -> Browser:
            flags_ = [*FLAGS, f"--js-flags={flags}"]
            return playwright.chromium.launch(executable_path=chromium(), args=flags_)

        yield started


@pytest.fixture(scope="session")
def browser(launch: Callable[[str], Browser]) -> Iterator[Browser]:
    """For pages that compute."""
    with launch(ROOM) as browser:
        yield browser


@pytest.fixture(scope="session")
def reading_browser(launch: Callable[[str], Browser]) -> Iterator[Browser]:
    """For pages that are looked at."""
    with launch(f"--no-opt {ROOM}") as browser:
        yield browser


@pytest.fixture(scope="session")
def serve() -> Iterator:
    """A function: folder -> address of a local server that shows it."""
    addresses: dict[Path, str] = {}
    with ExitStack() as open_servers:

        def address(folder: Path) -> str:
            if folder not in addresses:
                addresses[folder] = open_servers.enter_context(served(folder)).rstrip("/")
            return addresses[folder]

        yield address


@dataclass
class Visit:
    """An open page, and everything that went wrong while it was loaded and used."""

    page: Page
    requests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until scripts have run and fonts are there."""
        self.page.wait_for_load_state("load")
        self.page.evaluate("document.fonts.ready.then(() => undefined)")

    def explorer(self, name: str) -> Locator:
        """The page's explorer of this name, once it is there: it is made when one comes near."""
        place = self.page.locator(f'.explorer-place[data-name="{name}"]').first
        place.scroll_into_view_if_needed()
        made = place.locator(f'[data-explorer="{name}"]').first
        made.wait_for()
        return made

    def go(self, address: str) -> None:
        """Another page in place of this one: what both load is not read and compiled anew."""
        self.page.goto("about:blank")  # what is cut off by leaving is no problem of the next page
        self.requests.clear()
        self.problems.clear()
        self.page.goto(address)
        self.settle()


# A visit begins with nothing kept, of whatever origin its pages are; within it, all is kept.
FORGET = """try {
    if (sessionStorage.getItem("visit") !== "NUMBER") {
        localStorage.clear();
        sessionStorage.clear();
        sessionStorage.setItem("visit", "NUMBER");
    }
} catch {}"""


class Tab:
    """A window of the browser, for one visit after the other.

    A new window has a process of its own, which reads and compiles anew what all pages load: that
    is more than half of the work of showing one. So a visit takes a window that another has left,
    as if it were new: nothing is kept, and the pointer is outside.
    """

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context(reduced_motion="reduce")
        self.context.set_default_timeout(1000 * PATIENCE)
        self.page = page = self.context.new_page()
        self.session = self.context.new_cdp_session(page)
        self.session.send("Page.enable")
        self.begins: list[str] = []  # the scripts that run before any of a page
        self.n_visits = 0
        self.seen: Visit | None = None

        def asked(request: Request) -> None:
            if self.seen:
                parts = urlsplit(request.url)
                self.seen.requests.append(request.url)
                if parts.scheme not in {"file", "data", "blob"} and parts.hostname != "127.0.0.1":
                    self.seen.problems.append(f"asks another host: {request.url}")

        def wrong(what: str) -> None:
            if self.seen:
                self.seen.problems.append(what)

        page.on("request", asked)
        page.on("requestfailed", lambda r: wrong(f"fails to load: {r.url}"))
        page.on("response", lambda r: wrong(f"{r.status}: {r.url}") if r.status >= 400 else None)
        page.on("pageerror", lambda error: wrong(f"script error: {error}"))
        page.on("console", lambda m: wrong(f"console: {m.text}") if m.type == "error" else None)

    def visit(self, address: str, width: int, scheme: str, begins: list[str]) -> Visit:
        self.n_visits += 1
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="null", color_scheme=scheme, reduced_motion="reduce")
        for script in (FORGET.replace("NUMBER", str(self.n_visits)), *begins):
            added = self.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": script})
            self.begins.append(added["identifier"])
        self.seen = Visit(self.page)
        self.page.goto(address)
        self.seen.settle()
        return self.seen

    def leave(self) -> bool:
        """Make ready for another visit; say whether there can be one."""
        self.seen = None
        try:
            self.page.unroute_all()
            self.page.goto("about:blank")
            self.page.mouse.up()  # a test that has failed may have left it down
            self.page.mouse.move(-10, -10)
            for script in self.begins:
                known = {"identifier": script}
                self.session.send("Page.removeScriptToEvaluateOnNewDocument", known)
            self.begins.clear()
            if self.context.pages == [self.page]:
                return True
        except Error:  # it has crashed, or is closed
            pass
        self.context.close()
        return False


@pytest.fixture(scope="session")
def tabs() -> dict[str, list[Tab]]:
    """The windows that are free, by the scheme of what they have shown: each has its process."""
    return defaultdict(list)


@pytest.fixture
def visit(reading_browser: Browser, tabs: dict[str, list[Tab]]) -> Iterator:
    """A function that opens an address, allowing no host but this machine.

    begin: a script that runs before any of the page.
    """
    taken = []

    def opened(
        address: str,
        *,
        width: int = 1280,
        scheme: str = "light",
        folded: bool = False,
        begin: str = "",
    ) -> Visit:
        free = tabs[urlsplit(address).scheme]
        tab = free.pop() if free else Tab(reading_browser)
        taken.append((tab, free))
        # The questions are about all of a page.
        begins = [*([] if folded else [UNFOLDED]), *([begin] if begin else [])]
        return tab.visit(address, width, scheme, begins)

    yield opened
    for tab, free in taken:
        if tab.leave():
            free.append(tab)


@pytest.fixture(scope="session")
def package() -> Callable[[str], Translator]:
    """A function: name -> that model as the package has it."""
    return cache(Translator.from_pretrained)


@pytest.fixture
def talk(site: Path, serve, visit):
    """A function that opens “Talk to the model” with a state in its address, by name.

    A small model loads by itself only if `begin` lets it.
    """

    def opened(*, width: int = 1280, scheme: str = "light", begin: str = METERED, **state):
        address = f"{serve(site)}/{TALK}{'?' if state else ''}{urlencode(state, doseq=True)}"
        seen = visit(address, width=width, scheme=scheme, begin=begin)
        seen.page.locator(".talk textarea").wait_for()
        return seen

    return opened
