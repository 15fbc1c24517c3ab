"""A run of the bench in a tab that is hidden, and then frozen, as browsers do to save power.

Playwright keeps each of its pages in sight, so Chromium is spoken to here without it: by its own
protocol (DevTools), through a pipe.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.site.conftest import FLAGS
from tests.site.test_bench import LEARNS, OVERHEARD, PAGE
from tests.system import PATIENCE, chromium

IN, OUT = 3, 4  # where Chromium reads and writes


class Chromium:
    """A browser: `send` asks one thing of it, or of a tab, and waits for the answer."""

    def __init__(self, profile: Path) -> None:
        (theirs, self.asking), (self.answering, answers) = os.pipe(), os.pipe()

        def place() -> None:
            ends = [os.dup(theirs), os.dup(answers)]  # neither may lie where the other is to come
            for end, place in zip(ends, (IN, OUT), strict=True):
                os.dup2(end, 100 + place)
            for place in (IN, OUT):
                os.dup2(100 + place, place)

        command = [chromium(), "--headless", *FLAGS, f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(
            [*command, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=place,
            close_fds=False,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs, answers):
            os.close(end)
        self.number, self.read = 0, b""

    def send(self, method: str, tab: str | None = None, **parameters) -> dict[str, Any]:
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        os.write(
            self.asking, json.dumps(asked | ({"sessionId": tab} if tab else {})).encode() + b"\0"
        )
        while True:
            while b"\0" not in self.read:
                self.read += os.read(self.answering, 65536)
            one, _, self.read = self.read.partition(b"\0")
            told = json.loads(one)
            if told.get("id") == self.number:
                return told["result"]

    def value(self, tab: str, expression: str) -> Any:
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        return self.send("Runtime.evaluate", tab, **asked)["result"].get("value")

    def until(self, tab: str, expression: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.value(tab, expression):
            assert time.monotonic() < end, expression
            time.sleep(0.05)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for end in (self.asking, self.answering):
            os.close(end)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Chromium]:
    browser = Chromium(tmp_path / "profile")
    yield browser
    browser.end()


@pytest.fixture
def training(alone: Chromium, site: Path, serve) -> Callable[[], tuple[str, str]]:
    """A function that opens the bench in a tab and lets it train: (the tab's target, its session)."""

    def opened() -> tuple[str, str]:
        target = alone.send("Target.createTarget", url="about:blank")["targetId"]
        tab = alone.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        alone.send("Page.enable", tab)
        alone.send("Page.addScriptToEvaluateOnNewDocument", tab, source=OVERHEARD)
        address = f"{serve(site)}/{PAGE}?{urlencode(LEARNS | {'updates': 2000, 'go': 1})}"
        alone.send("Page.navigate", tab, url=address)
        alone.until(tab, "window.losses?.length >= 20")
        return target, tab

    return opened


def test_a_run_goes_on_while_its_tab_is_hidden_and_after_it_was_frozen(alone, training) -> None:
    target, tab = training()

    def further(n: int) -> None:
        alone.until(tab, f"window.losses.length >= {alone.value(tab, 'window.losses.length') + n}")

    other = alone.send("Target.createTarget", url="about:blank")["targetId"]
    alone.send("Target.activateTarget", targetId=other)
    alone.until(tab, "document.visibilityState === 'hidden'")
    further(20)

    alone.send("Page.setWebLifecycleState", tab, state="frozen")
    time.sleep(0.5)
    stands = alone.value(tab, "window.losses.length")
    time.sleep(1)
    assert alone.value(tab, "window.losses.length") == stands

    alone.send("Page.setWebLifecycleState", tab, state="active")
    alone.send("Target.activateTarget", targetId=target)
    alone.until(tab, "document.visibilityState === 'visible'")
    further(20)
    alone.value(tab, "document.querySelector('.bench .first').click()")  # Pause
    alone.until(tab, "/Paused after update/.test(document.querySelector('.bench .told').innerText)")
    found = alone.value(tab, "window.losses")
    said = alone.value(tab, "document.querySelector('.bench .told').innerText")
    assert f"Paused after update {len(found)} of 2000" in said

    _, undisturbed = training()
    alone.until(undisturbed, f"window.losses.length >= {len(found)}")
    assert alone.value(undisturbed, f"window.losses.slice(0, {len(found)})") == found
