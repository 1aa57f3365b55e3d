"""Take pictures of every view of the studio: at a desktop's and a phone's width, light and dark, of each example.

Run it as ``uv run python studio/web/screenshots.py FOLDER``; it needs Chromium. ``--places FILE`` adds a file of
check-ins, drawn on ``--outline FILE``. ``--docs`` takes the pictures of the README and the documentation alone,
from the built-in city: ``uv run python studio/web/screenshots.py --docs docs/images``.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page
from running import Studio, looked_at

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
VIEWS = ("data", "private", "share", "walk", "compare", "attack", "atlas", "design")
EXAMPLES: dict[str, dict[str, object]] = {
    "city": {"kind": "places", "detail": 60},
    "ages": {"kind": "values"},
    "categories": {"kind": "values"},
}
DOCS: tuple[tuple[str, str, str, Literal["light", "dark"]], ...] = (
    ("studio.png", "private", "desktop", "light"),
    ("studio-walk.png", "walk", "desktop", "dark"),
    ("studio-phone.png", "share", "phone", "light"),
)
OPENED = "scrollTo(0, 0); document.querySelectorAll('details').forEach(one => { one.open = true; })"
PLACES: dict[str, object] = {"kind": "places", "detail": 60}
SHOW = {"share": "Share it a hundred times", "walk": "Walk", "attack": "Attack", "compare": "Compare at this loss"}


def main() -> int:
    """Start a studio of its own, prepare it, and look at it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--places", type=Path, help="a file of check-ins")
    parser.add_argument("--outline", type=Path, help="GeoJSON to draw them on")
    parser.add_argument("--only", help="one of city, ages, categories and places")
    parser.add_argument("--docs", action="store_true", help="those of the README and the docs alone")
    wish = parser.parse_args()
    wish.folder.mkdir(parents=True, exist_ok=True)
    with looked_at() as (browser, studio):
        (for_docs if wish.docs else pictures)(browser, studio, wish)
    return 0


def pictures(browser: Browser, studio: Studio, wish: argparse.Namespace) -> None:
    """Take each view in each width and light twice: the window, and the whole page with its folds open."""
    first = True
    sites = {**EXAMPLES, **({"places": PLACES} if wish.places else {})}
    for name, site in sites.items():
        if wish.only not in (None, name):
            continue
        workspace = None
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if scheme == "dark" else "light",
                )
                page = context.new_page()
                page.goto(studio.address)
                page.get_by_role("heading", level=2).first.wait_for()
                if first:
                    page.get_by_role("dialog").wait_for()
                    page.screenshot(path=wish.folder / "tour.png")
                    first = False
                if workspace is None:
                    workspace = prepared(studio, name, site, wish)
                page.screenshot(path=wish.folder / f"start-{size}-{scheme}.png")
                for view in VIEWS:
                    page.goto(f"{studio.origin}/#w={workspace}&v={view}")
                    page.reload()
                    act(page, view, name)
                    page.screenshot(path=wish.folder / f"{name}-{view}-{size}-{scheme}.png")
                    page.evaluate(OPENED)
                    time.sleep(0.4)
                    page.screenshot(path=wish.folder / f"{name}-{view}-{size}-{scheme}-whole.png", full_page=True)
                context.close()


def for_docs(browser: Browser, studio: Studio, wish: argparse.Namespace) -> None:
    """Take the pictures that the README and the documentation show, each below 200 kB."""
    workspace = prepared(studio, "city", EXAMPLES["city"], wish)
    for picture, view, size, scheme in DOCS:
        width, height = SIZES[size]
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(studio.address)
        page.goto(f"{studio.origin}/#w={workspace}&v={view}")
        page.reload()
        act(page, view, "city")
        page.evaluate("scrollTo(0, 0)")  # on a phone, the map would cover its own title
        time.sleep(0.4)
        path = wish.folder / picture
        page.screenshot(path=path)
        page.close()
        Image.open(path).convert("RGB").save(path, optimize=True)


def act(page: Page, view: str, name: str) -> None:
    """Do what the view is for, and wait for its answer; a comparison of real places would take minutes."""
    places = name in ("city", "places")
    page.locator(".maplibregl-canvas" if places else ".bars svg").wait_for()
    page.locator(".panel h2").wait_for()
    time.sleep(0.5)  # what is remembered is shown
    if view == "walk" and places:
        while page.get_by_role("button", name=re.compile("^Take stop")).count() < 3:
            place = 14 + 9 * page.get_by_role("button", name=re.compile("^Take stop")).count()
            page.get_by_label("Next stop").select_option(index=place)
            page.get_by_role("button", name="Add this stop").click()
    if view == "attack" and page.get_by_role("button", name="Add", exact=True).is_enabled():
        page.get_by_role("button", name="Add", exact=True).click()
    if view in SHOW and not (view == "compare" and (name == "places" or page.locator(".panel table").count())):
        action = "Answer" if view == "walk" and not places else SHOW[view]
        page.get_by_role("button", name=action, exact=True).click()
        if view == "compare":
            page.locator(".panel table").wait_for(timeout=240_000)
    time.sleep(1.5)  # charts and the map draw themselves


def prepared(studio: Studio, name: str, site: dict[str, object], wish: argparse.Namespace) -> str:
    """Return a workspace in which an example or the file is designed for at every level."""
    workspace = str(studio.ask("POST", "/workspaces")["id"])
    here = f"/workspaces/{workspace}"
    if name == "places":
        studio.ask("PUT", f"{here}/file?name={wish.places.name}", wish.places.read_bytes())
        if wish.outline:
            studio.ask("PUT", f"{here}/outline", wish.outline.read_bytes())
    else:
        studio.ask("POST", f"{here}/example", {"example": name})
    studio.ask("PUT", f"{here}/site", site)
    studio.wait(here, studio.ask("POST", f"{here}/frontier", {})["id"])
    return workspace


if __name__ == "__main__":
    sys.exit(main())
