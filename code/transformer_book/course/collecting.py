"""What was handed in: the one file of a student that is graded, and a sentence for all else.

A submission is `submitted/STUDENT/SET/SET.ipynb`. Every path stays inside the student's folder, and
links are not followed: otherwise a student could hand in the work of another, or the solutions.
`nbgrader zip_collect` sorts what an LMS gives into these folders; `Archives` and `Students` here
tell it how.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import parse_utc

TIMESTAMP = "timestamp.txt"  # nbgrader's: when it was handed in
NOTEBOOK = ".ipynb"
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
LARGEST = 200 * 2**20  # bytes of a submitted notebook: more is not read
UNPACKED = 2**30  # bytes of an archive's files: more are not unpacked
INSIDE = 2**28  # of one that lies in another, with all that lie in it
ALL = 4 * UNPACKED  # of one file that an LMS gives, with all archives in it
DEEPEST = 3  # archives within archives
MANY = 1000  # files of one student: more are not looked at
JUNK = re.compile(r"\.|~\$|(__MACOSX|Thumbs\.db|desktop\.ini)$")  # what systems leave in folders
NO_TIME = f"Its {TIMESTAMP} is no point in time: it counts as handed in on time."
NOTHING = "Nothing was handed in."


# --- one student's submission of one set ----------------------------------------------------------


def find(folder: Path, student: str, name: str) -> tuple[Path | None, list[str]]:
    """The notebook of a student, or `None`; and in one sentence each what is odd, or missing.

    Args:
        folder: of the course.
        student, name: whose, and of which set.
    """
    home = folder / "submitted" / student
    place = home / name
    for each in (home, place):
        if each.is_symlink():
            return None, [
                f"The folder {shown(each.name)} is a link to another place, and is not followed."
            ]
    if place.exists() and not place.is_dir():
        return None, [f"{shown(name)} is a file; it must be a folder with {name}{NOTEBOOK} in it."]
    inside = [path for path in _below(place) if path.name != TIMESTAMP]
    here = [path for path in inside if path.parent == place and _is_notebook(path)]
    chosen = next((path for path in here if path.name == f"{name}{NOTEBOOK}"), None)
    if chosen is None and len(here) == 1:
        chosen = here[0]
    if chosen is None:
        return None, [_why_none(home, name, inside, here)]
    if chosen.is_symlink():
        return None, ["The file is a link to another one, and that is not followed."]
    notes = []
    if chosen.name != f"{name}{NOTEBOOK}":
        notes.append(f"The file was named {shown(chosen.name)}.")
    others = [path.relative_to(place) for path in inside if path != chosen]
    if others := [*others, *(path.relative_to(home) for path in misplaced(home, name))]:
        notes.append(f"Also handed in, and not used: {_listed(others)}.")
    return chosen, notes


def _why_none(home: Path, name: str, inside: Sequence[Path], here: Sequence[Path]) -> str:
    """Why there is no notebook to grade, and what to do, in one sentence."""
    expected, place = f"{name}{NOTEBOOK}", home / name
    if (place / expected).is_dir():
        return f"{name}/{expected} is a folder; it must be the notebook."
    if here:
        return f"There are {_listed([p.relative_to(place) for p in here])}: name one {expected}."
    deep = [path for path in inside if _is_notebook(path)]
    if deep:
        where = _listed([path.relative_to(home) for path in deep])
        return f"The notebook lies too deep, at {where}: move it up to {name}/{expected}."
    elsewhere = misplaced(home, name)
    high = [path for path in elsewhere if _is_notebook(path)]
    if high:
        where = _listed([path.relative_to(home.parent) for path in high])
        return f"The notebook lies one folder too high, at {where}: move it into {name}/."
    packed = [path for path in (*inside, *elsewhere) if path.suffix.lower() in ARCHIVES]
    if packed:
        what = _listed([path.relative_to(home) for path in packed])
        return f"There is no {expected}, but an archive, {what}: unpack it."
    folders = [path for path in elsewhere if path.is_dir()]
    if folders:
        return f"The folder is named {_listed([p.relative_to(home) for p in folders])}, not {name}."
    if inside or elsewhere:
        what = _listed([path.relative_to(home) for path in (*inside, *elsewhere)])
        return f"There is no {expected}, but {what}: if that is the notebook, give it this name."
    return NOTHING


def misplaced(home: Path, name: str) -> list[Path]:
    """What lies beside the folder of a set, and belongs into it by its name."""
    with suppress(OSError):
        return [
            path
            for path in sorted(home.iterdir())
            if path.name != name
            and not JUNK.match(path.name)
            and re.match(rf"{re.escape(name)}(?![0-9])", path.name, re.IGNORECASE)
        ]
    return []


def _below(place: Path) -> list[Path]:
    """The files and links in a folder, however deep, without what systems leave there."""
    found: list[Path] = []
    for where, folders, files in os.walk(place):
        folders[:] = sorted(each for each in folders if not JUNK.match(each))
        links = [each for each in folders if os.path.islink(os.path.join(where, each))]
        found += [Path(where, each) for each in sorted([*files, *links]) if not JUNK.match(each)]
        if len(found) > MANY:
            break
    return found


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == NOTEBOOK and not path.is_dir()


def _listed(paths: Sequence[Path]) -> str:
    """The first few, so that a sentence stays one."""
    few = [shown(path.as_posix()) for path in paths[:3]]
    return ", ".join(few) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def shown(name: str) -> str:
    """A name as it can stand in a sentence: one short line that can be written."""
    plain = "".join(c if c.isprintable() else "�" for c in name)
    return plain if len(plain) <= 80 else f"{plain[:60]}…{plain[-15:]}"


def refused(path: Path) -> str:
    """Why a file is not even opened, in a sentence; empty if it may be."""
    there = path.lstat()
    if stat.S_ISLNK(there.st_mode):
        return "The file is a link to another one, and that is not followed."
    if not stat.S_ISREG(there.st_mode):
        return "This is no file."
    if there.st_size > LARGEST:
        return f"The file has {there.st_size / 2**20:.0f} MB; at most {LARGEST >> 20} are read."
    return ""


def timestamp(folder: Path, student: str, name: str) -> tuple[datetime | None, str]:
    """When a submission was handed in, or `None`; and a sentence if the file does not say."""
    path = folder / "submitted" / student / name / TIMESTAMP
    if path.parent.is_symlink() or path.parent.parent.is_symlink() or not os.path.lexists(path):
        return None, ""
    with suppress(OSError, ValueError):
        if not refused(path):
            text = path.read_text(encoding="utf-8-sig").strip()  # an editor on Windows marks it
            if re.match(r"\d{4}-\d\d-\d\d", text):
                return parse_utc(text), ""
    return None, NO_TIME


# --- the class ------------------------------------------------------------------------------------


def students(folder: Path) -> list[str]:
    """Whose folders lie in `submitted/`."""
    return [path.name for path in _entries(folder / "submitted") if not _odd_student(path)]


def strays(folder: Path, names: Sequence[str]) -> list[str]:
    """A sentence for everything in `submitted/` that belongs to no student or to no set.

    Args:
        folder: of the course.
        names: of its sets.
    """
    found = []
    for home in _entries(folder / "submitted"):
        if why := _odd_student(home):
            found.append(why)
            continue
        known = {home / name for name in names}
        known |= {path for name in names for path in misplaced(home, name)}
        for path in _entries(home):
            if path not in known:
                where = shown(path.relative_to(folder).as_posix())
                found.append(f"{where} belongs to no set, and is not graded.")
    return found


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if not JUNK.match(path.name)]


def _odd_student(path: Path) -> str:
    """Why this is no folder of a student, in a sentence; empty if it is one."""
    where = shown(f"submitted/{path.name}")
    if path.is_symlink():
        return f"{where} is a link to another place, and is not followed."
    if not path.is_dir():
        return f"{where} lies in no student's folder, and is not graded."
    if shown(path.name) != path.name or path.name != path.name.strip():
        return f"{where} has a name that cannot be a student's, and is not graded: rename it."
    return ""


# --- nbgrader zip_collect -------------------------------------------------------------------------


class Archives(ExtractorPlugin):
    """Unpacks what an LMS gives. An archive that cannot be unpacked stops nobody else's."""

    _left = ALL

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack archives, and those in them, each into a folder of its name; copy other files."""
        source, target = Path(archive_path), Path(extracted_path)
        for path in sorted(each for each in source.rglob("*") if each.is_file()):
            to = target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                self.log.warning("%s is a link, and is not followed.", shown(path.name))
                continue
            self._left = ALL
            if not self._unpacked(path, to.parent / _stem(path), DEEPEST, UNPACKED):
                shutil.copyfile(path, to)

    def _unpacked(self, archive: Path, into: Path, deepest: int, most: int) -> bool:
        if archive.suffix.lower() not in ARCHIVES or deepest == 0:
            return False
        with tempfile.TemporaryDirectory(dir=into.parent) as place:
            try:
                size = unpack(archive, Path(place), min(most, self._left))
            except ValueError as error:
                self.log.warning("%s is left as it is: %s", shown(archive.name), error)
                into.mkdir(exist_ok=True)
                shutil.copyfile(archive, into / archive.name)
                return True
            self._left -= size
            inside = INSIDE if deepest == DEEPEST else most - size
            into.mkdir(exist_ok=True)
            for path in [each for each in sorted(Path(place).rglob("*")) if each.is_file()]:
                to = into / path.relative_to(place)
                to.parent.mkdir(parents=True, exist_ok=True)
                if not self._unpacked(path, to.parent / _stem(path), deepest - 1, inside):
                    shutil.copyfile(path, to)
        return True


def _stem(archive: Path) -> str:
    return archive.stem.removesuffix(".tar")


def unpack(archive: Path, into: Path, most: int) -> int:
    """Unpack an archive: files and folders that stay inside `into`, and no links.

    Returns:
        how many bytes its files have.

    Raises:
        ValueError: in one sentence, if it is none, holds anything else, or more than `most` bytes.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                members = packed.infolist()
                total = _must_be_harmless(
                    (
                        (i.filename, stat.S_ISLNK(i.external_attr >> 16), i.file_size)
                        for i in members
                    ),
                    most,
                )
                packed.extractall(into)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as packed:
                total = _must_be_harmless(
                    ((i.name, not (i.isfile() or i.isdir()), i.size) for i in packed.getmembers()),
                    most,
                )
                packed.extractall(into, filter="data")
        else:
            raise ValueError("it is no archive that can be unpacked here.")
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, OSError, RuntimeError, EOFError):
        raise ValueError("it is damaged, or locked with a password.") from None
    return total


def _must_be_harmless(members: Iterator[tuple[str, bool, int]], most: int) -> int:
    total = 0
    for name, linked, size in members:
        if linked:
            raise ValueError(f"{shown(name)} in it is a link.")
        if name.startswith("/") or "\\" in name or ".." in name.split("/"):
            raise ValueError(f"{shown(name)} in it would lie outside of its folder.")
        total += size
    if total > most:
        raise ValueError(f"it holds {total / 2**20:.0f} MB; at most {most >> 20} are unpacked.")
    return total


class Students(FileNameCollectorPlugin):
    """Finds whose file this is: the first folder or file that is named after a student.

    `alice/ps1.ipynb`, `alice.zip` and `alice_4711_ps1.ipynb` are alice's, if the gradebook has an
    alice. Where a `named_regexp` is configured, that decides, as in nbgrader.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._taken: set[tuple[str, str]] = set()
        directory = self.parent.coursedir
        with Gradebook(directory.db_url, directory.course_id) as book:
            self._known = sorted((student.id for student in book.students), key=len, reverse=True)

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Whose file it is, and its name; `None` for what belongs to nobody.

        When it was handed in is for the teacher to say: a `timestamp.txt` is not collected.
        """
        found = (super().collect if self.named_regexp else self._named)(submitted_file)
        if found is None or Path(found["file_id"]).name.lower() != TIMESTAMP:
            return found
        self.log.warning("%s of %s is not collected.", TIMESTAMP, found["student_id"])
        return None

    def _named(self, submitted_file: str) -> dict[str, str] | None:
        path = Path(submitted_file)
        where = Path(self.parent._format_collect_path(self.parent.extracted_directory))
        parts = path.relative_to(where).parts
        if any(JUNK.match(part) for part in parts):
            return None
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            found = next((s for s in self._known if _is_of(part, s, last)), None)
            if found is not None:
                file = self._file(part, found) if last else path.name
                own = where.joinpath(*parts[: i + 1])
                if not last and len(list(own.rglob(path.name))) > 1:  # they keep their folders
                    file = "/".join(parts[i + 1 :])
                while (found, file) in self._taken:
                    file = f"another {file}"
                self._taken.add((found, file))
                return {"student_id": found, "file_id": file}
        self.log.warning("No student of the gradebook is named in %s.", shown("/".join(parts)))
        return None

    def _file(self, name: str, student: str) -> str:
        """`alice_4711_ps1.ipynb` is her `ps1.ipynb`."""
        expected = f"{self.parent.coursedir.assignment_id}{NOTEBOOK}"
        return expected if name.removeprefix(student).endswith(f"_{expected}") else name


def _is_of(part: str, student: str, is_file: bool) -> bool:
    ends = "_." if is_file else "_"
    return part == student or (part.startswith(student) and part[len(student)] in ends)
