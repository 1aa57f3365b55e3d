"""Promises of one report, proved again from a mechanism's integers or from its recipe before anything is drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ..core import CoordinatePrivacy, Mechanism, MetricPrivacy, Row, ThresholdPrivacy
from ..core.frozen import Short
from ..errors import InputError, SfumatoError
from ..escaping import plain
from ..evidence import (
    VertexPrivacy,
    bits_epsilon,
    gaussian_rho,
    laplace_epsilon,
    prove_coordinate_privacy,
    prove_metric_privacy,
    prove_planar_noise,
    staircase_epsilon,
    subset_epsilon,
)
from ..mechanisms import Bits, GaussianNoise, Hashed, LaplaceNoise, Noise, StaircaseNoise, Subset
from ..mechanisms.family import MechanismFamily
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from ..rounding import amount_at_most, at_most, exactly, float_above

_EXACT: Final = "the exact recipe"
_ANY_TWO: Final = "any two"
_GROUND: Final = "between points on the ground"
_EUCLIDEAN: Final = "euclidean"


@dataclass(frozen=True, slots=True, repr=False)
class ProvedPromise(Short):
    """A promise of one report, proved from the mechanism's integers or its recipe.

    Attributes:
        epsilon: Per unit; rho where ``measure`` says so.
        unit: What epsilon counts per, such as ``km``; empty where it has none.
        slack_m: What is added to every distance, metres.
        sentence: The promise, in words.
        any_two: Whether it is for any two secrets, however far apart.
        measure: ``epsilon``, or ``rho`` of zero-concentrated privacy.
        whom: The pairs of secrets that it is for, in words; empty where that is said elsewhere.
        source: What it was proved from, in words.
        distance: What the distances are, in words and marks: two promises with one text here speak of distances of
            one kind, and only such ones are compared or added.
        middles: Whether they are those of the secrets of each mechanism, such as the middles of its cells.
        confirmed: Whether the distances follow from the secrets; otherwise only the mechanism's maker states them.
    """

    epsilon: float
    unit: str
    slack_m: float
    sentence: str
    any_two: bool = False
    measure: str = "epsilon"
    whom: str = ""
    source: str = "the integers"
    distance: str = ""
    middles: bool = False
    confirmed: bool = True

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """Measure, unit, pairs of secrets and distances: promises that share these may be compared and added."""
        return (self.measure, self.unit, self.whom, self.distance)


def proved(drawable: Any) -> tuple[ProvedPromise, ...]:
    """Return what a mechanism promises of one report, each promise proved anew.

    What is proved is what is drawn from: the integers of a matrix, or the parameters of a recipe.

    Args:
        drawable: A mechanism, tupling, noise for coordinates or family.

    Raises:
        InputError: If a promise does not hold.
    """
    if isinstance(drawable, CoordinateNoise):
        return (_of_noise(drawable),)
    if isinstance(drawable, Tupling):
        return proved(drawable.inner)
    if isinstance(drawable, MechanismFamily):
        return _of_family(drawable)
    return tuple(_of_mechanism(drawable, each) for each in drawable.guarantees)


def _of_family(family: MechanismFamily) -> tuple[ProvedPromise, ...]:
    recipe = family.recipe()
    if isinstance(recipe, Row):
        return proved(recipe.mechanism)
    if isinstance(family, Noise):
        return _of_integer_noise(family, recipe)
    upper = _of_categories(recipe)
    if upper is None:
        return ()
    if not upper <= family.epsilon:
        raise _broken(f"epsilon {exactly(family.epsilon)}", upper)
    said = f"epsilon {at_most(family.epsilon, 6)}: {_likelier('category', family.epsilon)}."
    return (ProvedPromise(family.epsilon, "", 0.0, said, any_two=True, source=_EXACT, distance=_ANY_TWO),)


def _of_categories(recipe: Any) -> float | None:
    """Return an upper bound of the epsilon of a recipe on categories; None for one that is not known here."""
    if isinstance(recipe, Bits):
        return bits_epsilon(recipe.bit.weights)
    if isinstance(recipe, Subset):
        return subset_epsilon(recipe.count, recipe.size, *map(int, recipe.coin.weights[0].tolist()))
    if isinstance(recipe, Hashed):  # the seed is drawn without the secret, and each seed gives a bucket
        promised = recipe.response.guarantees
        return max((prove_metric_privacy(recipe.response, each).upper for each in promised), default=None)
    return None


def _of_integer_noise(family: Noise, recipe: Any) -> tuple[ProvedPromise, ...]:
    step = family.sensitivity
    whom = f"for true numbers that differ by at most {step:,}"
    if isinstance(recipe, GaussianNoise):
        rho = gaussian_rho(recipe.variance, step)
        bound = float_above(rho)
        said = (
            f"rho {at_most(bound, 6)} {whom} (zero-concentrated privacy: the Rényi divergence of order a is at "
            f"most a times rho). For a difference of k times {step:,} it is k squared times rho. Gaussian noise "
            "has no pure epsilon."
        )
        return (ProvedPromise(bound, "", 0.0, said, measure="rho", whom=whom, source=_EXACT),)
    known: dict[type, Callable[[], Fraction]] = {
        LaplaceNoise: lambda: laplace_epsilon(recipe.scale, step),
        StaircaseNoise: lambda: staircase_epsilon(recipe.epsilon, recipe.width, recipe.step, step),
    }
    if type(recipe) not in known:
        return ()
    upper = known[type(recipe)]()
    if not upper <= Fraction(family.epsilon):
        raise _broken(f"epsilon {exactly(family.epsilon)}", float_above(upper))
    said = (
        f"epsilon {at_most(family.epsilon, 6)} {whom}: {_likelier('number', family.epsilon)}. For a difference "
        f"of k times {step:,} it is k times epsilon."
    )
    return (ProvedPromise(family.epsilon, "", 0.0, said, whom=whom, source=_EXACT),)


def _likelier(what: str, epsilon: float) -> str:
    other = "any other" if what != "number" else "another such number"
    often = f"at most e^{at_most(epsilon, 6)} times likelier"
    return f"whatever is reported is {often} from one true {what} than from {other}"


def _of_noise(noise: CoordinateNoise) -> ProvedPromise:
    promise = noise.promise
    proof = prove_planar_noise(promise, noise.noise.rate, noise.step_m, noise.reach_m)
    if not proof.holds:
        raise _broken(str(promise), proof.upper)
    reach = f"within {amount_at_most(noise.reach_m, 'm')} of the centre"
    said = f"{promise.sentence(reach)}."
    return ProvedPromise(promise.epsilon, promise.unit, promise.slack_m, said, distance=_GROUND)


def _of_mechanism(mechanism: Mechanism, guarantee: MetricPrivacy) -> ProvedPromise:
    if isinstance(guarantee, VertexPrivacy):
        if not prove_coordinate_privacy(mechanism, guarantee).holds:
            raise _broken(str(guarantee), prove_coordinate_privacy(mechanism, guarantee).upper)
        promise: CoordinatePrivacy = guarantee.promise
        slack = guarantee.lattice.slack_m
        said = f"{promise.sentence('that are served')} (with {amount_at_most(slack, 'm')} added for snapping)."
        return ProvedPromise(promise.epsilon, promise.unit, slack, said, distance=_GROUND)
    guarantee.check_distances()
    proof = prove_metric_privacy(mechanism, guarantee)
    if not proof.holds:
        raise _broken(str(guarantee), proof.upper)
    any_two = guarantee.for_any_two
    likelier = f": {_likelier('value', guarantee.epsilon)}" if any_two else ""
    said = f"{guarantee}{likelier}{guarantee.caveat(mechanism.secrets)}."
    unit = guarantee.metric.unit
    if any_two:
        return ProvedPromise(guarantee.epsilon, unit, 0.0, said, any_two, distance=_ANY_TWO)
    distance, whom = _distance(mechanism, guarantee), f"({plain(guarantee.metric.name)})"
    whom = "" if distance == _EUCLIDEAN else whom
    sure = guarantee.confirmed_by(mechanism.secrets)
    return ProvedPromise(
        guarantee.epsilon, unit, 0.0, said, whom=whom, distance=distance, middles=True, confirmed=sure
    )


def _distance(mechanism: Mechanism, guarantee: MetricPrivacy) -> str:
    """Return what tells the distances of a promise from those of another.

    A distance with a unit, which the coordinates of the secrets give, is of one kind whatever the secrets are:
    that of the middles of cells or bins can differ between two mechanisms, and their sum is for the largest. Of
    others, only one with the same numbers on the same secrets is of the same kind.
    """
    metric = guarantee.distances
    hops = isinstance(guarantee, ThresholdPrivacy)
    try:
        given = bool(metric.unit) and np.array_equal(
            mechanism.secrets.metric(metric.name, metric.unit).array, metric.array
        )
    except SfumatoError:  # they give no such distance
        given = False
    if given:
        return f"{metric.name}, {guarantee.metric.name}" if hops else metric.name
    mark = hashlib.blake2b(repr(mechanism.secrets.labels).encode("utf-8", "backslashreplace"))
    mark.update(np.ascontiguousarray(guarantee.metric.array).tobytes())
    return f"{guarantee.metric.name} {mark.hexdigest()}"


def _broken(promise: str, upper: float) -> InputError:
    return InputError(
        f"the mechanism promises {promise}, but its integers give an epsilon of up to {at_most(upper, 9)}: "
        "nothing was drawn.",
        "design it again, or promise what it keeps.",
    )
