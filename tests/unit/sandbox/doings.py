"""Strategies for what programs do to a workspace, with a plain model of what is then left in it."""

from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from tests.unit.sandbox.trees import File, Link, Tree, contents, fits, paths, trees

PROGRAM = Path(__file__).with_name("doing.py").read_text()
_MODES = (0o644, 0o755, 0o600, 0o700, 0o444, 0o777, 0o100, 0o000, 0o4, 0o1755)
_KINDS = ("write", "write", "append", "link", "clear", "rename", "rename", "join", "folder", "fifo", "git")


@dataclass
class Doings:
    """A tree, what is done to it, and what of it a capture must find."""

    before: Tree
    lines: list[list[str]] = field(default_factory=list)
    after: Tree = field(default_factory=dict)
    joined: set[bytes] = field(default_factory=set)
    """Paths of files with several names: what is done to one is done to all."""
    beside: set[bytes] = field(default_factory=set)
    """Paths at which something stands that no tree holds."""
    modes: list[tuple[bytes, int]] = field(default_factory=list)

    def say(self, name: str, *arguments: bytes) -> None:
        self.lines.append([name, *(each.hex() for each in arguments)])

    def drop(self, path: bytes) -> None:
        """Forget a path and all beneath it."""
        for known in (self.after, self.joined, self.beside):
            for each in [each for each in known if each == path or each.startswith(path + b"/")]:
                known.pop(each) if isinstance(known, dict) else known.discard(each)

    def make_way(self, path: bytes) -> None:
        parts = path.split(b"/")
        for depth in range(1, len(parts)):
            above = b"/".join(parts[:depth])
            if above in self.after or above in self.beside:
                self.drop(above)
        self.drop(path)

    def files(self) -> list[bytes]:
        return sorted(path for path, value in self.after.items() if isinstance(value, File))

    def known(self) -> list[bytes]:
        """List every path of the tree and every folder above one."""
        found = {b"/".join(path.split(b"/")[:depth]) for path in self.after for depth in range(1, path.count(b"/") + 2)}
        return sorted(found)


@st.composite
def doings(draw: st.DrawFn) -> Doings:
    before = draw(trees())
    made = Doings(before=before, after=dict(before))
    for kind in draw(st.lists(st.sampled_from(_KINDS), max_size=12)):
        _STEPS[kind](draw, made)
    for path in draw(st.lists(st.sampled_from(made.known()), max_size=4, unique=True)) if made.after else ():
        value, bits = made.after.get(path), draw(st.sampled_from(_MODES))
        if path in made.joined or isinstance(value, Link):
            continue
        made.modes.append((path, bits))
        if value is not None:
            made.after[path] = File(value.content, bool(bits & 0o100))
    for path, bits in sorted(made.modes, reverse=True):
        made.say("mode", path, b"%o" % bits)
    return made


def _new_path(draw: st.DrawFn, made: Doings) -> bytes | None:
    """Draw a path at which something may be made: anew, at or beneath what is there."""
    known = made.known()
    path = draw(paths | st.sampled_from(known) if known else paths)
    if known and draw(st.booleans()):
        path = draw(st.sampled_from(known)) + b"/" + path
    return path if fits({}, path) and len(path) < 2000 else None


def _write(draw: st.DrawFn, made: Doings) -> None:
    if path := _new_path(draw, made):
        content, executable = draw(contents | st.binary(min_size=1000, max_size=5000)), draw(st.booleans())
        made.make_way(path)
        made.say("write", path, content, b"755" if executable else b"644")
        made.after[path] = File(content, executable)


def _append(draw: st.DrawFn, made: Doings) -> None:
    files = [path for path in made.files() if path not in made.joined]
    if files:
        path, more = draw(st.sampled_from(files)), draw(contents)
        value = made.after[path]
        if isinstance(value, File):
            made.say("append", path, more)
            made.after[path] = File(value.content + more, value.executable)


def _link(draw: st.DrawFn, made: Doings) -> None:
    if path := _new_path(draw, made):
        target = draw(
            st.sampled_from([b"/etc/passwd", b"nowhere", b"../../..", b".", path, b"/", b"a\n\xff", b"x" * 1000])
        )
        made.make_way(path)
        made.say("link", path, target)
        made.after[path] = Link(target)


def _clear(draw: st.DrawFn, made: Doings) -> None:
    if known := made.known():
        path = draw(st.sampled_from(known))
        made.drop(path)
        made.say("clear", path)


def _rename(draw: st.DrawFn, made: Doings) -> None:
    known, new = made.known(), _new_path(draw, made)
    if not known or new is None:
        return
    path = draw(st.sampled_from(known))
    moved = {new + each[len(path) :]: each for each in made.known() if each == path or each.startswith(path + b"/")}
    related = new == path or new.startswith(path + b"/") or path.startswith(new + b"/")
    if related or not all(fits({}, each) and len(each) < 2000 for each in moved):
        return
    if any(path.startswith(above + b"/") or path == above for above in _in_the_way(made, new)):
        return
    made.make_way(new)
    made.say("rename", path, new)
    values = {each: made.after[old] for each, old in moved.items() if old in made.after}
    joined = {each for each, old in moved.items() if old in made.joined}
    beside = {new + each[len(path) :] for each in made.beside if each.startswith(path + b"/")}
    made.drop(path)
    made.after |= values
    made.joined |= joined
    made.beside |= beside


def _in_the_way(made: Doings, path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    above = [b"/".join(parts[:depth]) for depth in range(1, len(parts))]
    return [each for each in above if each in made.after or each in made.beside]


def _join(draw: st.DrawFn, made: Doings) -> None:
    files, new = made.files(), _new_path(draw, made)
    if not files or new is None:
        return
    path = draw(st.sampled_from(files))
    if path == new or path.startswith(new + b"/") or new.startswith(path + b"/"):
        return
    value = made.after[path]
    made.make_way(new)
    made.say("join", path, new)
    made.after[new] = value
    made.joined |= {path, new}


def _beside(draw: st.DrawFn, made: Doings, kind: str) -> None:
    if path := _new_path(draw, made):
        made.make_way(path)
        made.say(kind, path)
        if kind == "fifo":
            made.beside.add(path)


def _git(draw: st.DrawFn, made: Doings) -> None:
    if path := _new_path(draw, made):
        name = path + draw(st.sampled_from([b"/.git/HEAD", b"/.GIT/config", b"/.git", b"/git~1"]))
        made.make_way(name)
        made.say("write", name, b"ref: refs/heads/main\n", b"644")
        made.beside.add(name)


_STEPS = {
    "append": _append,
    "clear": _clear,
    "fifo": lambda draw, made: _beside(draw, made, "fifo"),
    "folder": lambda draw, made: _beside(draw, made, "folder"),
    "git": _git,
    "join": _join,
    "link": _link,
    "rename": _rename,
    "write": _write,
}
