"""New figures of matplotlib, which is an extra and loaded only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def blank(width: float, height: float) -> Figure:
    """Return an empty figure whose parts make room for each other.

    It belongs to no window and no global state of matplotlib.

    Args:
        width: Inches.
        height: Inches.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("A figure", "report") from None
    return Figure(figsize=(width, height), layout="constrained", dpi=150)
