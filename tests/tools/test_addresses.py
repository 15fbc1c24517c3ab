"""The one address of the repository, wherever it stands, and the card that links show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from common import ROOT, configuration, notebooks, repository_url
from draw_card import LOGO, TARGET, compose, marked, outdated
from set_repository import set_addresses, strays, text_files

from tests.tools.running import run_tool


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of every file that names the repository or the website."""
    folder = tmp_path_factory.mktemp("unchanged")
    for path in text_files(ROOT):
        text = path.read_text(encoding="utf-8")
        if repository_url() in text or configuration()["html"]["baseurl"] in text:
            copied = folder / path.relative_to(ROOT)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def small_copy(unchanged: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(unchanged, tmp_path / "copy"))


@pytest.fixture(scope="module")
def contents(unchanged: Path) -> dict[Path, bytes]:
    """What must still be there when an address has been refused."""
    return {path: path.read_bytes() for path in text_files(unchanged)}


def test_every_file_names_the_one_repository() -> None:
    assert strays() == []
    assert run_tool("set_repository.py", "--check").returncode == 0


def test_a_new_address_is_written_everywhere(small_copy: Path) -> None:
    old_url, old_site = repository_url(), configuration()["html"]["baseurl"]
    url, site = "https://github.com/ada/book-of-ada", "https://ada.example.org/"
    copies = {path: path.read_text(encoding="utf-8") for path in text_files(small_copy)}
    assert len(copies) > len(notebooks())
    written = run_tool("set_repository.py", "--root", small_copy, "--url", url, "--site", site)
    assert written.returncode == 0, written.stderr
    assert repository_url(small_copy) == url
    assert configuration(small_copy)["html"]["baseurl"] == site
    for path, before in copies.items():
        after = path.read_text(encoding="utf-8")
        assert after == before.replace(old_url, url).replace(old_site, site) != before, path
    assert strays(small_copy) == []
    # And back: nothing else was touched.
    set_addresses(small_copy, old_url, old_site)
    assert {path: path.read_text(encoding="utf-8") for path in copies} == copies


def test_an_address_that_differs_is_named(small_copy: Path) -> None:
    for name in ("CITATION.cff", "book/errata.md", notebooks()[0].relative_to(ROOT).as_posix()):
        path = small_copy / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(repository_url(), "https://github.com/eve/book"), "utf-8")
        assert f"{name} names https://github.com/eve/book, not {repository_url()}" in strays(
            small_copy
        )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--url", "https://example.org/ada/book"),
        ("--url", "https://github.com/ada"),
        ("--url", "https://github.com/ada/book/tree/main"),
        ("--site", "https://ada.github.io/book"),
        ("--site", "ada.github.io/book/"),
    ],
)
def test_an_address_of_another_form_is_refused(
    unchanged: Path, contents: dict[Path, bytes], option: str, value: str
) -> None:
    refused = run_tool("set_repository.py", "--root", unchanged, option, value)
    assert refused.returncode == 2 and repr(value) in refused.stderr
    assert {path: path.read_bytes() for path in contents} == contents


def test_the_social_card_is_as_drawn() -> None:
    assert run_tool("draw_card.py", "--check").returncode == 0


def test_a_card_of_another_logo_or_title_is_out_of_date() -> None:
    png, logo = TARGET.read_bytes(), LOGO.read_text(encoding="utf-8")
    title = configuration()["title"]
    assert outdated(png, compose(logo, title)) is None
    assert "another logo" in outdated(png, compose(logo.replace("#ffc24a", "#ff0000"), title))
    assert "another logo" in outdated(png, compose(logo, "Transformers, Bit by Bit"))
    assert "no PNG" in outdated(png[:16] + b"\0" * 8 + png[24:], compose(logo, title))
    again = marked(png, compose(logo, "Transformers, Bit by Bit"))
    assert outdated(again, compose(logo, "Transformers, Bit by Bit")) is None
