"""A built site read as files: its links, anchors, images, and what its pages load."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
FOLDS = ("section", "details")  # what can be folded
# Relations of <link> that name another page without loading it.
NAMED = {"canonical", "prev", "next", "index", "search", "author", "license", "alternate"}


@dataclass
class HtmlPage:
    """What one page holds."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    images: list[dict[str, str]] = field(default_factory=list)
    data: frozenset[str] = frozenset()  # types of the scripts that hold no code
    explorers: list[tuple[str, str]] = field(
        default_factory=list
    )  # its class, in what it is folded


class Reader(HTMLParser):
    def __init__(self, page: HtmlPage) -> None:
        super().__init__()
        self.page = page
        self.around: list[tuple[str, str]] = []  # the open tags of FOLDS, each with how it folds

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag in FOLDS:
            further = tag == "section" and "further" in values.get("class", "").split()
            closed = tag == "details" and "open" not in values
            self.around.append((tag, "Further" if further else "details" if closed else ""))
        if "data-name" in values and "explorer-place" in values.get("class", ""):
            folded = " ".join(how for _, how in self.around if how)
            self.page.explorers.append((values["data-name"], folded))
        self.page.ids.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        if tag == "img":
            self.page.images.append(values)
        if tag == "script" and "type" in values:
            self.page.data |= {values["type"]}
        if tag in LOADS and values.get(LOADS[tag]):
            names_only = tag == "link" and set(values.get("rel", "").split()) <= NAMED
            (self.page.links if names_only else self.page.loads).append(values[LOADS[tag]])

    def handle_endtag(self, tag: str) -> None:
        if self.around and self.around[-1][0] == tag:
            self.around.pop()


@cache
def read_pages(site: Path) -> dict[Path, HtmlPage]:
    """The pages of a site; read once, since it takes ten seconds and many tests ask."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue
        pages[path] = page = HtmlPage(path)
        Reader(page).feed(path.read_text(encoding="utf-8"))
    return pages


def broken(site: Path) -> list[str]:
    """Every relative link that leads nowhere, as a sentence."""
    pages = read_pages(site)
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{name} links to {link}, which does not exist")
            elif parts.fragment and target.suffix == ".html":
                known = pages.get(target)
                if known and unquote(parts.fragment) not in known.ids:
                    wrong.append(f"{name} links to {link}, which has no such anchor")
    return wrong
