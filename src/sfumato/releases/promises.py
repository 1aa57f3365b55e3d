"""The promise of a release, proved again before anything is drawn, and what reports of one person add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ..core import CoordinatePrivacy, Mechanism, MetricPrivacy
from ..core.frozen import Short
from ..errors import InputError
from ..escaping import plain
from ..evidence import VertexPrivacy, prove_coordinate_privacy, prove_metric_privacy, prove_planar_noise
from ..mechanisms.family import LISTABLE, MechanismFamily
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from ..rounding import amount_at_most, at_most, counted, up

_SHOWN: Final = 3  # mechanisms in sentences


@dataclass(frozen=True, slots=True, repr=False)
class ProvedPromise(Short):
    """A promise of one report, proved from the mechanism's integers or its recipe.

    Attributes:
        epsilon: Per unit.
        unit: What epsilon counts per, such as ``km``; empty where it has none.
        slack_m: What is added to every distance, metres.
        sentence: The promise, in words.
    """

    epsilon: float
    unit: str
    slack_m: float
    sentence: str


@dataclass(frozen=True, slots=True, repr=False)
class People(Short):
    """The reports that the source asks of one person.

    Attributes:
        rows: Rows with a report at most.
        most: The largest number of rows of one user; None where there is no column of users.
        users: How many users there are; None where it is not known.
        exact: Whether both were counted, or are at most so many.
        nameless: Rows that name no user.
    """

    rows: int
    most: int | None = None
    users: int | None = None
    exact: bool = True
    nameless: int = 0


def proved(drawable: Any) -> tuple[ProvedPromise, ...]:
    """Return what a mechanism promises of one report, each promise proved anew.

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
        mechanism = _listed(drawable)
        return () if mechanism is None else proved(mechanism)
    return tuple(_of_mechanism(drawable, each) for each in drawable.guarantees)


def sentences(promises: Mapping[str, tuple[ProvedPromise, ...]], people: People) -> tuple[str, ...]:
    """Return what a release promises, and what it costs one person, in sentences.

    Args:
        promises: The proved promises of each mechanism, by name.
        people: How many reports one person makes.
    """
    said = []
    shown = [(name, each) for name, found in promises.items() for each in found]
    for name, each in shown[:_SHOWN]:
        said.append(f"Proved from the integers{f' of {plain(name)!r}' if name else ''}: {each.sentence}")
    if len(shown) > _SHOWN:
        said.append(f"Proved likewise: {len(shown) - _SHOWN:,} more promises of the other mechanisms.")
    bare = [name for name, found in promises.items() if not found]
    if bare:
        whose = "The mechanism" if len(promises) == 1 else f"{len(bare):,} of the mechanisms"
        said.append(
            f"{whose} states no promise that can be proved from integers here: nothing is promised of reports."
        )
    worst = max((each for _, each in shown), key=lambda each: each.epsilon, default=None)
    return (*said, *_of_people(worst, people))


def _of_people(worst: ProvedPromise | None, people: People) -> tuple[str, ...]:
    if people.most is None:
        return (
            "No column names the users, so nobody's reports can be counted: k reports of one person add up to "
            "k times "
            "epsilon.",
        )
    at_most_ = "" if people.exact else "at most "
    most, whose = people.most, "" if people.users is None else f" ({people.users:,} users)"
    said = f"{most:,} {'report' if most == 1 else 'reports'} of one person"
    if worst is not None:
        total = at_most(_above(Fraction(worst.epsilon) * most), 6) + (
            f"/{plain(worst.unit)}" if worst.unit else ""
        )
        slack = f", and {most:,} times the slack" if worst.slack_m and most > 1 else ""
        said += f": {most:,} times epsilon, {total}{slack}" if most > 1 else f": epsilon once, {total}"
    found = [f"The source asks for {at_most_}{said}{whose}."]
    if people.nameless:
        rows, names = counted(people.nameless, "row"), "names" if people.nameless == 1 else "name"
        found.append(f"{rows} {names} no user: each is counted as another person's.")
    return tuple(found)


def _above(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else up(nearest)


def _listed(family: MechanismFamily) -> Mechanism | None:
    try:
        mechanism = family.mechanism()
    except InputError:  # too many reports to list
        return None
    return mechanism if mechanism.weights.size <= LISTABLE else None


def _of_noise(noise: CoordinateNoise) -> ProvedPromise:
    promise = noise.promise
    proof = prove_planar_noise(promise, noise.noise.rate, noise.step_m, noise.reach_m)
    if not proof.holds:
        raise _broken(str(promise), proof.upper)
    reach = f"within {amount_at_most(noise.reach_m, 'm')} of the centre"
    return ProvedPromise(promise.epsilon, promise.unit, promise.slack_m, f"{promise.sentence(reach)}.")


def _of_mechanism(mechanism: Mechanism, guarantee: MetricPrivacy) -> ProvedPromise:
    if isinstance(guarantee, VertexPrivacy):
        if not prove_coordinate_privacy(mechanism, guarantee).holds:
            raise _broken(str(guarantee), prove_coordinate_privacy(mechanism, guarantee).upper)
        promise: CoordinatePrivacy = guarantee.promise
        slack = guarantee.lattice.slack_m
        said = f"{promise.sentence('that are served')} (with {amount_at_most(slack, 'm')} added for snapping)."
        return ProvedPromise(promise.epsilon, promise.unit, slack, said)
    proof = prove_metric_privacy(mechanism, guarantee)
    if not proof.holds:
        raise _broken(str(guarantee), proof.upper)
    return ProvedPromise(guarantee.epsilon, guarantee.metric.unit, 0.0, f"{guarantee}.")


def _broken(promise: str, upper: float) -> InputError:
    return InputError(
        f"the mechanism promises {promise}, but its integers give an epsilon of up to {at_most(upper, 9)}: "
        "nothing "
        "was drawn.",
        "design it again, or promise what it keeps.",
    )
