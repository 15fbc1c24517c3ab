"""Files from the internet: fetched once, checked, kept; and where they are kept.

    path = locate(Remote("multi30k/val.de.gz", url, sha256, size))

A file that is there already is checked, not fetched. A download goes into a hidden file beside its
place and takes its name only when every byte is known to be right: nobody ever sees half a file.
(Where no hash was ever published, as for Europarl, it is known to be complete; the task's reader
checks the rest.)
What an interrupted download got stays, and the next one goes on from there.

Nothing outside the standard library is imported, but for the progress bar.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_book import __version__

VARIABLE = "TRANSFORMER_BOOK_DATA"
CHUNK = 1 << 16
# Of a file whose size nobody knows: a server that never ends must not fill the disk.
LARGEST = 4 << 30


@dataclass(frozen=True)
class Remote:
    """A file on the internet, and how to recognise it.

    Attributes:
        path: where it belongs below the data folder: "multi30k/val.de.gz".
        url: where it comes from.
        sha256: of its bytes, hexadecimal; `None` where none was ever published: then whoever reads
            the file has to check it.
        size: bytes; `None` if unknown.
    """

    path: str
    url: str
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Limits:
    """How long a download may take, and how often it may fail.

    Attributes:
        stalled: seconds without a byte after which a connection counts as lost.
        total: seconds for one file, all attempts together. What arrived until then is kept.
        attempts: failures in a row, without a single new byte, after which it gives up.
        pause: seconds between two attempts.
    """

    stalled: float = 20.0
    total: float = 3600.0
    attempts: int = 3
    pause: float = 1.0


class NotDownloaded(ValueError):
    """A file is not here and could not be fetched; the message says what to do by hand."""


def data_folder() -> Path:
    """`TRANSFORMER_BOOK_DATA`, if it is set, or a folder among the user's caches."""
    if chosen := os.environ.get(VARIABLE):
        try:
            return Path(chosen).expanduser().absolute()
        except RuntimeError as error:
            raise ValueError(f"{VARIABLE} is {chosen!r}, but there is no such user.") from error
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ValueError(f"There is no home folder to keep data in: set {VARIABLE}.") from error
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = home / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return caches / "transformer-book"


def locate(
    remote: Remote,
    *,
    instead: str = "the task 'captions', which needs no download",
    progress: bool | None = None,
    limits: Limits = Limits(),  # frozen
) -> Path:
    """The path of a file in the data folder, after it has been fetched, if need be, and checked.

    Args:
        remote: which file.
        instead: what works without it, for the message.
        progress: show a bar; `None`: on a terminal.
        limits: of time and patience.

    Raises:
        NotDownloaded: no network, a server that fails, or bytes that are not the right ones.
        ValueError: the file that is there is another one.
        OSError: the folder cannot be written to, or the disk is full.
    """
    place = data_folder() / remote.path
    if place.exists():
        found = sha256_of(place)
        if remote.sha256 not in (None, found):
            raise ValueError(
                f"{place} is not the file that belongs there: its SHA-256 is {found}, not "
                f"{remote.sha256}; move it away, and it is downloaded again."
            )
        return place
    with _file_named(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        why = _Download(remote, place, progress, limits).run()
    if why:
        raise NotDownloaded(
            f"{remote.path} is not in {data_folder()}, and {remote.url} could not be downloaded "
            f"({why}): try again, or put that file into {place.parent} by hand, or use {instead}."
        )
    return place


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Lost(Exception):
    """An attempt failed; another one may not."""


class _Refused(Exception):
    """An attempt failed, and so would every other."""


class _Download:
    """One file on its way. `run` returns why it failed, or nothing."""

    def __init__(self, remote: Remote, place: Path, progress: bool | None, limits: Limits) -> None:
        self.remote, self.place, self.limits = remote, place, limits
        # Named after what it is part of: the rest of another version is never added to it.
        of = hashlib.sha256(f"{remote.url} {remote.sha256}".encode()).hexdigest()[:8]
        self.part = place.with_name(f".{place.name}.{of}.part")
        self.progress = progress
        self.ends = time.monotonic() + limits.total

    def run(self) -> str:
        failures, begun_anew, why = 0, False, ""
        with _bar(self.remote, self._size(), self.progress) as bar:
            while failures < self.limits.attempts:
                before = self._size()
                try:
                    whole = self._attempt(bar)
                except _Refused as error:
                    return str(error)
                except _Lost as error:
                    why, whole = str(error), False
                if self._keep(whole):
                    return ""
                if time.monotonic() >= self.ends:
                    return f"it took more than {self.limits.total:g} s"
                # All that there is, and it is wrong; perhaps an old part was to blame. (If it has
                # gone, another process has come to the same end.)
                if whole and self.part.exists():
                    why = f"its SHA-256 is {sha256_of(self.part)}, not {self.remote.sha256}"
                    self.part.unlink()
                    bar.reset()
                    if begun_anew:
                        return why
                    begun_anew = True
                    continue
                failures = 0 if self._size() > before else failures + 1
                if failures < self.limits.attempts:
                    time.sleep(self.limits.pause)
        return why

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _keep(self, whole: bool) -> bool:
        """Let the part take the name of the file, if every byte is right."""
        if not self.part.exists():
            return self.place.exists()  # another process was faster
        if self.remote.sha256 is not None:
            whole = sha256_of(self.part) == self.remote.sha256  # whatever the server said
        if whole:
            os.replace(self.part, self.place)
        return whole

    def _attempt(self, bar: Any) -> bool:
        """Get what is missing; whether that was, by what the server says, everything."""
        here = self._size()
        if self.remote.size is not None and here >= self.remote.size:
            return True
        try:
            answer = self._ask(here)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and here:  # there is nothing behind what we have
                if self.remote.sha256 is None:
                    self.part.unlink()
                return self.remote.sha256 is not None
            kind = _Lost if error.code in (408, 425, 429) or error.code >= 500 else _Refused
            raise kind(f"the server answers {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            offline = isinstance(getattr(error, "reason", None), socket.gaierror)
            raise (_Refused if offline else _Lost)(_reason(error)) from error
        with answer:
            try:
                start, whole_size = _range_of(answer, here)
            except _Refused as error:
                if not here:
                    raise
                self.part.unlink(missing_ok=True)  # it cannot be continued: from the beginning
                raise _Lost(str(error)) from error
            return self._receive(answer, start, whole_size, bar)

    def _ask(self, here: int) -> http.client.HTTPResponse:
        headers = {"User-Agent": f"transformer-book/{__version__}", "Accept-Encoding": "identity"}
        if here:
            headers["Range"] = f"bytes={here}-"
        request = urllib.request.Request(self.remote.url, headers=headers)
        left = self.ends - time.monotonic()
        return urllib.request.urlopen(request, timeout=max(0.01, min(self.limits.stalled, left)))

    def _receive(
        self, answer: http.client.HTTPResponse, at: int, whole_size: int | None, bar: Any
    ) -> bool:
        # Written where it belongs, not appended: two processes at once write the same bytes.
        with self.part.open("r+b" if self.part.exists() else "xb", buffering=0) as file:
            if at == 0:
                file.truncate(0)
            file.seek(at)
            bar.update(at - bar.n)
            while True:
                if time.monotonic() >= self.ends:
                    raise _Lost("no time is left")
                try:
                    data = answer.read1(CHUNK)  # not read: it would wait for a full chunk
                except (OSError, http.client.HTTPException, ValueError) as error:
                    raise _Lost(_reason(error)) from error
                if not data:
                    break
                if self.remote.size is None and at + len(data) > LARGEST:
                    raise _Refused(f"it is longer than {LARGEST:,} bytes")
                # What follows the last byte is not ours; whether the others are, the hash decides.
                data = data[: None if self.remote.size is None else self.remote.size - at]
                if not data:
                    break
                _write(file, data)
                at += len(data)
                bar.update(len(data))
            os.fsync(file.fileno())
        promised = self.remote.size if self.remote.size is not None else whole_size
        if promised is not None and at < promised:
            raise _Lost(f"the connection ended after {at:,} of {promised:,} bytes")
        return True


def _range_of(answer: http.client.HTTPResponse, here: int) -> tuple[int, int | None]:
    """Where the bytes of an answer begin in the file, and the size of the file if it is said."""
    length = answer.headers.get("Content-Length", "")
    if answer.status == 206:
        # "bytes 100-199/200"; the size may be a star.
        span, _, size = answer.headers.get("Content-Range", "").partition(" ")[2].partition("/")
        if span.partition("-")[0] == str(here):
            return here, _bytes(size)
        raise _Refused("the server sends another part of the file than the one asked for")
    return 0, _bytes(length)  # all of it, from the beginning


def _bytes(number: str) -> int | None:
    """A size as a server writes it; `None` for anything that cannot be the size of a file."""
    return int(number) if number.isdecimal() and len(number) < 20 else None


def _write(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _reason(error: BaseException) -> str:
    """What went wrong on the way, in a few words."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, TimeoutError):
        return "the server does not answer in time"
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(words.split()).rstrip(".")


@contextmanager
def _file_named(place: Path) -> Iterator[None]:
    """Inside, an error of the disk says which file it was about."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(place)
        raise


@contextmanager
def _bar(remote: Remote, here: int, progress: bool | None) -> Iterator[Any]:
    from tqdm.auto import tqdm

    with tqdm(
        total=remote.size,
        initial=here,
        desc=remote.path,
        unit="B",
        unit_scale=True,
        disable=None if progress is None else not progress,
        dynamic_ncols=True,
    ) as bar:
        yield bar
