"""Downloads arrive whole or not at all, whatever the server and the disk do."""

from __future__ import annotations

import errno
import functools
import hashlib
import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.faults import Killed, fault_in, no_network
from tests.fresh import import_fresh

CONTENT = bytes(range(256)) * 1000  # four chunks
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2
Behaviour = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(scope="module")
def downloads():
    return import_fresh("transformer_book.tasks.downloads")


# --- servers --------------------------------------------------------------------------------------


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    *,
    promised: int | None = None,
    status: int = 200,
    **headers: str,
) -> None:
    """An answer; `promised` is its Content-Length, if that is not the truth; -1 for none."""
    handler.send_response(status)
    if promised != -1:
        handler.send_header("Content-Length", str(len(body) if promised is None else promised))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


def first_byte(handler: BaseHTTPRequestHandler) -> int:
    match = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    return int(match.group(1)) if match else 0


def good(handler: BaseHTTPRequestHandler, body: bytes = CONTENT, upto: int | None = None) -> None:
    """What was asked for; with `upto`, the connection ends after so many bytes of it."""
    start = first_byte(handler)
    if start >= len(body):
        return send(handler, b"", status=416, Content_Range=f"bytes */{len(body)}")
    rest = body[start:]
    more = {}
    if start:
        more = {"Content_Range": f"bytes {start}-{len(body) - 1}/{len(body)}", "status": 206}
    send(handler, rest[:upto], promised=len(rest), **more)


def dropping(handler: BaseHTTPRequestHandler) -> None:
    good(handler, upto=70_000)


def no_ranges(handler: BaseHTTPRequestHandler) -> None:
    send(handler, CONTENT)


def another_part(handler: BaseHTTPRequestHandler) -> None:
    size = len(CONTENT)
    send(handler, CONTENT[5:], status=206, Content_Range=f"bytes 5-{size - 1}/{size}")


def wrong_bytes(handler: BaseHTTPRequestHandler) -> None:
    good(handler, bytes(len(CONTENT)))


def promises_more(handler: BaseHTTPRequestHandler) -> None:
    send(handler, CONTENT[first_byte(handler) :], promised=len(CONTENT) + 50)


def promises_less(handler: BaseHTTPRequestHandler) -> None:
    start = first_byte(handler)
    body = CONTENT[start:]
    more = {"Content_Range": f"bytes {start}-/*", "status": 206} if start else {}
    send(handler, body[: len(body) // 2 + 1], promised=len(body) // 2 + 1, **more)


def sends_more(handler: BaseHTTPRequestHandler) -> None:
    send(handler, CONTENT + b"and a greeting", promised=-1)


def says_nothing_of_the_length(handler: BaseHTTPRequestHandler) -> None:
    send(handler, CONTENT, promised=-1)


def stalling(handler: BaseHTTPRequestHandler) -> None:
    good(handler, upto=1000)
    handler.server.over.wait(20)


def dripping(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b"", promised=len(CONTENT))
    for i in range(len(CONTENT)):
        handler.wfile.write(CONTENT[i : i + 1])
        if handler.server.over.wait(0.02):
            break


def answering(status: int) -> Behaviour:
    return functools.partial(send, body=b"<html>sorry</html>", status=status)


def redirecting(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b"", status=302, Location="/elsewhere")


class Server:
    """Behaves as told: the first request meets the first behaviour, the last one stays."""

    def __init__(self, downloads, folder: Path) -> None:
        self.downloads, self.folder = downloads, folder
        self.asked: list[str | None] = []
        self.behaviours: list[Behaviour] = [good]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                behaviour = outer.behaviours[min(len(outer.asked), len(outer.behaviours) - 1)]
                outer.asked.append(self.headers.get("Range"))
                behaviour(self)

            def log_message(self, *_: object) -> None:
                pass

        class Http(ThreadingHTTPServer):
            over = threading.Event()

            def handle_error(self, *_: object) -> None:  # a client that has gone
                pass

        Http.over = threading.Event()
        self.http = Http(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def remote(self, sha256: str | None = SHA256, size: int | None = len(CONTENT)):
        url = f"http://127.0.0.1:{self.http.server_port}/file.bin"
        return self.downloads.Remote("some/file.bin", url, sha256, size)

    def locate(self, *behaviours: Behaviour, total: float = 10, **remote: object) -> Path:
        self.behaviours, self.asked = list(behaviours) or self.behaviours, []
        limits = self.downloads.Limits(stalled=0.3, total=total, attempts=3, pause=0)
        return self.downloads.locate(self.remote(**remote), limits=limits)

    @property
    def place(self) -> Path:
        return self.folder / "some" / "file.bin"

    def kept(self) -> list[bytes]:
        """What is hidden beside the place of the file."""
        return [path.read_bytes() for path in self.place.parent.glob(".*")]

    def close(self) -> None:
        self.http.over.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(downloads, tmp_path, monkeypatch) -> Iterator[Server]:
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server(downloads, tmp_path)
    yield server
    server.close()


# --- arriving -------------------------------------------------------------------------------------


def test_a_file_is_fetched_once(server):
    assert server.locate(good) == server.place
    assert server.place.read_bytes() == CONTENT
    assert server.kept() == [] and server.asked == [None]
    assert server.locate(answering(500)) == server.place
    assert server.asked == []


# Each with the ranges that are asked for.
def says_its_length_is(length: str, handler: BaseHTTPRequestHandler) -> None:
    send(handler, CONTENT, promised=-1, Content_Length=length)


MENDED = {
    "its length is no number": ([functools.partial(says_its_length_is, "\u00b2")], [None]),
    "its length has 5000 digits": ([functools.partial(says_its_length_is, "7" * 5000)], [None]),
    "it sends another part, then all": ([dropping, another_part, good], [None, 70_000, None]),
    "it drops every connection": ([dropping], [None, 70_000, 140_000, 210_000]),
    "it drops once, then knows no ranges": ([dropping, no_ranges], [None, 70_000]),
    "it stalls": ([stalling, stalling, good], [None, 1000, 2000]),
    "it is busy": ([answering(503), answering(429), good], [None, None, None]),
    "it sends it elsewhere": ([redirecting, good], [None, None]),
    "it sends wrong bytes once": ([wrong_bytes, good], [None, None]),
    "it sends a wrong end": ([dropping, wrong_bytes, good], [None, 70_000, None]),
    "it promises more than there is": ([promises_more], [None]),
    "it sends more than there is": ([sends_more], [None]),
    "it does not say how much there is": ([says_nothing_of_the_length], [None]),
    "it promises less than there is": ([promises_less, good], [None, HALF + 1]),
}


@pytest.mark.parametrize(("behaviours", "asked"), MENDED.values(), ids=MENDED)
def test_what_a_server_may_do(server, behaviours, asked):
    assert server.locate(*behaviours).read_bytes() == CONTENT
    assert server.asked == [None if start is None else f"bytes={start}-" for start in asked]
    assert server.kept() == []


def test_another_process_has_thrown_the_part_away(server):
    def losing(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(CONTENT[:1000])
        while not (parts := list(server.place.parent.glob(".*"))):
            handler.server.over.wait(0.01)
        parts[0].unlink()
        handler.wfile.write(CONTENT[1000:])

    assert server.locate(losing, good).read_bytes() == CONTENT
    assert server.kept() == []


# --- not arriving ---------------------------------------------------------------------------------

FAILURES = {
    "wrong bytes": ([wrong_bytes], "its SHA-256 is [0-9a-f]{64}, not " + SHA256),
    "elsewhere is nowhere": (
        [functools.partial(send, body=b"", status=302, Location="http://[::1/")],
        "Invalid IPv6 URL",
    ),
    "another part": ([dropping, another_part], "another part of the file than the one asked for"),
    "it does not exist": ([answering(404)], "the server answers 404 Not Found"),
    "it always fails": ([answering(500)], "the server answers 500 Internal Server Error"),
    "it stalls at once": (
        [lambda handler: handler.server.over.wait(5)],
        "the server does not answer in time",
    ),
    "it says no HTTP": ([lambda handler: handler.wfile.write(b"hello\r\n\r\n")], "hello"),
}


@pytest.mark.parametrize(("behaviours", "why"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_one_sentence(server, downloads, behaviours, why):
    with pytest.raises(downloads.NotDownloaded, match=why) as caught:
        server.locate(*behaviours)
    sentence = str(caught.value)
    assert isinstance(caught.value, ValueError) and "\n" not in sentence
    for told in ("some/file.bin", server.remote().url, str(server.place.parent), "'captions'"):
        assert told in sentence
    assert not server.place.exists()


def test_no_network(server, downloads, monkeypatch):
    no_network(monkeypatch)
    remote = downloads.Remote("some/file.bin", "http://example.invalid/f", SHA256)
    monkeypatch.setattr(downloads.time, "sleep", None)  # it is not tried again: it would not help
    with pytest.raises(downloads.NotDownloaded, match="Name or service not known") as caught:
        downloads.locate(remote, instead="the other task")
    assert str(caught.value).endswith("by hand, or use the other task.")


def test_a_connection_is_refused(server, downloads):
    server.close()
    with pytest.raises(downloads.NotDownloaded, match="refused"):
        server.locate()


def test_the_next_run_goes_on(server, downloads):
    with pytest.raises(downloads.NotDownloaded, match="404"):
        server.locate(dropping, answering(404))
    assert server.kept() == [CONTENT[:70_000]] and not server.place.exists()
    assert server.locate(good).read_bytes() == CONTENT
    assert server.asked == ["bytes=70000-"] and server.kept() == []


def test_the_rest_of_another_version_is_not_added(server, downloads):
    other = bytes(1000) + CONTENT
    with pytest.raises(downloads.NotDownloaded, match="404"):
        server.locate(
            lambda handler: good(handler, other, upto=500), answering(404), size=len(other)
        )
    sha256 = hashlib.sha256(other).hexdigest()
    assert server.locate(lambda handler: good(handler, other), sha256=sha256, size=None)
    assert server.asked == [None] and server.place.read_bytes() == other


@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_a_part_that_is_longer_than_the_file_is_dropped(server, downloads, size):
    with pytest.raises(downloads.NotDownloaded, match="404"):
        server.locate(dropping, answering(404), size=size)
    (part,) = server.place.parent.glob(".*")
    part.write_bytes(CONTENT + b"more")
    assert server.locate(good, size=size).read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT) + 4}-", None][size is not None :]
    assert server.kept() == []


def test_time_is_limited_though_bytes_keep_dripping(server, downloads):
    with pytest.raises(downloads.NotDownloaded, match=r"it took more than 0\.4 s"):
        server.locate(dripping, total=0.4)
    (kept,) = server.kept()
    assert 0 < len(kept) < 100 and CONTENT.startswith(kept)


def test_a_server_that_never_ends_does_not_fill_the_disk(server, downloads, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 100_000)
    with pytest.raises(downloads.NotDownloaded, match="it is longer than 100,000 bytes"):
        server.locate(says_nothing_of_the_length, size=None)
    assert not server.place.exists()


def test_without_a_hash_the_length_decides(server, downloads):
    with pytest.raises(downloads.NotDownloaded, match=r"404"):
        server.locate(dropping, answering(404), sha256=None, size=None)
    assert not server.place.exists()
    assert server.locate(good, sha256=None, size=None).read_bytes() == CONTENT


def test_what_is_there_is_checked_and_left_alone(server):
    server.place.parent.mkdir()
    server.place.write_bytes(b"my own")
    with pytest.raises(ValueError, match=r"file\.bin is not the file that belongs there") as caught:
        server.locate(good)
    assert SHA256 in str(caught.value) and "move it away" in str(caught.value)
    assert server.place.read_bytes() == b"my own" and server.asked == []
    assert server.locate(good, sha256=None) == server.place  # nothing to hold it against


# --- the disk -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "interrupted", "killed"])
def test_the_disk_may_fail_at_any_step(server, kind):
    step, raised = 0, set()
    while True:
        step += 1
        for path in (*server.place.parent.glob(".*"), server.place):
            path.unlink(missing_ok=True)
        try:
            with fault_in(kind, step) as fault:
                server.locate(good)
        except (OSError, KeyboardInterrupt, Killed) as error:
            raised.add(type(error))
            if kind == "full":
                assert error.errno == errno.ENOSPC and error.filename
        if not fault.happened:
            break
        if server.place.exists():
            assert server.place.read_bytes() == CONTENT
        assert server.locate(good).read_bytes() == CONTENT
        assert server.kept() == []
    assert len(raised) == 1 and step > 5


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "some").write_text("a file")
    with pytest.raises(OSError) as caught:
        server.locate(good)
    assert "some" in str(caught.value.filename)


def test_two_at_once_do_not_spoil_each_other(server, downloads):
    """The second one goes on from the half that the first has, and they write side by side."""
    half_sent, go_on = threading.Event(), threading.Event()

    def first_waits(handler: BaseHTTPRequestHandler) -> None:
        send(handler, CONTENT[:HALF], promised=len(CONTENT))
        half_sent.set()
        go_on.wait(10)
        handler.wfile.write(CONTENT[HALF:])

    server.behaviours = [first_waits, good]
    limits = downloads.Limits(stalled=10, total=20, attempts=3, pause=0)
    found: list[Path] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(downloads.locate(server.remote(), limits=limits))
        )
        for _ in range(2)
    ]
    threads[0].start()
    assert half_sent.wait(10)
    threads[1].start()
    threads[1].join(10)
    go_on.set()
    threads[0].join(10)
    assert found == [server.place] * 2
    assert server.place.read_bytes() == CONTENT and server.kept() == []


# --- where, and how it looks ----------------------------------------------------------------------


def test_where_files_are_kept(downloads, monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("TRANSFORMER_BOOK_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    folders = {"linux": ".cache", "darwin": "Library/Caches", "win32": "AppData/Local"}
    for platform, folder in folders.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert downloads.data_folder() == tmp_path / folder / "transformer-book"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    assert downloads.data_folder() == tmp_path / "c" / "transformer-book"
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", "relative")
    assert downloads.data_folder() == Path.cwd() / "relative"


def test_no_home(downloads, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", "~no-such-user/data")
    with pytest.raises(ValueError, match="'~no-such-user/data', but there is no such user"):
        downloads.data_folder()
    monkeypatch.delenv("TRANSFORMER_BOOK_DATA")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ValueError, match="no home folder to keep data in: set TRANSFORMER_BOOK_D"):
        downloads.data_folder()


def test_the_bar(server, downloads, capsys):
    server.behaviours = [dropping, wrong_bytes, good]
    limits = downloads.Limits(pause=0)
    downloads.locate(server.remote(), progress=True, limits=limits)
    shown = capsys.readouterr().err
    assert "some/file.bin: 100%" in shown and "256k/256k" in shown
    server.place.unlink()
    server.asked = []
    downloads.locate(server.remote(), limits=limits)
    assert capsys.readouterr() == ("", "")  # no terminal, no bar
