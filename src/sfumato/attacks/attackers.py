"""The attack of the command line: all attackers of one report, what they find, and the leakage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from ..core import Bracket, Mechanism, MechanismWithPrior, Metric, Prior, Randomizer, Side, Space, matrix_of
from ..core.immutable import CompactRepr, load_method
from ..core.naming import name_phrase
from ..errors import InputError, argument, python
from ..geo import Grid, Places, Visits
from ..leakage import (
    conditional_entropy_bits,
    min_entropy_capacity_bits,
    min_entropy_leakage_bits,
    mutual_information_bits,
    shannon_capacity,
)
from ..rounding import about, at_least, at_most, percent, percent_at_most
from .classifiers import Examples, GradientBoosting, NearestNeighbours, RandomForest, learn_attack
from .continuous_attack import PlaceAttack, PlaceNoise, chance_within, true_place
from .known_prior import Attack, Goals, bayes, goals, main_place_information, silence
from .known_prior import informed_attack as best_informed
from .known_prior import misinformed_attack as best_misinformed
from .prior_free import prior_free, unweighted_attack

_EXAMPLES: Final = 20_000
_ROUNDS: Final = 20  # of boosting, at most
_TREES: Final = 400  # about as many in all
_MAIN: Final = 2  # secrets of highest prior that are main ones, such as home and work
_CELLS: Final = 100  # over visits, where noise has neither a prior nor a table
_BLIND: Final = "no report"


@runtime_checkable
class NoiseOnCells(Protocol):
    """Noise for coordinates seen on cells, such as `sfumato.mechanisms.planar.Coarsening`."""

    @property
    def noise(self) -> PlaceNoise:
        """The noise."""

    @property
    def mechanism(self) -> Mechanism:
        """Its probabilities from cells to cells."""


class Attacker(NamedTuple):
    """One attacker of a table: their name, their attack, and the side of their errors."""

    name: str
    attack: Attack
    side: Side = Side.AT_LEAST

    def cells(self) -> tuple[str, ...]:
        """Return name, expected error, error at the worst secret and hits, rounded to the safe side."""
        attack, side = self.attack, self.side
        hits = Side.ESTIMATE if side is Side.ESTIMATE else Side.AT_MOST
        return (
            self.name,
            side.amount(attack.error, attack.unit),
            side.amount(attack.worst_case_error, attack.unit),
            "" if attack.hit_rate is None else hits.percent(attack.hit_rate),
        )


class AttackTable(NamedTuple):
    """A table in words."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttackResult(CompactRepr):
    """Errors and hits of all attackers who see one report.

    Attributes:
        mechanism: The attacked mechanism; of noise for coordinates its probabilities from cells to cells.
        prior: The true prior, by which errors and hits are averaged.
        metric: The distance of errors, in words.
        goals: The best attacks for both goals, with and without the report.
        attackers: All attackers, from the one without a report to the misinformed one.
        sharper: Attackers where the true prior is sharper than the stated one; none where this was not requested.
        sharper_share: The share of all visits that moved.
        place: The best attacker who guesses the true point of a visit; None without visits.
        within: How often that attacker's guess is within the radius, with and without a report; None without one.
        learned: The hit rates of attackers who learned from simulated reports, by name.
    """

    mechanism: Mechanism
    prior: Prior
    metric: str
    goals: Goals
    attackers: tuple[Attacker, ...]
    sharper: tuple[Attacker, ...]
    sharper_share: float | None
    place: PlaceAttack | None
    within: tuple[Bracket, Bracket] | None
    learned: dict[str, float]

    def __repr__(self) -> str:
        return f"AttackResult of {len(self.attackers)} attackers; the best: {self.goals.near!r}"

    def tables(self) -> Iterator[AttackTable]:
        """Yield the tables that ``sfumato attack`` prints: attackers, leakage, and those that learned."""
        headings = ("attacker", "expected error", "error at the worst secret", "finds the secret")
        title = f"Attacks (errors in {self.metric}; errors and hits under the prior)"
        yield AttackTable(title, headings, tuple(attacker.cells() for attacker in self.attackers))
        if self.sharper_share is not None:
            share = percent(self.sharper_share)
            title = f"If {share} of all visits moved to the two most probable (errors and hits under that)"
            yield AttackTable(title, headings, tuple(attacker.cells() for attacker in self.sharper))
        mechanism, prior, most = self.mechanism, self.prior, percent_at_most(self.goals.hit_rate)
        capacity = shannon_capacity(mechanism).bits
        rows = {
            "finds the secret with one guess, without the report": percent(self.goals.blind_hit_rate),
            "finds the secret with one guess, with it": most,
            "min-entropy leakage": f"{at_most(min_entropy_leakage_bits(mechanism, prior))} bits",
            "min-entropy capacity (over all priors)": f"{at_most(min_entropy_capacity_bits(mechanism))} bits",
            "entropy of the prior": f"{about(prior.entropy_bits)} bits",
            "mutual information": f"{at_most(mutual_information_bits(mechanism, prior))} bits",
            "remaining entropy": f"{at_least(conditional_entropy_bits(mechanism, prior))} bits",
            "Shannon capacity": f"{at_least(capacity.lower)} to {at_most(capacity.upper)} bits",
        }
        yield AttackTable("Leakage", ("", ""), tuple(rows.items()))
        if self.learned:
            rates = {name: percent(rate) for name, rate in self.learned.items()}
            rates["knows mechanism and prior (the most possible)"] = most
            title = f"Learned from {_EXAMPLES // 2:,} simulated reports, judged on as many"
            yield AttackTable(title, ("attacker", "finds the secret"), tuple(rates.items()))


def attack(
    mechanism: Randomizer | MechanismWithPrior | NoiseOnCells,
    prior: Prior | None = None,
    *,
    metric: Metric | None = None,
    visits: Visits | None = None,
    within: float | str | None = None,
    informed: float = 0.5,
    misinformed: float = 0.5,
    sharper: float | None = None,
    learned: bool = False,
) -> AttackResult:
    """Return what every attacker of ``sfumato attack`` finds from one report.

    Raises `InputError` if there is no prior, a share is not between 0 and 1, or sizes do not fit. Raises
    `DataError` if no visit is inside. Raises `SolverError` if the attack without a prior is not solved.

    Args:
        mechanism: A mechanism, a design, or the content of a mechanism file. Noise for coordinates is seen on
            cells: those of the prior, else about 100 over the places of its table or over the visits.
        prior: The true prior; by default the one of the visits, else the one of the design or file.
        metric: The distance of errors; by default Euclidean, or Hamming where secrets have no coordinates.
        visits: Where people are: the best attacker's error from their true points is then part of the result.
        within: A radius such as ``"500 m"``, for how often that attacker's guess is so near; not for noise.
        informed: How often the informed attacker learns whether the secret is one of the two most probable.
        misinformed: How much of their belief the misinformed attacker wrongly moves to the two most probable
            secrets.
        sharper: Attack also as if this share of all visits moved to the two most probable secrets: with and
            without the attacker knowing it.
        learned: Whether to try also attackers who learn from simulated reports (extra ``learn``).

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> sf.attack(coin, sf.Prior.uniform(coin.secrets)).goals.hit_rate
        0.75
    """
    for name, share in {"informed": informed, "misinformed": misinformed, "sharper": sharper}.items():
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{argument(name, share)} is not between 0 and 1.", f"use {argument(name, 0.5)}.")
    channel, noise, design_prior = _read_channel(mechanism, prior, visits)
    if prior is None:
        prior = design_prior if visits is None else Prior.from_visits(_places(channel.secrets), visits)
    if prior is None:
        raise InputError("there is no prior.", python("pass prior=, or visits= of places."))
    distance = _metric(channel.secrets) if metric is None else metric
    place = None if visits is None else true_place(channel if noise is None else noise, visits, unit="m")
    near = None
    if within is not None:
        if visits is None or noise is not None:
            why = "there are no visits" if visits is None else "noise has no proved chance to be near"
            raise InputError(f"{argument('within')} was given, but {why}.", "leave it out.")
        near = (chance_within(channel, visits, within), chance_within(silence(prior), visits, within))
    best = goals(channel, prior, distance)
    main = min(_MAIN, len(prior))
    information = main_place_information(prior, informed, places=main)
    learns = f"learns in {percent(informed)} of cases whether it is one of the two most probable"
    mistaken = f"overconfident by {percent(misinformed)} of the two most probable"
    overconfident = prior.sharpen(misinformed, places=main)
    runs = (bayes, unweighted_attack, prior_free)
    attacks = (best.near, best.hit, *(attack(channel, prior, distance) for attack in runs))
    attackers = (
        Attacker(f"{_BLIND}, {best.near_blind.description}", best.near_blind, Side.ESTIMATE),
        Attacker(f"{_BLIND}, {best.hit_blind.description}", best.hit_blind, Side.ESTIMATE),
        *(Attacker(f"{outcome.name}: {outcome.description}", outcome) for outcome in attacks),
        Attacker(f"informed: {learns}", best_informed(channel, prior, distance, information)),
        Attacker(f"misinformed: {mistaken}", best_misinformed(channel, prior, distance, overconfident)),
    )
    return AttackResult(
        channel,
        prior,
        name_phrase(distance.name, "distance"),
        best,
        attackers,
        () if sharper is None else _sharper(channel, prior, distance, sharper),
        sharper,
        place,
        near,
        _hit_rates(channel, prior) if learned else {},
    )


def _read_channel(
    mechanism: Randomizer | MechanismWithPrior | NoiseOnCells, prior: Prior | None, visits: Visits | None
) -> tuple[Mechanism, PlaceNoise | None, Prior | None]:
    """Return the matrix that is attacked, the noise where it is that of noise, and the stated prior."""
    design_prior: Prior | None = None
    target: Any = mechanism
    if not isinstance(target, Randomizer) and isinstance(target, MechanismWithPrior):
        target, design_prior = target.mechanism, target.prior
    if isinstance(target, PlaceNoise):
        believed = design_prior if prior is None else prior
        cells = None if believed is None else believed.space
        if cells is None and visits is not None and target.remap is None:
            region = visits.region(trim=0.02)
            cells = Grid.covering(visits, shape=region.shape_of(_CELLS), region=region)
        target = load_method("coarsen")(target, cells)
    if isinstance(target, Randomizer):
        return matrix_of(target), None, design_prior
    return target.mechanism, target.noise, design_prior


def _places(space: Space) -> Places:
    if not isinstance(space, Places):
        raise InputError("the secrets are not places, so visits give no prior.", python("pass prior= instead."))
    return space


def _metric(space: Space) -> Metric:
    if isinstance(space, Places):
        return space.metric("euclidean", unit="km")
    return space.metric("hamming" if space.coordinates is None else "euclidean")


def _sharper(mechanism: Mechanism, prior: Prior, metric: Metric, share: float) -> tuple[Attacker, ...]:
    truth = prior.sharpen(share, places=min(_MAIN, len(prior)))
    best = goals(mechanism, truth, metric)
    return (
        Attacker(f"{_BLIND}, knows this", best.near_blind, Side.ESTIMATE),
        Attacker("informed: knows this, smallest error", best.near),
        Attacker("as the design expects: believes the prior", best_misinformed(mechanism, truth, metric, prior)),
    )


def _hit_rates(mechanism: Mechanism, prior: Prior) -> dict[str, float]:
    examples = Examples.of_mechanism(mechanism, prior, _EXAMPLES, seed=1)
    # Boosting grows a tree for each secret in each round, and takes minutes where both are many.
    boosting = GradientBoosting(rounds=max(2, min(_ROUNDS, _TREES // len(prior))))
    rules = (NearestNeighbours(), RandomForest(), boosting)
    return {rule.name: learn_attack(examples, rule, seed=1).hit_rate for rule in rules}
