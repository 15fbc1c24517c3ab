"""What was handed in: one file of one student, and a sentence for everything else."""

from __future__ import annotations

import io
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.course.small import ROOT
from transformer_book.course import collecting
from transformer_book.course.release import application


def put(folder: Path, *paths: str) -> None:
    for path in paths:
        place = folder / "submitted" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path)


@pytest.mark.parametrize(
    ("paths", "chosen", "says"),
    [
        (["a/ps1/ps1.ipynb"], "ps1.ipynb", ""),
        (["a/ps1/ps1.ipynb", "a/ps1/.DS_Store", "a/ps1/timestamp.txt"], "ps1.ipynb", ""),
        (["a/ps1/ps1.ipynb", "a/ps1/x/.ipynb_checkpoints/ps1.ipynb"], "ps1.ipynb", ""),
        (["a/ps1/Final (2).IPYNB"], "Final (2).IPYNB", "was named Final (2).IPYNB"),
        (["a/ps1/ps1.ipynb", "a/ps1/own.py"], "ps1.ipynb", "and not used: own.py"),
        (["a/ps1/ps1.ipynb", "a/ps1.ipynb"], "ps1.ipynb", "and not used: ps1.ipynb"),
        ([], None, "Nothing was handed in."),
        (["a/ps10/ps10.ipynb"], None, "Nothing was handed in."),
        (["a/ps1/timestamp.txt"], None, "Nothing was handed in."),
        (["a/ps1"], None, "ps1 is a file; it must be a folder"),
        (["a/ps1/ps1.ipynb/x"], None, "ps1/ps1.ipynb is a folder; it must be the notebook"),
        (["a/ps1/ps1.ipynb.txt"], None, "no ps1.ipynb, but ps1/ps1.ipynb.txt: if that is"),
        (["a/ps1/ps1.json"], None, "no ps1.ipynb, but ps1/ps1.json: if that is"),
        (["a/ps1.ipynb"], None, "one folder too high, at a/ps1.ipynb"),
        (["a/PS1 final.ipynb"], None, "one folder too high, at a/PS1 final.ipynb"),
        (["a/ps1/ps1/ps1.ipynb"], None, "too deep, at ps1/ps1/ps1.ipynb"),
        (["a/ps1/ps1.zip"], None, "an archive, ps1/ps1.zip: unpack it"),
        (["a/ps1.tar.gz"], None, "an archive, ps1.tar.gz: unpack it"),
        (["a/PS1/ps1.ipynb"], None, "The folder is named PS1, not ps1"),
        (["a/ps1/one.ipynb", "a/ps1/two.ipynb"], None, "There are one.ipynb, two.ipynb: name one"),
        (["a/ps1/a\nb.ipynb"], "a\nb.ipynb", "was named a�b.ipynb"),
        ([f"a/ps1/{i}.txt" for i in range(9)], None, "2.txt and 6 more"),
    ],
)
def test_one_notebook_is_found_or_a_sentence_says_why_not(
    tmp_path: Path, paths: list[str], chosen: str | None, says: str
) -> None:
    put(tmp_path, *paths)
    path, notes = collecting.find(tmp_path, "a", "ps1")
    assert (path and path.name) == chosen
    assert len(notes) == bool(says)
    assert says in " ".join(notes)
    assert "\n" not in " ".join(notes)


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("a", "b"),
        ("a/ps1", "b/ps1"),
        ("a/ps1", "../source/ps1"),
        ("a/ps1/ps1.ipynb", "b/ps1/ps1.ipynb"),
        ("a/ps1/final.ipynb", "b/ps1/ps1.ipynb"),
    ],
)
def test_a_link_hands_in_nothing(tmp_path: Path, link: str, to: str) -> None:
    put(tmp_path, "b/ps1/ps1.ipynb", "../source/ps1/ps1.ipynb")
    place = tmp_path / "submitted" / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to((tmp_path / "submitted" / to).resolve())
    (tmp_path / "submitted" / "b" / "ps1" / "timestamp.txt").write_text("2030-03-08 11:58:03 UTC")
    path, notes = collecting.find(tmp_path, "a", "ps1")
    assert path is None and len(notes) == 1 and "is a link" in notes[0]
    assert collecting.timestamp(tmp_path, "a", "ps1") == (None, "")


def test_what_belongs_to_nobody_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a/ps1/ps1.ipynb", "late.ipynb", "a/cv.pdf", "a/ps2.ipynb", ".DS_Store")
    put(tmp_path, "x\ny/ps1/ps1.ipynb")
    (tmp_path / "submitted" / "b").symlink_to(tmp_path / "submitted" / "a")
    assert collecting.students(tmp_path) == ["a"]
    told = collecting.strays(tmp_path, ["ps1", "ps2"])
    assert told == [
        "submitted/a/cv.pdf belongs to no set, and is not graded.",
        "submitted/b is a link to another place, and is not followed.",
        "submitted/late.ipynb lies in no student's folder, and is not graded.",
        "submitted/x�y has a name that cannot be a student's, and is not graded: rename it.",
    ]


def test_a_time_is_read_or_it_is_said_that_it_is_none(tmp_path: Path) -> None:
    put(tmp_path, "a/ps1/timestamp.txt")
    path = tmp_path / "submitted" / "a" / "ps1" / "timestamp.txt"
    assert collecting.timestamp(tmp_path, "a", "ps1") == (None, collecting.NO_TIME)
    path.write_bytes("2030-03-08 11:58:03 UTC\n".encode("utf-8-sig"))
    when, note = collecting.timestamp(tmp_path, "a", "ps1")
    assert when.replace(tzinfo=UTC) == datetime(2030, 3, 8, 11, 58, 3, tzinfo=UTC) and note == ""


# --- archives -------------------------------------------------------------------------------------


def zipped(path: Path, **files: str) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in files.items():
            packed.writestr(name.replace("__", "/").replace("_ipynb", ".ipynb"), text)


def zip_with_link(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        member = zipfile.ZipInfo("ps1.ipynb")
        member.create_system, member.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        packed.writestr(member, "/etc/hostname")


def zip_outside(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("../../evil.ipynb", "x")


def tar_with(kind: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with tarfile.open(path, "w:gz") as packed:
            member = tarfile.TarInfo("ps1.ipynb")
            member.type, member.linkname = kind, "/etc/hostname"
            packed.addfile(member, io.BytesIO())

    return make


@pytest.mark.parametrize(
    ("name", "make", "says"),
    [
        ("a.zip", zip_with_link, "ps1.ipynb in it is a link"),
        ("a.zip", zip_outside, "evil.ipynb in it would lie outside"),
        ("a.tar.gz", tar_with(tarfile.SYMTYPE), "is a link"),
        ("a.tar.gz", tar_with(tarfile.LNKTYPE), "is a link"),
        ("a.tar.gz", tar_with(tarfile.FIFOTYPE), "is a link"),
        ("a.rar", lambda path: path.write_bytes(b"Rar!"), "no archive that can be unpacked"),
        ("a.zip", lambda path: path.write_bytes(b"PK\5\6" + bytes(18)[:9]), "no archive"),
    ],
)
def test_an_archive_is_unpacked_whole_or_not_at_all(
    tmp_path: Path, name: str, make: Callable[[Path], object], says: str
) -> None:
    make(tmp_path / name)
    (tmp_path / "into").mkdir()
    with pytest.raises(ValueError, match=says):
        collecting.unpack(tmp_path / name, tmp_path / "into", 2**20)
    assert not any((tmp_path / "into").iterdir())


def test_too_large_an_archive_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped(tmp_path / "ann.zip", one_ipynb="x" * 6, two_ipynb="x" * 6)
    zipped(tmp_path / "bob.zip", one_ipynb="x" * 6)
    with pytest.raises(ValueError, match="at most"):
        collecting.unpack(tmp_path / "ann.zip", tmp_path, 10)
    # In an archive of the class, it is one of many.
    (tmp_path / "given").mkdir()
    with zipfile.ZipFile(tmp_path / "given" / "class.zip", "w") as packed:
        packed.write(tmp_path / "ann.zip", "ann.zip")
        packed.write(tmp_path / "bob.zip", "bob.zip")
    monkeypatch.setattr(collecting, "INSIDE", 10)
    collecting.Archives().extract(str(tmp_path / "given"), str(tmp_path / "found"))
    found = {path.name for path in (tmp_path / "found").rglob("*") if path.is_file()}
    assert found == {"ann.zip", "one.ipynb"}


def test_nbgrader_sorts_what_an_lms_gives(tmp_path: Path) -> None:
    """One archive of the class, with files and archives of students in it; and some beside it."""
    configuration = ROOT / "assignments" / "nbgrader_config.py"
    (tmp_path / configuration.name).write_text(configuration.read_text(encoding="utf-8"))
    put(tmp_path / "release", "../ps1/ps1.ipynb")
    application(tmp_path)  # from now on nbgrader finds alembic
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "transformer-book") as book:
        book.add_assignment("ps1")
        for student in ("ann", "anna", "bo_b", "cem", "dee", "eve", "flo"):
            book.add_student(student)
    archive = tmp_path / "downloaded" / "ps1" / "archive"
    archive.mkdir(parents=True)
    zipped(tmp_path / "cem.zip", work__ps1_ipynb="cem", work__own_txt="own")
    with zipfile.ZipFile(archive / "class.zip", "w") as packed:
        packed.writestr("ann_4711_ps1.ipynb", "ann")
        packed.writestr("anna/ps1.ipynb", "anna")
        packed.writestr("anna/timestamp.txt", "2000-01-01 00:00:00 UTC")  # she was not on time
        packed.writestr("bo_b_12_file_/ps1.ipynb.txt", "bob")
        packed.write(tmp_path / "cem.zip", "cem_99_cem.zip")
        packed.writestr("__MACOSX/anna/._ps1.ipynb", "junk")
        packed.writestr("zoe/ps1.ipynb", "not in the class")
    zip_with_link(archive / "dee.zip")
    (archive / "eve.zip").write_bytes(b"broken")
    zipped(archive / "flo.zip", old__ps1_ipynb="old", ps1_ipynb="new")
    done = subprocess.run(
        [Path(sys.executable).with_name("nbgrader"), "zip_collect", "ps1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "No student of the gradebook is named in class/zoe/ps1.ipynb." in done.stderr
    found = {
        path.relative_to(tmp_path / "submitted").as_posix(): path.read_bytes()
        for path in (tmp_path / "submitted").rglob("*")
        if path.is_file()
    }
    sound = {path: text for path, text in found.items() if not path.endswith(".zip")}
    assert sound == {
        "ann/ps1/ps1.ipynb": b"ann",
        "anna/ps1/ps1.ipynb": b"anna",
        "bo_b/ps1/ps1.ipynb.txt": b"bob",
        "cem/ps1/ps1.ipynb": b"cem",
        "cem/ps1/own_txt": b"own",
        "flo/ps1/old/ps1.ipynb": b"old",
        "flo/ps1/ps1.ipynb": b"new",
    }
    assert set(found) - set(sound) == {"dee/ps1/dee.zip", "eve/ps1/eve.zip"}
    assert "an archive, ps1/dee.zip" in collecting.find(tmp_path, "dee", "ps1")[1][0]
