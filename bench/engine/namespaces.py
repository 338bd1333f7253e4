"""Linux namespaces for the process of a job: no network, nothing to write to, no other process in sight.

A forked child needs no helper program for this and stays as warm as its supervisor. What is done here cannot
be undone by the job: it holds no privilege in its namespaces, and gains none.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
import resource
import signal
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_KEPT_FLAGS = {
    "nosuid": _NOSUID, "nodev": _NODEV, "noexec": _NOEXEC, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21,
}  # fmt: skip
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = 442, -100, 0x8000, 1
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 24, 38, 47
_AMBIENT_CLEAR_ALL, _CAPABILITY_VERSION, _MOST_CAPABILITIES = 4, 0x20080522, 64
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_STATUS = struct.Struct("i")
# Programs outside listen here, and some of them would do for a job what it cannot do itself.
_SERVICES = ("/run/user", "/run/dbus", "/run/podman", "/run/docker.sock", "/run/containerd")


def confine(writable: Sequence[Path], *, own_processes: bool, shm_mb: int) -> None:
    """Cut this process off; afterwards it can write to the folders `writable` and to its own /dev/shm only.

    With `own_processes` it is also alone among processes: this call then returns in a grandchild, while the
    process that made it stays behind and ends as the grandchild does. Raises `OSError` where the system does
    not allow it. The process must have one thread.
    """
    uid, gid = os.getuid(), os.getgid()
    folders = [os.path.realpath(folder) for folder in writable]
    _call("unshare", _NEWUSER | _NEWNS | _NEWNET | _NEWIPC | (_NEWPID if own_processes else 0))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        Path("/proc/self", name).write_text(text)
    tell = _become_first() if own_processes else -1
    _rearrange(folders, own_processes, shm_mb)
    _raise_loopback()
    _drop_privileges()
    if own_processes:
        _become_second(tell)


def _become_first() -> int:
    """Go on as process 1 of the new namespace; returns the descriptor for the status of process 2."""
    hear, tell = os.pipe()
    first = os.fork()
    if first:
        os.close(tell)
        _stand_for(first, hear)
    os.close(hear)
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return tell


def _become_second(tell: int) -> None:
    """Go on as process 2: process 1 ignores signals that it has no handler for, and so can't be a job."""
    second = os.fork()
    if second:
        _ignore_signals()
        while (ended := os.wait())[0] != second:
            pass  # an orphan that came to us
        os.write(tell, _STATUS.pack(ended[1]))
        os._exit(0)  # the kernel ends whatever else lives in this namespace
    os.close(tell)
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _stand_for(first: int, hear: int) -> NoReturn:
    """Wait, and end as the job did: our parent watches us in its place."""
    _ignore_signals()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    status = os.waitpid(first, 0)[1]
    told = os.read(hear, _STATUS.size)
    if len(told) == _STATUS.size:
        (status,) = _STATUS.unpack(told)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError, ValueError):  # SIGKILL has no handler to take away
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 70)


def _ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _rearrange(folders: Sequence[str], own_processes: bool, shm_mb: int) -> None:
    """A file system of our own, in which everything but `folders` is read-only."""
    _mount("none", "/", None, _REC | _PRIVATE)
    if own_processes:
        _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    _set_read_only("/")
    if os.path.isdir("/dev/shm"):  # what worker processes of data loaders share memory through
        _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, f"size={shm_mb}m,mode=1777")
    for folder in folders:
        _mount(folder, folder, None, _BIND | _REC)
        _set_writable(folder)
    for service in _SERVICES:
        if not any(folder.startswith(service) for folder in folders):
            _hide(service)


def _hide(path: str) -> None:
    if os.path.isdir(path):
        _mount("tmpfs", path, "tmpfs", _RDONLY | _NOSUID | _NODEV, "size=4k")
    elif os.path.exists(path):
        _mount("/dev/null", path, None, _BIND)


def _set_read_only(root: str) -> None:
    """Make `root` and all mounts below it read-only."""
    if _set_attributes(root, to_set=_ATTR_RDONLY):
        return
    for place, flags in _mounts():  # a kernel before 5.12
        with suppress(PermissionError, FileNotFoundError):  # hidden below another mount, or from us
            _mount("none", place, None, _REMOUNT | _BIND | _RDONLY | flags)


def _set_writable(folder: str) -> None:
    if not _set_attributes(folder, to_clear=_ATTR_RDONLY):
        flags = dict(_mounts()).get(folder, 0)
        _mount("none", folder, None, _REMOUNT | _BIND | flags)


def _set_attributes(path: str, to_set: int = 0, to_clear: int = 0) -> bool:
    """Change flags of a mount and of those below it; False on a kernel that has no such call."""
    attributes = struct.pack("QQQQ", to_set, to_clear, 0, 0)
    try:
        _call(
            "syscall", _SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), _AT_RECURSIVE, attributes,
            ctypes.c_size_t(len(attributes)),
        )  # fmt: skip
    except OSError as error:
        if error.errno == errno.ENOSYS:
            return False
        raise
    return True


def _mounts() -> list[tuple[str, int]]:
    """(mount point, flags that have to be kept) of all mounts."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        place = words[4].encode().decode("unicode_escape")
        options = words[5].split(",")
        found.append((place, sum(flag for name, flag in _KEPT_FLAGS.items() if name in options)))
    return found


def _raise_loopback() -> None:
    """127.0.0.1 of this namespace, where nobody else listens: some libraries talk to themselves."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _drop_privileges() -> None:
    """Give up every capability in this namespace, and any way to gain one: else all of this could be undone."""
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(_MOST_CAPABILITIES):
        with suppress(OSError):  # there are fewer
            _call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
    with suppress(OSError):
        _call("prctl", _PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    _call("capset", struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6))


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    arguments = (source.encode(), target.encode(), kind.encode() if kind else None)
    _call("mount", *arguments, ctypes.c_ulong(flags), options.encode() if options else None)


def _call(name: str, *arguments: Any) -> None:
    """Call the C function `name`; raises `OSError` naming it."""
    if getattr(_libc(), name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


@functools.cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
