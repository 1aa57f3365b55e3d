"""The speed of the studio in Chromium: to the first proved level, and from a move of the slider to its answer.

Run it as ``uv run python studio/web/speed.py``: the built-in city is opened at the usual number of places, then
the slider is moved 60 times. Times end two frames after the headline has changed, and two frames after the
sentence about the chosen place and the map have. The limits are 2 s and 200 ms.
"""

from __future__ import annotations

import statistics
import sys
import time

from harness import Studio, studio_and_browser
from playwright.sync_api import Browser, Page

MOVES = 60
HEADLINE, ANSWER = ".panel h2", ".action"
MOVE = """selectors => {
    const slider = document.querySelector("input[type=range]"), began = performance.now();
    const times = selectors.map(selector => new Promise(done => {
        setTimeout(() => done(Infinity), 10000);
        new MutationObserver((_, watch) => {
            watch.disconnect();
            requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
        }).observe(document.querySelector(selector), { childList: true, subtree: true, characterData: true });
    }));
    slider.value = (Number(slider.value) + 5) % (Number(slider.max) + 1);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    return Promise.all(times);
}"""


def main() -> int:
    """Start a separate studio, open the city, move the slider, and print the times."""
    with studio_and_browser() as (browser, studio):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        first = seconds_to_first_level(page, studio)
        headlines, answers = milliseconds_of_moves(browser, studio)
    sys.stdout.write(f"First proved level of the example: {first:.2f} s after the click\n")
    for name, times in (("headline", headlines), ("sentence and map", answers)):
        sys.stdout.write(
            f"{MOVES} moves of the slider, {name}: {statistics.median(times):.0f} ms in the middle, "
            f"{sorted(times)[int(0.95 * MOVES)]:.0f} ms at 95 %, {max(times):.0f} ms at most\n"
        )
    return 0 if first < 2 and max(map(statistics.median, (headlines, answers))) < 200 else 1


def seconds_to_first_level(page: Page, studio: Studio) -> float:
    """Return the time from a click on the example to its first proved level and its map."""
    page.goto(studio.address)
    example = page.locator("button.card").first
    example.wait_for()
    began = time.perf_counter()
    example.click()
    page.locator(".measures").wait_for()
    page.locator(".maplibregl-canvas").wait_for()
    return time.perf_counter() - began


def milliseconds_of_moves(browser: Browser, studio: Studio) -> tuple[list[float], list[float]]:
    """Return the times of each move of the slider, to its headline and to its answer for the chosen place."""
    workspace = studio.ask("POST", "/workspaces")["id"]
    here = f"/workspaces/{workspace}"
    studio.ask("POST", f"{here}/example", {"example": "city"})
    studio.ask("PUT", f"{here}/site", {"kind": "places"})
    while len(studio.ask("GET", f"{here}/levels")["levels"]) < 12:
        time.sleep(0.5)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(studio.address)
    page.goto(f"{studio.origin}/#workspace={workspace}&view=choose")
    page.reload()
    page.locator(".measures").wait_for()
    page.locator(".maplibregl-canvas").wait_for()
    time.sleep(3)  # the map draws its first picture
    times = [page.evaluate(MOVE, [HEADLINE, ANSWER]) for _ in range(MOVES)]
    return [headline for headline, _ in times], [answer for _, answer in times]


if __name__ == "__main__":
    sys.exit(main())
