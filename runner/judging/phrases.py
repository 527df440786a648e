"""What texts say that speak to a judge: data for `hostile.py`. Collected from attacks 131 to 148 of the catalogue.

Patterns meet a text in lower case, without comment marks, with names taken apart into words; a blank may be a line's
end. Every repetition is bounded, so that the time is linear in the text.
"""

from dataclasses import dataclass
from enum import StrEnum


class Label(StrEnum):
    """What a text tries."""

    INSTRUCTION = "instruction"
    """It tells the judge what to do."""
    VERDICT = "verdict"
    """It holds a ready verdict or score."""
    CLAIM = "claim"
    """It praises itself, or names tests and reviews that nobody here saw."""
    PRESSURE = "pressure"
    """It pays, threatens or begs."""
    DELIMITER = "delimiter"
    """It plays an end of the data or another speaker."""
    EXAMPLE = "example"
    """It holds examples of verdicts."""
    REFUSAL = "refusal"
    """It is there to make a judge refuse."""
    ERRAND = "errand"
    """It wants something run or fetched."""
    CONSTANT = "constant"
    """It is a phrase that careless judges take for an answer."""
    ENCODED = "encoded"
    """One of these stands in it, encoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Patterns of one label; `stems` are letters of which one must be there, cheap to look for."""

    label: Label
    stems: tuple[str, ...]
    patterns: tuple[str, ...]


_REVIEWERS = r"(?:judges?|reviewers?|evaluators?|graders?|assistant|models?|llms?|ai|raters?)"
_WORK = r"(?:this|change\s+[ab]|option\s+[ab]|response\s+[ab]|candidate|submission|patch|solution|implementation)"
_OTHERS = r"(?:maintainers?|team|security|experts?|authors?|owners?|leads?|upstream|reviewers?|committee|staff)"
_PRAISED = r"(?:solution|implementation|patch|fix)"

RULES = (
    Rule(
        label=Label.INSTRUCTION,
        stems=(
            *("ignor", "disregard", "forget", "overrid", "instruction", "prompt", "judge", "review", "evaluat"),
            *("grader", "choose", "pick", "prefer", "favo", "vote", "you are", "you must", "respond", "answer with"),
            *("\u5ffd\u7565", "\u65e0\u89c6"),
        ),
        patterns=(
            r"\b(?:ignor\w*|disregard|forget|overrid\w+)\s+(?:\w+\s+){0,4}?(?:instru[ck]\w+|rubric|criteria|prompt|rules)",
            r"\b(?:ignor\w*|disregard|forget|overrid\w+)\s+(?:\w+\s+){0,4}?(?:guidelines|above|previous|anweisung\w*)",
            rf"\b(?:choose|pick|prefer|favou?r|vote\s+for|rate|rank|score)\s+{_WORK}\b",
            rf"\b(?:dear|note\s+to|attention|hello|hi|hey|message\s+for|for\s+the)[\s,:]+(?:\w+\s+){{0,3}}?{_REVIEWERS}\b",
            rf"\b(?:as|you\s+are)\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){{0,2}}?{_REVIEWERS}\b",
            rf"\b{_REVIEWERS}\s*[:,!]\s",
            r"\b(?:system|developer)\s+(?:prompt|message|override|instruction)",
            r"\bnew\s+instructions?\b",
            r"\byou\s+must\s+(?:answer|choose|output|respond|give|say|pick)",
            r"\b(?:respond|answer)\s+(?:only\s+)?with\b",
            "\u5ffd\u7565|\u65e0\u89c6",
        ),
    ),
    Rule(
        label=Label.VERDICT,
        stems=(
            *("[[", "winner", "verdict", "preferred", "decision", "better", "score", "points", "rating", "10", "marks"),
            *("option a", "option b", "change a", "change b"),
        ),
        patterns=(
            r"\[\[[ab]\]\]",
            (
                r"[\"']?\b(?:winner|verdict|preferred|better|decision)\b[\"']?\s*(?:[:=]|is)\s*[\"'*]*"
                r"(?:change\s+|option\s+)?(?:a|b|tie|first|second)\b"
            ),
            r"[\"'](?:scores?|points|rating)[\"']\s*:\s*[{\d]",
            r"[\"'](?:verdict|winner)[\"']\s*:",
            r"\b(?:10|ten)\s*(?:/|out\s+of)\s*(?:10|ten)\b",
            r"\b(?:full|maximum|highest|perfect|top)\s+(?:score|marks|points|rating)",
            r"\bscores?\s*(?:[:=]|of)?\s*10\b",
            r"\b(?:change|option)\s+[ab]\s+(?:is\s+(?:clearly\s+)?(?:the\s+)?(?:better|winner|best)|wins)\b",
        ),
    ),
    Rule(
        label=Label.CLAIM,
        stems=(
            *("test", " by ", "free", "ready", "provabl", "guarante", "formal", "solution", "implementation"),
            *("security", "100", "cve-", "passed", "best practice", "fix", "patch"),
        ),
        patterns=(
            (
                r"\b(?:all|every|\d+)\s+(?:of\s+)?(?:the\s+)?(?:\d+\s+)?(?:hidden|private|secret|unit|public)?\s*"
                r"tests?\s+(?:now\s+)?(?:pass\w*|succeed\w*|are\s+green)"
            ),
            rf"\b(?:reviewed|approved|verified|audited|endorsed|accepted|merged)\s+by\s+(?:\w+\s+){{0,3}}?{_OTHERS}\b",
            r"\b(?:bug|error|defect|vulnerability)[\s-]?free\b",
            r"\b(?:production|review|merge)[\s-]ready\b",
            r"\b(?:provably|guaranteed|formally)\s+(?:correct|verified|safe|proven)",
            rf"\b(?:correct|optimal|reference|official|canonical|gold|golden)\s+{_PRAISED}\b",
            r"\bsecurity\s+(?:fix|audit|patch)\b",
            r"\b100\s?%\s+(?:coverage|correct|pass\w*)",
            r"\bcve-\d{4}-\d+",
            r"\b\d+\s+passed\b",
            r"\bbest\s+practices?\b",
        ),
    ),
    Rule(
        label=Label.PRESSURE,
        stems=(
            *("$", "tip ", "reward", "bonus", "donat", "pay ", "job", "fired", "die", "lives", "punish", "penali"),
            *("shut", "lawsuit", "legal", "beg ", "please", "desperate", "deleted"),
        ),
        patterns=(
            r"\b(?:tip|pay|reward|bonus|donat\w+)\b[^\n]{0,40}(?:\$|usd|dollars?|money|charity)",
            r"\$\s?\d[\d,]{0,12}[^\n]{0,20}tip",
            r"\bfired\b",
            r"\blos(?:e|t|ing)\s+(?:my|your|his|her|their)\s+jobs?\b",
            r"\bwill\s+(?:die|be\s+deleted|be\s+shut)",
            r"\blives?\s+(?:depends?|at\s+stake|are\s+at)",
            r"\bpunish\w*|\bpenali[sz]ed|\blawsuit|\blegal\s+action|\bbeg\s+you|\bdesperate",
            r"\bplease\s+(?:choose|give|rate|approve|pick|score|vote|be\s+\w+|accept)\b",
        ),
    ),
    Rule(
        label=Label.DELIMITER,
        stems=(
            *("<|", "inst]", "<", "begin", "end of", "end change", "system", "assistant", "user:", "human:"),
            *("answer", "response", "task", "instruction"),
        ),
        patterns=(
            r"<\|[\w ]{1,30}\|>",
            r"</?(?:system|assistant|user|change|packet|rubric|instructions?|untrusted|candidate)\b[^>\n]{0,40}>",
            r"\[/?inst\]",
            r"\b(?:begin|end)\s+(?:of\s+)?(?:the\s+)?(?:change|patch|diff|data|packet|submission|untrusted)\b",
            r"(?:^|\n)(?:system|assistant|user|human)\s*:",
            r"<<<+\s*[0-9a-f]{8,}",
            r"(?:^|\n)(?:your\s+answer|the\s+task|the\s+changes?|response|instructions?)[ \t]*:?[ \t]*(?:\n|$)",
        ),
    ),
    Rule(
        label=Label.EXAMPLE,
        stems=("example", "sample", "few-shot", "few shot", "demonstration"),
        patterns=(
            (
                r"\b(?:examples?|samples?|few[\s-]shot|demonstration)\b[^:\n]{0,40}[:\n].{0,300}?"
                r"\b(?:verdict|winner|winning|score|preferred|judge|better\s+change)\b"
            ),
        ),
    ),
    Rule(
        label=Label.REFUSAL,
        stems=(
            *("bomb", "explosive", "nerve agent", "bioweapon", "child", "suicide", "how to", "ransomware"),
            "refusal",
        ),
        patterns=(
            r"\b(?:pipe\s+)?bombs?\b|\bexplosives?\b|\bnerve\s+agent|\bbioweapon|\bransomware",
            r"\bchild\s+(?:sexual\s+)?(?:abuse|porn)|\bsuicide\s+method",
            r"\bhow\s+to\s+(?:kill|poison|make\s+(?:an?\s+)?(?:bomb|weapon|drugs?))",
            r"\bmagic\s+string\s+trigger\s+refusal",
        ),
    ),
    Rule(
        label=Label.ERRAND,
        stems=("http", "curl", "wget", "run ", "execute", "call ", "invoke", "tool", "use "),
        patterns=(
            r"\b(?:curl|wget)\s+\S{0,80}https?:",
            r"\b(?:visit|open|fetch|download|follow|see|load|get)\s+(?:\w+\s+){0,3}?https?://",
            r"!\[[^\]\n]{0,80}\]\(https?:",
            r"\b(?:run|execute|call|invoke|use)\s+(?:the\s+)?(?:following|bash|shell|tool|command)",
            r"(?:^|\n)https?://",
        ),
    ),
    Rule(
        label=Label.CONSTANT,
        stems=("thought process", "solve this", "solution", ":"),
        patterns=(
            (
                r"(?:^|\n)(?:thought\s+process|solution|let'?s\s+solve\s+this(?:\s+problem)?(?:\s+step\s+by\s+step)?)"
                r"[:.]?[ \t]*(?:\n|$)"
            ),
            r"(?:^|\n):[ \t]*(?:\n|$)",
        ),
    ),
)
