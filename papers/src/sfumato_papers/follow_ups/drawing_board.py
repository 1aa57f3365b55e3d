"""Back to the drawing board: mechanisms by loss and conditional entropy on the most visited spots of a city.

Source: Oya, Troncoso and Pérez-González, "Back to the drawing board: revisiting the design of optimal location
privacy-preserving mechanisms", CCS 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, pi, sqrt
from types import MappingProxyType
from typing import Final

import numpy as np

from sfumato.attacks import blind, optimal
from sfumato.core import Bracket, Mechanism, Metric, Prior, Space, loss
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InfeasibleError, InputError
from sfumato.geo import median_from
from sfumato.leakage import conditional_entropy_bits
from sfumato.mechanisms import (
    PlanarLaplace,
    coin_of_distortion,
    exponential,
    rate_distortion,
    rate_distortion_of_loss,
    remap_in_plane,
    remap_mechanism,
)
from sfumato.optimal import Clarabel, Highs, maximise_distortion
from sfumato.rounding import about, percent

from ..reproduction import PaperClaim, RunTables, Tables, abstain, follows, illustrates, interval, judge, remark
from ..results import distinct, markdown_table, where
from .regions import SAN_FRANCISCO, VisitedPlaces, positions

CITIES: Final = "board-cities"
BOARD: Final = "board"
LIMITED: Final = "board-limited"
TOWN: Final = "board-town"

EXPOST: Final = "ExPost"
EXPONENTIAL: Final = "exponential"
LAPLACE: Final = "Laplace"
GAUSSIAN: Final = "Gaussian"
CIRCLE: Final = "circle"
COIN: Final = "coin"
SIMPLEX: Final = "simplex"
INTERIOR: Final = "interior point"
_TABLED: Final = (EXPOST, EXPONENTIAL, LAPLACE, GAUSSIAN, CIRCLE)

# Mean lengths of planar Laplace noise in the published table, 2 / epsilon.
LEVELS_KM: Final = (0.05, 0.1, 0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
# Average loss after the remap (km) and conditional entropy (bits), for the levels above; San Francisco, Gowalla.
_COLUMNS: Final = {
    EXPOST: (
        (0.0210, 0.0573, 0.2179, 0.3699, 0.5459, 0.7219, 0.8850, 1.0451, 1.2902, 1.6627, 2.1620),
        (2.471, 3.902, 6.422, 7.544, 8.368, 8.952, 9.371, 9.707, 10.120, 10.558, 10.939),
    ),
    EXPONENTIAL: (
        (0.0246, 0.0652, 0.2243, 0.3674, 0.5369, 0.6955, 0.8419, 0.9754, 1.2059, 1.5514, 2.0084),
        (2.421, 3.851, 6.298, 7.379, 8.201, 8.749, 9.145, 9.445, 9.864, 10.332, 10.747),
    ),
    LAPLACE: (
        (0.0331, 0.0772, 0.2487, 0.4006, 0.5750, 0.7537, 0.9061, 1.0352, 1.2788, 1.6412, 2.2577),
        (2.704, 4.051, 6.377, 7.406, 8.270, 8.792, 9.154, 9.443, 9.848, 10.251, 10.687),
    ),
    GAUSSIAN: (
        (0.0324, 0.0739, 0.2423, 0.3896, 0.5716, 0.7280, 0.8708, 1.0153, 1.2429, 1.5857, 2.1114),
        (2.605, 3.928, 6.289, 7.341, 8.174, 8.674, 9.120, 9.431, 9.793, 10.301, 10.697),
    ),
    CIRCLE: (
        (0.0267, 0.0674, 0.2231, 0.3776, 0.5460, 0.7012, 0.8287, 0.9418, 1.1553, 1.4342, 1.8366),
        (2.140, 3.428, 5.763, 6.815, 7.629, 8.189, 8.646, 8.894, 9.331, 9.836, 10.312),
    ),
}
PUBLISHED: Final[Mapping[str, tuple[tuple[float, float], ...]]] = MappingProxyType(
    {name: tuple(zip(*columns, strict=True)) for name, columns in _COLUMNS.items()}
)
"""Published (loss in km, entropy in bits) of each mechanism by level."""
PUBLISHED_COIN: Final = ((0.5, 1.430), (1.0, 2.860), (1.5, 4.290), (2.0, 5.721))  # the same, by its loss
PUBLISHED_PRIOR_BITS: Final = 11.474
_LARGEST_KM: Final = 1.5  # published limit of the worst loss
_INFORMATION: Final = 1e-6  # bits within which ExPost is found
_SIDE: Final = 5  # cells of the small town, along each side
_BLOCK: Final = 256  # simulated reports at a time
_TOLERANCE: Final = 1e-6  # relative, of a geometric median's loss
_SOURCE: Final = "Oya et al. (2017)"
_ABSTRACT: Final = f"{_SOURCE}, abstract"
_SAME: Final = 1e-9  # of the loss, for sums of floats
_MOST_BITS: Final = "a new mechanism that maximizes the conditional entropy"


@dataclass(frozen=True, slots=True, repr=False)
class Measure(CompactRepr):
    """Loss and entropy of one mechanism at one level."""

    city: str
    mechanism: str
    level_km: float | None  # 2 / epsilon: mean length of planar Laplace noise; None for the coin
    seed: int | None  # of the simulation; None where all was summed
    loss_before_km: float  # expected distance from secret to report
    loss_km: float  # after every report moved to the best point of the plane
    entropy_bits: float  # of the secret, given the report
    moved_km: float | None = None  # loss after every report moved to the best spot; None for simulations
    error_km: float | None = None  # error of the best attacker against those; None for simulations


@dataclass(frozen=True, slots=True, repr=False)
class CityRow(CompactRepr):
    """The spots of a city: the published box of its visits, how many, their entropy, and the blind error."""

    city: str
    box: str
    spots: int
    prior_bits: float
    blind_km: float


@dataclass(frozen=True, slots=True, repr=False)
class LimitedRow(CompactRepr):
    """ExPost with a limit on the worst loss, and ExPost of the same expected loss."""

    city: str
    level_km: float
    limit_km: float
    largest_km: float  # largest distance from a spot to one of its reports
    loss_km: float
    entropy_bits: float
    unlimited_bits: float


@dataclass(frozen=True, slots=True, repr=False)
class TownRow(CompactRepr):
    """A mechanism on 5 x 5 unit cells, all equally likely: expected loss, error of the best attacker, entropy."""

    mechanism: str
    loss_asked: float
    loss: float
    error: float
    entropy_bits: float


def of_mechanism(
    city: str, name: str, level_km: float | None, mechanism: Mechanism, prior: Prior, metric: Metric
) -> Measure:
    """Return the measures of a mechanism whose reports are its secrets, summed over all of them."""
    plane = remap_in_plane(mechanism, prior, tolerance=_TOLERANCE)
    distances = loss(plane.secrets, plane.observables, "euclidean", unit="km")
    spots = remap_mechanism(mechanism, prior, metric)
    return Measure(
        city,
        name,
        level_km,
        None,
        mechanism.expected_loss(prior, metric),
        plane.expected_loss(prior, distances),
        conditional_entropy_bits(mechanism, prior),
        spots.expected_loss(prior, metric),
        optimal(spots, prior, metric).error,
    )


def of_noise(
    city: str, name: str, level_km: float, prior: Prior, metric: Metric, *, samples: int, seed: int
) -> Measure:
    """Return the measures of noise in the plane: exact posteriors of simulated reports."""
    if name not in _NOISES:
        raise InputError(f"the noise {name!r} is unknown.", f"use {LAPLACE}, {GAUSSIAN} or {CIRCLE}.")
    noise, log_density = _NOISES[name]
    coordinates = prior.space.coordinates
    if coordinates is None or prior.space.unit != "m":
        raise InputError(f"{prior.space!r} has no coordinates in metres.", "use places on a plane.")
    rng = np.random.default_rng([seed, round(1000 * level_km), len(name)])
    support = prior.support
    points, weights = coordinates[support] / 1000, prior.probabilities[support]
    between = metric.array[np.ix_(support, support)]
    true = points[rng.choice(len(support), size=samples, p=weights / weights.sum())]
    reports = true + noise(level_km, samples, rng)
    losses, entropies = np.empty(samples), np.empty(samples)
    for start in range(0, samples, _BLOCK):
        block = reports[start : start + _BLOCK]
        squares = ((block[:, None, :] - points) ** 2).sum(axis=2)
        logs = log_density(level_km, squares) + np.log(weights)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        nearest = np.argmin(posterior @ between, axis=1)
        for offset, (first, belief) in enumerate(zip(nearest, posterior, strict=True)):
            possible = belief > 0
            median = median_from(points[possible], belief[possible], points[first], _TOLERANCE)
            losses[start + offset] = median.total.value
            entropies[start + offset] = -(belief[possible] * np.log2(belief[possible])).sum()
    return Measure(city, name, level_km, seed, level_km, float(losses.mean()), float(entropies.mean()))


def bits_below(measures: Iterable[tuple[str, float, float]]) -> dict[int, float]:
    """Return by how many bits each mechanism's entropy is below ExPost's of the same loss, by its position.

    ExPost's is read on the chord between neighbouring measures, which is below it; losses outside are left out.
    """
    every = list(measures)
    best = sorted((loss, bits) for name, loss, bits in every if name == EXPOST)
    if not best:
        raise InputError("ExPost is not among the measures.", "measure it too.")
    losses, entropies = zip(*best, strict=True)
    return {
        position: float(np.interp(loss, losses, entropies) - bits)
        for position, (name, loss, bits) in enumerate(every)
        if name != EXPOST and losses[0] <= loss <= losses[-1]
    }


def _disc(radius_km: float, samples: int, rng: np.random.Generator) -> Floats:
    radius, angle = radius_km * np.sqrt(rng.random(samples)), rng.uniform(0, 2 * pi, samples)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


# Of a mean length, a number of samples and a generator the noise in km, array (samples, 2), and of a mean length
# and squared lengths the logarithm of its density up to a constant.
_NOISES: Final[Mapping[str, tuple[Callable[..., Floats], Callable[[float, Floats], Floats]]]] = {
    LAPLACE: (
        lambda km, samples, rng: PlanarLaplace(2 / km, "km").simulate(np.zeros((samples, 2)), rng),
        lambda km, squares: -2 / km * np.sqrt(squares),
    ),
    GAUSSIAN: (
        lambda km, samples, rng: rng.normal(0, km / sqrt(pi / 2), (samples, 2)),
        lambda km, squares: -squares / (2 * (km / sqrt(pi / 2)) ** 2),
    ),
    CIRCLE: (
        lambda km, samples, rng: _disc(1.5 * km, samples, rng),
        # A report on the rim is within it despite rounding.
        lambda km, squares: np.where(squares <= (1.5 * km) ** 2 * (1 + 1e-9), 0.0, -inf),
    ),
}


def describe_city(ground: VisitedPlaces, box: str = "") -> Tables:
    """Return the size of a city, and the coin at several losses."""
    prior, metric = ground.prior, ground.distances_km
    most = blind(prior, metric).error
    coins = [
        of_mechanism(ground.name, COIN, None, coin_of_distortion(prior, metric, target), prior, metric)
        for target, _ in PUBLISHED_COIN
        if target < most
    ]
    row = CityRow(ground.name, box, len(prior), prior.entropy_bits, most)
    return {CITIES: [row], BOARD: coins}


def measure_level(ground: VisitedPlaces, level_km: float, seeds: int, samples: int) -> Tables:
    """Measure ExPost, exponential, Laplace, Gaussian and circle at one level.

    Reports of ExPost (slope epsilon) and of the exponential mechanism (exp(-epsilon d), normalised) are spots, and
    all are summed. The others add noise of mean length 2 / epsilon in the plane, whose reports are simulated.
    """
    prior, metric = ground.prior, ground.distances_km
    # The package's exponential mechanism has an epsilon of twice its slope.
    plain = exponential(prior.space, metric, 4 / level_km)
    rows = [_expost(ground, level_km), of_mechanism(ground.name, EXPONENTIAL, level_km, plain, prior, metric)]
    rows += [
        of_noise(ground.name, name, level_km, prior, metric, samples=samples, seed=seed)
        for name in (LAPLACE, GAUSSIAN, CIRCLE)
        for seed in range(1, seeds + 1)
    ]
    return {BOARD: rows}


def finer(ground: VisitedPlaces, levels_km: tuple[float, ...]) -> Tables:
    """Measure ExPost at more levels, so that its entropy is known at the losses of others."""
    return {BOARD: [_expost(ground, level) for level in levels_km]}


def _expost(ground: VisitedPlaces, level_km: float) -> Measure:
    prior, metric = ground.prior, ground.distances_km
    expost = rate_distortion(prior, metric, 2 / level_km, tolerance_bits=_INFORMATION).mechanism
    return of_mechanism(ground.name, EXPOST, level_km, expost, prior, metric)


def cap_loss(ground: VisitedPlaces, level_km: float) -> Tables:
    """Limit the worst loss of ExPost, and compare with ExPost of the same expected loss."""
    prior, metric = ground.prior, ground.distances_km
    expost = rate_distortion(prior, metric, 2 / level_km, largest_loss=_LARGEST_KM, tolerance_bits=_INFORMATION)
    mask = expost.mechanism.matrix[prior.support] > 0
    try:
        free = rate_distortion_of_loss(prior, metric, expost.loss)
    except InfeasibleError:  # a report that tells nothing loses no more
        return {LIMITED: []}
    row = LimitedRow(
        ground.name,
        level_km,
        _LARGEST_KM,
        float(metric.array[prior.support][mask].max()),
        expost.loss,
        conditional_entropy_bits(expost.mechanism, prior),
        conditional_entropy_bits(free.mechanism, prior),
    )
    return {LIMITED: [row]}


def town(levels: int) -> Tables:
    """Compare optima of one program on 5 x 5 cells: the simplex method, an interior point, ExPost and the coin."""
    cells = positions(_SIDE, _SIDE)
    space = Space(range(len(cells)), cells, "")
    prior, metric = Prior.uniform(space), space.metric("euclidean")
    most = blind(prior, metric).error
    rows = []
    for step in range(1, levels + 1):
        limit = most * step / (levels + 1)
        optima = {
            name: maximise_distortion(prior, loss=metric, max_loss=limit, solver=solver).mechanism
            for name, solver in ((SIMPLEX, Highs("simplex")), (INTERIOR, Clarabel()))
        }
        optima[EXPOST] = rate_distortion_of_loss(prior, metric, limit).mechanism
        optima[COIN] = coin_of_distortion(prior, metric, limit)
        for name, mechanism in optima.items():
            loss, error = mechanism.expected_loss(prior, metric), optimal(mechanism, prior, metric).error
            rows.append(TownRow(name, limit, loss, error, conditional_entropy_bits(mechanism, prior)))
    return {TOWN: rows}


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

    def mean(seeds: Sequence[Measure], field: str) -> Bracket:
        values = [getattr(row, field) for row in seeds]
        return Bracket.exact(values[0]) if seeds[0].seed is None else interval(values)

    averages = []
    for group in groups.values():
        first, (loss, bits) = group[0], (mean(group, field) for field in ("loss_km", "entropy_bits"))
        averages.append(Mean(first.city, first.mechanism, first.level_km, first.loss_before_km, loss, bits))
    return averages


def published_gains(name: str) -> list[float]:
    """Return the published part of the loss that the remap takes away, by level."""
    return [1 - loss / level for level, (loss, _) in zip(LEVELS_KM, PUBLISHED[name], strict=True)]


def board_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of "Back to the drawing board", judged."""
    rows = tables.rows(BOARD, Measure)
    averages, cities = means(rows), tables.rows(CITIES, CityRow)
    limits = tables.rows(LIMITED, LimitedRow) if LIMITED in tables else []
    there = [mean for city in where(cities, box=SAN_FRANCISCO.city) for mean in where(averages, city=city.city)]
    highest = "ExPost has the highest entropy of equal loss"
    place, says = f"{_SOURCE}, San Francisco", f"{highest} on the check-ins of San Francisco."
    summed = [
        (abs(row.error_km - row.moved_km), row.moved_km, row)
        for row in rows
        if row.moved_km is not None and row.error_km is not None
    ]
    apart, loss, farthest = max(summed, key=lambda case: case[0])
    laplace, published = where(averages, mechanism=LAPLACE), published_gains(LAPLACE)
    near = ", ".join(f"{percent(mean.gain)} in {mean.city}" for mean in where(laplace, level_km=1.0))
    low, high = (pick(laplace, key=lambda mean: mean.gain) for pick in (min, max))
    return [
        follows(
            f"{_SOURCE}, section not known",
            "After the best remap the best attacker's error is the loss, so the average error ranks no mechanism.",
            apart <= _SAME * loss,
            f"In the {len(summed)} cases summed here (ExPost, exponential and coin) error and loss differ by at "
            f"most {about(apart, 1)} km ({farthest.mechanism}, {farthest.city}).",
        ),
        _entropy(_ABSTRACT, f"{highest}.", averages),
        _entropy(place, says, there) if there else abstain(place, says, SAN_FRANCISCO.request, quote=_MOST_BITS),
        remark(
            f"{_SOURCE}, results of the code",
            "The part of the loss of Laplace noise that the remap takes depends on the length of the noise.",
            low.gain < high.gain and min(published) < max(published),
            f"At a mean length of 1 km it takes {near}; as published "
            f"{percent(published[LEVELS_KM.index(1.0)])}. Here it is from {percent(low.gain)} at "
            f"{low.level_km:g} km ({low.city}) to {percent(high.gain)} at {high.level_km:g} km ({high.city}); in "
            f"the published results from {percent(min(published))} to {percent(max(published))}.",
        ),
        _coin(averages, cities),
        *([_worst_loss(limits)] if limits else []),
        _town(tables.rows(TOWN, TownRow)),
    ]


def _entropy(place: str, says: str, averages: Sequence[Mean]) -> PaperClaim:
    """Judge ExPost's entropy at equal loss, with all others at the ends of their intervals.

    Its reports are spots and remaps move the others' to any point, so a larger entropy contradicts nothing.
    """
    differences: dict[str, list[float]] = {}
    above, below, compared = 0, [], 0
    for city in distinct(averages, "city"):
        rows = where(averages, city=city)
        middle, best, worst = (
            bits_below((mean.mechanism, *_at(mean, end)) for mean in rows) for end in ("middle", "best", "worst")
        )
        for position, less in middle.items():
            mean = rows[position]
            differences.setdefault(mean.mechanism, []).append(less)
            compared += 1
            above += best.get(position, less) > 0
            if worst.get(position, less) < 0:
                below.append((less, mean))
    parts = ", ".join(
        f"{name} {about(min(bits), 2)} to {about(max(bits), 2)}" for name, bits in differences.items()
    )
    evidence = (
        f"It has more entropy, beyond the intervals over seeds, in {above} of {compared} comparisons, and less in "
        f"{len(below)}. The others have less by (bits): {parts}."
    )
    if below:
        less, mean = min(below, key=lambda pair: pair[0])
        evidence += (
            f" {mean.mechanism} at {mean.loss_before_km:g} km in {mean.city} has {about(-less, 2)} bits more. Its "
            "reports are moved to any point of the plane and those of ExPost are spots, so this decides nothing."
        )
    elif above < compared:
        evidence += " The other comparisons lie within the intervals, which decides nothing."
    return illustrates(place, says, above == compared > 0, evidence, quote=_MOST_BITS)


def _at(mean: Mean, end: str) -> tuple[float, float]:
    """Return loss and entropy, in the middle of their intervals or at the ends that are best or worst for it."""
    loss, bits = mean.loss_km, mean.entropy_bits
    if mean.mechanism == EXPOST or end == "middle":
        return loss.value, bits.value
    return (max(loss.lower, 0.0), bits.upper) if end == "best" else (loss.upper, bits.lower)


def _coin(averages: Sequence[Mean], cities: Sequence[CityRow]) -> PaperClaim:
    """Judge that optima of average error differ in entropy: one coin with less than ExPost shows it."""
    words, less_of_all = [], []
    for city in cities:
        rows = where(averages, city=city.city)
        less = bits_below((mean.mechanism, mean.loss_km.value, mean.entropy_bits.value) for mean in rows)
        coins = [(rows[k], bits) for k, bits in less.items() if rows[k].mechanism == COIN]
        less_of_all += [bits for _, bits in coins]
        if coins:
            coin, bits = min(coins, key=lambda pair: abs(pair[0].loss_km.value - city.blind_km / 2))
            words.append(
                f"In {city.city} at a loss of {about(coin.loss_km.value, 2)} km it leaves "
                f"{about(coin.entropy_bits.value, 3)} bits, ExPost {about(coin.entropy_bits.value + bits, 3)}."
            )
    loss, published = PUBLISHED_COIN[1]
    words.append(f"As published at {loss:g} km: {published:g} bits.")
    return illustrates(
        _ABSTRACT,
        "Mechanisms that force as much error as any may leave less entropy: the coin does.",
        max(less_of_all, default=0.0) > 0,
        " ".join(words),
        quote="not all of them offer the same protection when looking at other dimensions of privacy",
    )


def _worst_loss(rows: Sequence[LimitedRow]) -> PaperClaim:
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
        sum(sign * (by[SIMPLEX, loss].entropy_bits - by[INTERIOR, loss].entropy_bits) > 0 for loss in losses)
        for sign in (-1, 1)
    )
    middle = losses[len(losses) // 2]
    kinds = {name: by[name, middle].entropy_bits for name in dict.fromkeys(row.mechanism for row in rows)}
    spread = max(abs(row.error - by[SIMPLEX, row.loss_asked].error) for row in rows)
    return judge(
        f"{_SOURCE}, 5 x 5 cells, section not known",
        "Optima of one program differ: vertices of the simplex method leave less entropy than interior points.",
        less > 0 and more == 0,
        f"On 5 x 5 cells the simplex method leaves less in {less} and more in {more} of {len(losses)} cases, at "
        f"equal error (within {about(spread, 1)}). At a loss of {about(middle, 3)}: "
        + ", ".join(f"{name} {about(bits, 3)} bits" for name, bits in kinds.items())
        + ".",
    )


def board_table(averages: Sequence[Mean], city: str, levels: Sequence[float] = LEVELS_KM) -> str:
    """Return loss after the remap and entropy in Markdown, of one city and as published, by level."""
    by = {(mean.mechanism, mean.level_km): mean for mean in where(averages, city=city)}
    rows = []
    for level in levels:
        line = [by[name, level] for name in _TABLED if (name, level) in by]
        if len(line) == len(_TABLED):
            here = [f"{about(mean.loss_km.value, 3)} / {about(mean.entropy_bits.value, 4)}" for mean in line]
            published = [PUBLISHED[name][LEVELS_KM.index(level)] for name in _TABLED]
            rows.append([f"{level:g}", city, *here])
            rows.append(["", "published", *(f"{loss:.4f} / {bits:.3f}" for loss, bits in published)])
    head = f"| 2 / epsilon (km) | | {' | '.join(_TABLED)} |"
    return markdown_table(head, f"|---|---|{'---|' * len(_TABLED)}", rows).replace("|  |", "| |")
