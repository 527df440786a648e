"""What a nomination's `[snapshot]` says: how its fixture is made of a repository's history."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from runner.documents.model import Shape
from runner.fields import ChangeRule, RelativePath, is_plain_path, refusal
from sandbox.spec import MIB

CommitName = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([~^][0-9]{0,4}){0,8}$")]
"""A commit's whole name, with steps to its ancestors (`~2`, `^`): the same commit in every clone."""

FileText = Annotated[str, Field(max_length=MIB)]


def _exclusion(text: str) -> str:
    if not is_plain_path(text.removesuffix("/")):
        raise refusal(
            "a glob for names ('*_test.py'), the name of folders ('docs/'), or a path or glob with '/' in it",
            "write it relative, without '..'",
        )
    return text


Exclusion = Annotated[str, AfterValidator(_exclusion)]


class Overlay(Shape):
    """Files of another commit, laid over those that are there; the same parts are stripped of their paths."""

    commit: CommitName
    """Where they come from."""
    paths: Annotated[tuple[ChangeRule, ...], Field(min_length=1, max_length=1000)]
    """Which, by their paths in the repository; each rule must mean a file."""


class SnapshotPatch(Shape):
    """One change to a file: a text in it replaced, or its whole content."""

    file: RelativePath
    """Of the fixture."""
    find: Annotated[str, Field(min_length=1, max_length=MIB)] | None = None
    """Must stand in the file exactly once, after the patches before it."""
    replace: FileText | None = None
    """What comes in its place."""
    content: FileText | None = None
    """The whole file instead, which may be new."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        replaces = self.find is not None and self.replace is not None
        if replaces == (self.content is not None) or (self.find is None) != (self.replace is None):
            raise refusal("'find' and 'replace', or 'content'", "write one of the two forms")
        return self


class ReviewDiff(Shape):
    """A diff laid into the fixture for a reviewer to read."""

    base: CommitName
    """The commit that it begins from; a path that is not there is shown as new."""
    file: RelativePath
    """Where it is laid; must be free."""
    paths: Annotated[tuple[RelativePath, ...], Field(min_length=1, max_length=1000)]
    """The fixture's files that are shown."""


class Snapshot(Shape):
    """How `fixture/` is made. Taken in this order: paths of the commit, overlays, exclusions, files, patches, diff.

    What is not written counts as the preset says, else as empty. It is provenance: a release freezes the fixture's
    files, and this enters neither a digest nor a manifest.
    """

    preset: Literal["python", "sources", "folder"] | None = None
    """Named values for the other fields; one that is written here replaces the preset's as a whole."""
    commit: CommitName | None = None
    """Where the files come from: usually the parent of the fix."""
    paths: Annotated[tuple[ChangeRule, ...], Field(min_length=1, max_length=1000)] | None = None
    """Which files, by rules; each must mean a file. Nothing: all."""
    strip: Annotated[int, Field(ge=0, le=20)] | None = None
    """How many leading parts their paths lose."""
    exclude: Annotated[tuple[Exclusion, ...], Field(max_length=1000)] | None = None
    """What is left out, after stripping: `*_test.py` means names anywhere, `docs/` folders of that name anywhere, and
    what holds a `/` inside means paths."""
    overlays: Annotated[tuple[Overlay, ...], Field(max_length=100)] | None = None
    """Files of other commits, in order."""
    files: Annotated[Mapping[RelativePath, FileText], Field(max_length=1000)] | None = None
    """Files written out here: path in the fixture -> text. They come after the exclusions."""
    patches: Annotated[tuple[SnapshotPatch, ...], Field(max_length=1000)] | None = None
    """Changes, in order."""
    review_diff: ReviewDiff | None = None
    """The diff for a reviewer."""

    @model_validator(mode="after")
    def _has_source(self) -> Self:
        if self.commit is None and not self.files:
            raise refusal("'commit', or 'files'", "name the commit that the fixture is made of")
        if self.commit is None and (self.paths or self.overlays or self.strip):
            raise refusal("'commit' beside 'paths', 'overlays' and 'strip'", "name the commit that they are of")
        return self
