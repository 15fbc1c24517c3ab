"""Isolate a process from the rest of the machine, with what Linux offers to every user.

    isolation.enter(isolation.installed(), "/tmp/x/runtime", ["/tmp/x/home"], run_the_kernel)

Namespaces, as `bubblewrap` and `isolate` use them: the process sees no file but those it is given,
no process but its own, no network, and has no rights over any of it (Linux's own description:
namespaces(7), user_namespaces(7), pivot_root(2), capabilities(7)). They are entered here and not by
such a program, because a kernel is forked with PyTorch already imported, and starts no program.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
NOSUID, NODEV, NOEXEC = 0x2, 0x4, 0x8
DETACH = 2
MOUNT_SETATTR = 442  # its number is the same on every kind of processor
SET_RECURSIVE, SET_READ_ONLY, SET_NOSUID = 0x8000, 0x1, 0x2
AT_FDCWD = -100
SET_DEATH_SIGNAL, DROP_BOUND, NO_NEW_PRIVILEGES = 1, 24, 38  # of prctl(2)
CAPABILITIES_VERSION = 0x20080522
STUDENT = 1000  # the user id inside; it belongs to nobody in particular

DEVICES = ("null", "zero", "full", "random", "urandom")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
# Of /etc only what programs need to start: some machines keep what is secret there.
ETC = ("alternatives", "fonts", "group", "ld.so.cache", "localtime", "nsswitch.conf", "passwd")
SCRATCH = 2**28  # bytes that each empty folder holds, in memory
FILES = 20_000  # that each holds


def bound(**limits: int) -> None:
    """Bound what this process may use, by the names of setrlimit(2), where it has them."""
    if resource is None:
        return
    for name, most in limits.items():
        with suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


class Unavailable(OSError):
    """The system refuses to isolate a process."""


def _libc(name: str, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    answer = getattr(library, name)(*arguments)
    if answer < 0:
        number = ctypes.get_errno()
        raise Unavailable(number, f"{name}: {os.strerror(number)}")
    return answer


def end_with_parent() -> None:
    """From now on, the death of the parent is that of this process, too."""
    _libc("prctl", SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def enter(
    readable: Iterable[str],
    shared: str,
    empty: Sequence[str],
    inside: Callable[[Callable[[], None]], None],
) -> None:
    """Run `inside` in a process of its own that sees nothing else; return when it has ended.

    `inside` is given a function that makes `shared` read-only, and calls it once it has written
    there what it needs to.

    Args:
        readable: files and folders that it may read, wherever they are.
        shared: a folder that both sides see.
        empty: folders that are empty inside, writable, and bounded; the first becomes the current
            one.
        inside: never returns to what called `enter`.

    Raises:
        Unavailable: if the system refuses; nothing has been run then.
    """
    user, group = os.geteuid(), os.getegid()
    _libc("unshare", NEWUSER | NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS)
    with suppress(OSError):
        _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{STUDENT} {user} 1")
    _write("/proc/self/gid_map", f"{STUDENT} {group} 1")
    first = os.fork()  # the first process of the new namespace; its end ends all others there
    if first:
        _, status = os.waitpid(first, 0)
        if os.waitstatus_to_exitcode(status) == _REFUSED:
            raise Unavailable("the folders of a submission cannot be mounted")
        return
    try:
        end_with_parent()
        _see_only(readable, shared, empty)
    except OSError:
        os._exit(_REFUSED)
    _rule(shared, inside)


_REFUSED = 77


def _rule(shared: str, inside: Callable[[Callable[[], None]], None]) -> None:
    """What the first process does: start the second one, and reap every process that ends."""
    ready, done = os.pipe()
    second = os.fork()
    if not second:
        os.close(ready)
        _give_up_rights()

        def settled() -> None:
            os.write(done, b"x")
            os.close(done)

        inside(settled)
        os._exit(0)
    os.close(done)
    # It has rights that the others have not: nobody inside can look into it or stop it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.read(ready, 1):
        _read_only(shared)
    while True:
        pid, _ = os.wait()
        if pid == second:
            os._exit(0)


def _see_only(readable: Iterable[str], shared: str, empty: Sequence[str]) -> None:
    """A new root with only these files; everything else is detached, not merely hidden."""
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    root = empty[0]  # an empty folder that is there: the new root is built on it
    _mount("tmpfs", root, "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    for path in _outermost(readable):
        _bind(path, root + path)
        _read_only(root + path)
    _bind(shared, root + shared)
    for name in DEVICES:
        _bind(f"/dev/{name}", f"{root}/dev/{name}")
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.makedirs(f"{root}/proc")
    _mount("proc", f"{root}/proc", "proc", NOSUID | NODEV | NOEXEC)
    for path in (*empty, "/dev/shm"):
        os.makedirs(root + path, exist_ok=True)
    os.makedirs(f"{root}/before")
    _libc("pivot_root", root.encode(), f"{root}/before".encode())
    os.chdir("/")
    _libc("umount2", b"/before", DETACH)
    os.rmdir("/before")
    for path in (*empty, "/dev/shm"):
        bounds = f"size={SCRATCH},nr_inodes={FILES},mode=700"
        _mount("tmpfs", path, "tmpfs", NOSUID | NODEV, bounds)
    _read_only("/", recursive=False)
    with suppress(OSError):  # no namespaces inside this one
        _write("/proc/sys/user/max_user_namespaces", "0")
    os.chdir(empty[0])


def _outermost(paths: Iterable[str]) -> list[str]:
    """Those that are there and lie in no other one, links as they are."""
    found: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths if os.path.exists(path)}):
        if not any(path.startswith(f"{other}/") for other in found):
            found.append(path)
    return found


def _bind(path: str, place: str) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.islink(path) and not os.path.isabs(os.readlink(path)):
        os.symlink(os.readlink(path), place)  # such as /bin, a link to usr/bin
        return
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        Path(place).touch()
    _mount(path, place, None, BIND | RECURSIVE)


def _read_only(path: str, recursive: bool = True) -> None:
    if os.path.islink(path):
        return
    wanted = (ctypes.c_uint64 * 4)(SET_READ_ONLY | SET_NOSUID, 0, 0, 0)
    flags = SET_RECURSIVE if recursive else 0
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    _libc("syscall", MOUNT_SETATTR, AT_FDCWD, path.encode(), flags, ctypes.byref(wanted), size)


def _mount(source: str, place: str, kind: str | None, flags: int, options: str = "") -> None:
    _libc(
        "mount",
        source.encode(),
        place.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )


def _give_up_rights() -> None:
    """No rights, not even over what is inside, and no way to get any by starting a program."""
    end_with_parent()
    for capability in range(64):
        with suppress(Unavailable):
            _libc("prctl", DROP_BOUND, capability, 0, 0, 0)
    _libc("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0)
    _libc("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def installed() -> list[str]:
    """What a kernel needs to read: the system's programs, this Python and its packages."""
    package = Path(__file__).parents[1]
    paths = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, str(package)}
    # The folder that holds the package may hold a course, too: only the package is readable.
    paths |= {path for path in sys.path if path and Path(path) != package.parent}
    real = {os.path.realpath(path) for path in (*paths, sys.executable)}  # where links lead
    return [*SYSTEM, *(f"/etc/{name}" for name in ETC), *sorted(paths | real)]
