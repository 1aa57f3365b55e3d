"""Learned mechanisms beside planar Laplace noise and the certified optimum: a square, users, and home boroughs.

Four parts: Example 1 of the paper played with two targets; its Experiments 1 and 2; users of a city who are to be
hidden while their places stay useful; and where people live, as what is to be hidden. The last two learn from four
fifths of the visits, and the rest judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ...core.frozen import Short
from ...errors import InputError, MissingExtraError
from ...geo import Grid, Region, Visits
from ...learn import CrossEntropy, MutualInformation, Pairs
from ..results import TableRow, columns_of
from .contest import ContestRow, contest
from .experiments import EXPERIMENT_1, EXPERIMENT_2, with_optimum_and_network
from .swapping import Swapping, play_swapping

MAX_LOSSES_M: Final = (518.0, 1150.0)
"""The paper's limits for its Gowalla users."""


@dataclass(frozen=True, slots=True, repr=False)
class MipanResults(Short):
    """Results of the study so far.

    Attributes:
        games: Example 1 with each target.
        square: A row for each generator, part of the data, number of reports and grid of Experiments 1 and 2.
        contests: A row for each mechanism, label and largest loss on the visits.
    """

    games: tuple[Swapping, ...] = ()
    square: tuple[TableRow, ...] = ()
    contests: tuple[ContestRow, ...] = ()

    @property
    def tables(self) -> dict[str, list[TableRow]]:
        """The rows of both tables."""
        return {
            "learned-square": list(self.square),
            "learned-mechanisms": [columns_of(row) for row in self.contests],
        }


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute in one thread: small matrices gain nothing from more."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("the study of learned mechanisms", "learn") from None
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


@_one_thread()
def study(
    visits: Visits,
    region: Region | str,
    attribute: str,
    groups: tuple[str, str],
    *,
    cell: str = "600 m",
    users: Sequence[int] = (6, 20),
    max_losses_m: Sequence[float] = MAX_LOSSES_M,
    hits: Sequence[int] = (10, 500),
    records: int = 600,
    rounds: int = 120,
    network_rounds: int = 300,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
    partial: Callable[[MipanResults], object] | None = None,
) -> MipanResults:
    """Run the four parts.

    Args:
        visits: Visits with users and the attribute.
        region: Where reports are counted.
        attribute: The column to hide in the last part.
        groups: Two of its values.
        cell: The side of a cell.
        users: How many of the most frequent visitors to hide.
        max_losses_m: The largest expected losses, in metres.
        hits: Reports of each record of the square.
        records: Of each person of the square.
        rounds: The most rounds of each training on visits.
        network_rounds: The rounds of the networks' training on the square.
        seed: Of data, splits and trainings.
        progress: Called with each line of the results.
        partial: Called after each part with all results so far, such as to save them.

    Raises:
        InputError: If the visits lack users, the attribute or one of its values.
        DataError: If no visit is in the region.
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, "Generating optimal privacy-protection mechanisms via machine
        learning", CSF 2020.
    """
    tell = progress or (lambda _: None)
    city = Grid.covering(region, cell=cell)
    # What the visits lack is found before anything is trained.
    if visits.user is None:
        raise InputError("the visits have no user column, and users are to be hidden.", "use a file that has one.")
    homes = Pairs.of_visits(visits, city, attribute, values=groups)
    present = list(visits.select(city.inside(visits.lat, visits.lon)).users())
    people = [Pairs.of_visits(visits, city, values=present[:many]) for many in users]
    hidden = [(f"{many} users", data, False) for many, data in zip(users, people, strict=True)]
    hidden.append((" or ".join(groups), homes, True))

    games = tuple(play_swapping(target) for target in (CrossEntropy(), MutualInformation()))
    for game in games:
        tell(
            f"Example 1 with {game.target}: {game.swaps} swaps, the last classifier right {game.accuracy[-1]:.3f}"
        )
    found = MipanResults(games)
    for experiment in (EXPERIMENT_1, EXPERIMENT_2):
        result = with_optimum_and_network(experiment, hits=hits, records=records, rounds=network_rounds, seed=seed)
        for each in result.rows:
            tell(f"{experiment.name}, {each}")
        measured = [row for each in result.rows for row in each.rows(experiment.name)]
        found = MipanResults(games, (*found.square, *measured))
    if partial is not None:
        partial(found)
    for name, data, paired in hidden:
        tell(f"{name}: {len(data):,} visits on a {city!r}")
        for limit in sorted(max_losses_m):
            rows = contest(name, data, city, limit, with_tupling=paired, rounds=rounds, seed=seed)
            for row in rows:
                tell(
                    f"{row.hidden}, {row.max_loss_m:g} m, {row.mechanism}: error {row.error:.3f}, "
                    f"loss {row.loss_m:.0f} m; held out: error {row.held_out_error:.3f}, "
                    f"loss {row.held_out_loss_m:.0f} m"
                )
            found = MipanResults(games, found.square, (*found.contests, *rows))
            if partial is not None:
                partial(found)
    return found
