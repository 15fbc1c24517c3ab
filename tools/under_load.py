#!/usr/bin/env python3
"""Prove that the book and its checks give no wrong result on a busy machine.

Builds the book as `make book` does, and judges every right version of every component and a few
functions that never end, first on the machine as it is, then beside two busy processes a core.
Prints how many were told something false, which must be none, and how much slower it was; the exit
status is 1 if anything was. Nothing of the book is changed. On two cores it takes twenty minutes;
--only and --chapters do less.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from build_site import build_site, pages
from common import ROOT
from notebook_runner import Failure, cores, execute_all

sys.path.insert(0, str(ROOT))

# It ends with the tool, even if that is killed.
BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**5))"
PARTS = ("book", "checks")


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Let this many processes compute without a pause until the block ends."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@dataclass
class Found:
    """What one run took by the clock, in seconds, and what it was told that is false."""

    seconds: dict[str, float] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)
    false: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - began


# --- functions whose right verdict is known ------------------------------------------------------


def endless(x: Any) -> Any:
    while True:
        pass


def asleep(x: Any) -> Any:
    time.sleep(1e9)


def without_end(x: Any) -> Any:
    return without_end(x)


def slow(x: Any) -> Any:
    """Right, after eight seconds of work."""
    end = time.thread_time() + 8.0
    while time.thread_time() < end:
        sum(range(1000))
    return x


# What should be said of it; `None` if it is right.
HONEST: dict[Callable[[Any], Any], str | None] = {
    endless: "An endless loop",
    asleep: "It waits and does not go on",
    without_end: "It calls itself too often",
    slow: None,
}


def judge_all(found: Found) -> None:
    """Every right version of every component, and the functions above; each as a learner's."""
    import torch

    from tests.checks import corpus
    from transformer_book import checks

    with found.part("right versions judged"):
        right = corpus.right_versions()
        for version in right:
            component = checks.COMPONENTS[version.component]
            said = checks.judging.judge(component, version.made, checks.MISTAKES)
            if said.status != "right":
                told = " ".join(said.text().split())
                found.false.append(f"{version.component}, {version.label}: {told}")
    found.counted["right versions"] = len(right)
    with found.part("slow and endless ones"):
        case = checks.components.Case("", (torch.ones(3),))
        for function, words in HONEST.items():
            trouble = checks.running.call(function, case, gradients=False).trouble
            true = trouble is None if words is None else (trouble or "").startswith(words)
            if not true:
                found.false.append(f"{function.__name__}: {trouble or 'called right'}")
    found.counted["slow and endless ones"] = len(HONEST)


def build(found: Found, root: Path, chapters: Sequence[Path]) -> None:
    """All that `make book` does, in a folder of its own; or only some chapters, executed."""
    failures: list[Failure] = []
    with found.part("the book"):
        if chapters:
            done = execute_all(chapters)
            failures = [each for each in done if isinstance(each, Failure)]
        else:
            with tempfile.TemporaryDirectory() as output:
                try:
                    build_site(root, Path(output), "cache", quiet=True, failures=failures)
                except subprocess.CalledProcessError as error:
                    found.false.append(f"the pages were not built:\n{error.output}{error.stderr}")
    found.counted["chapters"] = len(chapters or pages(root))
    found.false += map(str, failures)


def run(parts: Sequence[str], root: Path, chapters: Sequence[Path]) -> Found:
    found = Found()
    if "checks" in parts:
        judge_all(found)
    if "book" in parts:
        build(found, root, chapters)
    return found


def report(loaded: Found, quiet: Found | None, processes: int) -> str:
    """A table of seconds, then what was false, then the count."""
    lines = [f"{'':24}{'quiet':>10}{'busy':>10}{'times as long':>16}"]
    for name, seconds in loaded.seconds.items():
        before = quiet.seconds[name] if quiet else None
        compared = f"{before:8.0f} s{seconds:8.0f} s{seconds / before:16.1f}" if before else ""
        lines.append(f"{name:24}{compared or f'{seconds:18.0f} s'}")
    for title, found in (("quiet", quiet), ("busy", loaded)):
        lines += [f"FALSE ({title}): {said}" for said in (found.false if found else ())]
    judged = ", ".join(f"{count} {name}" for name, count in loaded.counted.items())
    lines.append(
        f"Beside {processes} busy processes on {cores()} cores: {judged}; "
        f"false verdicts: {len(loaded.false)}"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--busy", type=int, default=2 * cores(), help="processes (default: two a core)"
    )
    parser.add_argument("--only", choices=PARTS, help="the book alone, or the checks alone")
    parser.add_argument("--chapters", nargs="+", type=Path, help="execute these, build no site")
    parser.add_argument("--no-quiet", action="store_true", help="without the run to compare with")
    parser.add_argument("--root", type=Path, default=ROOT, help="the book to build")
    options = parser.parse_args()
    if missing := [str(path) for path in options.chapters or () if not path.is_file()]:
        parser.error(f"no such notebook: {', '.join(missing)}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    todo = (
        [options.only] if options.only else PARTS,
        options.root.resolve(),
        options.chapters or (),
    )
    quiet = None if options.no_quiet else run(*todo)
    with busy(options.busy):
        loaded = run(*todo)
    print(report(loaded, quiet, options.busy))
    sys.exit(1 if loaded.false or (quiet and quiet.false) else 0)


if __name__ == "__main__":
    main()
