"""Loop devices: a file as a block device that frees itself with its last user."""

import errno
import fcntl
import os
import struct
from pathlib import Path

_GET_FREE, _CONFIGURE, _CLEAR = 0x4C82, 0x4C0A, 0x4C01
_AUTOCLEAR = 4
# struct loop_config: fd, block size; loop_info64 (5 u64, number and 2 crypt words, flags, names); reserved.
_CONFIG = struct.Struct("=II 40x 12x I 176x 64x")
_TRIES = 16


def attach(image: int) -> tuple[int, int]:
    """Bind the opened file `image` to a free device; give the device's number and an open descriptor of it.

    The device is freed when its last user is gone: mount it, then close the descriptor.
    """
    control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    try:
        for _ in range(_TRIES):
            number = fcntl.ioctl(control, _GET_FREE)
            device = os.open(node(number), os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, _CONFIGURE, _CONFIG.pack(image, 0, _AUTOCLEAR))
            except OSError as error:
                os.close(device)
                if error.errno != errno.EBUSY:
                    raise
                continue  # somebody else was quicker
            return number, device
    finally:
        os.close(control)
    raise OSError(errno.EBUSY, "no loop device stays free long enough to be taken")


def release(device: str) -> None:
    """Free a device; while somebody uses it the kernel does not, and does so with its last user."""
    opened = os.open(device, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(opened, _CLEAR)
    finally:
        os.close(opened)


def node(number: int) -> str:
    """Name the device's node."""
    return f"/dev/loop{number}"


def backing_below(folder: Path) -> list[int]:
    """List the devices whose file lies, or lay before it was unlinked, below `folder`."""
    prefix = os.path.realpath(folder) + "/"
    return sorted(number for number, file in backing_files().items() if file.startswith(prefix))


def backing_files() -> dict[int, str]:
    """Give every bound device with its file, whose name has an addition if it was unlinked."""
    found = {
        int(file.parts[3].removeprefix("loop")): _read(file).rstrip("\n")
        for file in Path("/sys/block").glob("loop*/loop/backing_file")
    }
    return {number: file for number, file in found.items() if file}


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # freed between listing and reading
        return ""
