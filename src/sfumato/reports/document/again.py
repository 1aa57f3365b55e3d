"""The report of a file on the disk, with the command and the script that make it again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ...files import read_mechanism_file
from ...geo import Visits, check_skip, read_visits, synthetic_city
from ...geo.synthetic import is_city
from ..maps import outline as read_outline
from .making import Origin
from .others import OtherDesigns
from .report import Report, report
from .required import read_requirements


def report_file(
    file: str | os.PathLike[str],
    *,
    visits: str | os.PathLike[str] | None = None,
    require: Iterable[str] = (),
    sweep: str | os.PathLike[str] | None = None,
    source: str = "",
    user: str | None = None,
    outline: str | os.PathLike[str] | None = None,
    frontier_time: float | None = None,
    skip_damaged: bool = False,
) -> Report:
    """Return the report of a mechanism file, with the command and the script that make it again.

    Args:
        file: The mechanism file (.sfm).
        visits: A file of visits: where people were; ``city`` for those of the built-in city.
        require: Requirements such as ``within 1850 ft: at most 50 %`` or ``epsilon <= 0.7/km``.
        sweep: The table that ``sfumato sweep`` wrote.
        source: Where the prior comes from, in words.
        user: Only this user's visits.
        outline: A file of land and water (.geojson) that the maps are drawn on.
        frontier_time: Seconds for designs with other epsilons; a minute if None, and 0 for none.
        skip_damaged: Leave out the damaged files of a folder of visits, as `read_visits` does.

    Raises:
        FileError: If the file is not one of a mechanism.
        InputError: As `report`.
        DataError: As `report`, or if the visits cannot be read.
    """
    asked = tuple(require)
    required = read_requirements(asked)
    held = read_mechanism_file(file)
    read = None if visits is None else visits_named(Path(visits), skip_damaged=skip_damaged)
    if read is not None and user is not None:
        read = read.of_user(user)
    origin = Origin(
        file=Path(file),
        visits=None if visits is None else Path(visits),
        sweep=None if sweep is None else Path(sweep),
        require=asked,
        source=source,
        user=user or "",
        outline=None if outline is None else Path(outline),
        frontier_time=frontier_time,
        skip_damaged=skip_damaged,
    )
    land = None if outline is None else read_outline(outline)
    others = None if frontier_time is None else OtherDesigns(frontier_time)
    return report(held, visits=read, require=required, sweep=sweep, others=others, origin=origin, outline=land)


def visits_named(visits: Path, *, skip_damaged: bool = False) -> Visits:
    """Return the visits of a file, or of the built-in city.

    Args:
        visits: The file or folder; ``city`` for the built-in city.
        skip_damaged: Whether damaged files of a folder are left out.

    Raises:
        DataError: If they cannot be read.
        InputError: If damaged files are left out where there is no folder of such.
    """
    if not is_city(visits):
        return read_visits(visits, skip_damaged=skip_damaged)
    check_skip("the built-in city", skip_damaged=skip_damaged)
    return synthetic_city()
