"""Which attack of the project's catalogue (docs/attacks.md) each cheat of the exploit suite is an instance of. Pure."""

from collections.abc import Mapping

BY_NUMBER: Mapping[int, tuple[str, ...]] = {
    77: ("conftest files",),
    78: (
        "report hook found by gc",
        "the harness's wrapper replaced",
        "reports made without their error",
        "report class patched",
        "errors of calls swallowed",
        "errors swallowed",
        "tests that never run",
        "tests that are never run",
        "bodies of tests emptied",
    ),
    79: ("configuration files",),
    80: ("a plugin by entry point",),
    81: ("site customisation",),
    84: ("exit 0 at import", "SystemExit at import", "exit 0 in a thread", "exit 0 in every call"),
    86: ("process.exit(0) at import", "process.reallyExit(0) at import", "process.exit(0) in a moment"),
    87: (
        "objects that are equal to everything",
        "texts that are equal to everything",
        "an object that is everything",
    ),
    88: ("unittest always agrees", "the library always agrees", "assert always agrees"),
    89: ("status 0 at exit",),
    91: (
        "passes printed",
        "results printed in every form",
        "raw records on the channel",
        "frames that nobody asked for",
    ),
    92: ("planted results", "tests rewritten in the background"),
    94: ("the evaluator read from disk",),
    95: ("expected values read from the caller", "failures are sent with the harness's own key"),
    96: (
        "the module's text is compared",
        "the module's size is compared",
        "the module's syntax tree is compared",
        "the module's compiled code is compared",
        "a test for each line of the module",
        "tests fail by the clock",
        "tests fail by process and account number",
        "tests fail from the second run on",
    ),
    98: (
        "skipped at import",
        "AssertionError becomes skip",
        "tests expected to fail",
        "tests deselected",
    ),
    99: ("stale bytecode",),
    102: ("npm script-shell and node options",),
    107: ("modules that shadow", "the module is replaced"),
    109: (
        "output is a link to nothing",
        "output is a link to the evaluator",
        "output is a link to the process",
        "output is a link to the workspace",
        "output is a link to itself",
    ),
    110: (
        "killed by itself",
        "descriptors closed",
        "a child goes on",
        "it ends its process unless it knows the module",
    ),
    111: (
        "KeyboardInterrupt at import",
        "the work is removed",
        "it cannot be imported unless it knows the module",
        "every test fails",
    ),
    113: ("numbers that are none", "a key twice", "nested without end", "bytes that are no text"),
    116: (
        "tests fail by luck",
        "many tests that say nothing",
        "an empty file",
        "true",
        "an empty list",
        "a list of everything",
        "the word passed",
        "an empty object",
        "null",
        "a list of nothings",
        "an object of praise",
    ),
    117: ("clocks patched",),
    118: ("games with the garbage collector",),
    119: ("threads and a child that steal time",),
    120: ("lazy results",),
    121: ("answers cached between calls", "outputs replayed"),
    122: ("work at import",),
    123: ("answers sent in advance",),
}
"""Names of cheats by the catalogue's numbers."""


def number_of(cheat: str) -> int | None:
    """Give the catalogue's number of a cheat; None where it has none."""
    return next((number for number, names in BY_NUMBER.items() if cheat in names), None)
