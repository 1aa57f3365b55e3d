"""The claims of "Back to the drawing board", judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.core import Bracket
from sfumato.core.immutable import CompactRepr
from sfumato.rounding import about, percent

from ..reproduction import PaperClaim, RunTables, follows, illustrates, interval, judged, ours, unchecked
from .drawing_board import BOARD, CITIES, INTERIOR, LIMITED, SIMPLEX, TOWN, CityRow, LimitedRow, TownRow
from .grounds import SAN_FRANCISCO
from .measure import Measure, bits_below
from .published import COIN, EXPOST, LAPLACE, LEVELS_KM, PUBLISHED, PUBLISHED_COIN

_WHO: Final = "Oya et al. (2017)"
_ABSTRACT: Final = f"{_WHO}, abstract"
_SAME: Final = 1e-9  # of the loss, for sums of floats
_MOST_BITS: Final = "a new mechanism that maximizes the conditional entropy"


@dataclass(frozen=True, slots=True, repr=False)
class Mean(CompactRepr):
    """Means over seeds of one mechanism at one level, with intervals; exact where nothing was simulated."""

    city: str
    mechanism: str
    level_km: float | None
    loss_before_km: float
    loss_km: Bracket
    entropy_bits: Bracket

    @property
    def gain(self) -> float:
        """The part of the loss that the remap takes away."""
        return 1 - self.loss_km.value / self.loss_before_km


def means(rows: Sequence[Measure]) -> list[Mean]:
    """Return the means over seeds, in the order of the rows."""
    groups: dict[tuple[str, str, float], list[Measure]] = {}
    for row in rows:
        groups.setdefault((row.city, row.mechanism, row.level_km or row.loss_before_km), []).append(row)
    found = []
    for own in groups.values():
        first = own[0]
        losses, entropies = [row.loss_km for row in own], [row.entropy_bits for row in own]
        simulated = first.seed is not None
        found.append(
            Mean(
                first.city,
                first.mechanism,
                first.level_km,
                first.loss_before_km,
                interval(losses) if simulated else Bracket.exact(losses[0]),
                interval(entropies) if simulated else Bracket.exact(entropies[0]),
            )
        )
    return found


def board_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of "Back to the drawing board", judged."""
    rows = tables.rows(BOARD, Measure)
    found, cities = means(rows), tables.rows(CITIES, CityRow)
    limits = tables.rows(LIMITED, LimitedRow) if LIMITED in tables else []
    there = {city.city for city in cities if city.box == SAN_FRANCISCO.city}
    return [
        _average_error(rows),
        _entropy(_ABSTRACT, "ExPost has the highest entropy of equal loss.", found),
        _san_francisco([each for each in found if each.city in there]),
        _remap(found),
        _coin(found, cities),
        *([_limited(limits)] if limits else []),
        _town(tables.rows(TOWN, TownRow)),
    ]


def _average_error(rows: Sequence[Measure]) -> PaperClaim:
    summed = [
        (row, row.moved_km, row.error_km) for row in rows if row.moved_km is not None and row.error_km is not None
    ]
    row, moved, error = max(summed, key=lambda each: abs(each[1] - each[2]))
    return follows(
        f"{_WHO}, section not known",
        "After the best remap the best attacker's error is the loss, so the average error ranks no mechanism.",
        abs(error - moved) <= _SAME * moved,
        f"In the {len(summed)} cases summed here (ExPost, exponential and coin) error and loss differ by at most "
        f"{about(abs(error - moved), 1)} km ({row.mechanism}, {row.city}).",
    )


def _entropy(where: str, says: str, found: Sequence[Mean]) -> PaperClaim:
    """Judge ExPost's entropy at equal loss, with all others at the ends of their intervals.

    Reports of ExPost are spots here, and remaps move the others' to any point: more entropy than ExPost's is no
    contradiction. Comparisons that lie within the intervals decide nothing.
    """
    spans: dict[str, tuple[float, float]] = {}
    above, below, compared = 0, [], 0
    for city in dict.fromkeys(each.city for each in found):
        own = [each for each in found if each.city == city]
        middle, best, worst = (
            bits_below((each.mechanism, *_at(each, end)) for each in own) for end in ("middle", "best", "worst")
        )
        for position, less in middle.items():
            each = own[position]
            low, high = spans.get(each.mechanism, (less, less))
            spans[each.mechanism] = (min(low, less), max(high, less))
            compared += 1
            above += best.get(position, less) > 0
            if worst.get(position, less) < 0:
                below.append((less, each))
    parts = ", ".join(f"{name} {about(low, 2)} to {about(high, 2)}" for name, (low, high) in spans.items())
    said = (
        f"It has more entropy, beyond the intervals over seeds, in {above} of {compared} comparisons, and less in "
        f"{len(below)}. The others have less by (bits): {parts}."
    )
    if below:
        less, each = min(below, key=lambda pair: pair[0])
        said += (
            f" {each.mechanism} at {each.loss_before_km:g} km in {each.city} has {about(-less, 2)} bits more. Its "
            "reports are moved to any point of the plane and those of ExPost are spots, so this decides nothing."
        )
    elif above < compared:
        said += " The other comparisons lie within the intervals, which decides nothing."
    return illustrates(where, says, above == compared > 0, said, quote=_MOST_BITS)


def _at(each: Mean, end: str) -> tuple[float, float]:
    """Return loss and entropy, in the middle of their intervals or at the ends that are best or worst for it."""
    lost, bits = each.loss_km, each.entropy_bits
    if each.mechanism == EXPOST or end == "middle":
        return lost.value, bits.value
    return (max(lost.lower, 0.0), bits.upper) if end == "best" else (lost.upper, bits.lower)


def _san_francisco(found: Sequence[Mean]) -> PaperClaim:
    where = f"{_WHO}, San Francisco"
    says = "ExPost has the highest entropy of equal loss on the check-ins of San Francisco."
    if not found:
        return unchecked(where, says, SAN_FRANCISCO.request, quote=_MOST_BITS)
    return _entropy(where, says, found)


def _remap(found: Sequence[Mean]) -> PaperClaim:
    laplace = [each for each in found if each.mechanism == LAPLACE]
    near = [each for each in laplace if each.level_km == 1.0]
    low, high = min(laplace, key=lambda each: each.gain), max(laplace, key=lambda each: each.gain)
    published = [1 - lost / level for level, (lost, _) in zip(LEVELS_KM, PUBLISHED[LAPLACE], strict=True)]
    return ours(
        f"{_WHO}, results of the code",
        "The part of the loss of Laplace noise that the remap takes depends on the length of the noise.",
        low.gain < high.gain and min(published) < max(published),
        f"At a mean length of 1 km it takes {', '.join(f'{percent(each.gain)} in {each.city}' for each in near)}; "
        f"as published {percent(published[LEVELS_KM.index(1.0)])}. Here it is from {percent(low.gain)} at "
        f"{low.level_km:g} km ({low.city}) to {percent(high.gain)} at {high.level_km:g} km ({high.city}); in the "
        f"published results from {percent(min(published))} to {percent(max(published))}.",
    )


def _coin(found: Sequence[Mean], cities: Sequence[CityRow]) -> PaperClaim:
    """Judge that optima of average error differ in entropy: one coin with less than ExPost shows it."""
    words, less_of_all = [], []
    for city in cities:
        own = [each for each in found if each.city == city.city]
        less = bits_below((each.mechanism, each.loss_km.value, each.entropy_bits.value) for each in own)
        coins = [(own[k], bits) for k, bits in less.items() if own[k].mechanism == COIN]
        less_of_all += [bits for _, bits in coins]
        if coins:
            each, bits = min(coins, key=lambda pair: abs(pair[0].loss_km.value - city.blind_km / 2))
            words.append(
                f"In {city.city} at a loss of {about(each.loss_km.value, 2)} km it leaves "
                f"{about(each.entropy_bits.value, 3)} bits, ExPost {about(each.entropy_bits.value + bits, 3)}."
            )
    lost, published = PUBLISHED_COIN[1]
    words.append(f"As published at {lost:g} km: {published:g} bits.")
    return illustrates(
        _ABSTRACT,
        "Mechanisms that force as much error as any may leave less entropy: the coin does.",
        max(less_of_all, default=0.0) > 0,
        " ".join(words),
        quote="not all of them offer the same protection when looking at other dimensions of privacy",
    )


def _limited(rows: Sequence[LimitedRow]) -> PaperClaim:
    beyond = [row for row in rows if row.largest_km > row.limit_km]
    most = max(rows, key=lambda row: row.unlimited_bits - row.entropy_bits)
    return follows(
        _ABSTRACT,
        "ExPost can be held to a limit of the worst loss.",
        not beyond,
        f"{len(rows) - len(beyond)} of {len(rows)} mechanisms lose at most {rows[0].limit_km:g} km. At equal "
        f"expected loss that takes up to {about(most.unlimited_bits - most.entropy_bits, 2)} of "
        f"{about(most.unlimited_bits, 3)} bits ({most.city}, 2 / epsilon {most.level_km:g} km). It gives up "
        "metric privacy: a report then rules places out.",
        quote="the worst-case quality loss, that ensures that the output of the mechanism always provides a "
        "minimum utility to the users",
    )


def _town(rows: Sequence[TownRow]) -> PaperClaim:
    by = {(row.mechanism, row.loss_asked): row for row in rows}
    losses = sorted({row.loss_asked for row in rows})
    less, more = (
        sum(sign * (by[SIMPLEX, lost].entropy_bits - by[INTERIOR, lost].entropy_bits) > 0 for lost in losses)
        for sign in (-1, 1)
    )
    middle = losses[len(losses) // 2]
    kinds = {name: by[name, middle].entropy_bits for name in dict.fromkeys(row.mechanism for row in rows)}
    spread = max(abs(row.error - by[SIMPLEX, row.loss_asked].error) for row in rows)
    return judged(
        f"{_WHO}, 5 x 5 cells, section not known",
        "Optima of one program differ: vertices found by the simplex method leave less entropy than interior "
        "points.",
        less > 0 and more == 0,
        f"On 5 x 5 cells the simplex method leaves less in {less} and more in {more} of {len(losses)} cases, at "
        f"equal error (within {about(spread, 1)}). At a loss of {about(middle, 3)}: "
        + ", ".join(f"{name} {about(bits, 3)} bits" for name, bits in kinds.items())
        + ".",
    )
