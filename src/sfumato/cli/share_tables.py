"""Estimated shares on the screen and in tables: of single values, of districts, and of each column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..core import Space
    from ..estimation import Districts, Estimate
    from .screen import Screen

_SHOWN: Final = 15
_ENDS: Final = ("lower", "upper")
_OF_COLUMNS: Final = ("column", "value", "probability")
_OF_DISTRICTS: Final = ("district", "probability", *_ENDS, "latitude", "longitude", "side_km", "places")
_HEADS: Final = tuple(map(",".join, (_OF_COLUMNS, (*_OF_COLUMNS, *_ENDS), _OF_DISTRICTS)))
_LONGEST_HEAD: Final = 200
_INSTEAD: Final = {
    "maximum likelihood": "--intervals profile gives each an interval (it takes long), --method early-stopped a "
    "smooth guess; sfumato.estimation.profile_intervals is for sums.",
    "least squares": "--method maximum-likelihood --intervals profile gives each an interval (it takes long), "
    "--method early-stopped a smooth guess.",
}


def print_settled(console: Screen, estimate: Estimate, withheld: Collection[int], *, complete: bool) -> None:
    """Print at which resolution the reports settle shares, and what is withheld."""
    from ..estimation import MOST_PLACES
    from ..geo import Places
    from ..rounding import counted

    if not withheld:
        return
    count = f"{len(withheld):,} of the {counted(len(estimate.space), 'share')}"
    if estimate.districts is not None:
        console.print(f"SETTLED: the shares of {estimate.districts!r}.")
        console.print(f"NOT SETTLED, and withheld: {count} of single places.")
        _print_districts(console, estimate.districts)
        return
    console.print(f"NOT SETTLED, and withheld: {count}.")
    if isinstance(estimate.space, Places):
        if estimate.effective is not None:
            console.print("Districts need reports without weights.")
        elif estimate.method != "maximum likelihood":
            console.print("Districts need --method maximum-likelihood.")
        elif len(estimate.space) > MOST_PLACES:
            console.print(f"Districts of more than {MOST_PLACES:,} places are not looked for.")
        else:
            console.print("The shares of districts are not settled either, of any size.")
    if estimate.effective is None:
        console.print(_INSTEAD[estimate.method])
    elif complete:
        console.print("--method inversion --intervals normal gives each an interval.")


def _print_districts(console: Screen, districts: Districts) -> None:
    from ..rounding import percent, percent_at_least, percent_at_most, percent_of_confidence
    from .screen import print_table

    sure = districts.intervals
    rows = [
        (
            districts.names[d],
            percent(float(districts.shares[d])),
            f"{percent_at_least(sure.lower[d])} to {percent_at_most(sure.upper[d])}",
            "{:.5f}, {:.5f}".format(*districts.latlon[d]),
            str(districts.sizes[d]),
        )
        for d in sorted(range(len(districts)), key=lambda d: -districts.shares[d])
    ]
    headings = (
        "district",
        "share",
        f"{percent_of_confidence(sure.confidence)} interval",
        "middle (latitude, longitude)",
        "places",
    )
    print_table(console, "", headings, rows)
    console.print(str(districts))


def print_likeliest(
    console: Screen, estimate: Estimate, heading: str, *, whole: bool, withheld: Collection[int] = ()
) -> None:
    """Print the largest shares that are not withheld."""
    from ..geo import Places
    from ..rounding import percent, percent_at_least, percent_at_most, percent_of_confidence
    from ..tables import text
    from .screen import print_table

    space, sure = estimate.space, estimate.intervals
    order = sorted(set(range(len(space))) - set(withheld), key=lambda s: -estimate.probabilities[s])
    rest = len(order) - _SHOWN
    headings = ["value", "share"] + (
        [] if sure is None else [f"{percent_of_confidence(sure.confidence)} interval"]
    )
    if isinstance(space, Places):
        headings.append("middle (latitude, longitude)")
    rows = []
    for s in order[:_SHOWN]:
        cells = [text(space.labels[s]), percent(float(estimate.probabilities[s]))]
        if sure is not None:
            cells.append(f"{percent_at_least(sure.lower[s])} to {percent_at_most(sure.upper[s])}")
        if isinstance(space, Places):
            cells.append("{:.5f}, {:.5f}".format(*space.latlon[s]))
        rows.append(cells)
    more = f" ({rest} more{' with --output' if whole else ''})" if rest > 0 else ""
    print_table(console, f"{heading}{more}", headings, rows)


def check_parts(paths: Iterable[Path]) -> None:
    """Refuse names of further tables that another kind of file has, before the work."""
    from ..errors import InputError

    for path in paths:
        if not path.is_file():
            continue
        head = ""
        with suppress(OSError), path.open("rb") as file:
            head = file.readline(_LONGEST_HEAD).decode("utf-8", "replace").rstrip("\r\n")
        if head not in _HEADS:
            raise InputError(
                f"{str(path)!r} would be replaced or removed, but it is no table of 'sfumato estimate'.",
                "move it, or choose another name for --output.",
            )


def remove_stale(paths: Iterable[Path], written: Collection[Path]) -> list[Path]:
    """Remove further tables of an earlier run that this one does not write, and return them."""
    check_parts(paths := [path for path in paths if path not in written and path.is_file()])
    for path in paths:
        path.unlink()
    return paths


def label_columns(space: Space) -> dict[str, list[str]]:
    """Return the labels of secrets as a table holds them, by column; joint secrets have several."""
    from ..core import JointSpace
    from ..tables import check_seen, label_texts

    parts = (
        dict(zip(space.names, space.parts, strict=True)) if isinstance(space, JointSpace) else {"secret": space}
    )
    check_seen(parts, "column")
    return {name: label_texts(part) for name, part in parts.items()}


def write_shares(estimate: Estimate, path: Path, withheld: Collection[int]) -> None:
    """Write the share of each value, empty where it is withheld; of places also coordinates and their district."""
    from ..geo import Places
    from ..tables import write_rows

    sure, space = estimate.intervals, estimate.space
    labels = label_columns(space)
    names = [*labels, "probability", *(() if sure is None else ("lower", "upper"))]
    columns: list[Iterable[Any]] = list(zip(*product(*labels.values()), strict=True))
    columns.append([None if s in withheld else float(share) for s, share in enumerate(estimate.probabilities)])
    columns += [] if sure is None else [sure.lower, sure.upper]
    if isinstance(space, Places):
        names += ["latitude", "longitude"]
        columns += list(space.latlon.T)
    if estimate.districts is not None:
        names.append("district")
        columns.append([estimate.districts.names[d] for d in estimate.districts.membership])
    write_rows(names, zip(*columns, strict=True), path)


def write_districts(districts: Districts, path: Path) -> None:
    """Write the share of each district, with its interval, its middle and its side."""
    from ..tables import write_rows

    sure, count = districts.intervals, len(districts)
    columns = [districts.names, districts.shares, sure.lower, sure.upper, *districts.latlon.T]
    write_rows(_OF_DISTRICTS, zip(*columns, [districts.side_m / 1000] * count, districts.sizes, strict=True), path)


def print_margins(
    console: Screen, margins: Mapping[str, Estimate], withheld: Mapping[str, Collection[int]]
) -> None:
    """Print the largest shares of each column's values, and how many are withheld."""
    from ..escaping import plain
    from ..rounding import counted

    for name, margin in margins.items():
        hidden = withheld[name]
        if hidden:
            total = counted(len(margin.space), "share")
            console.print(f"NOT SETTLED, and withheld: {len(hidden):,} of the {total} of {plain(name)}.")
        if len(hidden) < len(margin.space):
            print_likeliest(console, margin, f"The likeliest values of {name}", whole=False, withheld=hidden)


def write_margins(margins: Mapping[str, Estimate], path: Path, withheld: Mapping[str, Collection[int]]) -> None:
    """Write the shares of each column's values, one below the other, empty where they are withheld."""
    from ..tables import label_texts, write_rows

    sure = next(iter(margins.values())).intervals
    rows: list[tuple[object, ...]] = []
    for name, margin in margins.items():
        shares = [None if s in withheld[name] else float(share) for s, share in enumerate(margin.probabilities)]
        columns: list[Iterable[Any]] = [label_texts(margin.space), shares]
        if margin.intervals is not None:
            columns += [margin.intervals.lower, margin.intervals.upper]
        rows += [(name, *row) for row in zip(*columns, strict=True)]
    write_rows([*_OF_COLUMNS, *(() if sure is None else _ENDS)], rows, path)
