"""Copies and pickles of what is frozen stay frozen, and a pickle enters by the constructor."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import CoordinatePrivacy, KindErrors, Row
from sfumato.core.immutable import Immutable
from sfumato.geo import Polygon, Projection, Region
from sfumato.mechanisms.planar import CoordinateNoise, PlaneRemap
from sfumato.mechanisms.tupling import TuplePrivacy, Tupling
from sfumato.optimal import AttackerGoal, LossGoal, coordinate_bound
from sfumato.proofs import Candidates, ManyMultipliers, Multipliers, Optimality, VertexPrivacy
from sfumato.sequences import MovementModel, PrivateMovementModel, SparseVectorState
from sfumato_papers.invented_city import invented_city

from .arrays import refused

LINE = sf.Space.numbers([0.0, 1.0, 3.0], unit="km")
METRIC = LINE.metric("absolute")
NONE = np.zeros(0, dtype=np.intp)
PRICES = Multipliers(NONE, NONE, NONE, np.zeros(0), np.zeros(0), guesses=np.ones((3, 3)))
MECHANISM = sf.Mechanism([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], LINE)
FILE = sf.MechanismFile(
    MECHANISM,
    sf.Prior.uniform(LINE),
    METRIC,
    [sf.MetricPrivacy(1, METRIC), sf.DistortionPrivacy(0.1, METRIC)],
    {"log": [1]},
    Optimality("expected", PRICES),
)
LATTICE = sf.Lattice.covering("8 km x 6 km around 48.85,2.35", "2 km")
TUPLING = Tupling(MECHANISM, 3, [0.25, 0.25, 0.5])
TABLE = PlaneRemap.of([[0.0, 0.0], [300.0, 40.0]], [1.0, 2.0], 0.001, Fraction(2), fineness=1.0)
NOISE = CoordinateNoise("1/km", "2 m", Projection(48.86, 2.34), "30 km", TABLE)
ERROR = sf.PlaceDistortion("1 m", LATTICE, sf.Visits([48.85], [2.35]))
TIMES = np.array(["2024-01-01", "NaT"], "datetime64[s]")
MOVEMENT = ([[48.85, 2.35], [48.86, 2.34]], [540, 720], np.full((2, 2), 0.5), np.full((2, 1, 2, 2), 0.5), "UTC")
THINGS = {
    "space": LINE,
    "bins": sf.NumberBins(18, 5, 3, "year"),
    "joint": sf.JointSpace({"a": sf.Space("xy"), "b": sf.NumberBins(0, 2, 3)}),
    "sets": LINE.group_labels([[0.0, 1.0], [3.0]]),
    "grid": sf.Grid.covering("8 km x 6 km around 48.85,2.35", shape=(3, 2)),
    "lattice": LATTICE,
    "steps": LATTICE.steps(),
    "some places": sf.geo.ChosenPlaces(LATTICE, [0, 3, 7]),
    "convex part": LATTICE.convex_part,
    "visits": sf.Visits([48.85, 48.86], [2.35, 2.34], ["ann", 7], TIMES, {"home": ["a", "b"]}),
    "polar visits": sf.Visits([-77.85], [166.67], polar=True),
    "points": CoordinatePrivacy("1/km"),
    "error of points": ERROR,
    "errors of kinds": KindErrors.of_shares([[0.25, 1, 0], [0.75, 0, 1]]),
    "true points": ERROR.points,
    "rows of points": VertexPrivacy(CoordinatePrivacy("1/km"), LATTICE),
    "goal of a loss": LossGoal("500 m"),
    "goal of an attacker": AttackerGoal(0.2, "500 m", invented_city()),
    "best conceivable": coordinate_bound([[0, 0], [100, 0]], "1/km", time_limit=1.0),
    "constraint": sf.optimal.LinearConstraint(np.ones((3, 3)), 4.0),
    "prices of constraints": ManyMultipliers(PRICES, np.ones(1), (np.ones((3, 3)),), np.ones(2)),
    "region": Region.parse("8 km x 6 km around 48.85,2.35"),
    "polygon": Polygon([(48.85, 2.30), (48.85, 2.36), (48.88, 2.33)]),
    "prior": sf.Prior.uniform(LINE),
    "metric": METRIC,
    "scaled": METRIC.scale(3),
    "loss": sf.loss(LINE, LINE, "absolute", "m"),
    "loss of points": LATTICE.loss(sf.Visits([48.85, 48.86], [2.35, 2.34])),
    "points of a loss": LATTICE.loss(sf.Visits([48.85, 48.86], [2.35, 2.34])).points,
    "mechanism": MECHANISM,
    "two words": sf.Mechanism([[1 - 1e-20, 1e-20], [0.5, 0.5]]),
    "epsilon": sf.MetricPrivacy("0.6/km", METRIC),
    "threshold": sf.ThresholdPrivacy(1.0, METRIC, "1.5 km"),
    "distortion": sf.DistortionPrivacy(0.1, METRIC),
    "prices": PRICES,
    "optimality": Optimality("expected", PRICES),
    "day": sf.Day("6/km", at=["09:00", "18:00"], zone="Europe/Paris"),
    "movement": MovementModel(*MOVEMENT),
    "private movement": PrivateMovementModel(*MOVEMENT),
    "state of a sparse vector": SparseVectorState(3, 2, (48.85, 2.35)),
    "track": sf.tracks.Track([[48.85, 2.35], [48.86, 2.34]]),
    "candidates": Candidates(LINE, sf.loss(LINE, LINE, "absolute")),
    "file": FILE,
    "tupling": TUPLING,
    "sampler": sf.sampler(MECHANISM),
    "row": Row(MECHANISM),
    "coordinate noise": NOISE,
    "lattice noise": NOISE.noise,
    "points with slack": NOISE.promise,
    "file of noise": sf.MechanismFile(NOISE, claims={"loss": 1}, source="nobody"),
    "plane table": TABLE,
    "window of a plane table": TABLE.windows[0],
    "file of tuples": sf.MechanismFile(TUPLING, guarantees=[TuplePrivacy(2.0, 0.5)]),
}


def arrays_of(thing, found=()):
    """List every array that can be reached from a thing."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, (tuple, list)):
        return [array for part in thing for array in arrays_of(part)]
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*found, *(array for name in slots for array in arrays_of(getattr(thing, name)))]


def assert_equal(one, other):
    assert type(one) is type(other)
    assert repr(one) == repr(other)
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_gives_the_same_frozen_thing(name, protocol):
    again = pickle.loads(pickle.dumps(THINGS[name], protocol))
    assert_equal(THINGS[name], again)
    assert not any(array.flags.writeable for array in arrays_of(again))


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_thing_itself_because_nothing_can_change_it(name, copied):
    assert not any(array.flags.writeable for array in arrays_of(THINGS[name]))
    assert_equal(copied(THINGS[name]), THINGS[name])
    assert not any(array.flags.writeable for array in arrays_of(copied(THINGS[name])))


def test_a_pickle_cannot_make_a_matrix_that_is_not_that_of_its_integers():
    change, values = MECHANISM.__reduce__()
    assert change == sf.Mechanism.from_weights
    weights = values[0].copy()
    weights[0, 0] -= 1
    refused(lambda: change(weights, *values[1:]), "sum to")


def test_every_frozen_thing_of_the_core_is_tried():
    """A new frozen class with arrays must join the table above."""

    def kinds(base):
        own = [kind for kind in base.__subclasses__() if kind.__module__.startswith("sfumato.")]  # not tests' own
        return {name for kind in own for name in {kind.__name__, *kinds(kind)}}

    missing = kinds(Immutable) - {type(thing).__name__ for thing in THINGS.values()}
    assert missing <= {
        "Places",
        "Cells",
        "Hexagons",
        "_Movement",
    }  # abstract, or with an extra, in tests/geo/test_hexagons.py
