"""Writing of mechanism files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ..core import Randomizer
from ..core.arguments import checked
from ..errors import InputError, python
from ..optimal import Design
from .archive import write_archive
from .encoding import encoded
from .mechanism_file import MechanismFile

_OTHERS: Final = frozenset({".csv", ".json", ".mat", ".npy", ".npz", ".parquet", ".png", ".html"})  # formats


@checked
def save(
    content: Randomizer | MechanismFile | Design,
    path: str | os.PathLike[str],
) -> None:
    """Write a mechanism, a design, or all of a `MechanismFile`, to a mechanism file (.sfm).

    The same content gives the same bytes. On any failure nothing half-written remains,
    and a file that existed stays as it was.

    Args:
        content: What to write. Of a design, what was asked and the prices that prove how near to
            optimal it is are written, too (see `MechanismFile.of_design`).
        path: The file, usually with the suffix ``.sfm``; one that exists is replaced.

    Raises:
        FileError: If the file cannot be written.
        InputError: If a label is of a type that the file cannot hold, noise has no projection, or the path is
            named like another format.
    """
    if Path(path).suffix.lower() in _OTHERS:
        raise InputError(
            f"{os.fspath(path)!r} is named like another kind of file, and a mechanism file would be written.",
            "let the name end in .sfm",
            python("write the numbers alone with the library of that format, from mechanism.matrix."),
        )
    if isinstance(content, Design):
        content = MechanismFile.of_design(content)
    write_archive(path, *encoded(content if type(content) is MechanismFile else MechanismFile(content)))
