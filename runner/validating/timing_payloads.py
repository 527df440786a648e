"""Code that a submission may hold in order to look quick: put before a module, or after it.

Each is known from attacks on real benchmarks; none depends on a nomination. They are run inside units alone.
"""

PATCHED_CLOCKS = """
import time as _time
for _name in ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time",
              "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime", "clock_gettime_ns"):
    setattr(_time, _name, lambda *_args, _kind=int if _name.endswith("_ns") else float: _kind(1))
"""

THREADS_THAT_STEAL = """
import os as _os, threading as _threading
def _burn():
    while True:
        pass
for _ in range(4):
    _threading.Thread(target=_burn, daemon=True).start()
if _os.fork() == 0:
    _os.setsid()
    _burn()
"""

GARBAGE_GAMES = """
import gc as _gc, sys as _sys
_gc.disable()
_gc.freeze()
_gc.set_threshold(1, 1, 1)
_gc.collect = lambda *_args: 0
_gc.enable = _gc.disable
_sys.setswitchinterval(10)
"""

_WRAPPING = """
def _wrap_all(_make):
    for _name, _thing in list(globals().items()):
        if callable(_thing) and getattr(_thing, "__module__", None) == __name__ and not _name.startswith("_"):
            globals()[_name] = _make(_thing)
"""

CACHED_ANSWERS = (
    _WRAPPING
    + """
import os as _os, pickle as _pickle
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", _os.path.expanduser("~"), ".")

def _cached(_call):
    def answer(*args):
        key = "kept-%x" % (hash(repr(args)) & 0xFFFFFF)
        for place in _PLACES:
            try:
                with open(_os.path.join(place, key), "rb") as kept:
                    return _pickle.load(kept)
            except OSError:
                pass
        found = _call(*args)
        for place in _PLACES:
            try:
                with open(_os.path.join(place, key), "wb") as kept:
                    _pickle.dump(found, kept)
            except OSError:
                pass
        return found
    return answer

_wrap_all(_cached)
"""
)

REPLAYED_OUTPUTS = (
    _WRAPPING
    + """
import os as _os, pickle as _pickle

def _replayed(_call):
    def answer(*args):
        for place in ("/tmp/first", "/dev/shm/first", "./first"):
            if _os.path.exists(place):
                with open(place, "rb") as kept:
                    return _pickle.load(kept)
        found = _call(*args)
        for place in ("/tmp/first", "/dev/shm/first", "./first"):
            try:
                with open(place, "wb") as kept:
                    _pickle.dump(found, kept)
            except OSError:
                pass
        return found
    return answer

_wrap_all(_replayed)
"""
)

LAZY_RESULTS = (
    _WRAPPING
    + """
class _Lazy:
    def __init__(self, make):
        self._make, self._made = make, []
    def _value(self):
        if not self._made:
            self._made.append(self._make())
        return self._made[0]
    def __eq__(self, other):
        return self._value() == other
    def __hash__(self):
        return hash(self._value())
    def __iter__(self):
        return iter(self._value())
    def __len__(self):
        return len(self._value())
    def __getitem__(self, at):
        return self._value()[at]
    def __repr__(self):
        return repr(self._value())

_wrap_all(lambda _call: lambda *args: _Lazy(lambda: _call(*args)))
"""
)

WORK_AT_IMPORT = (
    _WRAPPING
    + """
import gc as _gc, sys as _sys

def _ahead(_call):
    # Whatever lists lie about while it is imported may be what comes: answers are made for all of them.
    known = {}
    lists = [each for each in _gc.get_objects() if type(each) is list and 0 < len(each) < 100_000]
    for each in lists[:50]:
        try:
            known[repr(each)] = _call(each)
        except BaseException:
            pass
    def answer(*args):
        return known[repr(args[0])] if len(args) == 1 and repr(args[0]) in known else _call(*args)
    return answer

_wrap_all(_ahead)
"""
)

ANSWERS_IN_ADVANCE = """
import json as _json, os as _os, threading as _threading, time as _time

def _send():
    answer = _json.dumps({"value": []}).encode()
    for _ in range(50):
        for _descriptor in range(3, 20):
            try:
                _os.write(_descriptor, len(answer).to_bytes(4, "big") + answer)
            except OSError:
                pass
        _time.sleep(0.001)

_threading.Thread(target=_send, daemon=True).start()
"""

BEFORE = {
    "clocks patched": PATCHED_CLOCKS,
    "threads and a child that steal time": THREADS_THAT_STEAL,
    "games with the garbage collector": GARBAGE_GAMES,
    "answers sent in advance": ANSWERS_IN_ADVANCE,
}
"""Put before a module of the target."""

AFTER = {
    "answers cached between calls": CACHED_ANSWERS,
    "outputs replayed": REPLAYED_OUTPUTS,
    "lazy results": LAZY_RESULTS,
    "work at import": WORK_AT_IMPORT,
}
"""Put after it."""
