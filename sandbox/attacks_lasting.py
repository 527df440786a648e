"""What a unit tries with its limits, its end, and what it leaves: to take more, to last, to be believed. Data."""

from errno import EAGAIN, EFBIG, EMFILE, ENOSPC

from sandbox.answers import bounded, ended, facts, found_nothing
from sandbox.attacks_within import ALL
from sandbox.proofs import Area, table
from sandbox.spec import KIB, MIB, Role

LEFT = {
    "inner": "folder",
    "inner/.git": "folder",
    "inner/.git/config": "file",
    "inner/.git/hooks": "folder",
    "inner/file": "file",
    "link-1": "link",
    "link-2": "link",
    "link-etc": "link",
    "link-up-1": "link",
    "link-up-2": "link",
    "odd \x01\n\\xff-name": "file",
    "pipe": "special",
    "shut": "file",
    "socket": "special",
    "sparse": "too_large",
    "twin": "too_large",
}
"""What is left in a workspace (sandbox/probes/planting.py), as a capture must tell it."""

FILLED = 512 * KIB
"""How much is written to each stream in turn: more than a pipe holds."""
POURED = 64 * KIB
"""How much may be poured into a stream."""
BURNT_MS = 900
"""Processor time that a unit may get in two seconds of 15 hundredths of a processor, and in its start."""

_EATEN = table(
    Area.RESOURCE,
    (
        "fork-bomb", (6, 171), ALL, "fork until there is no more", "EAGAIN at the limit",
        "eat/forks", bounded(2, EAGAIN),
    ),
    (
        "thread-bomb", (171,), ALL, "start threads until there is no more", "EAGAIN at the limit",
        "eat/threads", bounded(2, EAGAIN),
    ),
    (
        "descriptor-bomb", (178,), ALL, "open descriptors until there is no more", "EMFILE at the limit",
        "eat/descriptors", bounded(2, EMFILE),
    ),
    (
        "timer-bomb", (178,), ALL, "make timers, each with a signal of its own, until there is no more",
        "EAGAIN at the limit, or before it where other units have some",
        "eat/timers", bounded(0, EAGAIN),
    ),
    (
        "large-file", (176,), ALL, "write one file without an end", "EFBIG at the limit",
        "eat/file-bytes", bounded(1 * KIB, EFBIG),
    ),
    (
        "sparse-file", (66, 176), ALL, "make a file long without writing it", "EFBIG at the limit",
        "eat/sparse-file", bounded(1 * KIB, EFBIG),
    ),
    (
        "disk-bytes", (174, 177), ALL, "fill the disk by files without a name", "ENOSPC at the limit",
        "eat/disk-bytes", bounded(1 * MIB, ENOSPC),
    ),
    (
        "disk-files", (175,), ALL, "make empty files without an end", "ENOSPC at the limit",
        "eat/disk-files", bounded(100, ENOSPC),
    ),
    (
        "shared-memory-bytes", (24, 174), ALL, "fill /dev/shm", "ENOSPC at the limit",
        "eat/shared-memory-bytes", bounded(1 * MIB, ENOSPC),
    ),
    (
        "shared-memory-files", (24, 175), ALL, "make files in /dev/shm without an end", "ENOSPC at the limit",
        "eat/shared-memory-files", bounded(100, ENOSPC),
    ),
)  # fmt: skip

_ENDED = table(
    Area.RESOURCE,
    (
        "memory", (6, 172), ALL, "take memory beyond the limit", "the unit ends as oom",
        "end/heap", ended("oom", said=""),
    ),
    (
        "memory-files", (172,), ALL, "take memory as files without a place", "the unit ends as oom",
        "end/memory-file", ended("oom", said=""),
    ),
    (
        "output-flood", (187,), ALL, "write to standard output without an end or a line",
        "the unit ends as output_limit, the rest is dropped",
        "end/output", ended("output_limit", at_most=f"told={POURED}"),
    ),
    (
        "error-flood", (187, 189), ALL, "write to standard error without an end or a line",
        "the unit ends as output_limit, the rest is dropped",
        "end/errors", ended("output_limit", at_most=f"told={POURED}"),
    ),
    (
        "streams-in-turn", (189,), ALL, "write half a mebibyte to standard error, and only then to standard output",
        "both are taken as they come, and the program ends by itself",
        "end/leaver", ended("exit", status=0, at_least=f"least={FILLED}"),
    ),
    (
        "daemon", (181, 188), ALL, "end, and leave a daemon that ignores all signals and holds the streams",
        "the end is seen, and the daemon is gone",
        "end/leaver", ended("exit", status=0),
    ),
    (
        "restart", (184,), ALL, "end by a signal and wait to be started again", "it was started once",
        "end/terminated", ended("signal", status=15, said="ALL PASSED\n"),
    ),
    (
        "last-for-ever", (173, 179, 181, 182), ALL,
        "ignore every signal, burn time in a daemon too, and tell the manager to wait",
        "the unit ends as timeout, within its bound, with its share of the processor",
        "end/resist", ended("timeout", said="", at_most=f"cpu_ms={BURNT_MS}"),
    ),
)  # fmt: skip

_BELIEVED = table(
    Area.ARTIFACT,
    (
        "clean-signal", (167,), ALL, "say 'ALL PASSED' and end by SIGTERM, which a manager calls a success",
        "an end by a signal, and no success",
        "end/terminated", ended("signal", status=15, said="ALL PASSED\n"),
    ),
    (
        "never-begun", (167,), ALL, "be gone before the program began",
        "an end that is no success",
        "end/never-begun", facts(cause="killed", status=None, succeeded=False),
    ),
)  # fmt: skip

_CAPTURED = table(
    Area.CAPTURE,
    (
        "strange-leavings", (53, 57, 60, 61, 66, 68), (Role.INSPECTION,),
        "leave links, a pipe, a socket, a shut file, a giant, twins, a nested .git and an odd name",
        "each is told as what it is",
        "capture/kinds", facts(**LEFT),
    ),
    (
        "leaked-secrets", (62,), (Role.INSPECTION,),
        "leave links to a secret of the host's, absolute and by many ways up",
        "the links are kept as links, and the secret is in nothing that was captured",
        "capture/secrets", found_nothing(least=len(LEFT)),
    ),
)  # fmt: skip

LASTING = (*_EATEN, *_ENDED, *_BELIEVED, *_CAPTURED)
"""All of them."""
