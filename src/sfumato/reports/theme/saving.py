"""Figures as files: PNG, SVG with real text, or PDF; the same figure is the same file, byte for byte."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final

from ..._system import atomically
from ...errors import InputError
from .palette import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NO_DATE: Final[dict[str, dict[str, Any]]] = {
    ".png": {"Software": "sfumato"},
    ".svg": {"Creator": "sfumato", "Date": None},
    ".pdf": {"Creator": "sfumato", "Producer": "sfumato", "CreationDate": None},
}
# matplotlib keeps settings of its files in one table of the whole process.
_LOCK: Final = Lock()
_SETTINGS: Final[Any] = {"svg.fonttype": "none", "svg.hashsalt": "sfumato", "pdf.fonttype": 42}


def save_picture(figure: Figure, path: str | os.PathLike[str], theme: Theme = LIGHT) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of its name; whole or not at all.

    The same figure makes the same bytes with the same version of matplotlib: no file holds a date.
    Text in SVG and PDF stays text, which can be searched and read aloud.

    Args:
        figure: A figure of this package.
        path: The file, which ends in .png, .svg or .pdf.
        theme: `LIGHT` or `DARK`.

    Raises:
        InputError: If the name has another ending.
        FileError: If the file cannot be written.
    """
    suffix = check_suffix(path)
    with atomically(path) as temporary, temporary.open("wb") as file:
        written(figure, file, suffix, theme)


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the ending of a picture's name, in small letters.

    Raises:
        InputError: If no picture is written with such an ending.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _NO_DATE:
        raise InputError(
            f"the picture {os.fspath(path)!r} does not end in .png, .svg or .pdf.",
            f"write it as {Path(path).stem}.png.",
        )
    return suffix


def written(figure: Figure, file: IO[bytes], suffix: str, theme: Theme = LIGHT) -> None:
    """Write a figure to an open file in the format of a suffix."""
    from ._themed import exchanged

    with _settings():
        back = exchanged(figure, theme)
        try:
            figure.savefig(file, format=suffix[1:], metadata=_NO_DATE[suffix])
        finally:
            back()


@contextmanager
def _settings() -> Iterator[None]:
    from matplotlib import rc_context

    with _LOCK, rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Creating legend with loc")  # on a busy machine it takes a while
        yield
