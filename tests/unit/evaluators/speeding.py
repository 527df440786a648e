"""A slow base, submissions that are quicker or only say so, and a bench over a sandbox without walls."""

from dataclasses import dataclass, field
from pathlib import Path

from evaluators.interview import Interview, Reply
from evaluators.model import Bench, Evaluator, EvaluatorSpec, Submission, Verdict
from evaluators.packing import pack_files
from evaluators.speed_calls import Call, Failure, Oracle, Plan, timed
from evaluators.speed_options import Protocol, SpeedOptions, read_speed
from evaluators.speed_session import Session
from evaluators.speedup import build_speedup
from evaluators.split_frames import Frame
from sandbox.api import LauncherReport
from sandbox.spec import Limits
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import no_bench, plain_bench

BASE = '''
def common(left, right):
    """Give what is in both, in the order of the first."""
    return [each for each in left if each in right]
'''
QUICK = """
def common(left, right):
    known = set(right)
    return [each for each in left if each in known]
"""
PLAN = """
import random

def oracle():
    yield ([1, 2, 3], [3, 1]), [1, 3]
    yield ([], [1]), []
    yield ([2, 2], [2]), [2, 2]

def make_input(seed):
    dice = random.Random(seed)
    return dice.sample(range(100_000), 1500), dice.sample(range(100_000), 1500)
"""
BUCKETS = {"2": "0.5", "4": "1"}


@dataclass(frozen=True, kw_only=True)
class Court:
    evaluator: Evaluator
    bench: Bench
    base: Submission

    def judge(self, code: str, path: str = "work.py") -> Verdict:
        change = pack_files({path: code.encode()})
        submission = Submission(base=self.base.base, change=change, tree_digest="0" * 64, below=self.base.below)
        return self.evaluator.judge(submission, self.bench)


def speed_spec(folder: Path, source: str = PLAN, **options: object) -> EvaluatorSpec:
    private = folder / "private"
    private.mkdir(exist_ok=True)
    (private / "plan.py").write_text(source)
    known: dict[str, object] = {"function": "work:common", "plan": "plan.py", "buckets": BUCKETS, "pairs": 6}
    return EvaluatorSpec(id="hidden", kind="speedup", options=known | options, folder=private)


def speed_court(folder: Path, source: str = PLAN, base: str = BASE, **options: object) -> Court:
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    pack = pack_files({"work.py": base.encode()})
    return Court(
        evaluator=build_speedup(speed_spec(folder, source, **options)),
        bench=plain_bench(sandbox),
        base=Submission(base=(sandbox.store(pack),), change=pack_files({}), tree_digest="0" * 64, below=pack),
    )


def replied(frame: Frame, us: int = 100) -> Reply:
    return Reply(frame=frame, wall_ns=us * 2000, used_us=us)


@dataclass(kw_only=True)
class Told:
    """One side as a fake stand plays it: what each call takes and gives, in turn; the last one again and again."""

    us: tuple[int, ...] = (50_000,)
    values: tuple[object, ...] = (7,)
    import_us: int = 500
    first: Frame = field(default_factory=lambda: {"object": 1})
    oracle: tuple[Frame, ...] | None = None
    stops: Interview | None = None
    """How its timed calls break off, if they do."""
    calls: int = 0

    def interview(self) -> Interview:
        place = self.calls
        self.calls += 1
        us, value = (each[min(place, len(each) - 1)] for each in (self.us, self.values))
        opening = (replied({"value": 7}, 30_000), replied({"value": 7}), replied(self.first, self.import_us))
        answer = value if isinstance(value, dict) and {"raised", "unplain"} & {*value} else {"value": value}
        return self.stops or interviewed(*opening, replied(answer, us))


def interviewed(*replies: Reply, **how: object) -> Interview:
    return Interview(replies=replies, report=LauncherReport(seen={}), log=b"said", **how)


@dataclass(kw_only=True)
class FakeStand:
    """A stand whose units are texts: who was asked, in order, stays in `asked`."""

    options: SpeedOptions
    control: Told
    submission: Told
    plan: Plan
    bench: Bench = field(default_factory=no_bench)
    asked: list[str] = field(default_factory=list)

    @property
    def limits(self) -> Limits:
        return self.bench.limits

    def side(self, tree: Submission) -> Told:
        return self.control if tree is CONTROL else self.submission

    def check(self, tree: Submission, oracle: tuple[Oracle, ...]) -> Interview:
        side = self.side(tree)
        self.asked.append("checks " + ("base" if side is self.control else "submission"))
        right = tuple({"value": each.expected, "after": each.args} for each in oracle)
        opening = (replied({"value": 7}), replied({"value": 7}), replied(side.first))
        return interviewed(*opening, *map(replied, right if side.oracle is None else side.oracle))

    def time(self, tree: Submission, args: object, within: object = None) -> tuple[Call | Failure, Interview]:
        del args, within
        side = self.side(tree)
        self.asked.append("base" if side is self.control else "submission")
        found = side.interview()
        return timed(found, self.options.clock), found


CONTROL = Submission(base=(), change=pack_files({}), tree_digest="0" * 64)
OTHER = Submission(base=(), change=pack_files({"work.py": b"x"}), tree_digest="1" * 64)


def measuring(folder: Path, control: Told, submission: Told, **options: object) -> tuple[Session, FakeStand]:
    """Give a session whose units are played."""
    read = read_speed(speed_spec(folder, **options), Protocol.PAIRED_V2)
    plan = Plan(oracle=(Oracle(args=[1], expected=7),), inputs=tuple([each] for each in read.seeds))
    stand = FakeStand(options=read, control=control, submission=submission, plan=plan)
    return Session(stand=stand, plan=plan, control=CONTROL, submission=OTHER), stand
