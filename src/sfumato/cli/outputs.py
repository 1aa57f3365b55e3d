"""Outputs of a command: checked before its work begins, and figures that need matplotlib."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._system import atomically, check_writable
from ..errors import FileError, InputError, MissingExtraError
from .messages import error_lines, say, working

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..reports.theme import Theme
    from .options import ColumnOptions, PlaceOptions

_LONGEST: Final = 240  # bytes of a name: most systems take 255, and what is unfinished has a longer one


def check_ending(path: Path | None, ending: str, *, page: bool = False) -> None:
    """Check that the name of an output has the ending of its format; `page` also allows a page (.html)."""
    if path is not None and page and path.suffix.lower() == ".html":
        from ..reports.document import check_pages

        check_pages()
    elif path is not None and path.suffix.lower() != ending:
        raise InputError(
            f"the output {str(path)!r} does not end in "
            f"{ending}{' or .html' if page and ending != '.html' else ''}.",
            f"write it as {path.stem}{ending}.",
        )


def check_drawable() -> None:
    """Raise MissingExtraError before the work if figures cannot be drawn."""
    from ..reports.theme import blank

    blank(1, 1)


def picture_of(options: PlaceOptions | ColumnOptions, target: Path) -> Path | None:
    """Return the file of a picture: ``--figure``, or next to the result; None for no picture."""
    from ..reports.theme import check_suffix

    if not options.picture:
        options.refuse(("figure", "dark"), "was given with --no-picture.", "leave one of them out.")
        return None
    if options.figure is not None:
        check_suffix(options.figure)
    return options.figure or target.with_suffix(".png")


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Check before the work that each output can be written to its own file, and replaces no input."""
    from ..tables import is_pipe

    read = {path.resolve() for path in inputs if path is not None}
    targets: set[Path] = set()
    for path in (path for path in outputs if path is not None):
        where = path.resolve()
        if where in read and is_pipe(path):
            raise InputError(f"{str(path)!r} is a pipe, which cannot be written to here.", "name a file.")
        if where in read:
            raise InputError(f"{str(path)!r} would replace a file that is read.", "choose another name.")
        if where in targets:
            raise InputError(f"two outputs have the name {str(path)!r}.", "give each a name of its own.")
        targets.add(where)
        _check_path(path)


def check_folder(folder: Path) -> None:
    """Check before the work that files can be written to a folder, which need not exist."""
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{str(folder)!r} is a file, but a folder is needed.", "choose another name.")
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    _check_path(nearest / folder.name)


def write_json(content: object, path: Path) -> None:
    """Write JSON, whole or not at all."""
    with atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def finite(value: float) -> float | str:
    """Return a number for JSON; infinities are text."""
    return value if math.isfinite(value) else str(value)


def draw(figure: Callable[[], Figure], path: Path | None, subject: str, *, dark: bool) -> list[Path]:
    """Write a figure if there is a path, and return its file; without matplotlib print a note."""
    from ..reports import save_picture

    if path is None:
        return []
    try:
        with working("Drawing"):
            save_picture(figure(), path, theme_of(dark=dark))
    except MissingExtraError as error:
        for line in error_lines(error, f"Note: no {subject} drawn. "):
            say(line, err=True)
        return []
    return [path]


def theme_of(*, dark: bool) -> Theme:
    """Return the colours that ``--dark`` asks for."""
    from ..reports import DARK, LIGHT

    return DARK if dark else LIGHT


def _check_path(path: Path) -> None:
    folder = path.parent
    if len(os.fsencode(path.name)) > _LONGEST:
        raise FileError(f"the name {str(path)!r} is too long for a file.", "choose a shorter one.")
    if os.path.isdir(path):
        raise FileError(f"{str(path)!r} is a folder, but a file is needed.", "give the name of a file.")
    if not folder.exists():
        raise FileError(
            f"{str(path)!r} cannot be written: there is no folder {str(folder)!r}.",
            "make it first, or choose another.",
        )
    if not folder.is_dir():
        raise FileError(f"{str(path)!r} cannot be written: {str(folder)!r} is not a folder.", "choose another.")
    check_writable(path)
