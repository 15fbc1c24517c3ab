#!/usr/bin/env python3
"""Set the address of the repository, and of the website, in every file that names it.

_config.yml holds both. The launch buttons, the button that reports a problem and the social cards
are derived from there when the site is built. The set-up cells of chapters and problem sets,
CITATION.cff and some pages cannot read that file, so they repeat the address:

  tools/set_repository.py --url https://github.com/ada/book --site https://ada.github.io/book/

writes it everywhere, and --check names what differs. A teacher who serves the chapters from a
JupyterHub adds one line under launch_buttons in _config.yml: jupyterhub_url: https://hub.example.org
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from common import ROOT, configuration, repository_url, tracked

TEXT = {".cff", ".ipynb", ".md", ".py", ".toml", ".yml"}
REPOSITORY = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")
SITE = re.compile(r"https?://[\w.:-]+/(?:[\w./-]+/)?")
# Known mistakes name the threads in which they were seen: issues of others.
OF_OTHERS = Path("code", "transformer_book", "checks", "ideas")
# Where a file speaks of the book's own repository: what is installed, cited, reported, read on.
OWN = re.compile(
    r'(?:git\+|repository-code: ")(https?://[\w./-]+)'
    r"|(https?://github\.com/[\w.-]+/[\w.-]+)/(?:issues|blob|tree)\b"
)


def text_files(root: Path) -> Iterator[Path]:
    """The files of the book that can name an address."""
    for path in tracked(root):
        parts = path.relative_to(root).parts
        of_others = OF_OTHERS in path.relative_to(root).parents
        if path.suffix in TEXT and parts[0] not in {"tests", "tools", "_build"} and not of_others:
            yield path


def strays(root: Path = ROOT) -> list[str]:
    """Every place that names another repository as the book's own, as a sentence."""
    ours = repository_url(root)
    wrong = []
    for path in text_files(root):
        found = {a or b for a, b in OWN.findall(path.read_text(encoding="utf-8"))} - {ours}
        name = path.relative_to(root).as_posix()
        wrong += [f"{name} names {each}, not {ours}" for each in sorted(found)]
    return wrong


def set_addresses(root: Path, url: str, site: str) -> list[Path]:
    """Write both addresses everywhere; return the files that changed.

    Raises:
        ValueError: if an address has not the form that the launch buttons and the site need.
    """
    if not REPOSITORY.fullmatch(url):
        raise ValueError(
            f"--url is {url!r}, but Colab opens repositories of GitHub only: give "
            "https://github.com/OWNER/NAME, with nothing after it."
        )
    if not SITE.fullmatch(site):
        raise ValueError(
            f"--site is {site!r}, but it must be the address of a folder that ends with a slash, "
            "as https://OWNER.github.io/NAME/."
        )
    old_url = re.compile(re.escape(repository_url(root)) + r"(?![\w-])")  # not book-of-others
    old_site = configuration(root)["html"]["baseurl"]
    changed = []
    for path in text_files(root):
        before = path.read_text(encoding="utf-8")
        # By way of a placeholder, so that what was just written is not found again.
        after = old_url.sub("\0", before).replace(old_site, site).replace("\0", url)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", help="of the repository (default: as it is)")
    parser.add_argument("--site", help="of the website (default: as it is)")
    parser.add_argument("--check", action="store_true", help="exit 1 and name what differs")
    parser.add_argument("--root", type=Path, default=ROOT, help="the book")
    options = parser.parse_args()
    if options.check == bool(options.url or options.site):
        parser.error("give --check, or a new --url or --site")
    if options.check:
        for each in (wrong := strays(options.root)):
            print(each, file=sys.stderr)
        sys.exit(bool(wrong))
    settings = configuration(options.root)
    url = options.url or repository_url(options.root)
    try:
        changed = set_addresses(options.root, url, options.site or settings["html"]["baseurl"])
    except ValueError as error:
        parser.error(str(error))
    for path in changed:
        print(path.relative_to(options.root))


if __name__ == "__main__":
    main()
