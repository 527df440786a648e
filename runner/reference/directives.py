"""The page on directives: what notices the removal of each, written from sandbox/justification.py."""

from sandbox.justification import JUSTIFIED, Justification, Need, Probe

_NOTE = "<!-- Written by scripts/reference from sandbox/justification.py. Change that, not this page. -->"
_INTRO = """\
# Why each directive is there

Every directive of `sandbox/properties.py`, every entry of its lists, every limit that the runner or its keeper
enforces, and what notices when it is taken away. `tests/systemd/test_removal.py` takes each away in real units.

{alone} of {all} are noticed by themselves. The other {behind} stand behind others: taken away alone nothing changes;
with those gone they still hold; without both it is noticed.

| noticed by | means |
|---|---|
| launcher's report | the launcher sees it from inside the unit; no go is given |
| control group read back | the keeper reads the limit back from the control group; no go is given |
| start | no launcher's report comes; no go is given |
| end | the unit ends otherwise |
| probe | a program of `sandbox/probes/directives.py` in the unit sees it |

Where a host is named, it cannot be noticed on others: the test shows there that the host lacks what it takes, and that
nothing changes.
"""
_JUDGED = (Probe.LAUNCHER, Probe.GROUP, Probe.START, Probe.END)


def directives_page() -> str:
    """Give the page."""
    behind = sum(bool(each.behind) for each in JUSTIFIED.values())
    intro = _INTRO.format(all=len(JUSTIFIED), alone=len(JUSTIFIED) - behind, behind=behind)
    rows = (_row(name, each) for name, each in JUSTIFIED.items())
    head = "| name | noticed by | seen without it | once these are gone too | on |\n|---|---|---|---|---|"
    return "\n".join((_NOTE, "", intro, head, *rows, ""))


def _row(name: str, each: Justification) -> str:
    by = each.by.value if each.by in _JUDGED else f"probe `{each.by.value}`"
    fronts = ", ".join(f"`{front}`" for front in each.behind)
    where = "" if each.needs is Need.NOTHING else each.needs.value
    return f"| `{name}` | {by} | {each.seen} | {fronts} | {where} |"
