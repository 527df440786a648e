"""Small git repositories, as their owners would make them, for tests to read and to poison."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


def git(folder: Path, *words: str, data: bytes = b"") -> str:
    """Run git as an owner does; the repository's own configuration counts here."""
    environment = {
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "GIT_AUTHOR_DATE": "946684800 +0000",
        "GIT_COMMITTER_DATE": "946684800 +0000",
    }
    done = subprocess.run(
        ["/usr/bin/git", *_WHO, *words], cwd=folder, env=environment, input=data, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def commit(folder: Path, files: Mapping[str, str | None], message: str = "change") -> str:
    """Commit files (None: removed) and give the commit's name; the repository is made if it is not there."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q")
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.unlink()
        else:
            place.write_text(text)
    git(folder, "add", "-A", "--force")
    git(folder, "commit", "-q", "--allow-empty", "--no-verify", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def raw_commit(folder: Path, entries: Mapping[bytes, tuple[bytes, str]]) -> str:
    """Commit a tree object with any names and modes, as no tool would write it."""
    tree = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(of) for name, (mode, of) in sorted(entries.items()))
    made = git(folder, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=tree)
    return git(folder, "commit-tree", made, "-m", "odd")


def blob(folder: Path, data: bytes) -> str:
    """Keep a blob and give its name."""
    return git(folder, "hash-object", "-w", "--stdin", data=data)
