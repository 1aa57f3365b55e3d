"""The time from a move of the studio's slider to its answer on the screen, in Chromium, at about 300 places.

Run it as ``uv run python studio/web/slider.py``: the built-in city gets two levels (a minute or two), then the
slider is moved 60 times. Each time ends two frames after the words have changed, when the map is drawn, too.
"""

from __future__ import annotations

import statistics
import sys
import time

from playwright.sync_api import Browser
from running import Studio, looked_at

MOVES = 60
MOVE = """step => new Promise(done => {
    const slider = document.querySelector("input[type=range]"), note = document.querySelector(".note");
    const began = performance.now();
    new MutationObserver((_, watch) => {
        watch.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
    }).observe(note, { childList: true, subtree: true, characterData: true });
    slider.value = step;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def main() -> int:
    """Start a studio of its own, move its slider, and print the times."""
    with looked_at() as (browser, studio):
        places, took = measured(browser, studio)
    sys.stdout.write(
        f"{places} places, {MOVES} moves: on the screen after {statistics.median(took):.0f} ms in the middle, "
        f"{sorted(took)[int(0.95 * MOVES)]:.0f} ms at 95 %, {max(took):.0f} ms at most\n"
    )
    return 0


def measured(browser: Browser, studio: Studio) -> tuple[str, list[float]]:
    """Return the number of places, and the milliseconds of each move."""
    workspace = studio.ask("POST", "/workspaces")["id"]
    here = f"/workspaces/{workspace}"
    studio.ask("POST", f"{here}/example", {"example": "city"})
    studio.ask("PUT", f"{here}/site", {"kind": "places", "detail": 300})
    job = studio.ask("POST", f"{here}/frontier", {})["id"]
    while int(studio.ask("GET", f"{here}/frontier")["ready"]) < 2:
        time.sleep(0.5)
    studio.ask("POST", f"{here}/jobs/{job}/cancel")
    studio.wait(here, job)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(studio.address)
    page.goto(f"{studio.origin}/#w={workspace}&v=private")
    page.reload()
    page.locator(".note").wait_for()
    page.locator(".maplibregl-canvas").wait_for()
    time.sleep(3)  # the map draws its first picture
    took = [float(page.evaluate(MOVE, 20 + 2 * (move % 80))) for move in range(MOVES)]
    places = page.evaluate("document.querySelectorAll('select')[0].options.length")
    return str(places), took


if __name__ == "__main__":
    sys.exit(main())
