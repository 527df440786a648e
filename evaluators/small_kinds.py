"""Kinds `compile`, `lint`, `rbac` and `helm`: drivers of ours (`presets`) on what `checks` and `command` stand on.

Nothing of a submission is run but what Helm makes of a chart, so that verdicts are as sure as those of any driver. The
one exception is `compile` with `argv`: a build, believed by its exit status alone.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from evaluators.driven import Driven, read_side
from evaluators.driven_ruling import Scale
from evaluators.errors import EvaluatorError, OptionError
from evaluators.exit_status import ExitStatus, build_exit_status
from evaluators.model import EvaluatorSpec
from evaluators.options import is_relative, read_path, read_texts, read_wall, refuse_unknown
from evaluators.preset_files import TOOLS, preset_files
from evaluators.presets import compiling, linting
from evaluators.presets.cases import helm_cases, rbac_cases
from evaluators.presets.grants import Grant
from evaluators.presets.ruff import RULES
from evaluators.private_files import read_private_file

_GRANT = ("group", "resource", "verb", "name", "namespace", "url")
_START = """import json
from pathlib import Path

import cleanroom_driver
from presets.{name} import main

main(cleanroom_driver, json.loads(Path(__file__).with_name("options.json").read_text()))
"""


def build_compile(spec: EvaluatorSpec, frozen: object = None) -> Driven | ExitStatus:
    """Read the options of kind `compile`: files that are parsed, or `argv`, believed by its exit status.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    if "argv" in spec.options:
        return build_exit_status(spec, frozen)
    refuse_unknown(spec, {"files", "wall_s"})
    files = _files(spec, tuple(compiling.CHECKS))
    return _preset(spec, frozen, "compiling", {"files": list(files)}, (*files, compiling.REST))


def build_lint(spec: EvaluatorSpec, frozen: object = None) -> Driven:
    """Read the options of kind `lint`.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    refuse_unknown(spec, {"files", "rules", "most", "wall_s"})
    most = spec.options.get("most", 0)
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise OptionError(evaluator=spec.id, field="most", found=repr(most), expected="a whole number, 0 or above")
    rules = read_texts(spec, "rules") or RULES
    if bad := next((each for each in rules if not each.isalnum()), None):
        raise OptionError(evaluator=spec.id, field="rules", found=bad, expected="codes of ruff's rules")
    options = {"files": list(_files(spec, (".py", ".pyi"))), "rules": list(rules), "most": most}
    return _preset(spec, frozen, "linting", options, (linting.READ, linting.CLEAN))


def build_rbac(spec: EvaluatorSpec, frozen: object = None) -> Driven:
    """Read the options of kind `rbac`.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    refuse_unknown(spec, {"files", "subject", "role", "needs", "may", "others", "wall_s"})
    who = [field for field in ("subject", "role") if field in spec.options]
    if len(who) != 1 or not isinstance(spec.options[who[0]], str):
        expected = "one of both: 'ServiceAccount:namespace/name', or 'ClusterRole/name'"
        raise OptionError(evaluator=spec.id, field="subject or role", found=", ".join(who) or "none", expected=expected)
    needs = _grants(spec, "needs")
    if not needs:
        raise OptionError(evaluator=spec.id, field="needs", found="none", expected="at least one table")
    options = {
        "files": list(_files(spec, (".yaml", ".yml", ".json"))),
        who[0]: spec.options[who[0]],
        "needs": needs,
        "may": _grants(spec, "may"),
        "others": list(read_texts(spec, "others")),
    }
    return _preset(spec, frozen, "granting", options, tuple(rbac_cases(Grant(**each) for each in needs)))


def build_helm(spec: EvaluatorSpec, frozen: object = None) -> Driven:
    """Read the options of kind `helm`.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    refuse_unknown(spec, {"chart", "release", "values", "expect", "contains", "refutes", "wall_s"})
    release = spec.options.get("release", "release")
    if not isinstance(release, str) or not release.replace("-", "").isalnum() or release.startswith("-"):
        raise OptionError(evaluator=spec.id, field="release", found=repr(release), expected="a name for the release")
    expected = [_expected(spec, each, at) for at, each in enumerate(_list(spec, "expect"))]
    options = {
        "chart": read_path(spec, "chart"),
        "release": release,
        "values": [read_private_file(spec.folder, each).decode() for each in read_texts(spec, "values")],
        "expect": expected,
        "contains": list(read_texts(spec, "contains")),
        "refutes": list(read_texts(spec, "refutes")),
    }
    return _preset(spec, frozen, "charting", options, tuple(helm_cases(options)))


def _preset(
    spec: EvaluatorSpec, frozen: object, name: str, options: Mapping[str, object], cases: Sequence[str]
) -> Driven:
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    if len(set(cases)) < len(cases):
        raise OptionError(evaluator=spec.id, field="cases", found="one of them twice", expected="each once")
    files = {
        "main.py": _START.format(name=name).encode(),
        "options.json": json.dumps(options, sort_keys=True).encode(),
        "tools.txt": TOOLS.read_bytes(),
        **preset_files(),
    }
    return Driven(
        spec=spec,
        program="main.py",
        scale=Scale(weights=dict.fromkeys(cases, 1)),
        files=files,
        side=read_side(),
        wall=read_wall(spec),
        tools=spec.kind != "compile",
        helm=spec.kind == "helm",
    )


def _files(spec: EvaluatorSpec, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    files = read_texts(spec, "files")
    odd = next((each for each in files if not is_relative(each) or PurePosixPath(each).suffix not in suffixes), None)
    if not files or odd is not None:
        expected = f"relative paths that end in {', '.join(suffixes)}"
        raise OptionError(evaluator=spec.id, field="files", found=odd or "none", expected=expected)
    return files


def _list(spec: EvaluatorSpec, field: str) -> list[Mapping[str, object]]:
    value = spec.options.get(field, [])
    tables = [each for each in value if isinstance(each, Mapping)] if isinstance(value, list | tuple) else []
    if not isinstance(value, list | tuple) or len(tables) != len(value):
        raise OptionError(evaluator=spec.id, field=field, found=repr(value)[:80], expected="a list of tables")
    return tables


def _grants(spec: EvaluatorSpec, field: str) -> list[dict[str, str]]:
    return [_grant(spec, each, f"{field}[{at}]") for at, each in enumerate(_list(spec, field))]


def _grant(spec: EvaluatorSpec, table: Mapping[str, object], field: str) -> dict[str, str]:
    """Read one grant: `verb` with `resource` and `group` (the core group is empty), or with `url`."""
    texts = {str(name): value for name, value in table.items() if isinstance(value, str)}
    wanted = {"verb", "url"} if "url" in table else {"verb", "resource"}
    if len(texts) < len(table) or not wanted <= texts.keys() or not texts.keys() <= set(_GRANT):
        expected = f"a table of texts: {', '.join(_GRANT)}; at least {' and '.join(sorted(wanted))}"
        raise OptionError(evaluator=spec.id, field=field, found=", ".join(map(str, table)), expected=expected)
    return {"group": "", "resource": "", **texts}


def _expected(spec: EvaluatorSpec, table: Mapping[str, object], at: int) -> dict[str, object]:
    texts = all(isinstance(table.get(name), str) for name in ("kind", "name", "path"))
    if not texts or set(table) != {"kind", "name", "path", "value"}:
        expected = "a table of kind, name, path and value"
        raise OptionError(evaluator=spec.id, field=f"expect[{at}]", found=", ".join(map(str, table)), expected=expected)
    return dict(table)
