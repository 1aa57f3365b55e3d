"""Release of recorded tracks: files in, files without the parts near zones out, and what they still show."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr
from ..errors import DataError, FileError, InputError, argument
from ..rounding import amount, plural
from .attack import known_attack_m
from .files import SUFFIXES, check_target, read_all, write_all
from .track import Cut, Track, cut
from .zones import Zones

TIMES: Final = ("keep", "shift", "drop")
_AGREEMENT: Final = 1e-5  # degrees to which two exports of one ride agree


@dataclass(frozen=True, slots=True, repr=False)
class TrackRelease(CompactRepr):
    """The result of `release_tracks`: the files that were written, and what they show.

    ``empty`` names sources of which nothing is visible, for which nothing was written. ``points`` counts those of
    all sources, and ``cut`` those that are not in the files. ``ways`` counts the ways in and out of zones in these
    files, ``others`` points or shapes that are no tracks and were left out. ``exposure`` is of the zone whose ways
    out show most: the tracks and directions of all releases with this ledger. ``attack_m`` is the mean error of a
    simulated attacker after so many, metres; see `simulate_zone_attack`. ``times`` is ``drop`` if there are none.
    """

    written: tuple[Path, ...]
    empty: tuple[Path, ...]
    tracks: int
    points: int
    cut: int
    ways: int
    others: int
    length_m: float
    duration_s: float
    climb_m: float
    exposure: tuple[int, int]
    attack_m: float
    radius_m: int
    times: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences about what the files show and what they do not."""
        hours = "" if np.isnan(self.duration_s) else f", {self.duration_s / 3600:.1f} h"
        lines = [
            f"Visible: {plural(self.tracks, 'track')}, {amount(self.length_m, 'm')}{hours}, "
            f"{amount(self.climb_m, 'm')} of climb, with {plural(self.ways, 'way')} into or out of a zone.",
            f"Cut: {self.cut:,} of {plural(self.points, 'point')}."
            if self.cut
            else "Nothing was cut: no track comes near a zone. If one starts at home, the stated place is wrong.",
            "Left out: names, descriptions, metadata, links, sensors, extensions, laps"
            + (
                f", and {plural(self.others, 'point or shape', 'points or shapes')} of no track."
                if self.others
                else "."
            ),
        ]
        rides, directions = self.exposure
        radius = amount(self.radius_m, "m")
        lines += [
            "No point of these files is in a zone. A zone is drawn once around a stated place, and stored. Taken "
            "alone it changes no odds between two places in it.",
            "That a place is in the zone is visible. Ways in and out, and their times, give away more.",
        ]
        if rides:
            lines.append(
                f"Ways out of one zone are visible in {plural(rides, 'track')} of this ledger so far, in "
                f"{plural(directions, 'direction')}. A simulated attacker on a street grid is then about "
                f"{amount(self.attack_m, 'm', 2)} off, in a zone of {radius}. The homes are simulated: the number "
                "says nothing of yours. On real streets it can be less, and a failed attack proves nothing."
            )
        lines += [
            "Nothing is hidden outside of zones, and nothing of tracks that were published before. On the "
            "simulated streets about ten uncut tracks find a home.",
            {
                "keep": "Times are kept: they show the day, and how long each hole took.",
                "shift": "Times start at 1970-01-01, and each hole takes one second.",
                "drop": "There are no times.",
            }[self.times],
            "For a promise about the positions of a whole day, release scheduled reports instead of a track.",
        ]
        return tuple(lines)

    def __str__(self) -> str:
        return "\n".join(self.sentences)


@check_arguments
def release_tracks(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    zones: Zones,
    *,
    times: str = "keep",
    loop_only: bool = False,
) -> TrackRelease:
    """Write the tracks of a file or folder without their parts near zones, and return what they show.

    All points in a zone of the ledger are cut, and those up to the next turn, and those on a further length that
    is uniform up to the zone's radius. All else is made from the visible points. Sources are GPX, GeoJSON or FIT,
    targets GPX or GeoJSON; a folder's files keep their names, but FIT becomes GPX. ``times`` are to ``keep``,
    ``shift`` to 1970 or ``drop``. With ``loop_only`` the legs to and from the loop are dropped too (`Track.loop`).

    Raises `InputError` if an option is not valid, no zone was drawn, or an output would replace a source. Raises
    `DataError` if a file is damaged, or nothing is visible of any; then nothing is written. Raises `FileError` if
    a file or the ledger cannot be written. Raises `MissingExtraError` for FIT without its extra.
    """
    source, target = Path(source), Path(target)
    if times not in TIMES:
        raise InputError(f"{argument('times', times)} is not known.", f"use one of {', '.join(TIMES)}.")
    pairs = _pairs(source, target)
    discs = zones.zones
    if not discs:
        raise InputError(
            "the ledger has no zone yet.", f"state a place with {argument('home', '48.86,2.35')}, or Zones.add."
        )
    paths: list[Path] = []
    empty: list[Path] = []
    results: list[tuple[Path, list[tuple[Track, Cut]]]] = []
    extras = points = 0
    for path, output in pairs:
        tracks, extra = read_all(path, timed=times != "drop")
        extras += extra
        points += sum(map(len, tracks))
        try:
            cuts = [_visible(cut(track, discs, zones.length_m), loop_only=loop_only) for track in tracks]
        except InputError as error:
            raise type(error)(f"{path.name!r}: {error.text}", *error.hints) from None
        visible = [(track, part) for track, part in zip(tracks, cuts, strict=True) if len(part.track)]
        if visible:
            results.append((output, visible))
        else:
            empty.append(path)
    if not results:
        raise DataError(
            f"nothing is visible of {plural(len(pairs), 'file')}: all points are in a zone, or too near to one.",
            "nothing was written.",
        )
    for output, visible in results:
        for track, part in visible:
            zones.count(_name_of(track), part.ways)  # first: a crash then counts too much, not too little
        if target != output:
            target.mkdir(parents=True, exist_ok=True)
        write_all([part.track.with_times(times) for _, part in visible], output)
        paths.append(output)
    parts = [part for _, visible in results for _, part in visible]
    exposure = max((zones.exposure(zone) for zone in discs), key=lambda pair: pair[::-1])
    return TrackRelease(
        tuple(paths),
        tuple(empty),
        len(parts),
        points,
        points - sum(len(part.track) for part in parts),
        sum(part.ends for part in parts),
        extras,
        sum(part.track.length_m for part in parts),
        sum(part.track.duration_s for part in parts),
        sum(part.track.climb_m for part in parts),
        exposure,
        known_attack_m(*exposure, zones.radius_m),
        zones.radius_m,
        times if any(part.track.has_times for part in parts) else "drop",
    )


def _visible(part: Cut, *, loop_only: bool) -> Cut:
    if not loop_only or not len(part.track):
        return part
    return Cut(part.track.loop(), {}, 0)


def _pairs(source: Path, target: Path) -> list[tuple[Path, Path]]:
    """Return each file to read with the one to write."""
    if not source.is_dir():
        check_target(target)
        pairs = [(source, target)]
    else:
        if target.is_file():
            raise FileError(f"{str(target)!r} is a file, but a folder is needed.", "name a folder.")
        files = sorted(path for path in source.iterdir() if path.suffix.lower() in SUFFIXES)
        if not files:
            raise DataError(
                f"there are no tracks in the folder {str(source)!r}.", f"they end in {', '.join(SUFFIXES)}."
            )
        pairs = [
            (path, target / (path.stem + ".gpx" if path.suffix.lower() == ".fit" else path.name)) for path in files
        ]
    _check_distinct(output for _, output in pairs)
    sources = {path.resolve() for path, _ in pairs}
    for _, output in pairs:
        same = any(path.exists() and output.exists() and output.samefile(path) for path in sources)
        if same or output.resolve() in sources:
            raise InputError(f"{str(output)!r} would replace a file that is read.", "write to another place.")
    return pairs


def _check_distinct(outputs: Iterable[Path]) -> None:
    names: dict[str, Path] = {}
    for output in outputs:
        other = names.setdefault(output.name.casefold(), output)
        if other is not output:
            raise InputError(
                f"two outputs would have the name {output.name!r}, or differ in case only.", "rename one source."
            )


def _name_of(track: Track) -> str:
    """Return the name under which a ride is counted: a hash of its positions, to about a metre."""
    positions = np.rint(track.latlon / _AGREEMENT).astype("<i8")
    return hashlib.blake2b(positions.tobytes(), digest_size=16).hexdigest()
