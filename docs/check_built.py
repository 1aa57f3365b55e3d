"""Check the documentation that was built: no page is too large, and each public name is described once.

Run it after Sphinx: ``python docs/check_built.py build/docs``.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

LARGEST: Final = 300_000
"""The most bytes of a page, which a phone on a slow network still opens."""

_MODULE: Final = re.compile(r'id="module-(sfumato[\w.]*)"')
_DESCRIBED: Final = re.compile(r'<dt class="sig[^"]*" id="(sfumato[\w.]*)"')


def too_large(built: Path) -> list[str]:
    """Return a complaint for each page that is too large."""
    sizes = {page.relative_to(built): page.stat().st_size for page in sorted(built.rglob("*.html"))}
    return [
        f"{page} has {size:,} bytes, of at most {LARGEST:,}: divide it."
        for page, size in sizes.items()
        if size > LARGEST
    ]


def described(built: Path) -> tuple[list[str], Counter[str]]:
    """Return the rooms that the reference has, and how often it describes each class and function."""
    rooms, found = [], Counter[str]()
    for page in sorted((built / "reference").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        rooms += _MODULE.findall(text)
        found.update(name for each in _DESCRIBED.findall(text) if (name := _name(_resolved(each))))
    return rooms, found


def wrongly_described(rooms: list[str], found: Counter[str]) -> list[str]:
    """Return a complaint for each public class or function that is not described exactly once."""
    named = {
        name: f"{room}.{public}"
        for room in ("sfumato", *rooms)
        for public in getattr(importlib.import_module(room), "__all__", ())
        if (name := _name(getattr(importlib.import_module(room), public)))
    }
    missing = [
        f"{public} is described nowhere in docs/reference/." for name, public in named.items() if not found[name]
    ]
    return [*missing, *(f"{name} is described {times} times." for name, times in found.items() if times > 1)]


def _resolved(dotted: str) -> Any:
    """Return the object of a dotted name; None for an attribute that only objects of a class have."""
    root, *parts = dotted.split(".")
    value: Any = importlib.import_module(root)
    for part in parts:
        if inspect.ismodule(value) and not hasattr(value, part):
            importlib.import_module(f"{value.__name__}.{part}")
        value = getattr(value, part, None)
    return value


def _name(thing: Any) -> str:
    """Return the full name of a class or function of the package, and nothing for members and other values."""
    own = (
        inspect.isclass(thing) or (callable(thing) and hasattr(thing, "__wrapped__")) or inspect.isfunction(thing)
    )
    if not own or "." in thing.__qualname__ or not thing.__module__.startswith("sfumato"):
        return ""
    return f"{thing.__module__}.{thing.__qualname__}"


def main() -> None:
    """Print what is wrong, and exit with 1 if anything is."""
    built = Path(sys.argv[1])
    rooms, found = described(built)
    wrong = [*too_large(built), *wrongly_described(rooms, found)]
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    if wrong or not found:
        sys.exit(1)
    sys.stdout.write(f"{len(found)} classes and functions of {len(rooms)} rooms are described once each.\n")


if __name__ == "__main__":
    main()
