"""The website as the tests see it: built once, served locally, looked at in a browser."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from build_site import build_site
from common import ALONE, ROOT, served
from filelock import FileLock
from playwright.sync_api import Browser, Page, Request, sync_playwright

from tests.site.scratch import write_scratch_book
from tests.system import PATIENCE, chromium

FLAGS = [
    *ALONE,
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# As a reader has it who has once asked for all of a chapter (book/assets/js/further.js).
UNFOLDED = 'try { localStorage.setItem("transformer-book-further", "all") } catch {}'

# What takes minutes begins first, so that no process ends long after the others.
LONG = ("test_widgets", "test_pages_served")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The website comes last: it shows the outputs that the chapters' tests have just validated."""
    here = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        if here not in item.path.parents:
            return 0
        return 1 + (LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))

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


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[], Path]) -> Path:
    """The folder that `build` gives, called by one of the processes that test side by side."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of this run, and of all its processes
    note = base / f"{name}-is-built"
    with FileLock(base / f".{name}"):
        if not note.exists():
            note.write_text(str(build()), encoding="utf-8")
    return Path(note.read_text(encoding="utf-8"))


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
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


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
        """Wait until scripts have run and formulas are set."""
        self.page.wait_for_load_state("load")
        self.page.evaluate("document.fonts.ready.then(() => window.MathJax?.startup?.promise)")

    def go(self, address: str) -> None:
        """Another page in place of this one: what both load is not read and compiled anew."""
        self.page.goto("about:blank")  # what is cut off by leaving is no problem of the next page
        self.requests.clear()
        self.problems.clear()
        self.page.goto(address)
        self.settle()


@pytest.fixture
def visit(browser: Browser) -> Iterator:
    """A function that opens an address, allowing no host but this machine.

    begin: a script that runs before any of the page.
    """
    contexts = []

    def opened(
        address: str,
        *,
        width: int = 1280,
        scheme: str = "light",
        folded: bool = False,
        begin: str = "",
    ) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        if not folded:  # the questions are about all of a page
            context.add_init_script(UNFOLDED)
        if begin:
            context.add_init_script(begin)
        page = context.new_page()
        seen = Visit(page)

        def asked(request: Request) -> None:
            parts = urlsplit(request.url)
            seen.requests.append(request.url)
            if parts.scheme not in {"file", "data", "blob"} and parts.hostname != "127.0.0.1":
                seen.problems.append(f"asks another host: {request.url}")

        page.on("request", asked)
        page.on("requestfailed", lambda r: seen.problems.append(f"fails to load: {r.url}"))
        page.on(
            "response",
            lambda r: seen.problems.append(f"{r.status}: {r.url}") if r.status >= 400 else None,
        )
        page.on("pageerror", lambda error: seen.problems.append(f"script error: {error}"))
        page.on(
            "console",
            lambda m: seen.problems.append(f"console: {m.text}") if m.type == "error" else None,
        )
        page.goto(address)
        seen.settle()
        return seen

    yield opened
    for context in contexts:
        context.close()
