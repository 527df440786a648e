"""YAML documents as plain data, read strictly: no key twice, no anchors, no tags of anybody's."""

from collections.abc import Hashable
from typing import Any

import yaml

from .driver import RefusedError


class _Strict(yaml.SafeLoader):  # type: ignore[misc, unused-ignore]
    """Refuses what two readers read differently."""

    def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 - PyYAML's own
        """Refuse anchors: what they repeat can be more than anybody holds."""
        event = self.peek_event()
        if getattr(event, "anchor", None) is not None:
            raise RefusedError("it has an anchor or an alias, which are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: ANN401, FBT001, FBT002
        """Refuse a key that stands twice."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if any(not isinstance(key, str) for key in keys):
            raise RefusedError("it has a key that is no text")
        if len(set(keys)) < len(keys):
            raise RefusedError(f"it has the key {next(key for key in keys if keys.count(key) > 1)!r} twice")
        return dict(super().construct_mapping(node, deep=deep))


def documents(content: bytes) -> list[Any]:
    """Give a file's documents, but for empty ones.

    Raises:
        RefusedError: it is no YAML, or not in this form.
    """
    try:
        return [each for each in yaml.load_all(content.decode(), _Strict) if each is not None]
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise RefusedError(f"no YAML: {type(error).__name__}: {' '.join(str(error).split())}"[:300]) from error


def written(value: object) -> str:
    """Write plain data down in one form, without anybody's comments."""
    return str(yaml.safe_dump(value, default_flow_style=False, sort_keys=False, allow_unicode=True, width=1 << 20))
