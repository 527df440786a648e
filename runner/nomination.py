"""A nomination: its document, its prompt, and every file of its folder by digest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from evaluators.model import EvaluatorSpec
from runner.canonical import canonical
from runner.documents.nomination import FolderFixture, NodeToolchain, NominationSpec, PatchSolution
from runner.errors import DocumentError, DocumentErrors
from runner.folder import StoredFile, list_files
from runner.parsing import decode, file_name, parse_toml, validate

DOCUMENT, PROMPT = "nomination.toml", "prompt.md"
FIXTURE, PUBLIC, PRIVATE, SOLUTION = "fixture", "public", "private", "solution"
PROBES = ("wrong", "half", "alternative")
"""Patches that evaluators must refuse, score between, or accept; they validate a nomination and change no result."""

UNFROZEN = frozenset({*PROBES, "records", "README.md"})
"""What never enters a nomination's digest: provenance, and what only people read."""

DRAFT = "DRAFT:"
"""How a prompt begins that its author has yet to finish."""

PROMPT_BYTES = 64 * 1024
PATCH_SUFFIX = ".patch"
_BEGIN = b"diff --git "
"""How every diff of git's begins."""

_FOLDERS = frozenset({FIXTURE, PUBLIC, PRIVATE, SOLUTION, "records", *PROBES})
_FILES = frozenset({DOCUMENT, PROMPT, "README.md", "LICENSE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Nomination:
    """One task of a release, as loaded; nothing in it was run or downloaded yet."""

    spec: NominationSpec
    folder: Path
    """Where its documents come from; an inline nomination's is the public checkout."""
    file: str
    """What errors call its document."""
    prompt: str
    files: tuple[StoredFile, ...]
    """All files, `nomination.toml` and provenance included, sorted by path."""
    evaluators: tuple[EvaluatorSpec, ...]

    @property
    def id(self) -> str:
        """Its name in the release."""
        return self.spec.id

    @property
    def is_single_shot(self) -> bool:
        """Whether it is answered at once, and not worked on."""
        return self.spec.mode == "single-shot"

    def below(self, folder: str) -> tuple[StoredFile, ...]:
        """Give the files of one of its folders; their paths still begin with the folder's name."""
        return tuple(file for file in self.files if file.path.startswith(f"{folder}/"))

    def find(self, path: str) -> StoredFile | None:
        """Give one file by its path below the folder."""
        return next((file for file in self.files if file.path == path), None)

    @property
    def lock_file(self) -> StoredFile | None:
        """The toolchain's lock: a hash-pinned requirements file, or npm's."""
        _, name = _lock_of(self.spec)
        return None if name is None else self.find(name)

    @property
    def solution_patch(self) -> StoredFile | None:
        """The solution, where it is a patch file."""
        return next(iter(self.below(SOLUTION)), None)


def load_nomination(folder: Path) -> Nomination:
    """Read a nomination's folder.

    Raises:
        DocumentError, DocumentErrors: it cannot be read, or is no nomination.
    """
    files = list_files(folder)
    by_path = {file.path: file for file in files}
    document = _needed(by_path.get(DOCUMENT), folder / DOCUMENT)
    name = file_name(document.place)
    spec = parse_spec(document.read(), name)
    prompt = read_prompt(_needed(by_path.get(PROMPT), folder / PROMPT))
    nomination = Nomination(
        spec=spec,
        folder=folder,
        file=name,
        prompt=prompt,
        files=files,
        evaluators=tuple(_evaluators(spec, folder)),
    )
    if problems := tuple(_misplaced(nomination)):
        raise DocumentErrors(errors=problems)
    return nomination


def parse_spec(data: bytes, file: str) -> NominationSpec:
    """Read a nomination's document.

    Raises:
        DocumentError, DocumentErrors: it is none.
    """
    return validate(NominationSpec, parse_toml(data, file), file)


def nomination_digest(nomination: Nomination) -> str:
    """Give the SHA-256 over all of a nomination that can change a result; provenance cannot."""
    kept = {
        file.path: {"sha256": file.sha256, "executable": file.executable}
        for file in nomination.files
        if file.path != DOCUMENT and file.path.partition("/")[0] not in UNFROZEN
    }
    # The parsed document, not its bytes: a comment changes nothing.
    spec = nomination.spec.model_dump(mode="json", by_alias=True)
    return sha256(canonical({"nomination": spec, "files": kept})).hexdigest()


def read_prompt(file: StoredFile) -> str:
    """Read a prompt: text with something in it, of at most 64 KiB, without control characters."""
    name = file_name(file.place)
    if file.size > PROMPT_BYTES:
        raise _wrong(name, "", f"{file.size} bytes", f"at most {PROMPT_BYTES}", "shorten the prompt")
    text = decode(file.read(), name)
    if not text.strip():
        raise _wrong(name, "", "nothing", "the task in words", "write the prompt")
    if odd := next((letter for letter in text if not letter.isprintable() and letter not in "\n\t"), None):
        found = f"the character U+{ord(odd):04X}"
        raise _wrong(name, "", found, "plain text with line feeds", "remove it")
    return text


def _evaluators(spec: NominationSpec, folder: Path) -> Iterator[EvaluatorSpec]:
    for table in spec.evaluators:
        yield EvaluatorSpec(id=table.id, kind=table.kind, options=table.options, folder=folder / PRIVATE)


def _misplaced(nomination: Nomination) -> Iterator[DocumentError]:
    """Yield what the document and the files say against each other."""
    spec, file = nomination.spec, nomination.file
    if spec.id != nomination.folder.name:
        name = nomination.folder.name
        yield _wrong(file, "id", spec.id, f"the folder's name, {name}", "rename one of the two")
    yield from _strangers(nomination)
    has_fixture, wants_fixture = bool(nomination.below(FIXTURE)), isinstance(spec.fixture, FolderFixture)
    if has_fixture != wants_fixture:
        found = "files in fixture/" if has_fixture else "no file in fixture/"
        expected = f"{'some' if wants_fixture else 'none'} beside kind = {spec.fixture.kind!r}"
        mend = f"run: runner snapshot {spec.id}" if spec.snapshot else "choose one source for the fixture"
        yield _wrong(file, "fixture", found, expected, mend)
    patches, wanted = len(nomination.below(SOLUTION)), int(isinstance(spec.solution, PatchSolution))
    if patches != wanted:
        expected = f"{wanted} beside kind = {spec.solution.kind!r}"
        mend = "keep one patch in solution/; others that are right belong into alternative/"
        yield _wrong(file, "solution", f"{patches} files in solution/", expected, mend)
    field, lock = _lock_of(spec)
    if lock is not None and nomination.lock_file is None:
        yield _wrong(file, field, f"no file {lock}", "a file of the folder", "add it")
    yield from _bad_patches(nomination)


def _lock_of(spec: NominationSpec) -> tuple[str, str | None]:
    """Name the field with the toolchain's lock file, and what it says."""
    if isinstance(spec.toolchain, NodeToolchain):
        return "toolchain.packages", spec.toolchain.packages
    return "toolchain.requirements", spec.toolchain.requirements


def _strangers(nomination: Nomination) -> Iterator[DocumentError]:
    known = _FILES | {_lock_of(nomination.spec)[1]}
    for file in nomination.files:
        top, slash, _ = file.path.partition("/")
        if (top not in _FOLDERS) if slash else (top not in known):
            expected = f"in the folder: {_listed(_FILES)}; below it: {_listed(_FOLDERS)}"
            yield _wrong(file_name(file.place), "", "a file that means nothing", expected, "move or remove it")


def _bad_patches(nomination: Nomination) -> Iterator[DocumentError]:
    for folder in (SOLUTION, *PROBES):
        for file in nomination.below(folder):
            plain = file.path.count("/") == 1 and file.path.endswith(PATCH_SUFFIX)
            if not plain or not parted(file.read())[1].startswith(_BEGIN):
                found, expected = (
                    "no patch in git's form",
                    f"{folder}/<name>.patch with a line that begins with 'diff --git '",
                )
                mend = "make it with 'git diff --binary --full-index --no-renames'"
                yield _wrong(file_name(file.place), "", found, expected, mend)


def _needed(file: StoredFile | None, place: Path) -> StoredFile:
    if file is None:
        raise _wrong(file_name(place), "", "no such file", "a file", "add it, or mend the nomination's name")
    return file


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _wrong(file: str, field: str, found: str, expected: str, mend: str) -> DocumentError:
    return DocumentError(file=file, field=field, found=found, expected=expected, mend=mend)


def parted(patch: bytes) -> tuple[str | None, bytes]:
    """Part a patch file into the words before its diff (None: there are none) and the diff."""
    at = 0 if patch.startswith(_BEGIN) else patch.find(b"\n" + _BEGIN) + 1
    head = patch[:at].decode("utf-8", "replace").strip()
    return head or None, patch[at:]
