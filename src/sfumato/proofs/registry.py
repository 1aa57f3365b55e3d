"""Proofs of guarantees that mechanisms state, one for each kind, and their results: docs/proofs/recipes.md."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import starmap
from math import comb
from typing import Any, Final, NoReturn, final, overload

import numpy as np
from numpy.typing import NDArray

from ..core import (
    AnyGuarantee,
    CoordinatePrivacy,
    LocalPrivacy,
    Mechanism,
    MetricPrivacy,
    Randomizer,
    Row,
    ThresholdPrivacy,
    as_named,
    hamming,
    is_known,
)
from ..core.immutable import CompactRepr, assign
from ..errors import InputError, SfumatoError
from ..escaping import plain
from ..mechanisms import (
    Bits,
    GaussianNoise,
    Hashing,
    LaplaceNoise,
    MechanismFamily,
    StaircaseNoise,
    Subset,
    Tupling,
)
from ..mechanisms.planar import CoordinateNoise
from ..rounding import Logarithm, at_most, float_above
from .coordinates import prove_coordinate_privacy, prove_planar_noise
from .family_privacy import FamilyPrivacy, prove_families
from .metric_privacy import prove_metric_privacy
from .vertex_privacy import VertexPrivacy, bound_to

_EXACT: Final = "the exact recipe"
_ANY_TWO: Final = "any two"
_GROUND: Final = "between points on the ground"
_EUCLIDEAN: Final = "euclidean"
_ONE_REPORT: Final = "Several reports of one value are not covered."


@dataclass(frozen=True, slots=True, repr=False)
class ReportBound(CompactRepr):
    """An upper bound on the privacy loss of one report, in numbers and words.

    Attributes:
        epsilon: Per unit; rho where ``measure`` says so.
        unit: The unit of distance, such as ``km``; empty where it has none.
        slack_m: Added to every distance, metres.
        sentence: The bound, in words.
        any_two: Whether it is for any two secrets, however far apart.
        measure: ``epsilon``, or ``rho`` of zero-concentrated privacy.
        scope: The pairs of secrets that it is for, in words; may be empty.
        source: The basis of the proof, in words.
        distance: The kind of distances. Only bounds with equal text here are compared or added.
        middles: Whether distances are between the secrets of each mechanism, such as the middles of its cells.
        confirmed: Whether the distances follow from the secrets; otherwise only the mechanism's maker states them.
        adds_up: Whether k reports of one value together have k times the bound.
    """

    epsilon: float
    unit: str
    slack_m: float
    sentence: str
    any_two: bool = False
    measure: str = "epsilon"
    scope: str = ""
    source: str = "the integers"
    distance: str = ""
    middles: bool = False
    confirmed: bool = True
    adds_up: bool = True

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """Measure, unit, pairs of secrets and distances: bounds that share these may be compared and added."""
        return (self.measure, self.unit, self.scope, self.distance)


@final
@dataclass(frozen=True, slots=True, repr=False, init=False)
class Proved(CompactRepr):
    """A guarantee that is proved of what a mechanism draws from; only `prove` makes one.

    ``upper`` is a proved upper bound on its epsilon, at most the stated one, or on rho for Gaussian noise.
    """

    guarantee: AnyGuarantee
    upper: float
    bound: ReportBound

    def __init__(self) -> None:
        raise TypeError("only sfumato.proofs.prove makes a Proved.")

    def __init_subclass__(cls) -> None:
        raise TypeError("Proved has no subclasses.")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a proof is made again where it is needed, and has no pickle.")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Stated(CompactRepr):
    """A guarantee that a mechanism states and nothing proves.

    ``upper`` is the least epsilon that could be proved, None if there is no proof for this kind of mechanism, and
    ``slack_m`` the least slack, metres.
    """

    guarantee: AnyGuarantee
    upper: float | None = None
    slack_m: float = 0.0


@overload
def prove(randomizer: Randomizer) -> tuple[Proved | Stated, ...]: ...


@overload
def prove(randomizer: Randomizer, guarantee: AnyGuarantee) -> Proved | Stated: ...


def prove(
    randomizer: Randomizer, guarantee: AnyGuarantee | None = None
) -> tuple[Proved | Stated, ...] | Proved | Stated:
    """Return what is proved, and what is not, of the integers or the exact recipe that a mechanism draws from.

    The proof is chosen by exact types. A mechanism of a class outside this package, or with a part of one, has no
    proof: its guarantees remain stated. By default each guarantee is proved that its maker states. Raises
    `InputError` if a guarantee is for other secrets, counts in distances that a file states and nothing confirms,
    or its distances have the name of others.

    Example:
        >>> import sfumato as sf
        >>> (proof,) = prove(sf.mechanisms.randomised_response(sf.Space("ab"), 1.0))
        >>> proof.bound.sentence
        'epsilon 1, hamming: ...'
    """
    subject = _subject(randomizer)
    if guarantee is not None:
        return _prove(subject, guarantee)
    guarantees = subject.guarantees if type(subject) is Mechanism else tuple(randomizer.stated_guarantees)
    return tuple(_prove(subject, promise) for promise in guarantees)


def _subject(randomizer: Any) -> Any:
    """Return the matrix, noise or recipe that a mechanism draws from; None for a mechanism of an unknown kind."""
    if not is_known(randomizer):
        return None
    if type(randomizer) is Tupling:  # a tuple is made from one report of the inner mechanism
        return randomizer.inner
    if not isinstance(randomizer, MechanismFamily):
        return randomizer
    recipe = randomizer.recipe()
    return recipe.mechanism if type(recipe) is Row else recipe


def _prove(subject: Any, guarantee: AnyGuarantee) -> Proved | Stated:
    proof = _PROOFS.get((type(subject), type(guarantee)))
    return Stated(guarantee) if proof is None or not is_known(guarantee) else proof(subject, guarantee)


def _proof(guarantee: AnyGuarantee, upper: float, bound: ReportBound) -> Proved:
    proof = object.__new__(Proved)
    assign(proof, guarantee=guarantee, upper=upper, bound=bound)
    return proof


def _of_noise(noise: CoordinateNoise, guarantee: CoordinatePrivacy) -> Proved | Stated:
    proof = prove_planar_noise(guarantee, noise.noise.rate, noise.step_m, noise.reach_m)
    if not proof.holds:
        return Stated(guarantee, proof.upper, proof.slack_m)
    epsilon, unit, slack = guarantee.epsilon, guarantee.unit, guarantee.slack_m
    bound = ReportBound(epsilon, unit, slack, proof.sentence, source=_EXACT, distance=_GROUND)
    return _proof(guarantee, min(proof.upper, guarantee.epsilon), bound)


def _of_vertices(mechanism: Mechanism, guarantee: VertexPrivacy) -> Proved | Stated:
    proof, promise = prove_coordinate_privacy(mechanism, guarantee), guarantee.promise
    if not proof.holds:
        return Stated(guarantee, proof.upper)
    slack = guarantee.lattice.slack_m
    sentence = promise.lattice_sentence(slack)
    bound = ReportBound(promise.epsilon, promise.unit, slack, sentence, distance=_GROUND)
    return _proof(guarantee, min(proof.upper, promise.epsilon), bound)


def _of_rows(mechanism: Mechanism, guarantee: MetricPrivacy) -> Proved | Stated:
    guarantee.check_distances()
    proof = prove_metric_privacy(mechanism, guarantee)
    if not proof.holds:
        return Stated(guarantee, proof.upper)
    any_two, metric, epsilon = guarantee.for_any_two, guarantee.metric, guarantee.epsilon
    ratio = f": {_times_likely('value', epsilon)}" if any_two else ""
    sentence = f"{guarantee}{ratio}{guarantee.caveat(mechanism.secrets)}."
    confirmed = any_two or guarantee.confirmed_by(mechanism.secrets)
    if not confirmed:  # refuse those that only have the name of others
        as_named(guarantee.distances, mechanism.secrets, mechanism.secrets)
    kind = _ANY_TWO if any_two else _distance(mechanism, guarantee)
    scope = "" if kind in (_ANY_TWO, _EUCLIDEAN) else f"({plain(metric.name)})"
    base = ReportBound(epsilon, metric.unit, 0.0, sentence, any_two, middles=not any_two, confirmed=confirmed)
    bound = replace(base, scope=scope, distance=kind)
    return _proof(guarantee, min(proof.upper, epsilon), bound)


def _of_family(mechanism: Mechanism, guarantee: FamilyPrivacy) -> Proved | Stated:
    (proof,) = prove_families(mechanism, [guarantee])
    if not proof.holds:
        return Stated(guarantee, proof.upper)
    notion, epsilon = guarantee.notion, guarantee.epsilon
    apart = "" if guarantee.distance is None else " and their distances"
    about = f"the distributions{apart} are as its maker states them"
    sentence = f"{guarantee}, for one report; {about}. {notion.sentence(epsilon)} {_ONE_REPORT}"
    bound = ReportBound(epsilon, guarantee.unit, 0.0, sentence, confirmed=False, adds_up=False)
    return _proof(guarantee, min(proof.upper, epsilon), bound)


def _of_any_two_rows(mechanism: Mechanism, guarantee: LocalPrivacy) -> Proved | Stated:
    if guarantee.within is not None or not 0 < guarantee.epsilon < math.inf:
        return Stated(guarantee)
    return _of_rows(mechanism, MetricPrivacy(guarantee.epsilon, hamming(mechanism.secrets)))


def _distance(mechanism: Mechanism, guarantee: MetricPrivacy) -> str:
    """Return a text that is equal for distances of one kind only.

    Distances with a unit that follow from the coordinates of the secrets are of one kind for any secrets. Others
    are so only if the numbers and the secrets are the same.
    """
    metric = guarantee.distances
    hops = isinstance(guarantee, ThresholdPrivacy)
    try:
        of_secrets = mechanism.secrets.metric(metric.name, metric.unit).array if metric.unit else None
    except SfumatoError:  # they give no such distance
        of_secrets = None
    if of_secrets is not None and np.array_equal(of_secrets, metric.array):
        return f"{metric.name}, {guarantee.metric.name}" if hops else metric.name
    mark = hashlib.blake2b(repr(mechanism.secrets.labels).encode("utf-8", "backslashreplace"))
    mark.update(np.ascontiguousarray(guarantee.metric.array).tobytes())
    return f"{guarantee.metric.name} {mark.hexdigest()}"


def _of_categories(upper: Callable[[Any, float], float]) -> Callable[[Any, LocalPrivacy], Proved | Stated]:
    """Return the proof for a recipe on categories, from an upper bound on its epsilon between any two of them."""

    def proof(recipe: Any, guarantee: LocalPrivacy) -> Proved | Stated:
        epsilon = guarantee.epsilon
        if guarantee.within is not None or not 0 < epsilon < math.inf:
            return Stated(guarantee)
        least = upper(recipe, epsilon)
        if not least <= epsilon:
            return Stated(guarantee, least)
        sentence = f"epsilon {at_most(epsilon, 6)}: {_times_likely('category', epsilon)}."
        bound = ReportBound(epsilon, "", 0.0, sentence, any_two=True, source=_EXACT, distance=_ANY_TWO)
        return _proof(guarantee, least, bound)

    return proof


def _of_numbers(upper: Callable[[Any, int], Fraction]) -> Callable[[Any, LocalPrivacy], Proved | Stated]:
    """Return the proof for noise on whole numbers, from an upper bound on its epsilon for a sensitivity."""

    def proof(recipe: Any, guarantee: LocalPrivacy) -> Proved | Stated:
        if guarantee.within is None or not 0 < guarantee.epsilon < math.inf:
            return Stated(guarantee)
        least, step = upper(recipe, guarantee.within), guarantee.within
        if not least <= Fraction(guarantee.epsilon):
            return Stated(guarantee, float_above(least))
        scope = f"for true numbers that differ by at most {step:,}"
        sentence = (
            f"epsilon {at_most(guarantee.epsilon, 6)} {scope}: {_times_likely('number', guarantee.epsilon)}. For "
            f"a difference of k times {step:,} it is k times epsilon."
        )
        bound = ReportBound(guarantee.epsilon, "", 0.0, sentence, scope=scope, source=_EXACT)
        return _proof(guarantee, min(float_above(least), guarantee.epsilon), bound)

    return proof


def _of_gaussian(recipe: GaussianNoise, guarantee: LocalPrivacy) -> Proved | Stated:
    step = guarantee.within
    if step is None or guarantee.epsilon < math.inf:
        return Stated(guarantee)
    rho = float_above(gaussian_rho(recipe.variance, step))
    scope = f"for true numbers that differ by at most {step:,}"
    sentence = (
        f"rho {at_most(rho, 6)} {scope} (zero-concentrated privacy: the Rényi divergence of order a is at "
        f"most a times rho). For a difference of k times {step:,} it is k squared times rho. Gaussian noise "
        "has no pure epsilon."
    )
    return _proof(guarantee, rho, ReportBound(rho, "", 0.0, sentence, measure="rho", scope=scope, source=_EXACT))


def _times_likely(noun: str, epsilon: float) -> str:
    factor, other = f"e^{at_most(epsilon, 6)}", "any other" if noun != "number" else "another such number"
    return f"any report is at most {factor} times more likely from one true {noun} than from {other}"


_PROOFS: Final[dict[tuple[type, type], Callable[[Any, Any], Proved | Stated]]] = {
    (Mechanism, MetricPrivacy): _of_rows,
    (Mechanism, ThresholdPrivacy): _of_rows,
    (Mechanism, VertexPrivacy): _of_vertices,
    (Mechanism, FamilyPrivacy): _of_family,
    (Mechanism, CoordinatePrivacy): lambda mechanism, guarantee: _prove(
        mechanism, *bound_to(mechanism.secrets, (guarantee,))
    ),
    (Mechanism, LocalPrivacy): _of_any_two_rows,
    (CoordinateNoise, CoordinatePrivacy): _of_noise,
    (Bits, LocalPrivacy): _of_categories(lambda recipe, _: bits_epsilon(recipe.bit.weights)),
    (Subset, LocalPrivacy): _of_categories(
        lambda recipe, _: subset_epsilon(recipe.count, recipe.size, *map(int, recipe.coin.weights[0].tolist()))
    ),
    (Hashing, LocalPrivacy): _of_categories(  # the seed is drawn without the secret, and each gives a bucket
        lambda recipe, epsilon: (
            prove_metric_privacy(recipe.response, MetricPrivacy(epsilon, hamming(recipe.response.secrets))).upper
        )
    ),
    (LaplaceNoise, LocalPrivacy): _of_numbers(lambda recipe, step: laplace_epsilon(recipe.scale, step)),
    (StaircaseNoise, LocalPrivacy): _of_numbers(
        lambda recipe, step: staircase_epsilon(recipe.epsilon, recipe.width, recipe.step, step)
    ),
    (GaussianNoise, LocalPrivacy): _of_gaussian,
}
"""The proof of each kind of guarantee, by the exact types of what is drawn from and of the guarantee."""


def laplace_epsilon(scale: Fraction, sensitivity: int) -> Fraction:
    """Return the exact epsilon of noise k with probability proportional to exp(-|k| / scale).

    ``| |o - s| - |o - s'| | <= |s - s'|``, so the exponents differ by at most |s - s'| / scale, with equality for
    a report beyond both. ``sensitivity`` is the largest difference of the two true numbers. Raises `InputError` if
    an argument is not positive.
    """
    _positive(scale=scale, sensitivity=sensitivity)
    return sensitivity / scale


def staircase_epsilon(epsilon: Fraction, width: int, step: int, sensitivity: int) -> Fraction:
    """Return an epsilon of noise k with probability proportional to exp(-epsilon stair(|k|)).

    With |k| = q width + j, the stair is q for j < step and q + 1 beyond. It never falls, and stair(m + width) =
    stair(m) + 1; so for true numbers at most n widths apart it differs by at most n. ``sensitivity`` is the
    largest difference of the two true numbers. Raises `InputError` if an argument is not positive, or the step is
    wider than the stair.
    """
    _positive(epsilon=epsilon, width=width, step=step, sensitivity=sensitivity)
    if step > width:
        raise InputError(f"the step {step} is wider than the stair, {width}.", "use 1 to the stair's width.")
    return -(-sensitivity // width) * epsilon


def gaussian_rho(variance: Fraction, sensitivity: int) -> Fraction:
    """Return the exact rho of noise k with probability proportional to exp(-k**2 / (2 variance)).

    The Renyi divergence of order a of two answers is at most a rho, for every a > 1. ``sensitivity`` is the
    largest difference of the two true numbers. Raises `InputError` if an argument is not positive.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020, theorem 4 (rho is
        epsilon**2 / 2 there, for sigma**2 = sensitivity**2 / epsilon**2).
    """
    _positive(variance=variance, sensitivity=sensitivity)
    return Fraction(sensitivity**2) / (2 * variance)


def bits_epsilon(weights: NDArray[np.generic]) -> float:
    """Return the epsilon of one bit for each category, all drawn independently, rounded up; may be infinite.

    Two categories change two bits, one from the row of 0 to that of 1 and one back. The likelihood ratio is at
    most that of the one bit times that of the other. ``weights`` are the integers (2, 2) of a bit's mechanism.
    """
    off, on = weights.tolist()
    return _logarithm_of(_largest_ratio(zip(on, off, strict=True)), _largest_ratio(zip(off, on, strict=True)))


def subset_epsilon(categories: int, size: int, left_out: int, inside: int) -> float:
    """Return the epsilon, rounded up, of a set that includes the own category or not and is uniform given that.

    Of sets of ``size`` = d out of k ``categories`` one with the own category has the probability ``inside`` / C(k
    - 1, d - 1), and another one ``left_out`` / C(k - 1, d), up to the same factor: both are integer weights.
    Raises `InputError` if there is no such report.
    """
    if not 1 <= size < categories:
        raise InputError(f"subsets of {size} out of {categories} categories have no guarantee.", "use 1 to k - 1.")
    hits, misses = inside * comb(categories - 1, size), left_out * comb(categories - 1, size - 1)
    return _logarithm_of(_largest_ratio([(hits, misses), (misses, hits)]))


def _largest_ratio(weights: Iterable[tuple[int, int]]) -> Fraction | None:
    """Return the largest ratio of pairs of weights, at least 1; None if one is infinite."""
    possible = [pair for pair in weights if pair[0]]
    return max(Fraction(1), *starmap(Fraction, possible)) if all(below for _, below in possible) else None


def _logarithm_of(*factors: Fraction | None) -> float:
    known = [factor for factor in factors if factor is not None]
    return Logarithm(math.prod(known, start=Fraction(1))) if len(known) == len(factors) else math.inf


def _positive(**values: Fraction | int) -> None:
    for name, value in values.items():
        if not value > 0:
            raise InputError(f"the {name} is {value}.", "use a positive number.")
