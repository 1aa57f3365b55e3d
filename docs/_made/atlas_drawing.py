"""The atlas as a drawing in which every notion leads to its entry."""

from __future__ import annotations

import textwrap
from html import escape
from typing import Final

from sfumato.privacy import ATLAS, VOCABULARY, beliefs, curves, distributions, point

from .notion_entries import place

_WIDTH: Final = 206  # of a box
_HEIGHT: Final = 40
_STEP: Final = 50  # from a box to the one below
_LONGEST: Final = 29  # characters of a line in a box
_GUTTER: Final = 100  # between columns, where the arrows run
_TOP: Final = 44
_COLUMNS: Final = (
    ("Two secrets", (*point.NOTION_CLASSES, *curves.NOTION_CLASSES)),
    ("An attacker's belief", beliefs.NOTION_CLASSES),
    ("Distributions, and errors", distributions.NOTION_CLASSES),
)


def atlas_drawing() -> str:
    """Return the drawing as a part of a page in Markdown."""
    boxes = _boxes()
    pairs = sorted({(edge.start, edge.end) for edge in ATLAS if edge.start != edge.end})
    height = max(y for _, y in boxes.values()) + _STEP
    width = len(_COLUMNS) * (_WIDTH + _GUTTER)
    lines = [
        "```{raw} html",
        '<div class="atlas" tabindex="0" role="region" aria-label="Drawing of the atlas, which scrolls">',
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        'aria-labelledby="atlas-title">',
        '<title id="atlas-title">Atlas of the notions of privacy: each leads to its entry below</title>',
        '<defs><marker id="atlas-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
        '<path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>',
        f"<style>{''.join(map(_lit, boxes))}</style>",
        *(_arrow(start, end, boxes, (end, start) in pairs) for start, end in pairs if _drawn(start, end, pairs)),
    ]
    for at, (title, _) in enumerate(_COLUMNS):
        x = at * (_WIDTH + _GUTTER) + _GUTTER // 2
        lines.append(f'<text x="{x}" y="26" class="atlas-column">{escape(title)}</text>')
    lines += [_box(key, *corner) for key, corner in boxes.items()]
    return "\n".join([*lines, "</svg>", "</div>", "```", ""])


def _boxes() -> dict[str, tuple[int, int]]:
    """Return the upper left corner of the box of each notion, by its key."""
    found: dict[str, tuple[int, int]] = {}
    for at, (_, kinds) in enumerate(_COLUMNS):
        keys = dict.fromkeys(kind.description.key for kind in kinds)
        for row, key in enumerate(keys):
            found[key] = (at * (_WIDTH + _GUTTER) + _GUTTER // 2, _TOP + row * _STEP)
    row = len({kind.description.key for kind in _COLUMNS[-1][1]})
    for more, key in enumerate(key for key in VOCABULARY if key not in found):
        found[key] = ((len(_COLUMNS) - 1) * (_WIDTH + _GUTTER) + _GUTTER // 2, _TOP + (row + more) * _STEP)
    return found


def _drawn(start: str, end: str, pairs: list[tuple[str, str]]) -> bool:
    """Return whether an arrow is drawn by itself, and not as the other end of one between the same notions."""
    return (end, start) not in pairs or start < end


def _arrow(start: str, end: str, boxes: dict[str, tuple[int, int]], both: bool) -> str:
    (x, y), (u, v) = boxes[start], boxes[end]
    a, b = y + _HEIGHT // 2, v + _HEIGHT // 2
    if x == u:  # in one column: an arc on its left
        out = min(_GUTTER // 2 - 6, 12 + abs(b - a) // 14) * 4 // 3
        path = f"M{x} {a}C{x - out} {a} {x - out} {b} {x} {b}"
    elif x < u:
        path = f"M{x + _WIDTH} {a}C{x + _WIDTH + 50} {a} {u - 50} {b} {u} {b}"
    else:
        path = f"M{x} {a}C{x - 50} {a} {u + _WIDTH + 50} {b} {u + _WIDTH} {b}"
    tips = 'marker-end="url(#atlas-tip)"' + (' marker-start="url(#atlas-tip)"' if both else "")
    return f'<path d="{path}" class="from-{start} to-{end}" {tips}/>'


def _box(key: str, x: int, y: int) -> str:
    notion = VOCABULARY[key]
    words = textwrap.wrap(notion.heading, _LONGEST)
    first = y + _HEIGHT // 2 + 4 - 8 * (len(words) - 1)
    lines = (f'<tspan x="{x + 9}" y="{first + 16 * row}">{escape(line)}</tspan>' for row, line in enumerate(words))
    return (
        f'<a href="#{place(key)}" id="box-{key}"><title>{escape(notion.question)}</title>'
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5"/><text>{" ".join(lines)}</text></a>'
    )


def _lit(key: str) -> str:
    """Return the rule that shows a notion's arrows under the pointer or with the focus."""
    here = f"#box-{key}:is(:hover,:focus)"
    return f".atlas svg:has({here}) :is(.from-{key},.to-{key}){{stroke:var(--color-brand-primary);stroke-width:2}}"
