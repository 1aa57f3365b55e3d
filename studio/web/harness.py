"""A separate studio for a script, and a browser that shows it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, sync_playwright


class Studio:
    """A client of a running studio."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.address = address
        self.origin, self._token = f"{parts.scheme}://{parts.netloc}", parse_qs(parts.query)["token"][0]

    def ask(self, method: str, path: str, body: dict[str, object] | bytes | None = None) -> dict[str, Any]:
        """Return the answer to a request."""
        request = urllib.request.Request(  # noqa: S310 -- this machine
            f"{self.origin}/api{path}",
            method=method,
            data=json.dumps(body).encode() if isinstance(body, dict) else body,
            headers={"X-Sfumato-Token": self._token, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 -- this machine
            data: dict[str, Any] = json.loads(answer.read())
        return data

    def wait(self, here: str, job: str) -> None:
        """Wait until a job of the workspace ends."""
        while self.ask("GET", f"{here}/jobs/{job}")["status"] in ("queued", "running"):
            time.sleep(0.3)


@contextlib.contextmanager
def studio_and_browser() -> Iterator[tuple[Browser, Studio]]:
    """Start a studio in an empty folder, and Chromium; both end with the block.

    Raises:
        SystemExit: If there is no Chromium, or the studio does not start.
    """
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("Needed: Chromium.")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sfumato", "studio", "--no-open", "--folder", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:  # noqa: S603 -- this package
            try:
                address = re.search(r"http://\S+", (running.stdout and running.stdout.readline()) or "")
                if address is None:
                    raise SystemExit("The studio did not start.")
                with sync_playwright() as playwright:
                    webgl = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
                    browser = playwright.chromium.launch(executable_path=program, args=webgl)
                    yield browser, Studio(address[0])
                    browser.close()
            finally:
                running.terminate()
