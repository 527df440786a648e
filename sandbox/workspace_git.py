"""The `.git` folder that a candidate finds in its workspace: one commit, and nothing that tells more."""

from collections.abc import Iterable

from sandbox.api import Pack
from sandbox.contents import MemoryContents
from sandbox.git import run_git, scratch_repository
from sandbox.patch import Blobs, write_commit
from sandbox.tree import Entry, Kind

_HEAD = b"ref: refs/heads/main\n"
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
_EMPTY_FOLDERS = (b"objects/info", b"refs/tags")


def workspace_git(entries: Iterable[Entry], blobs: Blobs) -> Pack:
    """Make the repository whose only commit is this tree, to be shown as a layer above it.

    All objects are in one pack. There is no remote, reflog, hook, tag or other object. The index has no stat
    data, so the first `git status` reads the files and finds them clean.
    """
    whole = tuple(sorted(entries, key=lambda entry: entry.path))
    with scratch_repository() as scratch:
        commit = write_commit(scratch, "refs/heads/main", whole, blobs)
        run_git(scratch, "read-tree", commit)
        packs = sorted((scratch / "objects/pack").glob("pack-*"))
        files = {
            b"HEAD": _HEAD,
            b"config": _CONFIG,
            b"index": (scratch / "index").read_bytes(),
            b"refs/heads/main": commit.encode() + b"\n",
        }
        files |= {b"objects/pack/" + path.name.encode(): path.read_bytes() for path in packs}
    return _pack(files)


def _pack(files: dict[bytes, bytes]) -> Pack:
    kept = MemoryContents()
    made = [Entry(path=b".git/" + path, kind=Kind.FOLDER) for path in _EMPTY_FOLDERS]
    for path, content in files.items():
        sha256, size = kept.put(content), len(content)
        made.append(Entry(path=b".git/" + path, kind=Kind.FILE, sha256=sha256, size=size))
    return Pack(entries=tuple(sorted(made, key=lambda entry: entry.path)), blobs=kept.get)
