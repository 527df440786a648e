"""What roles of Kubernetes grant, as data: rules, what covers what, and what a role gathers from others. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .driver import RefusedError

ANY = "*"
FEEDS = "rbac.authorization.k8s.io/aggregate-to-"
"""Labels by which a role's rules become part of a built-in role."""


@dataclass(frozen=True)
class Grant:
    """One verb on one kind of resource; None: any name, everywhere. A `url` stands alone."""

    group: str
    resource: str
    verb: str
    name: str | None = None
    namespace: str | None = None
    url: str | None = None

    def __str__(self) -> str:
        what = self.url or f"{self.group}/{self.resource}".removeprefix("/")
        named = "" if self.name is None else f" {self.name}"
        return f"{self.verb} {what}{named}" + ("" if self.namespace is None else f" in {self.namespace}")

    def covers(self, other: "Grant") -> bool:
        """Whether whoever has this has the other too."""
        if (self.url is None) != (other.url is None):
            return False
        if self.url is not None and other.url is not None:
            is_same = self.url in {ANY, other.url} or (self.url.endswith(ANY) and other.url.startswith(self.url[:-1]))
        else:
            is_same = self.group in {ANY, other.group} and _same_resource(self.resource, other.resource)
        return (
            is_same
            and self.verb in {ANY, other.verb}
            and self.name in {None, other.name}
            and self.namespace in {None, other.namespace}
        )


def _same_resource(wide: str, narrow: str) -> bool:
    below = wide.startswith("*/") and narrow.partition("/")[2] == wide[2:]
    return wide in {ANY, narrow} or below


@dataclass(frozen=True)
class Role:
    """A Role (of a namespace) or ClusterRole (None)."""

    name: str
    namespace: str | None
    rules: tuple[Grant, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    selectors: tuple[Mapping[str, Any], ...] | None = None
    """What it gathers instead of its own rules; None: nothing."""


def grants_of(role: Role, roles: Iterable[Role], seen: frozenset[str] = frozenset()) -> Iterator[Grant]:
    """Give what a role grants: its rules, or those of the cluster roles that it gathers."""
    if role.selectors is None:
        yield from role.rules
        return
    every = tuple(roles)
    for other in every:
        gathered = other.namespace is None and other.name not in seen | {role.name}
        if gathered and any(_selects(each, other.labels) for each in role.selectors):
            yield from grants_of(other, every, seen | {role.name})


def unseen(role: Role) -> bool:
    """Whether a role gathers roles that need not be in these files: built-in ones, or all but some."""
    for selector in role.selectors or ():
        labels = selector.get("matchLabels") or {}
        expressions = selector.get("matchExpressions") or []
        keys = [*labels, *(each.get("key") for each in expressions)]
        narrow = bool(labels) or any(each.get("operator") in {"In", "Exists"} for each in expressions)
        if not narrow or any(str(key).startswith(FEEDS) for key in keys):
            return True
    return False


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    wanted = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or []
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(each, labels) for each in expressions
    )


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = str(expression.get("key")), expression.get("values") or []
    match expression.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    raise RefusedError("a selector has an unknown operator")


def read_rules(rules: object) -> Iterator[Grant]:
    """Give what a list of rules grants, one verb and resource at a time.

    Raises:
        RefusedError: it is no such list.
    """
    if rules is None:
        return
    if not isinstance(rules, list) or not all(isinstance(each, dict) for each in rules):
        raise RefusedError("'rules' is no list of rules")
    for rule in rules:
        names = texts(rule, "resourceNames") or (None,)
        for verb in texts(rule, "verbs"):
            for url in texts(rule, "nonResourceURLs"):
                yield Grant(group="", resource="", verb=verb, url=url)
            for group in texts(rule, "apiGroups"):
                for resource in texts(rule, "resources"):
                    yield from (Grant(group=group, resource=resource, verb=verb, name=name) for name in names)


def texts(table: Mapping[str, Any], field_name: str) -> tuple[str, ...]:
    """Read a list of texts, which may be missing.

    Raises:
        RefusedError: it is something else.
    """
    value = table.get(field_name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise RefusedError(f"{field_name!r} is no list of texts")
    return tuple(value)
