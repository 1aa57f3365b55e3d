"""Draw figures of the docs again from their tables, in the look that figures have now.

The studies behind these figures take hours. Their tables are in docs/data, and a figure needs no more::

    python examples/redraw.py --tables docs/data --out docs/images

Only the error without a report in points-loss.png is computed again, for the built-in city.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

from matplotlib.figure import Figure

import sfumato as sf
from sfumato.comparison import PlaceRow
from sfumato.reports import DARK, LIGHT, save_picture
from sfumato_papers import (
    distribution_privacy,
    follow_ups,
    mipan,
    privacy_games,
    repeated_releases,
    rows_of,
    sequences,
)
from sfumato_papers.reproduction import RunTables


def drawn(tables: Path) -> dict[str, Callable[[], Figure]]:
    """Return what draws each figure, by the name of its file without ending."""
    return {
        **{
            f"privacy-games-{name}": partial(_games, tables / "privacy-games" / "privacy_games.csv", draw)
            for name, draw in _GAMES
        },
        "privacy-games-8": lambda: privacy_games.threshold_figure(
            rows_of(tables / "privacy-games" / "pruned-pairs.csv", privacy_games.PairRow),
            rows_of(tables / "privacy-games" / "pruned-attacks.csv", privacy_games.AttackRow),
        ),
        "privacy-games-8-seconds": lambda: privacy_games.time_figure(
            rows_of(tables / "privacy-games" / "pruned-seconds.csv", privacy_games.TimeRow)
        ),
        "distribution-privacy": lambda: distribution_privacy.sweep_figure(
            rows_of(tables / "distribution-privacy.csv", distribution_privacy.DistributionRow)
        ),
        "distribution-privacy-success": lambda: distribution_privacy.success_figure(
            rows_of(tables / "distribution-privacy-success.csv", distribution_privacy.SuccessRow)
        ),
        "distribution-privacy-confidence": lambda: distribution_privacy.confidence_figure(
            rows_of(tables / "distribution-privacy-confidence.csv", distribution_privacy.ConfidenceRow)
        ),
        "distribution-privacy-optimum": lambda: distribution_privacy.optimum_figure(
            rows_of(tables / "distribution-privacy-optimum.csv", distribution_privacy.OptimumRow)
        ),
        **{f"follow-ups-{name}": partial(_follow_up, tables, name) for name in follow_ups.CAPTIONS},
        "learned-swapping": lambda: mipan.swapping_figure(
            rows_of(tables / "learned-swapping.csv", mipan.SwappingRound)
        ),
        "learned-mechanisms": lambda: _contest(tables / "learned-mechanisms.csv"),
        "repeated-releases": lambda: _repeated(tables / "repeated-releases.csv"),
        "sequences-errors": lambda: sequences.loss_figure(
            rows_of(tables / "sequences-errors.csv", sequences.PolicyRow)
        ),
        "sequences-homes": lambda: sequences.home_figure(
            rows_of(tables / "sequences-homes.csv", sequences.HomeRow)
        ),
        "points-loss": lambda: _points(tables / "points-loss.csv"),
    }


_GAMES = (
    ("2a", privacy_games.error_figure),
    ("2b", privacy_games.cost_figure),
    ("3", privacy_games.bayes_figure),
    ("4", privacy_games.attackers_figure),
    ("5", privacy_games.joint_figure),
)


def _games(table: Path, draw: Callable[[Sequence[privacy_games.GameRow]], Figure]) -> Figure:
    rows = rows_of(table, privacy_games.GameRow)
    gap = max(row.gap_asked for row in rows)  # the others are repeated designs
    return draw([row for row in rows if row.gap_asked == gap])


def _follow_up(tables: Path, name: str) -> Figure:
    return follow_ups.figures(RunTables(tables / "follow-ups"))[name]


def _contest(table: Path) -> Figure:
    return mipan.people_figure(rows_of(table, mipan.ContestRow))


def _repeated(table: Path) -> Figure:
    return repeated_releases.repeated_figure(rows_of(table, repeated_releases.RepeatedRow))


def _points(table: Path) -> Figure:
    rows = rows_of(table, PlaceRow)
    visits = sf.synthetic_city()
    coarse = sf.compare_places(  # only for its visits and their error without a report
        visits, epsilon="3/km", region=visits.region(trim=0.02), spacing="3 km", bound_time=0
    )
    epsilons = tuple(sorted({row.epsilon for row in rows if row.epsilon < inf}))
    return replace(coarse, rows=tuple(rows), values=epsilons, bounds=()).figure()


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figures that the command line names."""
    root = Path(__file__).resolve().parents[1] / "docs"
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="figures to draw; by default all")
    parser.add_argument("--tables", type=Path, default=root / "data", help="the folder of the tables")
    parser.add_argument("--out", type=Path, default=root / "images", help="the folder of the figures")
    parser.add_argument("--dark", action="store_true", help="draw for a dark background")
    given = parser.parse_args(arguments)
    figures = drawn(given.tables)
    unknown = [name for name in given.names if name not in figures]
    if unknown:
        parser.error(f"there is no figure {unknown[0]!r}; there are {', '.join(figures)}")
    for name in given.names or figures:
        path = given.out / f"{name}.png"
        save_picture(figures[name](), path, DARK if given.dark else LIGHT)
        sys.stdout.write(f"Written: {path}\n")


if __name__ == "__main__":
    main()
