"""A visitor of the page, who notes every request that leaves the machine, every error and every barrier."""

import json
import re
import time
import urllib.request
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from ..conftest import PATIENCE_S, Gate, soon

LONGEST = 1000 * PATIENCE_S
"""Milliseconds that a design may take on a busy machine."""
expect.set_options(timeout=LONGEST)

_FOCUSED = """() => {
    const it = document.activeElement;
    return it.ariaLabel || it.labels?.[0]?.innerText || it.innerText || "";
}"""
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


@dataclass(frozen=True, slots=True)
class Studio:
    """A running studio, for scripts.

    Attributes:
        address: Of its page, with the token.
        gate: Where its jobs can be made to wait.
        shared: The workspaces that several tests use.
    """

    address: str
    gate: Gate
    shared: set[str] = field(default_factory=set)

    @property
    def origin(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer to a request, as a script would ask it."""
        request = urllib.request.Request(
            f"{self.origin}/api{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-Sfumato-Token": self.token, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def prepared(self, example: str, site: dict[str, object], *, shared: bool = False) -> str:
        """Return a workspace of an example in which every level is optimized."""
        name = self.ask("POST", "/workspaces")["id"]
        if shared:
            self.shared.add(name)
        here = f"/workspaces/{name}"
        self.ask("POST", f"{here}/example", {"example": example})
        self.ask("PUT", f"{here}/site", site)
        job = self.ask("POST", f"{here}/optimize", {})["id"]
        assert self.ended(name, job)["status"] == "done"
        return str(name)

    def ended(self, workspace: str, job: str) -> Any:
        """Return a job once it has ended."""
        path = f"/workspaces/{workspace}/jobs/{job}"
        return soon(lambda: (state := self.ask("GET", path))["status"] not in ("queued", "running") and state, 0.1)

    def restore(self, workspace: str) -> None:
        """Make a workspace what `prepared` made of it: all that tests left there goes."""
        here = f"/workspaces/{workspace}"
        for job in self.ask("GET", here)["jobs"]:
            if job["kind"] != "levels":
                if job["status"] == "running":
                    self.ask("POST", f"{here}/jobs/{job['id']}/cancel")
                    self.ended(workspace, job["id"])
                self.ask("DELETE", f"{here}/jobs/{job['id']}")
        self.ask("DELETE", f"{here}/outline")
        self.ask("PATCH", here, {"view": {}})


@dataclass
class Visitor:
    """A page of the studio in a browser."""

    page: Page
    studio: Studio
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen before anything is opened."""
        self.page.set_default_timeout(LONGEST)
        self.page.on("console", self._says)
        self.page.on("pageerror", lambda error: self.note(str(error)))
        self.page.on("request", lambda request: self._leaves(request.url))

    def _says(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self.note(f"{said.text} ({urlsplit(said.location['url']).path})")

    def note(self, problem: str) -> None:
        """Remember what should not have happened."""
        self.problems.append(problem)

    def _leaves(self, url: str) -> None:
        if not url.startswith((f"{self.studio.origin}/", "data:", "blob:")):
            self.note(f"a request left the machine: {url}")

    def enter(self, workspace: str, view: str) -> None:
        """Open the page, or one view of a workspace."""
        if workspace:
            self.page.context.request.get(self.studio.address)  # the cookie, without loading the page twice
            self.page.goto(f"{self.studio.origin}/#workspace={workspace}&view={view}")
        else:
            self.page.goto(self.studio.address)
        self.page.get_by_role("heading", level=2).first.wait_for()

    def press(self, name: str) -> None:
        """Press the button of that name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def suspect(self) -> None:
        """Suspect the place or value that is chosen, unless it is suspected already."""
        add = self.page.get_by_role("button", name="Add", exact=True)
        if add.is_enabled():
            add.click()

    def turn(self, name: str) -> None:
        """Turn to the step of that name."""
        self.page.get_by_role("navigation").get_by_role("button", name=name, exact=True).click()

    def act(self, name: str) -> None:
        """Open the action of that name below the picture."""
        self.page.get_by_role("group", name="Try this level").get_by_role("button", name=name, exact=True).click()

    @property
    def slider(self) -> Locator:
        """The slider of levels."""
        return self.page.get_by_role("slider", name="How private")

    def headline(self) -> str:
        """Return the headline: the guarantee of what is shown."""
        return self.page.locator(".panel h2").first.inner_text().replace("\xa0", " ")

    def reach(self, name: str) -> None:
        """Move on with Tab until what has that name, a pattern, is in focus."""
        until = time.monotonic() + PATIENCE_S  # a button may be at work, and cannot be reached until it is done
        while time.monotonic() < until:
            self.page.keyboard.press("Tab")
            if re.fullmatch(name, self.page.evaluate(_FOCUSED).strip(), flags=re.DOTALL):
                return
        found = self.page.locator("button:disabled").all_inner_texts()
        raise AssertionError(f"{name} cannot be reached by the keyboard; at work are {found}")

    def strike(self, name: str) -> None:
        """Reach a button with Tab and press Enter."""
        self.reach(name)
        self.page.keyboard.press("Enter")

    def expect_answer(self, method: str, path: str) -> AbstractContextManager[Any]:
        """Wait at the end of a block for the answer to a request whose address ends so, a pattern."""
        address = re.compile(rf"{path}(\?.*)?$")
        return self.page.expect_response(lambda it: it.request.method == method and bool(address.search(it.url)))

    def wait_until_drawn(self) -> None:
        """Wait until the page has drawn what it knows."""
        self.page.evaluate(DRAWN)

    def read(self, text: str | re.Pattern[str], *, timeout: float = LONGEST) -> Locator:
        """Return the first element with a text, once it is seen."""
        found = self.page.get_by_text(text).first
        found.wait_for(timeout=timeout)
        return found

    def meets_no_barrier(self) -> None:
        """Fail on what axe finds against the page as it is now."""
        found = Axe().run(self.page)
        assert found.violations_count == 0, found.generate_report()
