"""Test vectors of the file format: a small mechanism file of each kind, and the numbers in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np

import sfumato as sf
from sfumato.core import JointSpace, NumberBins
from sfumato.files import MechanismFile
from sfumato.files.archive import encoded_label
from sfumato.geo import ChosenPlaces, Hexagons, Lattice, Projection
from sfumato.mechanisms.planar import CoordinateNoise, PlaneRemap
from sfumato.mechanisms.tupling import TuplePrivacy, Tupling
from sfumato.proofs import Candidates, LinearConstraint, Multipliers, Optimality, PlaceDistortion

PLANE: Final = Projection(48.86, 2.34)
LN3: Final = (1.0986122886681096, 1.0986122886681098)  # the floats next to the logarithm of 3
COIN: Final = ((0.75, 0.25), (0.25, 0.75))


def _coin() -> MechanismFile:
    return MechanismFile(sf.Mechanism(COIN))


def _promised(epsilon: float) -> MechanismFile:
    space = sf.Space(["yes", "no"])
    response = sf.Mechanism(COIN, space)
    return MechanismFile(response, guarantees=[sf.MetricPrivacy(epsilon, sf.hamming(space))])


def _fine() -> MechanismFile:
    rare = 2.0**-40
    return MechanismFile(
        sf.Mechanism([[1 - 3 * rare, 3 * rare], [1 - rare, rare]], None, sf.Space(["none", "one"]))
    )


def _labels() -> MechanismFile:
    sets = (frozenset({"b", "a"}), frozenset({frozenset(), ("a", 1)}))
    space = sf.Space([None, True, 0, 2**60, -0.5, 1e300, math.inf, math.nan, "é\n", ("a", (1, 2.0)), *sets])
    rows = [[0.5, 0.5], [0.625, 0.375]] * 6
    return MechanismFile(sf.Mechanism(rows, space), guarantees=[sf.MetricPrivacy(0.5, sf.hamming(space))])


def _places() -> MechanismFile:
    places = sf.Space(["home", "work", "shop"], [[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], unit="km")
    groups = places.group_labels([["home", "work"], ["shop"]])
    metric = places.metric("euclidean")
    apart = sf.Metric([[0, 3, np.inf], [3, 0, np.inf], [np.inf, np.inf, 0]], "km", name="by boat")
    return MechanismFile(
        sf.Mechanism([[0.5, 0.5], [0.375, 0.625], [0.25, 0.75]], places, groups),
        sf.Prior(places, [0.25, 0.75, 0.0]),
        sf.loss(places, groups, "euclidean", "m"),
        [
            sf.MetricPrivacy(0.2, metric),
            sf.MetricPrivacy(0.1 + 0.2, apart),
            sf.ThresholdPrivacy(0.7, metric, "4 km"),
            sf.DistortionPrivacy("0.5 km", metric),
        ],
        {"certificate": {"epsilon_upper": 0.2, "worst": ["home", 1]}, "log": ["3 rounds", None, True]},
    )


def _grid() -> MechanismFile:
    grid = sf.Grid(3, 2, (1000.0, 1000.0), (-1500.0, -1000.0), PLANE.crs)
    rows = [[0.5, 0.25, 0.25], [0.375, 0.375, 0.25], [0.25, 0.5, 0.25]]
    mechanism = sf.Mechanism([*rows, *rows], grid, ChosenPlaces(grid, [0, 2, 5]))
    return MechanismFile(mechanism, guarantees=[sf.MetricPrivacy(0.5, grid.metric("euclidean", "km"))])


def _hexagons() -> MechanismFile:
    cells = ["881fb46623fffff", "881fb46625fffff", "881fb46627fffff"]
    return MechanismFile(sf.Mechanism(np.full((3, 2), 0.5), Hexagons(cells, PLANE.crs)))


def _lattice() -> MechanismFile:
    """A triangle of three rows, whose visits were at two places."""
    vertices = [(a, b) for b in range(3) for a in range(3 - b)]
    lattice = Lattice(vertices, 1000.0, (-1000.0, -500.0), PLANE.crs, "triangular")
    centre = [[48.86, 2.34], [48.861, 2.341]]
    error = PlaceDistortion.of_places(
        0.01, lattice, np.array(centre), np.array([2, 1]), np.array([[0.0, 0.0], [50.0, 50.0]]), "km"
    )
    prior = sf.Prior(lattice, [0.25, 0.25, 0.125, 0.125, 0.125, 0.125])
    few = sf.Mechanism(np.full((6, 2), 0.5), lattice, ChosenPlaces(lattice, [1, 4]))
    return MechanismFile(few, prior, guarantees=[sf.CoordinatePrivacy("0.9/km"), error])


def _square() -> MechanismFile:
    lattice = Lattice([(a, b) for b in (-1, 0, 1) for a in range(3)], 250.0, (0.0, 0.0), PLANE.crs)
    rows = [[0.5, 0.5], [0.4375, 0.5625], [0.5, 0.5]] * 3
    return MechanismFile(sf.Mechanism(rows, lattice), guarantees=[sf.CoordinatePrivacy("2/km")])


def _joint() -> MechanismFile:
    joint = JointSpace({"diagnosis": sf.Space(["flu", "none"]), "age": NumberBins(18, 5, 2, "year")})
    rows = [[0.4375, 0.1875, 0.1875, 0.1875]]
    rows += [[0.1875 if o != s else 0.4375 for o in range(4)] for s in range(1, 4)]
    return MechanismFile(sf.Mechanism(rows, joint), guarantees=[sf.MetricPrivacy(1.0, sf.hamming(joint))])


def _tuples() -> MechanismFile:
    return MechanismFile(Tupling(sf.Mechanism(COIN), 3, [0.5, 0.5]), guarantees=[TuplePrivacy(1.2, 0.01)])


def _priced() -> MechanismFile:
    """Randomised response with the prices that prove it optimal, also among a third report."""
    space, more = sf.Space("ab"), sf.Space("abc")
    given = sf.Mechanism(COIN, space)
    price = (np.array([0, 1]), np.array([1, 0]), np.array([0, 1]), np.array([0.125, 0.125]), np.zeros(2))
    return MechanismFile(
        given,
        sf.Prior.uniform(space),
        sf.hamming(space),
        [sf.MetricPrivacy(1.1, sf.hamming(space))],
        optimality=Optimality(
            "expected", Multipliers(*price), candidates=Candidates(more, sf.loss(space, more, "hamming"))
        ),
    )


def _constrained() -> MechanismFile:
    """The truth, but for a limit on one report, with the price of this limit; two attackers have no price."""
    space = sf.Space("ab")
    none = np.empty(0, dtype=np.intp)
    nothing, walk = np.zeros((2, 2)), sf.Loss(np.array([[0.0, 2.0], [2.0, 0.0]]), "km", name="on foot")
    prices = Multipliers(none, none, none, np.empty(0), np.empty(0), nothing)
    return MechanismFile(
        sf.Mechanism([[1.0, 0.0], [0.5, 0.5]], space),
        sf.Prior.uniform(space),
        sf.hamming(space),
        [sf.DistortionPrivacy(0.125, sf.hamming(space)), sf.DistortionPrivacy("0.25 km", walk)],
        optimality=Optimality("expected", prices, further=(nothing,), limits=np.array([0.5])),
        constraints=LinearConstraint([[0, 0], [0, 1]], 0.5, name="b told as b"),
    )


def _noise() -> MechanismFile:
    frames = np.array([[-1, -1, 1, 2, 2], [-2, -2, 1, 4, 4]])
    targets = np.column_stack([np.arange(20.0), -np.arange(20.0) / 2])
    noise = CoordinateNoise("1/km", "2 m", PLANE, "30 km", PlaneRemap.from_arrays(frames, targets))
    cells = sf.Grid(2, 1, (1000.0, 500.0), (-1000.0, -250.0), PLANE.crs)
    return MechanismFile(noise, sf.Prior(cells, [0.25, 0.75]), claims={"loss": 1.5}, source="20 visits of nobody")


KINDS: Final[Mapping[str, Callable[[], MechanismFile]]] = {
    "coin": _coin,
    "response": lambda: _promised(LN3[1]),
    "unproved": lambda: _promised(LN3[0]),
    "fine": _fine,
    "labels": _labels,
    "places": _places,
    "grid": _grid,
    "hexagons": _hexagons,
    "lattice": _lattice,
    "square": _square,
    "joint": _joint,
    "tuples": _tuples,
    "priced": _priced,
    "constrained": _constrained,
    "noise": _noise,
}
"""A file of each kind."""


def held_by(content: MechanismFile) -> dict[str, Any]:
    """Return the numbers of a file as JSON has them: weights as decimals, and infinity as a text."""
    if not content.has_matrix:
        noise, prior = content.noise, content.prior
        rate, step = noise.noise.rate, noise.step_m
        return {
            "epsilon_per_km": noise.epsilon,
            "rate": [str(rate.numerator), str(rate.denominator)],
            "step_m": [str(step.numerator), str(step.denominator)],
            "reach_m": noise.reach_m,
            "places_of_table": None if noise.remap is None else numbers(noise.remap.arrays()[1]),
            "prior": None if prior is None else numbers(prior.probabilities),
            "source": content.source,
        }
    mechanism, dummies = content.report_channel, content.tupling
    return {
        "bits": mechanism.bits,
        "secrets": [encoded_label(each) for each in mechanism.secrets.labels],
        "observables": [encoded_label(each) for each in mechanism.observables.labels],
        "weights": decimals(mechanism.weights),
        "dummies": None
        if dummies is None
        else {"count": dummies.dummies, "weights": decimals(dummies.source.weights)},
        "prior": None if content.prior is None else numbers(content.prior.probabilities),
        "loss": None if content.loss is None else numbers(content.loss.array),
        "promises": [_promise(each) for each in (*content.guarantees, *content.tuple_guarantees)],
        "constraints": [
            {"coefficients": numbers(each.coefficients), "at_most": each.at_most, "unit": each.unit}
            for each in content.constraints
        ],
        "largest_ratio": largest_ratio(mechanism.weights.tolist()),
    }


def _promise(promise: object) -> dict[str, Any]:
    if isinstance(promise, TuplePrivacy):
        return {"epsilon": promise.epsilon, "delta": promise.delta}
    if isinstance(promise, sf.DistortionPrivacy):
        return {"minimum": promise.minimum}
    if isinstance(promise, sf.ThresholdPrivacy):
        return {"epsilon": promise.epsilon, "within": promise.within, "distances": numbers(promise.distance.array)}
    assert isinstance(promise, sf.MetricPrivacy)
    asked = getattr(promise, "promise", None)
    if asked is not None:
        return {"epsilon": asked.epsilon, "unit": asked.unit}
    return {"epsilon": promise.epsilon, "unit": promise.metric.unit, "distances": numbers(promise.metric.array)}


def largest_ratio(rows: list[list[int]]) -> str:
    """Return the largest likelihood ratio of a report under two secrets, as a fraction or ``inf``."""
    pairs = [(a, b) for row in rows for other in rows for a, b in zip(row, other, strict=True) if a]
    return str(max(Fraction(a, b) for a, b in pairs)) if all(b for _, b in pairs) else "inf"


def decimals(weights: Any) -> list[list[str]]:
    """Return integers as texts, which JSON keeps whole."""
    return [[str(weight) for weight in row] for row in weights.tolist()]


def numbers(array: Any) -> Any:
    """Return an array of floats as lists, with texts for infinity."""
    if isinstance(array, float):
        return array if math.isfinite(array) else str(array)
    return [numbers(part) for part in (array.tolist() if isinstance(array, np.ndarray) else array)]
