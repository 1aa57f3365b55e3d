"""Check the documentation that was built in a browser: no text is cut off, from phones to wide screens.

Run it after Sphinx: ``python docs/check_widths.py build/docs``. It needs Chromium.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS: Final = (320, 390, 740, 800, 1000, 1010, 1024, 1100, 1200, 1280, 1320, 1366, 1440, 1500, 1920)
"""Pixels: phones, tablets, laptops, and both sides of where the theme hides its lists."""

_CUT: Final = """() => {
  const root = document.documentElement, width = root.clientWidth, cut = [];
  const scrolls = part => ['auto', 'scroll'].includes(getComputedStyle(part).overflowX);
  const parts = '.content :is(p, li, h1, h2, h3, table, pre, img), .toc-drawer a';
  for (const part of document.querySelectorAll(parts)) {
    const box = part.getBoundingClientRect();
    if (!box.width || box.right <= width + 1 || box.left >= width) continue;
    let around = part.parentElement;
    while (around && !scrolls(around)) around = around.parentElement;
    if (around && around !== root && around !== document.body) continue;
    const words = part.textContent.trim().slice(0, 40);
    cut.push(`${part.tagName.toLowerCase()} up to ${Math.round(box.right)} px: ${words}`);
  }
  return cut.slice(0, 2);
}"""


def cut_off(page: Page, built: Path) -> Iterator[str]:
    """Yield a complaint for each width of each page at which something is cut off and cannot be scrolled to."""
    for path in sorted(built.rglob("*.html")):
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(path.resolve().as_uri(), wait_until="load")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            for what in page.evaluate(_CUT):
                yield f"{path.relative_to(built)} at {width} px cuts off {what}"


def main(built: Path) -> int:
    """Print what is cut off; return the exit code."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--allow-file-access-from-files"]
        )
        wrong = list(cut_off(browser.new_page(), built))
        browser.close()
    for each in wrong:
        sys.stderr.write(f"{each}\n")
    sys.stdout.write(f"{len(wrong)} parts are cut off at {len(WIDTHS)} widths.\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
