"""The pages on what people write and on what we write, model by model."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from runner.documents.model import Document, Shape
from runner.reference.docstrings import field_docs, model_doc
from runner.reference.words import KINDS, Link, default_words, type_words
from runner.schemas import WRITTEN_BY_PEOPLE, documents

NOTE = "<!-- Written by scripts/reference from the models. Change their docstrings, not this page. -->"
_WRITTEN_ORDER = ("release-configuration", "nomination", "scenario", "expected-table")
_EVIDENCE_ORDER = (
    "manifest", "controls", "begun", "submission", "tree", "capture", "termination", "telemetry", "preflight",
    "ledger-line", "launcher", "host", "void", "grading", "policy", "public-tests", "verdict", "seal", "aggregate",
    "rubric-verdict", "pair-verdict", "unscored", "packet-record",
)  # fmt: skip
"""The order in which a reader meets them; a document that is not named here follows."""

USUAL = {
    "agent": "The program that worked with the model.",
    "assurance": "How far submitted code was from what judged it.",
    "attempt": "The attempt's number.",
    "candidate": "The candidate's id.",
    "base_sha256": "Tree digest of the frozen base.",
    "cause": "Why it ended so.",
    "controls": "Whether the release was frozen with its controls.",
    "cost": "As the provider reported it.",
    "counts": "In all.",
    "cpu_ms": "Processor time of all its processes.",
    "detail": "A sentence for people.",
    "end": "How the unit ended.",
    "ended_ms": "When it ended.",
    "executable": "Whether it can be executed.",
    "fixture_sha256": "Tree digest of the base.",
    "host": "The machine.",
    "id": "Its id.",
    "kernel": "The kernel's release.",
    "kind": "The evaluator's kind.",
    "label": "How tables call it.",
    "manifest_sha256": "Digest of the release's manifest.",
    "memory_peak_bytes": "The most memory that all its processes had at once.",
    "model": "The model, as its provider calls it.",
    "ms": "How long it took.",
    "name": "Its name.",
    "nomination": "The nomination's id.",
    "nomination_sha256": "Over the nomination and all files that can change a result.",
    "origin": "What made this document.",
    "outcome": "By the table of outcomes.",
    "package": "The package's name.",
    "passed": "Whether it passed.",
    "path": "Where it is.",
    "phases": "Time and money, phase by phase.",
    "reason": "The outcome in a sentence.",
    "release": "The release's id.",
    "retries": "Tries of the gateway's after the first.",
    "runner": "Version of the runner.",
    "score": "0 to 1; null where nothing may be said.",
    "sha256": "Of its bytes.",
    "size": "In bytes.",
    "solved": "Whether the outcome is `completed` and every evaluator passed.",
    "started_ms": "When it began.",
    "status": "The exit status or the signal's number.",
    "systemd": "Version of systemd.",
    "tokens": "As the provider counted them.",
    "traffic": "What the gateway counted; null without a model.",
    "tree_sha256": "Tree digest of base + patch.",
    "trial": "Which try of which attempt.",
    "version": "Its version.",
    "wait_ms": "Time spent waiting between tries.",
    "wall_ms": "Time from its start to its end.",
}
"""What a field of a document means wherever its model says nothing else."""

CONFIGURATION = """\
# Configuration

Everything that people write: release configurations (`config/*.json`), nominations
(`config/nominations/<id>/nomination.toml`), scenario files, expected tables. All are read strictly: an unknown key, a
wrong type or a value out of bounds is refused by file, field, what was found and what mends it. Each names its
`schema`. How they go together: [how to make and run a release](../how-to/release.md).
"""

DOCUMENTS = """\
# Documents

Everything that the runner writes. Each document is canonical JSON (RFC 8785) in UTF-8: keys sorted, no spaces, no
floats; every field stands, and an unknown value is `null`. Another spelling of the same document is refused. Where
they lie, and which of them belong together: [reference](README.md#where-documents-lie).
"""


def configuration_page() -> str:
    """Write the page on what people write."""
    written = _ordered(_WRITTEN_ORDER, people=True)
    parts = _parts(written)
    body = [*_sections(written, parts, written, defaults=True), _kinds()]
    return "\n".join([NOTE, "", CONFIGURATION, _contents(written), *body])


def documents_page() -> str:
    """Write the page on what we write; parts that people write too stand on the other page."""
    written, known = _ordered(_EVIDENCE_ORDER, people=False), _ordered(_WRITTEN_ORDER, people=True)
    elsewhere = (*known, *_parts(known))
    parts = tuple(each for each in _parts(written) if each not in elsewhere)
    body = _sections(written, parts, written, defaults=False)
    return "\n".join([NOTE, "", DOCUMENTS, _contents(written), *body]).rstrip() + "\n"


def undescribed(model: type[Shape]) -> tuple[str, ...]:
    """Name a model's fields of which nothing is said."""
    docs = field_docs(model)
    told = {name for name, hint in _hints(model).items() if get_origin(hint) is Literal and len(get_args(hint)) == 1}
    return tuple(name for name in model.model_fields if name not in {*told, *docs})


def people_models() -> tuple[type[Shape], ...]:
    """List every model of which people write something."""
    written = _ordered(_WRITTEN_ORDER, people=True)
    return (*written, *_parts(written))


def _ordered(order: tuple[str, ...], *, people: bool) -> tuple[type[Document], ...]:
    rank = {name: place for place, name in enumerate(order)}
    mine = [each for each in documents() if (each.SCHEMA_NAME in WRITTEN_BY_PEOPLE) == people]
    return tuple(sorted(mine, key=lambda each: rank.get(each.SCHEMA_NAME, len(rank))))


def _parts(whole: tuple[type[Document], ...]) -> tuple[type[Shape], ...]:
    """List the parts of documents, in the order in which they are met."""
    found: dict[type[Shape], None] = {}
    todo: list[type[Shape]] = list(whole)
    while todo:
        model = todo.pop(0)
        met = [each for hint in _hints(model).values() for each in _shapes(hint)]
        todo += [each for each in dict.fromkeys(met) if each not in found and each not in whole]
        found |= dict.fromkeys(each for each in met if each not in whole)
    return tuple(found)


def _shapes(hint: Any) -> Iterator[type[Shape]]:  # noqa: ANN401 - a type, of whatever form
    if isinstance(hint, type) and issubclass(hint, Shape):
        yield hint
    for each in get_args(hint)[: 1 if get_origin(hint) is Annotated else None]:
        yield from _shapes(each)


def _hints(model: type[Shape]) -> dict[str, Any]:
    hints = get_type_hints(model, include_extras=True)
    return {name: hint for name, hint in hints.items() if name in model.model_fields and get_origin(hint) != ClassVar}


def _contents(written: tuple[type[Document], ...]) -> str:
    rows = [f"| [{_title(each)}](#{_title(each).lower()}) | `schemas/{each.SCHEMA_NAME}.json` |" for each in written]
    return "\n".join(["| document | schema |", "|---|---|", *rows, ""])


def _sections(
    whole: tuple[type[Document], ...], parts: tuple[type[Shape], ...], here: tuple[type[Shape], ...], *, defaults: bool
) -> list[str]:
    """Write a section a model: documents first, then the parts that they share."""
    names = [_title(each).lower() for each in (*whole, *parts)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two models of one page are called {', '.join(sorted(twice))}; rename one")
    link = _linker({*here, *parts})
    return [
        *(_section(each, link, level=2, defaults=defaults) for each in whole),
        "## Parts\n" if parts else "",
        *(_section(each, link, level=3, defaults=defaults) for each in parts),
    ]


def _title(model: type[Shape]) -> str:
    """Name a document by its schema, a part by its class."""
    return model.SCHEMA_NAME if issubclass(model, Document) else model.__name__


def _linker(here: set[type[Shape]]) -> Link:
    def link(model: type[Shape]) -> str:
        page = "" if model in here else "configuration.md"
        return f"[{_title(model)}]({page}#{_title(model).lower()})"

    return link


def _section(model: type[Shape], link: Link, *, level: int, defaults: bool) -> str:
    docs, hints = field_docs(model), _hints(model)
    lines = [f"{'#' * level} {_title(model)}", "", model_doc(model), ""]
    lines += ["| field | holds | left out | meaning |", "|---|---|---|---|"] if defaults else []
    lines += [] if defaults else ["| field | holds | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        cells = [f"`{field.alias or name}`", type_words(hints[name], link)]
        cells += [default_words(field)] if defaults else []
        lines.append(f"| {' | '.join([*cells, docs.get(name, '' if defaults else USUAL.get(name, ''))])} |")
    return "\n".join([*lines, ""])


def _kinds() -> str:
    rows = [f"| {name} | {meaning} |" for _, name, meaning in KINDS]
    return "\n".join(["## Kinds", "", "| kind | meaning |", "|---|---|", *rows, ""])
