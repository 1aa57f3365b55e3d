"""Figures of matplotlib, made and saved; it is an extra, and loaded only when something is drawn."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.atomic import atomically
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


def save_picture(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, whole or not at all.

    Raises:
        FileError: If the file cannot be written.
    """
    with atomically(path) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": "sfumato"})
