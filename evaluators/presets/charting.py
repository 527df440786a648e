"""Kind `helm`: what a chart becomes when Helm renders it, read as data: comments and words in it say nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from .cases import RENDERS, case_of, helm_cases
from .driver import Driver, RefusedError
from .yaml_reading import documents, written

HELM = "/opt/helm/helm"
_VALUES = ".cleanroom-values-{}.yaml"
_SECONDS = 60.0


def main(driver: Driver, options: Mapping[str, Any], helm: str = HELM) -> None:
    """Report whether the chart renders, and each thing that is expected of what it renders."""
    try:
        found = rendered(driver, options, helm)
    except RefusedError as error:
        for name in helm_cases(options):
            driver.check(name, passed=False, detail=str(error)[:500])
        return
    driver.check(RENDERS, passed=True)
    for each in options["expect"]:
        values = list(values_at(found, each))
        passed = len(values) == 1 and driver.same(values[0], each["value"])
        driver.check(case_of(each), passed, f"found {values!r}"[:300])
    text = "---\n".join(map(written, found))
    for each in options["contains"]:
        driver.check(f"holds: {each}", each in text)
    for each in options["refutes"]:
        driver.check(f"lacks: {each}", each not in text)


def rendered(driver: Driver, options: Mapping[str, Any], helm: str) -> list[Any]:
    """Render the chart and read it.

    Raises:
        RefusedError: it does not render, or not to objects with names of their own.
    """
    values = {_VALUES.format(at): text.encode() for at, text in enumerate(options["values"])}
    asked = [part for name in values for part in ("--values", name)]
    ended = driver.program(
        helm, "template", options["release"], options["chart"], *asked, files=values, within=_SECONDS
    )
    if ended.status != 0:
        raise RefusedError(f"helm ended with {ended.status}: {ended.stderr[-300:].decode(errors='replace')}")
    found = documents(ended.stdout)
    names = [named(each) for each in found]
    if not found:
        raise RefusedError("it renders to nothing")
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise RefusedError(f"it renders {twice[0]}/{twice[2]} twice")
    return found


def named(found: object) -> tuple[str, str, str]:
    """Give an object's kind, namespace and name.

    Raises:
        RefusedError: it has none.
    """
    match found:
        case {"kind": str(kind), "metadata": {"name": str(name), **rest}}:
            return kind, str(rest.get("namespace", "")), name
    raise RefusedError("it renders something that is no object with a kind and a name")


def values_at(found: list[Any], expected: Mapping[str, Any]) -> Iterator[object]:
    """Give what stands at a path of the objects of a kind and name; numbers are places in lists."""
    for each in found:
        kind, _, name = named(each)
        if (kind, name) == (expected["kind"], expected["name"]):
            value: Any = each
            try:
                for part in str(expected["path"]).split("."):
                    value = value[int(part)] if isinstance(value, list) else value[part]
            except (LookupError, TypeError, ValueError):
                continue
            yield value
