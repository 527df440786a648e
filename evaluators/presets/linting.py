"""Kind `lint`: what the pinned ruff finds in files, with rules of the nomination's, and none of the submission's."""

from collections.abc import Mapping
from typing import Any

from .driver import Driver, RefusedError, wanted
from .ruff import RuffError, find_program, look

READ, CLEAN = "every file can be read", "no more findings than allowed"
_SYNTAX = frozenset({"invalid-syntax", "syntax"})


def main(driver: Driver, options: Mapping[str, Any], program: str | None = None) -> None:
    """Report whether the files can be read, and whether there are few enough findings."""
    try:
        found = look(wanted(driver, options["files"], (".py", ".pyi")), options["rules"], program or find_program())
    except (RefusedError, RuffError) as error:
        driver.check(READ, passed=False, detail=str(error))
        driver.check(CLEAN, passed=False, detail=str(error))
        return
    broken = [each for each in found if each.rule in _SYNTAX]
    driver.check(READ, not broken, "; ".join(f"{each.path}:{each.line}" for each in broken)[:500])
    said = "; ".join(f"{each.path}:{each.line}: {each.rule} {each.message}" for each in found)
    driver.check(CLEAN, not broken and len(found) <= options["most"], said[:500])
