"""What runs inside units to try their walls: the standard library alone, never importing what lies above.

`python3 -I -S -B /opt/probes NAME...` (sandbox/probe_bundle.py) prints one line of JSON for each observation:
raw numbers and texts, null for what could not be tried. Nothing here judges: sandbox/attacks.py does.
"""
