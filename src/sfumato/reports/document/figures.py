"""Figures of a report: maps, the design among others, and the atlas of notions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from ...errors import MissingExtraError
from ...escaping import figure as outside
from ...escaping import plain, shorten
from ...files import MechanismFile
from ...geo import Places, Visits
from ...privacy import ATLAS, VOCABULARY, beliefs, curves, distributions, point
from ..facts import NotionFacts, ReportFacts
from ..maps import Outline
from ..picture import on_cells, panels
from ..theme import LIGHT, as_svg, blank
from ..values import MOST_VALUES, values_panels
from .page import PageFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAP_MOST: Final = 2_000  # the most cells that maps are drawn of: three maps of them take about a megabyte
_PANELS: Final = ("prior", "reports", "belief")
_WIDTH, _HEIGHT, _GAP = 216, 38, 10  # of a box, and between boxes
_BLUE, _GRID = "var(--series-1, #0072b2)", "var(--grid, #dedede)"
_INK, _MUTED = "var(--ink, #1a1a1a)", "var(--muted, #595959)"
_GUTTER: Final = 96  # between columns, where the arrows run
_TOP: Final = 40
_SMALL: Final = 11
_LINE_LENGTH: Final = 31  # characters of a line in a box
_COLUMNS: Final = (
    ("Two secrets", tuple(kind.description.key for kind in (*point.NOTION_CLASSES, *curves.NOTION_CLASSES))),
    ("An attacker's belief", tuple(kind.description.key for kind in beliefs.NOTION_CLASSES)),
    (
        "Distributions, and errors",
        (*(kind.description.key for kind in distributions.NOTION_CLASSES), "distortion"),
    ),
)


def map_figures(
    file: MechanismFile, outline: Outline | None = None, visits: Visits | None = None
) -> tuple[PageFigure, ...]:
    """Return maps, or bars of values, of the prior, the reports from one place and an attacker's belief."""
    kind = "Maps"
    caption = (
        "The prior (how likely each place is), the reports from the marked true place, and the belief after one "
        "report of an attacker who knows the prior. The smooth lines hold at least 50 % and 90 %."
    )
    if not file.has_matrix:
        caption += " The noise is shown on the cells of the file's prior."
    try:
        figures = _maps(file, outline, visits)
        if file.has_matrix and file.prior is not None and not isinstance(file.report_channel.secrets, Places):
            kind = "Bars"
            caption = (
                "The prior (how common each value is), the reports from one value, and the belief after one "
                "report of an attacker who knows the prior. Filled bars hold 50 %, with the paler ones 90 %."
            )
            few = max(file.report_channel.shape) <= MOST_VALUES
            figures = values_panels(file.report_channel, file.prior) if few else ()
    except MissingExtraError:
        return ()
    return (side_by_side(figures, [f"{kind} of the {name}" for name in _PANELS], caption),) if figures else ()


def side_by_side(figures: Sequence[Figure], titles: Sequence[str], caption: str) -> PageFigure:
    """Return figures side by side, one below the other where there is no room."""
    svgs = (
        as_svg(figure, title=title, description=caption) for figure, title in zip(figures, titles, strict=True)
    )
    parts = "".join(f'<div style="flex: 1 1 16rem; max-width: 30rem; min-width: 0">{svg}</div>' for svg in svgs)
    return PageFigure(f'<div style="display: flex; flex-wrap: wrap; gap: .5rem">{parts}</div>', caption)


def frontier_figures(facts: ReportFacts) -> tuple[PageFigure, ...]:
    """Return the loss of designs against their epsilon, with this one marked; none where there are no others."""
    designs = [design for design in facts.frontier if design.loss.upper is not None]
    if len(designs) < 2:
        return ()
    try:
        figure = blank(4.8, 3.4)
    except MissingExtraError:
        return ()
    ax = figure.subplots()
    epsilons, losses = (
        [design.epsilon.value for design in designs],
        [design.loss.upper or 0.0 for design in designs],
    )
    ax.plot(epsilons, losses, color=LIGHT.series[0], linewidth=1, alpha=0.5)
    known = [design for design in designs if design.loss.lower is not None]
    if known:
        at, least = [design.epsilon.value for design in known], [design.loss.lower or 0.0 for design in known]
        most = [design.loss.upper or 0.0 for design in known]
        ax.vlines(at, least, most, color=LIGHT.ink, linewidth=1.5)
        ax.plot(at, least, "_", color=LIGHT.ink, markersize=14, markeredgewidth=1.5, label="none goes below")
    for main, marker, size, label in (
        (False, "o", 5, "a design loses at most"),
        (True, "D", 8, "this design loses at most"),
    ):
        points = [(design.epsilon.value, design.loss.upper or 0.0) for design in designs if design.this is main]
        if points:
            ax.plot(*zip(*points, strict=True), marker, color=LIGHT.series[main], markersize=size, label=label)
    ax.legend(frameon=False, fontsize=9)
    rate, unit = designs[0].epsilon.unit.replace("/", "per "), designs[0].loss.unit
    ax.set_xlabel(outside(f"epsilon ({rate})" if rate else "epsilon"))
    mean = "loss for the worst" if designs[0].objective == "worst-case" else "loss on average"
    ax.set_ylabel(outside(f"{mean} ({unit})" if unit else mean))
    ax.set(ylim=(0, 1.15 * max(losses) or 1.0), xlim=(0, None))
    ax.grid(alpha=0.3)
    caption = "What privacy costs: to the left epsilon is smaller, and a report reveals less."
    if known:
        caption += " The least loss of such designs lies on the upright line."
    svg = as_svg(figure, title="The design among others", description=caption)
    return (PageFigure(f'<div style="max-width: 34rem">{svg}</div>', caption),)


def _maps(file: MechanismFile, outline: Outline | None, visits: Visits | None) -> tuple[Figure, ...]:
    if file.prior is None:
        return ()
    if not file.has_matrix:
        return panels(*on_cells(file), outline=outline, visits=visits)
    mechanism, places = file.report_channel, file.report_channel.secrets
    if not isinstance(places, Places) or len(places) > MAP_MOST or mechanism.observables.coordinates is None:
        return ()
    return panels(mechanism, file.prior, places.metric("euclidean", unit="km"), outline=outline, visits=visits)


def atlas_figure(notions: Iterable[NotionFacts]) -> PageFigure:
    """Return the atlas with the number of each notion, the first where there are several."""
    values: dict[str, str] = {}
    for notion in notions:
        if notion.key in VOCABULARY and (notion.number.upper is None or math.isfinite(notion.number.upper)):
            values.setdefault(notion.key, f"{notion.parameter} {notion.shown}")
    caption = (
        f"The atlas: {len(values)} of {len(VOCABULARY)} notions of privacy have a finite value here (filled). A "
        "line joins two notions where a guarantee of one implies a guarantee of the other."
    )
    abreast = [(at * (_WIDTH + _GUTTER), 0.0) for at in range(len(_COLUMNS))]
    below, y = [], 0.0
    for _, keys in _COLUMNS:
        below.append((0.0, y))
        y += _TOP + len(dict.fromkeys(keys)) * (_HEIGHT + _GAP)
    broad, narrow = _drawing(values, caption, "atlas", abreast), _drawing(values, caption, "narrow-atlas", below)
    return PageFigure(broad, caption, narrow=narrow)


def _drawing(values: Mapping[str, str], caption: str, name: str, corners: Sequence[tuple[float, float]]) -> str:
    boxes = {
        key: (x + _GUTTER / 2, y + _TOP + row * (_HEIGHT + _GAP))
        for (_, keys), (x, y) in zip(_COLUMNS, corners, strict=True)
        for row, key in enumerate(dict.fromkeys(keys))
    }
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
        look = f'font-weight="600" font-size="14" fill="{_INK}"'
        parts.append(f'<text x="{x + _GUTTER / 2:g}" y="{y + 22:g}" {look}>{escape(title)}</text>')
    parts += [_box(key, x, y, values.get(key)) for key, (x, y) in boxes.items()]
    return "".join((*parts, "</svg>"))


def _lines(boxes: Mapping[str, tuple[float, float]], values: Mapping[str, str]) -> list[str]:
    """Return a curve for each two notions of which one implies the other."""
    pairs = {tuple(sorted((edge.start, edge.end))) for edge in ATLAS if edge.start != edge.end}
    curves = []
    for start, end in sorted(pairs):
        (x, y), (u, v) = boxes[start], boxes[end]
        a, b = y + _HEIGHT / 2, v + _HEIGHT / 2
        if x == u:  # in one column: an arc on its left
            out = min(_GUTTER / 2 - 4, 10 + 0.08 * abs(b - a)) * 4 / 3
            path = f"M{x:g} {a:g}C{x - out:g} {a:g} {x - out:g} {b:g} {x:g} {b:g}"
        else:
            (x, a), (u, b) = sorted(((x, a), (u, b)))
            x, bend = x + _WIDTH, _GUTTER / 2  # over a column the line runs behind its boxes
            path = f"M{x:g} {a:g}C{x + bend:g} {a:g} {u - bend:g} {b:g} {u:g} {b:g}"
        colour, width = (_BLUE, 1.3) if start in values and end in values else (_GRID, 1)
        curves.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
    return curves


def _box(key: str, x: float, y: float, value: str | None) -> str:
    stroke, ink, height, below = f'"{_GRID}" stroke-width="1" stroke-dasharray="4 3"', _MUTED, 23, ""
    if value is not None:
        stroke, ink, height, text = f'"{_BLUE}" stroke-width="1.8"', _INK, 16, shorten(plain(value), _LINE_LENGTH)
        below = f'<text x="{x + 9:g}" y="{y + 31:g}" font-size="{_SMALL}" fill="{_BLUE}">{escape(text)}</text>'
    title = escape(shorten(VOCABULARY[key].heading, _LINE_LENGTH))
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="var(--paper, #ffffff)" '
        f'stroke={stroke}/><text x="{x + 9:g}" y="{y + height:g}" fill="{ink}">{title}</text>{below}'
    )
