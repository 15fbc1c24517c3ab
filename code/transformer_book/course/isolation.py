"""Isolate a process from the rest of the machine, with what Linux offers to every user.

    isolation.enter(isolation.installed(), "/tmp/x/runtime", ["/tmp/x/home"], run_the_kernel)

Namespaces, as `bubblewrap` and `isolate` use them: the process sees no file but those it is given,
no process but its own, no network, and has no rights over any of it (Linux's own description:
namespaces(7), user_namespaces(7), pivot_root(2), capabilities(7)). They are entered here and not by
such a program, because a kernel is forked with PyTorch already imported, and starts no program.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

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
STUDENT = 1000  # the first user id inside; each look has its own
STRANGER = 65_100  # and outside, if root grades: an account that no system gives to anybody
JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of keyctl(2)

DEVICES = ("null", "full", "random", "urandom")  # not zero: what it maps is in no file
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
# Of /etc only what programs need to start: some machines keep what is secret there.
ETC = ("alternatives", "fonts", "group", "ld.so.cache", "localtime", "nsswitch.conf", "passwd")
SCRATCH = 2**28  # bytes that the empty folders hold together, in memory
FILES = 20_000  # that they hold
SOCKET = 2**18  # bytes that wait in a socket, at most
# Of /proc, what tells of the whole machine's inside, and what changes it.
HIDDEN = ("kcore", "keys", "key-users", "kmsg", "sched_debug", "sysrq-trigger", "timer_list")
UNCHANGED = ("acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "sys")
# Calls of the system that no answer needs. Some hold memory that is in no process, some tell what
# an earlier process has left in the page cache or in a keyring, some have often had faults.
DENIED = (
    *("add_key", "keyctl", "request_key"),
    *("memfd_create", "msgget", "mq_open", "semget", "shmget", "vmsplice"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "mincore"),
    *("bpf", "fanotify_init", "kcmp", "perf_event_open", "ptrace", "userfaultfd"),
    *("process_vm_readv", "process_vm_writev", "name_to_handle_at", "open_by_handle_at"),
    *("mount", "umount2", "pivot_root", "chroot", "setns", "unshare"),
    *("acct", "quotactl", "reboot", "swapon", "syslog", "kexec_load", "init_module"),
)
# As many libraries do not know them by name: open_tree to fspick, openat2, pidfd_getfd,
# process_madvise, mount_setattr, quotactl_fd, memfd_secret, cachestat.
DENIED_NUMBERS = (428, 429, 430, 431, 432, 433, 437, 438, 440, MOUNT_SETATTR, 443, 447, 451)
AF_INET6, AF_NETLINK, SOL_SOCKET, SO_SNDBUF, DONTNEED, NOWAIT = 10, 16, 1, 7, 4, 8
SHARED_MEMORY = 0x21  # of mmap(2): MAP_SHARED and MAP_ANONYMOUS


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


def stranger() -> int | None:
    """Whose the students' code is outside, where root grades; `None`: of the user who grades.

    It is `None`, too, where root is not that of the machine, and has no other user to give.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    with suppress(OSError), open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
        if not any(start <= STRANGER < STRANGER + 9 < start + n for start, _, n in ranges):
            return None
    return STRANGER


def hand_over(folder: str, look: int) -> None:
    """Let a folder, and what is in it, belong to the user whose the code of a look is outside."""
    if (outside := stranger()) is not None:
        for path in (folder, *Path(folder).iterdir()):
            os.chown(path, outside + look, outside + look)


def enter(
    readable: Iterable[str],
    shared: str,
    empty: Sequence[str],
    inside: Callable[[Callable[[], None]], None],
    look: int = 0,
) -> None:
    """Run `inside` in a process of its own that sees nothing else; return when it has ended.

    `inside` is given a function that makes `shared` read-only, and calls it once it has written
    there what it needs to.

    Args:
        readable: files and folders that it may read, wherever they are.
        shared: a folder that both sides see; see `hand_over`.
        empty: folders that are empty inside, writable, and together bounded; the first becomes the
            current one.
        inside: never returns to what called `enter`.
        look: which look it is for: each has a user id of its own inside, and outside, too, if root
            grades.

    Raises:
        Unavailable: if the system refuses; nothing has been run then.
    """
    student = STUDENT + look
    with suppress(KeyError, Unavailable):  # it has none of the session's keys
        _libc("syscall", KEYCTL[platform.machine()], JOIN_SESSION_KEYRING, None)
    _new_namespaces(student, look)
    first = os.fork()  # the first process of the new namespace; its end ends all others there
    if first:
        _, status = os.waitpid(first, 0)
        if os.waitstatus_to_exitcode(status) == _REFUSED:
            raise Unavailable("the folders of a submission cannot be mounted")
        return
    try:
        end_with_parent()
        _see_only(readable, shared, empty, student)
    except OSError:
        os._exit(_REFUSED)
    _rule(shared, inside, student)


_REFUSED = 77


def _new_namespaces(student: int, look: int) -> None:
    """New ones, in which `student` is the user who grades; or a stranger, if that is root."""
    user, group = os.geteuid(), os.getegid()
    new = NEWUSER | NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS
    outside = stranger()
    if outside is None:
        _libc("unshare", new)
        with suppress(OSError):
            _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{student} {user} 1")
        _write("/proc/self/gid_map", f"{student} {group} 1")
        return
    # Only who stays outside may say who is who inside. There root mounts, and is left then.
    told, tell = os.pipe()
    process = os.getpid()
    writer = os.fork()
    if not writer:
        os.close(tell)
        try:
            if os.read(told, 1):
                text = f"0 0 1\n{student} {outside + look} 1"
                _write(f"/proc/{process}/uid_map", text)
                _write(f"/proc/{process}/gid_map", text)
                os._exit(0)
        finally:
            os._exit(1)
    os.close(told)
    _libc("unshare", new)
    os.write(tell, b"x")
    os.close(tell)
    _, status = os.waitpid(writer, 0)
    if status:
        raise Unavailable("the user of a submission cannot be made")


def _rule(shared: str, inside: Callable[[Callable[[], None]], None], student: int) -> None:
    """What the first process does: start the second one, and reap every process that ends."""
    ready, done = os.pipe()
    second = os.fork()
    if not second:
        os.close(ready)
        _give_up_rights(student)

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


def _see_only(readable: Iterable[str], shared: str, empty: Sequence[str], student: int) -> None:
    """A new root with only these files; everything else is detached, not merely hidden."""
    os.umask(0o022)  # what root makes here, students may read
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
    os.makedirs(f"{root}/dev/pts")  # `!command` in a cell asks for a terminal
    _mount(
        "devpts", f"{root}/dev/pts", "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=666,max=16"
    )
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    os.makedirs(f"{root}/proc")
    _mount("proc", f"{root}/proc", "proc", NOSUID | NODEV | NOEXEC)
    with suppress(OSError):  # no namespaces inside this one
        _write(f"{root}/proc/sys/user/max_user_namespaces", "0")
    for path in (f"{root}/proc/{name}" for name in UNCHANGED):
        if os.path.exists(path):
            _mount(path, path, None, BIND | RECURSIVE)
            _read_only(path)
    for path in (f"{root}/proc/{name}" for name in HIDDEN):
        if os.path.exists(path):
            _mount("/dev/null", path, None, BIND)
    for path in (*empty, "/dev/shm"):
        os.makedirs(root + path, exist_ok=True)
    os.makedirs(f"{root}/before")
    _libc("pivot_root", root.encode(), f"{root}/before".encode())
    os.chdir("/")
    _libc("umount2", b"/before", DETACH)
    # One bounded memory for all that is written.
    bounds = f"size={SCRATCH},nr_inodes={FILES},mode=711"
    _mount("tmpfs", "/before", "tmpfs", NOSUID | NODEV, bounds)
    for i, path in enumerate((*empty, "/dev/shm")):
        os.mkdir(f"/before/{i}", 0o700)
        os.chown(f"/before/{i}", student, student)
        _mount(f"/before/{i}", path, None, BIND)
    _libc("umount2", b"/before", DETACH)
    os.rmdir("/before")
    _read_only("/", recursive=False)
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


def _give_up_rights(student: int) -> None:
    """No rights, not even over what is inside, and no way to get any by starting a program."""
    if os.geteuid() == 0:
        os.setgroups([])
    os.setresgid(student, student, student)
    os.setresuid(student, student, student)
    end_with_parent()
    for capability in range(64):
        with suppress(Unavailable):
            _libc("prctl", DROP_BOUND, capability, 0, 0, 0)
    _libc("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0)
    _libc("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    if (filtering := library()) is not None:
        _filter(filtering)


@functools.cache
def library() -> Any:
    """The library that filters calls of the system, or `None` where it is not installed."""
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError, AttributeError):
        return None
    return pyseccomp


def _filter(seccomp: Any) -> None:
    """From now on this process and those it starts are refused what no answer needs."""
    calls = seccomp.SyscallFilter(seccomp.ALLOW)
    refused = seccomp.ERRNO(errno.EPERM)
    arg = seccomp.Arg
    for name in DENIED:
        with suppress(OSError, ValueError):  # not on every kind of processor
            calls.add_rule(refused, name)
    for number in DENIED_NUMBERS:
        calls.add_rule(refused, number)
    # A kernel's own threads speak over the sockets of its namespace, where there is no one else.
    # Other kinds are not of a namespace, or have often had faults.
    no_such = seccomp.ERRNO(errno.EAFNOSUPPORT)
    for family in set(range(3, AF_NETLINK)) - {AF_INET6}:
        calls.add_rule(no_such, "socket", arg(0, seccomp.EQ, family))
    calls.add_rule(no_such, "socket", arg(0, seccomp.GT, AF_NETLINK))
    calls.add_rule(no_such, "socket", arg(0, seccomp.EQ, AF_NETLINK), arg(2, seccomp.NE, 0))
    for option in (SO_SNDBUF, SO_SNDBUF + 25):  # as much waits in a socket as is reckoned with
        calls.add_rule(
            refused, "setsockopt", arg(1, seccomp.EQ, SOL_SOCKET), arg(2, seccomp.EQ, option)
        )
    # What is mapped so is memory of no process and no file once it is not looked at any more.
    calls.add_rule(refused, "mmap", arg(3, seccomp.MASKED_EQ, SHARED_MEMORY, SHARED_MEMORY))
    calls.add_rule(refused, "fadvise64", arg(3, seccomp.EQ, DONTNEED))
    calls.add_rule(refused, "preadv2", arg(5, seccomp.MASKED_EQ, NOWAIT, NOWAIT))
    calls.load()


def held(process: int, folder: str) -> int:
    """Bytes that belong to no process of a kernel: its files in `folder`, and its sockets' queues.

    Args:
        process: of the kernel, seen from outside.
        folder: a writable one inside.
    """
    with suppress(OSError, ValueError, IndexError):
        files = os.statvfs(f"/proc/{process}/root{folder}")
        if files.f_blocks * files.f_frsize == SCRATCH:  # else it is not yet apart
            sockets = Path(f"/proc/{process}/net/sockstat").read_text("ascii").split()[2]
            used = (files.f_blocks - files.f_bfree) * files.f_frsize
            return used + int(sockets) * SOCKET
    return 0


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
