"""What makes two askings the same: an answer that is there already is not asked for again. Pure."""

from runner.canonical import canonical, sha256
from runner.documents.manifest import Manifest
from runner.judges import Judging
from runner.roster import Judge, Route


def settings_digest(judge: Judge, route: Route, judging: Judging) -> str:
    """Give the SHA-256 over all that can change an answer besides packet and prompt."""
    whole = {
        "schema": "cleanroom/judge-settings/1",
        "judge": judge.model_dump(mode="json", by_alias=True),
        "route": route.model_dump(mode="json", by_alias=True),
        "judging": judging.model_dump(mode="json", by_alias=True),
    }
    return sha256(canonical(whole))


def judge_settings(manifest: Manifest) -> dict[str, str]:
    """Give the digest of each judge's settings, by judge."""
    routes = {route.id: route for route in manifest.routes}
    return {
        judge.id: settings_digest(judge, routes[judge.route], manifest.judging)
        for judge in manifest.judges
        if judge.route is not None
    }


def cache_key(
    judge: str, shown_sha256: tuple[str, str | None], prompt_sha256: str, settings_sha256: str, repeat: int
) -> str:
    """Give the key of an answer to what was shown: a packet, maybe a tree.

    Repeats are asked for what they are: each is a call of its own.
    """
    whole = {
        "schema": "cleanroom/judge-call/1",
        "judge": judge,
        "packet_sha256": shown_sha256[0],
        "workspace_sha256": shown_sha256[1],
        "prompt_sha256": prompt_sha256,
        "settings_sha256": settings_sha256,
        "repeat": repeat,
    }
    return sha256(canonical(whole))
