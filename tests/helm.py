"""A stand-in for Helm: `template NAME CHART --values FILE` over values of one level and `{{ .Values.x }}`.

It is no Helm. It shows that kind `helm` runs the program that it is given, and what it makes of what that prints.
"""

from pathlib import Path

PROGRAM = r"""#!/usr/bin/python3 -I
import re, sys
from pathlib import Path

def values(path):
    found = {}
    for line in Path(path).read_text().splitlines():
        name, colon, value = line.partition(":")
        if colon and not line.startswith("#"):
            found[name.strip()] = value.strip()
    return found

command, release, chart, *rest = sys.argv[1:]
assert command == "template"
known = {}
for path in [f"{chart}/values.yaml", *[each for each in rest if each != "--values"]]:
    if Path(path).is_file():
        known.update(values(path))
if not Path(f"{chart}/Chart.yaml").is_file():
    sys.exit("Error: Chart.yaml file is missing")

def filled(found):
    scope, name = found[1].split(".", 1)
    if scope == "Release":
        return release
    if name not in known:
        sys.exit(f"Error: nil pointer evaluating .Values.{name}")
    return known[name]

for path in sorted(Path(chart, "templates").glob("*.yaml")):
    text = re.sub(r"\{\{-?\s*\.((?:Values|Release)\.\w+)\s*-?\}\}", filled, path.read_text())
    if "{{" in text:
        sys.exit(f"Error: parse error in {path}")
    print(f"---\n# Source: {path}\n{text}")
"""


def helm(folder: Path) -> Path:
    """Write the stand-in into a folder, under Helm's name."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "helm"
    place.write_text(PROGRAM)
    place.chmod(0o755)
    return place
