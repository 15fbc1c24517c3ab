#!/usr/bin/env python3
"""Build the website with Jupyter Book; any warning and any failing cell fails the build.

--execute cache runs every chapter whose cells have changed, or what its outputs depend on (see
                `executed`), side by side, into the cache that Jupyter Book reads (`make book`).
                The page of one that fails shows the committed outputs; it is named at the end,
                and the exit status is 1.
--execute off   shows the committed outputs and runs nothing (`make site`, and the tests).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import yaml
from common import ROOT, configuration
from execution_cache import begin, digest, forget_if_changed, read
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from notebook_runner import Failure, execute_all, jobs_here, tell

# Jupyter Book lets Sphinx work on several pages at once, but its command line does not.
BUILD = """\
from functools import partial
from jupyter_book import sphinx
from jupyter_book.cli.main import main
sphinx.build_sphinx = partial(sphinx.build_sphinx, jobs={jobs})
main()
"""
RENDERED = ("_config.yml", "_toc.yml", "book/extension", "requirements.txt")
COPIED = ("book/assets",)  # Sphinx copies them only when it writes a page


def pages(root: Path) -> list[Path]:
    """The notebooks that the table of contents names."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    return [path for file in files if (path := root / f"{file}.ipynb").exists()]


def fill_cache(folder: Path, notebooks: Sequence[Path], jobs: int | None) -> list[Failure]:
    """Execute what the cache of Jupyter Book does not hold yet; what failed."""
    cache = get_cache(folder)
    missing = []
    for path in notebooks:
        try:
            cache.match_cache_notebook(read(path))
        except KeyError:
            missing.append(path)
    failures = []
    for done in execute_all(missing, jobs) if missing else ():
        if isinstance(done, Failure):
            failures.append(done)
            continue
        bundle = CacheBundleIn(
            done.notebook, str(done.path), data={"execution_seconds": done.seconds}
        )
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return failures


def derived_configuration(
    root: Path, build: Path, execute: str, without: Sequence[Path] = ()
) -> Path:
    """_config.yml with another execution mode, and some notebooks not executed.

    It is written into the build folder.
    """
    settings = configuration(root)
    settings["execute"]["execute_notebooks"] = execute
    if without:
        settings["execute"]["exclude_patterns"] = [str(path.relative_to(root)) for path in without]
    extensions = settings["sphinx"]["local_extensions"]
    for name, path in extensions.items():  # Jupyter Book reads them relative to the file
        extensions[name] = str((root / path).resolve())
    path = build / f"_config_{execute}.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return path


def build_site(
    root: Path = ROOT,
    output: Path | None = None,
    execute: str = "off",
    quiet: bool = False,
    jobs: int | None = None,
    failures: list[Failure] | None = None,
) -> Path:
    """Build the book at `root` into `output`/_build/html; return that folder.

    Chapters that fail when they are executed are added to `failures`.

    Raises subprocess.CalledProcessError (with the build's own words on the terminal, or in
    `.output` when quiet) if a cell fails or Sphinx warns.
    """
    output = output or root
    build = output / "_build"
    cache = begin(root, build)
    rendered = f"{execute} {digest(root, *RENDERED)}"
    forget_if_changed(build / ".pages.sha256", rendered, build / ".doctrees", build / "html")
    forget_if_changed(build / ".assets.sha256", digest(root, *COPIED), build / "html")
    failed = []
    if execute == "cache":
        failed = fill_cache(cache, pages(root), jobs)
        if failures is not None:
            failures += failed
    config = derived_configuration(root, build, execute, [each.path for each in failed])
    command = [sys.executable, "-c", BUILD.format(jobs=max(1, jobs or jobs_here()))]
    command += ["build", str(root), "-W", "-n", "--keep-going", "--path-output", str(output)]
    command += ["--config", str(config)]
    subprocess.run(command, cwd=root, check=True, text=True, capture_output=quiet)
    return build / "html"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--execute", choices=("cache", "off"), default="off")
    parser.add_argument("--root", type=Path, default=ROOT, help="the book to build")
    parser.add_argument("--output", type=Path, help="where _build is made (default: the book)")
    parser.add_argument("--jobs", type=int, help="at a time (default: one a core, to 4)")
    options = parser.parse_args()
    began = time.monotonic()
    if options.execute == "cache":
        print("Every chapter is executed, then the pages are built: some minutes the first time.")
        print("To look first, stop this and run `make site`: the same pages, from the outputs")
        print("that came with the book, in about a minute.\n", flush=True)
    failures: list[Failure] = []
    try:
        html = build_site(
            options.root.resolve(),
            options.output,
            options.execute,
            jobs=options.jobs,
            failures=failures,
        )
    except subprocess.CalledProcessError as error:
        tell(failures)
        sys.exit(error.returncode)
    start = html / "index.html"
    print(f"\nThe book is built ({time.monotonic() - began:.0f} s). Read it in one of two ways:")
    print(f"  open {start.resolve()} in a browser, or")
    print("  run `make serve` and visit http://localhost:8000")
    tell(failures, "; their pages show the outputs that came with the book")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
