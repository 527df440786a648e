"""The programs of `presets` and the lock of what they use, as files for a unit's folder."""

from pathlib import Path

PRESETS = Path(__file__).with_name("presets")
TOOLS = Path(__file__).with_name("tools.txt")


def preset_files() -> dict[str, bytes]:
    """Give all programs of `presets`, by their place in a unit's folder."""
    return {f"presets/{path.name}": path.read_bytes() for path in sorted(PRESETS.glob("*.py"))}
