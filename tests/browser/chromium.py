"""Debian's Chromium, without a window, spoken to over a pair of pipes (the DevTools protocol); no packet can leave.

It runs in a network namespace of its own in which nothing is up, and is told besides to look nothing up.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = "/usr/bin/chromium"
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--hide-scrollbars",
    "--no-default-browser-check", "--disable-dev-shm-usage", "--proxy-server=http://127.0.0.1:9",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
)  # fmt: skip
_PATIENCE = 60
_KEYS = {"Enter": (13, "\r"), "Tab": (9, "")}

Said = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Tab:
    """One tab."""

    to: int
    """Where to write."""
    back: int
    """Where to read."""
    session: str | None = None
    events: list[Said] = field(default_factory=list)
    """All that was told and not asked for."""
    _read: bytes = b""
    _number: int = 0

    def ask(self, method: str, **params: object) -> Said:
        """Ask something, and give the answer."""
        self._number += 1
        asked: Said = {"id": self._number, "method": method, "params": params}
        if self.session is not None:
            asked["sessionId"] = self.session
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        while True:
            said = self._next()
            if said.get("id") == self._number:
                assert "error" not in said, said
                return dict(said["result"])
            self.events.append(said)

    def _next(self) -> Said:
        while b"\0" not in self._read:
            more = os.read(self.back, 1 << 20)
            assert more, "Chromium ended"
            self._read += more
        said, _, self._read = self._read.partition(b"\0")
        return dict(json.loads(said))

    def told(self, method: str) -> list[Said]:
        """Give what was told by this name."""
        return [each["params"] for each in self.events if each["method"] == method]

    def open(self, page: Path, *, wide: int, dark: bool = False, script: bool = True, printed: bool = False) -> None:
        """Open a file at a width, on a screen or as it is printed, and wait until it is there."""
        self.events.clear()
        high = 844 if wide < 500 else 900
        self.ask("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media="print" if printed else "", features=[scheme])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.ask("Page.navigate", url=page.as_uri())
        while not self.told("Page.loadEventFired"):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:  # noqa: ANN401 - whatever the page says
        """Give what an expression comes to on the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        code, text = _KEYS[key]
        same = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **same)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **same)

    def picture(self, file: Path) -> None:
        """Keep a picture of the whole page."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12_000), "scale": 1}
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """Start Chromium with an empty profile, and end it."""
    assert shutil.which(PROGRAM), f"{PROGRAM} is not there: scripts/test installs it, or apt-get install chromium"
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    argv = ["unshare", "--net", "--map-root-user", PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        ["/bin/bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "sh", *argv],
        pass_fds=(theirs_in, theirs_out),
        env={"PATH": os.defpath, "HOME": str(profile), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        tab = Tab(to=ours_out, back=ours_in)
        (target,) = (each for each in tab.ask("Target.getTargets")["targetInfos"] if each["type"] == "page")
        tab.session = tab.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.ask(f"{domain}.enable")
        yield tab
    finally:
        os.close(ours_out)
        os.close(ours_in)
        process.kill()
        process.wait(_PATIENCE)
