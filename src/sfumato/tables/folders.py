"""Files below a folder: those that a reader takes, and a note of the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from ..rounding import counted

_SHOWN: Final = 5


def files_below(folder: Path, suffix: str) -> list[Path]:
    """Return the files below a folder with an ending in any letter case, also compressed (``.gpx.gz``), in order.

    Files that begin with a dot are no data: other programs keep their state there.

    Args:
        folder: The folder.
        suffix: The ending, such as ``".gpx"``.
    """
    endings = (suffix, f"{suffix}.gz")
    return [path for path in _files(folder) if path.name.lower().endswith(endings) and path.name[0] != "."]


def others_note(folder: Path, files: Collection[Path], known: Collection[Path] | None = None) -> tuple[str, ...]:
    """Return the note that counts and names the files below a folder that were not read, if there are some.

    Args:
        folder: The folder.
        files: Those that were read.
        known: Those that may be named; by default all.
    """
    left = sorted(str(path.relative_to(folder)) for path in set(known or _files(folder)) - set(files))
    if not left:
        return ()
    more = ", ..." if len(left) > _SHOWN else ""
    were = "was" if len(left) == 1 else "were"
    what = counted(len(left), "file")
    return (f"{what} of other kinds in {folder.name!r} {were} not read: {', '.join(left[:_SHOWN])}{more}.",)


def left_out_note(folder: Path, paths: Sequence[Path], files: int, why: str) -> tuple[str, ...]:
    """Return the note that counts and names the files below a folder that were left out, if any were.

    Args:
        folder: The folder.
        paths: These files, in order.
        files: How many files there are.
        why: Why they were left out, such as "damaged".
    """
    if not paths:
        return ()
    were = "was" if len(paths) == 1 else "were"
    names = [str(path.relative_to(folder)) for path in paths[:_SHOWN]]
    more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
    return (
        f"{len(paths):,} of {counted(files, 'file')} in {folder.name!r} {were} {why} and left out: "
        f"{', '.join(names)}{more}.",
    )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
