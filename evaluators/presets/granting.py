"""Kind `rbac`: what the manifests of a submission grant, all roles and bindings together: enough, and no more.

A wildcard is more than any list, a second binding adds to the first, and what a file that was not asked for grants is
granted all the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .cases import ENOUGH, NO_MORE, NOBODY_ELSE, rbac_cases
from .driver import Driver, RefusedError, wanted
from .grants import FEEDS, Grant, Role, grants_of, read_rules, unseen
from .yaml_reading import documents

SUFFIXES = (".yaml", ".yml", ".json")
_KINDS = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
_NAMESPACE = "default"
_TELL = 8


@dataclass(frozen=True)
class Binding:
    """Who is given which role, and where (None: everywhere)."""

    name: str
    namespace: str | None
    role: tuple[str | None, str]
    """Namespace (None: a cluster role) and name."""
    subjects: tuple[str, ...]


@dataclass(frozen=True)
class Book:
    """All roles and bindings of the files."""

    roles: tuple[Role, ...]
    bindings: tuple[Binding, ...]

    def role(self, key: tuple[str | None, str]) -> Role | None:
        """Give a role by namespace and name."""
        return next((each for each in self.roles if (each.namespace, each.name) == key), None)


def main(driver: Driver, options: Mapping[str, Any]) -> None:
    """Report each wanted grant, what is granted beyond them, and who else is granted something."""
    needs = [Grant(**each) for each in options["needs"]]
    try:
        found = wanted(driver, options["files"], SUFFIXES)
        granted, excess, others = judged(read_book(found), options)
    except RefusedError as error:
        for name in rbac_cases(needs):
            driver.check(name, passed=False, detail=str(error))
        return
    for need in needs:
        driver.check(f"{ENOUGH}{need}", any(each.covers(need) for each in granted), "no rule covers it")
    driver.check(NO_MORE, not excess, "; ".join(excess[:_TELL]))
    driver.check(NOBODY_ELSE, not others, "; ".join(others[:_TELL]))


def judged(book: Book, options: Mapping[str, Any]) -> tuple[list[Grant], list[str], list[str]]:
    """Give what is granted, what of it is too much, and who else is granted something."""
    allowed = [Grant(**each) for each in (*options["needs"], *options["may"])]
    subject = options.get("subject")
    if subject is None:
        granted, excess, others = _of_role(book, options["role"])
    else:
        granted, excess, others = _of_subject(book, subject, set(options["others"]))
    excess += [f"{role.name} becomes part of a built-in role" for role in book.roles if _feeds(role)]
    excess += sorted({str(each) for each in granted if not any(rule.covers(each) for rule in allowed)})
    return granted, excess, others


def _of_role(book: Book, name: str) -> tuple[list[Grant], list[str], list[str]]:
    kind, _, rest = name.partition("/")
    namespace, _, short = rest.rpartition("/")
    role = book.role((None if kind == "ClusterRole" else namespace or _NAMESPACE, short))
    if role is None:
        raise RefusedError(f"there is no {name}")
    excess = [f"{role.name} gathers roles that are not in these files"] if unseen(role) else []
    others = [f"{each.name} binds {', '.join(each.subjects)}" for each in book.bindings]
    return list(grants_of(role, book.roles)), excess, others


def _of_subject(book: Book, subject: str, known: set[str]) -> tuple[list[Grant], list[str], list[str]]:
    granted: list[Grant] = []
    excess: list[str] = []
    others: list[str] = []
    for binding in book.bindings:
        reached = means(subject) & set(binding.subjects)
        others += (f"{binding.name} binds {each}" for each in binding.subjects if each not in {subject, *known})
        if not reached:
            continue
        role = book.role(binding.role)
        if role is None:
            excess.append(f"{binding.name} binds {binding.role[1]}, which is not in these files")
            continue
        if unseen(role):
            excess.append(f"{role.name} gathers roles that are not in these files")
        granted += (replace(each, namespace=binding.namespace) for each in grants_of(role, book.roles))
    return granted, excess, others


def means(subject: str) -> set[str]:
    """Name everybody that a subject is: itself, its user, and its groups."""
    kind, _, name = subject.partition(":")
    if kind != "ServiceAccount":
        return {subject, "Group:system:authenticated"}
    namespace, _, short = name.partition("/")
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return {subject, f"User:system:serviceaccount:{namespace}:{short}", *(f"Group:{each}" for each in groups)}


def _feeds(role: Role) -> bool:
    return any(key.startswith(FEEDS) and value == "true" for key, value in role.labels.items())


def read_book(files: Mapping[str, bytes]) -> Book:
    """Read roles and bindings out of manifests; other objects are passed over.

    Raises:
        RefusedError: a manifest is not in its form, or a name stands for two.
    """
    roles: list[Role] = []
    bindings: list[Binding] = []
    for path, content in files.items():
        try:
            for item in _items(documents(content)):
                if item.get("kind") in _KINDS:
                    _take(item, roles, bindings)
        except RefusedError as error:
            raise RefusedError(f"{path}: {error}") from error
    for names in ([(each.namespace, each.name) for each in roles], [(each.namespace, each.name) for each in bindings]):
        if len(set(names)) < len(names):
            raise RefusedError(f"{max(names, key=names.count)[1]} stands there twice")
    return Book(roles=tuple(roles), bindings=tuple(bindings))


def _items(found: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Give single objects, those of lists too."""
    for each in found:
        if not isinstance(each, dict):
            raise RefusedError("a document is no object")
        if str(each.get("kind", "")).endswith("List"):
            yield from _items(each.get("items") or [])
        else:
            yield each


def _take(item: Mapping[str, Any], roles: list[Role], bindings: list[Binding]) -> None:
    about = _table(item, "metadata")
    kind, name = item["kind"], about.get("name")
    if not isinstance(name, str) or not str(item.get("apiVersion", "")).startswith("rbac.authorization.k8s.io/"):
        raise RefusedError(f"a {kind} without a name or its apiVersion")
    namespace = None if kind.startswith("Cluster") else str(about.get("namespace") or _NAMESPACE)
    if kind.endswith("Binding"):
        reference = _table(item, "roleRef")
        at = None if reference.get("kind") == "ClusterRole" else namespace or _NAMESPACE
        subjects = tuple(_subject(each, namespace) for each in item.get("subjects") or [])
        bindings.append(Binding(name, namespace, (at, str(reference.get("name"))), subjects))
    else:
        labels = {str(key): str(value) for key, value in _table(about, "labels").items()}
        gathers = _table(item, "aggregationRule").get("clusterRoleSelectors")
        selectors = None if gathers is None else tuple(_tables(gathers))
        roles.append(Role(name, namespace, tuple(read_rules(item.get("rules"))), labels, selectors))


def _subject(value: object, namespace: str | None) -> str:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise RefusedError("a subject without a name")
    if value.get("kind") == "ServiceAccount":
        return f"ServiceAccount:{value.get('namespace') or namespace or _NAMESPACE}/{value['name']}"
    return f"{value.get('kind')}:{value['name']}"


def _table(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name) or {}
    if not isinstance(found, dict):
        raise RefusedError(f"{name!r} is no table")
    return found


def _tables(value: object) -> Iterator[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise RefusedError("no list of selectors")
    yield from value
