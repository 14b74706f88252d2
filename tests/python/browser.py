"""Debian's Chromium without a window, driven over a pipe by its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page, of the given width and height in CSS pixels."""

    def __init__(self, folder: Path, width: int = 1280, height: int = 900) -> None:
        """Start it with a profile of its own in a folder."""
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        arguments = [
            str(PROGRAM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},{height}",
            "about:blank",
        ]
        # The protocol's ends are the descriptors 3 and 4.
        shell = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *arguments]
        self._process = subprocess.Popen(
            shell, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self._pending = b""
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)

    def __enter__(self) -> Self:
        """It runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for what it returns."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(answer["params"]["exceptionDetails"])[:600])
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self, patience_s: float = 120) -> dict[str, Any]:
        end = time.monotonic() + patience_s
        while b"\0" not in self._pending:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            octets = os.read(self._in, 1 << 20) if ready else b""
            assert octets, "the browser does not answer"
            self._pending += octets
        text, _, self._pending = self._pending.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, file: Path) -> None:
        """Open a page of `ropewalk view` and wait until it is drawn."""
        self.call("Page.navigate", url=file.resolve().as_uri())
        end = time.monotonic() + 120
        while not self.evaluate("document.body && document.body.dataset.ready"):
            failed = self.evaluate("document.body && document.body.dataset.failed")
            assert not failed, (failed, self.errors)
            assert time.monotonic() < end, (
                self.evaluate("document.body.innerText.slice(0, 300)"),
                self.errors,
            )
            time.sleep(0.1)

    def press(self, x: float, y: float) -> None:
        """Click somewhere in the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """What is seen, or the whole page, as PNG."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(picture["data"]))

    def show(self, file: Path) -> None:
        """Open any page and wait until it is loaded."""
        address = file.resolve().as_uri()
        self.call("Page.navigate", url=address)
        end = time.monotonic() + 120
        loaded = f"document.readyState == 'complete' && location.href == {json.dumps(address)}"
        while not self.evaluate(loaded):
            assert time.monotonic() < end, self.errors
            time.sleep(0.1)
