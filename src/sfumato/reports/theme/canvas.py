"""Figures of matplotlib; it is an extra, and loaded only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def blank(width: float, height: float) -> Figure:
    """Return an empty figure whose parts make room for each other, and whose axes have the look of the package.

    It belongs to no window and no global state of matplotlib. Its colours are those of `LIGHT`;
    `save_picture` turns them into those of another theme.

    Args:
        width: Inches.
        height: Inches.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("A figure", "report") from None
    from ._themed import Themed

    return Themed(figsize=(width, height), layout="constrained", dpi=150)
