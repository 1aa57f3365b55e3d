"""The atlas of notions as a drawing: those that an audit measured, with their values, and what implies what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from ...escaping import plain
from ...privacy import ATLAS, VOCABULARY, beliefs, curves, distributions, point
from .found import NotionFacts
from .page import PageFigure

_WIDTH, _HEIGHT, _GAP = 216, 38, 10  # of a box, and between boxes
_GUTTER: Final = 96  # between columns, where the arrows run
_TOP: Final = 40
_SMALL: Final = 11
_MOST: Final = 31  # characters of a line in a box
_COLUMNS: Final = (
    ("Two secrets", tuple(kind.description.key for kind in (*point.NOTIONS, *curves.NOTIONS))),
    ("Somebody's belief", tuple(kind.description.key for kind in beliefs.NOTIONS)),
    ("Distributions, and errors", (*(kind.description.key for kind in distributions.NOTIONS), "distortion")),
)


def atlas_figure(notions: Iterable[NotionFacts]) -> PageFigure:
    """Return the atlas with what was found of each notion.

    Args:
        notions: What an audit found; of several numbers of a notion the first is shown.
    """
    values: dict[str, str] = {}
    for each in notions:
        if each.key in VOCABULARY and (each.number.upper is None or math.isfinite(each.number.upper)):
            values.setdefault(each.key, f"{each.parameter} {each.shown}")
    caption = (
        f"The atlas: {len(values)} of {len(VOCABULARY)} notions of privacy have a finite value here "
        "(filled). A line "
        "joins two notions where a promise of one implies one of the other."
    )
    side_by_side = _drawing(
        values, caption, "atlas", [(at * (_WIDTH + _GUTTER), 0.0) for at in range(len(_COLUMNS))]
    )
    below, y = [], 0.0
    for _, keys in _COLUMNS:
        below.append((0.0, y))
        y += _TOP + len(dict.fromkeys(keys)) * (_HEIGHT + _GAP)
    return PageFigure(side_by_side, caption, narrow=_drawing(values, caption, "narrow-atlas", below))


def _drawing(values: Mapping[str, str], caption: str, name: str, corners: Sequence[tuple[float, float]]) -> str:
    """Return the atlas with the upper left corner of each column at a place of its own."""
    boxes = _placed(corners)
    height = max(y for _, y in boxes.values()) + _HEIGHT + _GAP
    width = max(x for x, _ in corners) + _WIDTH + _GUTTER
    parts = [
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'font-family="inherit" font-size="12.5">',
        f'<title id="{name}-title">Atlas of the notions of privacy</title>',
        f'<desc id="{name}-desc">{escape(caption)} The table below says the same.</desc>',
        *_lines(boxes, values),
    ]
    for (title, _), (x, y) in zip(_COLUMNS, corners, strict=True):
        look = 'font-weight="600" font-size="14" fill="var(--ink, #1a1a1a)"'
        parts.append(f'<text x="{x + _GUTTER / 2:g}" y="{y + 22:g}" {look}>{escape(title)}</text>')
    for key, (x, y) in boxes.items():
        parts += _box(key, x, y, values.get(key))
    return "".join((*parts, "</svg>"))


def _placed(corners: Sequence[tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the corner of each notion's box."""
    found: dict[str, tuple[float, float]] = {}
    for (_, keys), (x, y) in zip(_COLUMNS, corners, strict=True):
        for row, key in enumerate(dict.fromkeys(keys)):
            found[key] = (x + _GUTTER / 2, y + _TOP + row * (_HEIGHT + _GAP))
    return found


def _lines(boxes: Mapping[str, tuple[float, float]], values: Mapping[str, str]) -> list[str]:
    """Return a curve for each two notions of which one implies the other."""
    pairs = {tuple(sorted((edge.start, edge.end))) for edge in ATLAS if edge.start != edge.end}
    found = []
    for start, end in sorted(pairs):
        (x, y), (u, v) = boxes[start], boxes[end]
        a, b = y + _HEIGHT / 2, v + _HEIGHT / 2
        if x == u:  # in one column: an arc on its left
            out = min(_GUTTER / 2 - 4, 10 + 0.08 * abs(b - a)) * 4 / 3
            path = f"M{x:g} {a:g}C{x - out:g} {a:g} {x - out:g} {b:g} {x:g} {b:g}"
        else:
            left, right = ((x, a), (u, b)) if x < u else ((u, b), (x, a))
            from_x, to_x = left[0] + _WIDTH, right[0]
            if to_x - from_x > _GUTTER:  # over a column: the line ends behind its boxes
                to_x = right[0]
            bend = _GUTTER / 2
            path = (
                f"M{from_x:g} {left[1]:g}C{from_x + bend:g} {left[1]:g} {to_x - bend:g} {right[1]:g} "
                f"{to_x:g} {right[1]:g}"
            )
        both = start in values and end in values
        colour = "var(--series-1, #0072b2)" if both else "var(--grid, #dedede)"
        found.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{1.3 if both else 1}"/>')
    return found


def _box(key: str, x: float, y: float, value: str | None) -> list[str]:
    title = _cut(VOCABULARY[key].heading)
    stroke = "var(--series-1, #0072b2)" if value else "var(--grid, #dedede)"
    ink = "var(--ink, #1a1a1a)" if value else "var(--muted, #595959)"
    drawn = 'stroke-width="1.8"' if value else 'stroke-width="1" stroke-dasharray="4 3"'
    found = [
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="var(--paper, #ffffff)" '
        f'stroke="{stroke}" {drawn}/>'
    ]
    if value is None:
        found.append(f'<text x="{x + 9:g}" y="{y + 23:g}" fill="{ink}">{escape(title)}</text>')
        return found
    found.append(f'<text x="{x + 9:g}" y="{y + 16:g}" fill="{ink}">{escape(title)}</text>')
    shown = escape(_cut(plain(value)))
    found.append(
        f'<text x="{x + 9:g}" y="{y + 31:g}" font-size="{_SMALL}" fill="var(--series-1, #0072b2)">{shown}</text>'
    )
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
