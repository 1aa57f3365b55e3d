"""The page of a comparison: what mechanisms lose side by side, and what is proved of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..errors import InputError, MissingExtraError
from ..reports.document import Page, PageFigure, PageSection
from ..reports.theme import as_svg
from .comparison_rows import Comparison, row_tables, row_words
from .figure import comparison_figure
from .place_rows import PlaceComparison
from .place_words import place_tables, place_words
from .places_figure import places_figure
from .shared_time import NOT_REACHED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOSS: Final = "The loss is how far a report is from the truth, on average."
_ERROR: Final = (
    "The attacker's error is how far the best guess is off, from one report, on average: more is more private."
)
_ABOVE: Final = "Above the bound: by what share the loss exceeds what no mechanism with that promise goes below."
_APART: Final = (
    "The last column is for two people a metre apart: how many times likelier a report may be from one of them "
    "than from the other."
)
_EPSILON: Final = (
    "Epsilon says how much a report can tell: the smaller it is, the more private. Where there is none, nothing "
    "is promised."
)
_ALL_DRAWN: Final = (
    "The same, drawn: loss, the attacker's error, how often they find the truth, and what a report tells."
)
_LOSSES_DRAWN: Final = "The losses, drawn as they were proved and as the table has them: at most so much."


def comparison_page(found: Comparison | PlaceComparison, source: str) -> Page:
    """Return the page of a comparison.

    Args:
        found: The comparison.
        source: The visits, or the prior, in words.
    """
    columns: tuple[str, ...] = (_LOSS, _ERROR, _EPSILON)
    if isinstance(found, PlaceComparison):
        tables, said = place_tables(found, source), place_words(found)
        columns = (*columns, *((_ABOVE,) if found.equal == "epsilon" else ()), _APART)
    else:
        tables, said = row_tables(found, source), row_words(found)
    title = f"Mechanisms at equal {found.equal}"
    unfinished: tuple[str, ...] = ()
    if not found.complete:
        why = "there was not time for everything" if found.timed_out else "a mechanism could not be made"
        unfinished = (f"NOT FINISHED: {why}.",)
    return Page(
        title,
        (*unfinished, f"Mechanisms are compared on {source}."),
        (
            PageSection("Side by side", columns, tables=tables, figures=_figures(found, title)),
            PageSection("In words", said),
        ),
        warning=bool(unfinished),
    )


def _figures(found: Comparison | PlaceComparison, title: str) -> tuple[PageFigure, ...]:
    caption = _ALL_DRAWN if len(found.values) == 1 else _LOSSES_DRAWN
    if isinstance(found, PlaceComparison):
        caption = _LOSSES_DRAWN
        if any(row.problem == NOT_REACHED for row in found.rows):
            caption += " Mechanisms that were not reached in the time are left out."
    try:
        broad, narrow = (_drawn(found, narrow=narrow) for narrow in (False, True))
    except (MissingExtraError, InputError):  # InputError: no mechanism exists, so there is nothing to draw
        return ()
    svg, below = (as_svg(drawn, title=title, description=caption) for drawn in (broad, narrow))
    return (PageFigure(svg, caption, narrow=below),)


def _drawn(found: Comparison | PlaceComparison, *, narrow: bool) -> Figure:
    if isinstance(found, PlaceComparison):
        return places_figure(found, narrow=narrow)
    return comparison_figure(found, narrow=narrow)
