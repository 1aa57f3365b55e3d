"""Outputs of a command: checked before its work begins, and figures that need matplotlib."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import FileError, InputError, MissingExtraError
from .messages import note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST: Final = 240  # bytes of a name: most systems take 255, and what is unfinished has a longer one


def check_ending(path: Path | None, ending: str) -> None:
    """Check that the name of an output has the ending of what is written there.

    Raises:
        InputError: If it has another.
    """
    if path is not None and path.suffix.lower() != ending:
        raise InputError(
            f"the output {str(path)!r} does not end in {ending}.", f"write it as {path.stem}{ending}."
        )


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Find out before the work whether its results can be written.

    Args:
        outputs: The files to write; those that exist will be replaced.
        inputs: The files that are read, and must not be replaced.

    Raises:
        FileError: If a name is that of a folder, its folder is missing, or nothing can be
            written there.
        InputError: If an output is an input, or two outputs are one file.
    """
    read = {path.resolve() for path in inputs if path is not None}
    written: set[Path] = set()
    for path in (path for path in outputs if path is not None):
        where = path.resolve()
        if where in read:
            raise InputError(f"{str(path)!r} would replace a file that is read.", "choose another name.")
        if where in written:
            raise InputError(f"two outputs have the name {str(path)!r}.", "give each a name of its own.")
        written.add(where)
        _check(path)


def check_folder(folder: Path | None) -> None:
    """Find out before the work whether files can be written to a folder, which may not exist yet.

    Raises:
        FileError: If it is a file, or nothing can be written there.
    """
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{str(folder)!r} is a file, but a folder is needed.", "choose another name.")
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    _check(nearest / folder.name)


def draw(figure: Callable[[], Figure], path: Path, what: str) -> list[Path]:
    """Write a figure if matplotlib is installed; otherwise print a note.

    Args:
        figure: Draws it.
        path: Where it is written.
        what: The figure in words: ``"maps"``.

    Returns:
        The file, if it was written.
    """
    from ..report import save_picture

    try:
        save_picture(figure(), path)
    except MissingExtraError as error:
        note(error, f"no {what} drawn.")
        return []
    return [path]


def _check(path: Path) -> None:
    from ..core.atomic import check_writable

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
