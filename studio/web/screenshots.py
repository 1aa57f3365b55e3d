"""Take pictures of every step of the studio: at a desktop's and a phone's width, light and dark, of each example.

Run it as ``uv run python studio/web/screenshots.py FOLDER``; it needs Chromium. ``--places FILE`` adds a file of
check-ins, drawn on ``--outline FILE``. ``--docs`` takes only the pictures of the documentation, from the built-in
city: ``uv run python studio/web/screenshots.py --docs docs/images``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Literal

from harness import Studio, studio_and_browser
from PIL import Image
from playwright.sync_api import Browser, Page

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SCREENS = ("data", "choose", "report", "walk", "attack", "compare", "take")
"""The steps, and the actions of the second step."""
EXAMPLES: dict[str, dict[str, object]] = {
    "city": {"kind": "places", "detail": 60},
    "ages": {"kind": "values"},
    "categories": {"kind": "values"},
}
DOCS: tuple[tuple[str, str, str, Literal["light", "dark"]], ...] = (
    ("studio.png", "choose", "desktop", "light"),
    ("studio-walk.png", "walk", "desktop", "dark"),
    ("studio-phone.png", "report", "phone", "light"),
)
UNFOLD = "scrollTo(0, 0); document.querySelectorAll('details').forEach(one => { one.open = true; })"


def main() -> int:
    """Start a separate studio, prepare it, and take its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--places", type=Path, help="a file of check-ins")
    parser.add_argument("--outline", type=Path, help="GeoJSON to draw them on")
    parser.add_argument("--only", help="one of city, ages, categories and places")
    parser.add_argument("--docs", action="store_true", help="only those of the documentation")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with studio_and_browser() as (browser, studio):
        (take_docs if options.docs else take_all)(browser, studio, options)
    return 0


def take_all(browser: Browser, studio: Studio, options: argparse.Namespace) -> None:
    """Take each screen in each width and light twice: the window, and the whole page with its folds open."""
    for name in [*EXAMPLES, *(["places"] if options.places else [])]:
        if options.only not in (None, name):
            continue
        workspace = prepare(studio, name, options)
        for size, (width, height) in SIZES.items():
            schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
            for scheme in schemes:
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(studio.address)
                page.get_by_role("heading", level=2).first.wait_for()
                page.screenshot(path=options.folder / f"start-{size}-{scheme}.png")
                for screen in SCREENS:
                    show(page, studio, workspace, screen, name)
                    page.screenshot(path=options.folder / f"{name}-{screen}-{size}-{scheme}.png")
                    page.evaluate(UNFOLD)
                    time.sleep(1.5)  # what is unfolded is fetched
                    page.screenshot(
                        path=options.folder / f"{name}-{screen}-{size}-{scheme}-whole.png", full_page=True
                    )
                page.close()


def take_docs(browser: Browser, studio: Studio, options: argparse.Namespace) -> None:
    """Take the pictures that the documentation shows, each below 200 kB."""
    workspace = prepare(studio, "city", options)
    for picture, screen, size, scheme in DOCS:
        width, height = SIZES[size]
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(studio.address)
        show(page, studio, workspace, screen, "city")
        page.evaluate("scrollTo(0, 0)")
        time.sleep(0.4)
        path = options.folder / picture
        page.screenshot(path=path)
        page.close()
        Image.open(path).convert("RGB").save(path, optimize=True)


def show(page: Page, studio: Studio, workspace: str, screen: str, name: str) -> None:
    """Open a screen and wait for its answer; a comparison of real places would take minutes."""
    places = name in ("city", "places")
    view = screen if screen in ("data", "take") else "choose"
    page.goto(f"{studio.origin}/#workspace={workspace}&view={view}")
    page.reload()
    page.locator(".panel h2").wait_for()
    if view != "take":
        page.locator(".maplibregl-canvas" if places else ".bars svg").wait_for()
    action = page.locator(".action")
    if screen == "report":
        open_action(page, 1)
        action.get_by_text("What the first report reveals").wait_for()
    elif screen == "walk":
        open_action(page, 2)
        for place in (14, 23, 32) if places and not action.locator("li").count() else ():
            page.get_by_label("Next stop").select_option(index=place)
            page.get_by_role("button", name="Add this stop").click()
        action.get_by_role("button", name="Start the walk" if places else "Answer", exact=True).click()
        action.get_by_text("After report").first.wait_for()
    elif screen == "attack":
        open_action(page, 3)
        if page.get_by_role("button", name="Add", exact=True).is_enabled():
            page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("button", name="Attack with this").click()
        action.locator("table").wait_for()
    elif screen == "compare" and name != "places":
        open_action(page, 4)
        if not action.locator("table").count():
            action.get_by_role("button", name="Compare", exact=True).click()
        action.locator("table").wait_for(timeout=240_000)
    time.sleep(1.5)  # charts and the map draw themselves


def open_action(page: Page, index: int) -> None:
    """Press one of the actions below the picture."""
    page.get_by_role("group", name="Try this level").get_by_role("button").nth(index).click()


def prepare(studio: Studio, name: str, options: argparse.Namespace) -> str:
    """Return a workspace in which every level of an example, or of the file, is optimized."""
    workspace = str(studio.ask("POST", "/workspaces")["id"])
    here = f"/workspaces/{workspace}"
    if name == "places":
        studio.ask("PUT", f"{here}/file?name={options.places.name}", options.places.read_bytes())
        if options.outline:
            studio.ask("PUT", f"{here}/outline", options.outline.read_bytes())
    else:
        studio.ask("POST", f"{here}/example", {"example": name})
    studio.ask("PUT", f"{here}/site", EXAMPLES.get(name, EXAMPLES["city"]))
    studio.wait(here, studio.ask("POST", f"{here}/optimize", {})["id"])
    return workspace


if __name__ == "__main__":
    sys.exit(main())
