"""Small tables for notebooks, as HTML: words, and bars where there are shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Final

import numpy as np

from ..escaping import html
from .arrays import Floats

# Figures are on a floor above: they are known by name, and loaded when a notebook shows something.
_FIGURES: Final = "sfumato.report.document.notebook"
_LONGEST: Final = 60  # characters of a cell of text from outside
_BARS: Final = 60
_WIDTH, _HEIGHT = 300, 48  # of the bars


def notebook_figures(shown: object) -> str:
    """Return the figures of an object as HTML; "" where there are none, or matplotlib is not installed."""
    return str(import_module(_FIGURES).figures_of(shown))


def notebook_table(
    title: str, rows: Iterable[Sequence[str]], note: str = "", shares: Floats | None = None, figures: str = ""
) -> str:
    """Return a table of words for a notebook: the first cell of a row is its heading.

    Args:
        title: Its caption.
        rows: The rows; every text is escaped.
        note: A sentence below.
        shares: Shares to draw as bars below, array (n,); neighbours are added up where there are more than 60.
        figures: Figures below, as HTML; shares are then not drawn.
    """
    lines = []
    for heading, *cells in rows:
        inner = "".join(f'<td style="text-align:left">{html(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th scope="row" style="text-align:left">{html(heading)}</th>{inner}</tr>')
    caption = f'<caption style="text-align:left"><strong>{html(title)}</strong></caption>'
    drawn = figures or ("" if shares is None else _bars(shares))
    below = f"<p>{html(note)}</p>" if note else ""
    return f"<div><table>{caption}<tbody>{''.join(lines)}</tbody></table>{drawn}{below}</div>"


def cut(text: object) -> str:
    """Return a text from outside, shortened to a line of sixty characters."""
    found = str(text)
    return found if len(found) <= _LONGEST else f"{found[: _LONGEST - 1]}…"


def _bars(shares: Floats) -> str:
    """Return shares as bars, in their order; the highest fills the height."""
    parts = np.array_split(shares, min(_BARS, len(shares)))
    heights = np.array([part.sum() for part in parts])
    tallest = float(heights.max()) or 1.0
    wide = _WIDTH / len(heights)
    bars = "".join(
        f'<rect x="{at * wide:.2f}" y="{_HEIGHT * (1 - height / tallest):.2f}" width="{0.85 * wide:.2f}" '
        f'height="{_HEIGHT * height / tallest:.2f}"/>'
        for at, height in enumerate(heights.tolist())
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="The shares as bars, in the order of the values" fill="currentColor">{bars}</svg>'
    )
