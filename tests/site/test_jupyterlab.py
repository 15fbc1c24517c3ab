"""The explorers in JupyterLab: a real server and kernel, and Python sees what the reader moved."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import nbformat
import psutil
import pytest
from common import ROOT
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Locator, Page

from tests.site.talk_page import (
    CAPTION,
    agree,
    ask,
    force,
    goes_on,
    said,
    said_by,
    settled,
    shipped,
    steps,
    stopped_at_the_first_token,
    switch_off,
    undo,
)
from tests.site.test_widgets import (
    by_pointer,
    control,
    disagreeing,
    names_and_places,
    names_of_controls,
    saved,
    shown,
    state,
)
from tests.site.widget_cases import CASES, Case
from tests.system import PATIENCE
from transformer_book.studies.inspection import silenced_heads
from transformer_book.translator import Translator
from transformer_book.widgets import GeometryExplorer, MaskExplorer

NOTEBOOK = "explorers.ipynb"
# The names that the chapter's own cell uses, and the traits of its explorer that they hold.
GIVEN = {
    GeometryExplorer: {"q": "query", "K": "key", "V": "value"},
    MaskExplorer: {"read": "source", "written": "target"},
}
CHOSEN = [case for case in CASES if case.widget in GIVEN]
# Python hears of each change, computes, and answers: first the numbers, then the state.
ANSWER = """\
import json

import ipywidgets
from IPython.display import display


def answering(explorer, name):
    numbers, state = ipywidgets.Label(), ipywidgets.Label()
    numbers.add_class(f"numbers-{name}")
    state.add_class(f"state-{name}")
    moved = list(explorer.traits(moved=True))

    def answer(change=None):
        numbers.value = json.dumps({**explorer.state(), **explorer.numbers()})
        state.value = json.dumps({trait: getattr(explorer, trait) for trait in moved})

    explorer.observe(answer, names=moved)
    answer()
    display(explorer, numbers, state)"""


TALK = """\
from transformer_book.widgets import Talk

Talk("captions-de-en", text="Ein Hund schläft.")"""


def notebook() -> nbformat.NotebookNode:
    """The cells of the chapters that show the explorers, with what these need from other cells."""
    cells = [ANSWER]
    for case in CHOSEN:
        name, start = case.widget.__name__, saved(case)
        committed = json.loads((ROOT / f"{case.page}.ipynb").read_text(encoding="utf-8"))
        sources = ["".join(cell["source"]) for cell in committed["cells"]]
        (own,) = (source for source in sources if source.startswith(f"{name}("))
        given = [f"{name_} = {start[trait]!r}" for name_, trait in GIVEN[case.widget].items()]
        lines = [f"from transformer_book.widgets import {name}", *given]
        lines += [f"explorer = {own}", f"answering(explorer, {name!r})"]
        cells.append("\n".join(lines))
    cells.append(TALK)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return new_notebook(cells=[new_code_cell(cell) for cell in cells], metadata=kernel)


# --- the server -----------------------------------------------------------------------------------


@dataclass
class Server:
    """A running JupyterLab and what it has said."""

    process: subprocess.Popen
    said: list[str] = field(default_factory=list)
    address: str = ""

    def listen(self, ready: threading.Event) -> None:
        """Read its log to the end, so that it never waits for a reader."""
        for line in self.process.stderr:
            self.said.append(line)
            if not self.address and (found := re.search(r"http://127\.0\.0\.1:\d+", line)):
                self.address = found[0]
                ready.set()
        ready.set()  # it has ended


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(server: Server) -> None:
    """End the server with its process group, and the kernels, which have groups of their own."""
    descendants = psutil.Process(server.process.pid).children(recursive=True)
    os.killpg(server.process.pid, signal.SIGTERM)
    _, alive = psutil.wait_procs(
        [psutil.Process(server.process.pid), *descendants], timeout=PATIENCE
    )
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=PATIENCE)
    server.process.wait(60)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address, token included, of the notebook in a JupyterLab with folders of its own."""
    home = tmp_path_factory.mktemp("jupyterlab")
    (home / "notebooks").mkdir()
    nbformat.write(notebook(), home / "notebooks" / NOTEBOOK)
    token = secrets.token_hex(16)
    own = {
        name: str(home / name.lower())
        for name in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
            "IPYTHONDIR",
        )
    }
    others = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_"))}
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={free_port()}"),
        *(f"--ServerApp.root_dir={home / 'notebooks'}", f"--IdentityProvider.token={token}"),
        *("--ServerApp.terminals_enabled=False", "--LabApp.expose_app_in_browser=True"),
        *("--LabApp.news_url=None", "--LabApp.extension_manager=readonly"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    process = subprocess.Popen(
        command,
        cwd=home,
        env={**others, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own
    )
    server, ready = Server(process), threading.Event()
    listener = threading.Thread(target=server.listen, args=(ready,), daemon=True)
    listener.start()
    try:
        ready.wait(PATIENCE)
        if not server.address:
            pytest.fail("JupyterLab does not start:\n" + "".join(server.said[-30:]))
        yield f"{server.address}/doc/tree/{NOTEBOOK}?token={token}"
    finally:
        if process.poll() is None:
            stop(server)
        listener.join(60)


# --- the notebook in the browser ------------------------------------------------------------------

READY = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
    return session?.isReady && session.session?.kernel?.status === "idle";
}"""
RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
# Python's state is the one that the page shows: it has heard of the last change.
HEARD = """name => {
    const here = JSON.parse(document.querySelector(`[data-explorer="${name}"]`).dataset.state);
    const there = JSON.parse(document.querySelector(`.state-${name}`).textContent);
    const differs = trait => JSON.stringify(here[trait]) !== JSON.stringify(there[trait]);
    return !Object.keys(here).some(differs);
}"""


@dataclass
class Lab:
    page: Page
    problems: list[str]

    def root(self, case: Case) -> Locator:
        return self.page.locator(f'[data-explorer="{case.widget.__name__}"]')

    def python_says(self, case: Case) -> tuple[dict, dict]:
        """The traits that the reader moves, and all numbers, as the kernel has them now."""
        name = case.widget.__name__
        self.page.wait_for_function(HEARD, arg=name)
        texts = [self.page.locator(f".{what}-{name}").inner_text() for what in ("state", "numbers")]
        return json.loads(texts[0]), json.loads(texts[1])


@pytest.fixture(scope="module")
def opened(lab: str, browser: Browser) -> Iterator[Lab]:
    """The notebook, all cells run; no host but this machine is asked for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(1000 * PATIENCE)
    page, problems = context.new_page(), []

    def route(request) -> None:
        parts = urlsplit(request.request.url)
        if parts.scheme in {"data", "blob"} or parts.hostname == "127.0.0.1":
            request.continue_()
        else:
            problems.append(f"asks another host: {request.request.url}")
            request.abort()

    page.route("**/*", route)
    page.on("pageerror", lambda error: problems.append(f"script error: {error}"))
    page.goto(lab)
    page.wait_for_function(READY)
    page.evaluate(RUN_ALL)
    assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").all_inner_texts() == []
    yield Lab(page, problems)
    context.close()


@pytest.mark.parametrize("case", [pytest.param(c, id=c.widget.__name__) for c in CHOSEN])
def test_python_sees_what_a_hand_moves(case: Case, opened: Lab) -> None:
    page, root = opened.page, opened.root(case)
    root.wait_for()
    root.scroll_into_view_if_needed()
    first, start = shown(root), state(root)
    assert opened.python_says(case)[0] == start

    # By keyboard: the book's own example, with the number that it must then show.
    name, key, path, text = case.example
    names = names_of_controls(root)
    assert first[path][0] != text, "the example shows its result before it begins"
    control(root, names.index(name)).focus()
    page.keyboard.press(key)
    assert shown(root)[path][0] == text
    seen, numbers = opened.python_says(case)
    assert seen == state(root) != start, "Python sees another state"
    assert disagreeing(root, numbers) == []

    # By pointer: the same control, dragged or pressed.
    root.locator("button.reset").click()
    assert opened.python_says(case)[0] == start
    place = dict(names_and_places(root))[name]
    by_pointer(page, root.element_handle(), place, case.drag.get(name, (23, -17)))
    seen, numbers = opened.python_says(case)
    assert seen == state(root) != start, "Python sees another state"
    assert shown(root) != first
    assert disagreeing(root, numbers) == []
    assert opened.problems == []


def test_one_can_talk_to_a_model_that_python_runs(opened: Lab) -> None:
    """Translate, stop, force a runner-up, switch off a head: each is what the package says."""
    page = opened.page
    page.locator(".talk").scroll_into_view_if_needed()
    settled(page)
    translator = Translator.from_pretrained("captions-de-en")
    assert said(page) == translator.translate("Ein Hund schläft.", beam_size=1)

    ask(page, CAPTION)
    (greedy,) = translator.search([CAPTION], beam_size=1, n_candidates=6)
    assert said(page) == greedy.text
    agree(steps(page), said_by(greedy))
    agree(steps(page, "candidate"), list(greedy.candidates[0]))
    assert shipped(page) == translator.translate(CAPTION)

    stopped_at_the_first_token(page)
    agree(steps(page), said_by(greedy)[:1])
    ask(page, CAPTION)
    assert said(page) == greedy.text

    force(page, 2)
    runner_up = greedy.candidates[2][1][0]
    right = goes_on(translator, CAPTION, [*greedy.tokens[:2], runner_up])
    assert [token for token, _ in steps(page)] == right

    undo(page)
    assert said(page) == greedy.text
    switch_off(page, layer=2, head=3)
    with silenced_heads(translator.model.decoder.layers[1].cross_attention, 2):
        (after,) = translator.search([CAPTION], beam_size=1)
    assert (said(page), said(page, "changed")) == (greedy.text, after.text)
    agree(steps(page), said_by(after))
    assert opened.problems == []
