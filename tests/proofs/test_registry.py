"""Mechanisms that lie about themselves: none of them is proved, and no door takes one."""

import copy
import dataclasses
import pickle
import typing
from fractions import Fraction

import duckdb
import numpy as np
import opendp.prelude as dp
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.audits import audit
from sfumato.core import LocalPrivacy
from sfumato.core.mechanism import is_known
from sfumato.errors import InputError
from sfumato.estimation import Reports
from sfumato.files import as_opendp
from sfumato.ledgers import Blur
from sfumato.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    LocalHashing,
    RandomisedResponse,
    Staircase,
    SubsetSelection,
    Tupling,
    UnaryEncoding,
    geometric,
    randomised_response,
)
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.proofs import Proved, Stated, VertexPrivacy, prove
from sfumato.releases import prepare
from sfumato.releases.duckdb_function import create_duckdb_function
from sfumato.releases.transformers import PlaceRandomizer
from sfumato.reports.document import report
from tests.catalogue import families

from .liars import HONEST, LIARS, PLANE, SPACE, Foreign, true_mechanism

POINTS = pa.table({"lat": [48.85] * 3, "lon": [2.35] * 3, "secret": ["a", "b", "a"], "id": [1, 2, 3]})


def _of(liar, table):
    """Return the options that name its secrets, and the table."""
    return ({} if isinstance(liar, CoordinateNoise) else {"column": "secret"}), table


def released(liar, table):
    options, given = _of(liar, table)
    return sf.release(liar, given, **options)


def _file(liar, tmp_path):
    source = tmp_path / "in.parquet"
    pq.write_table(POINTS, source)
    return prepare(liar, source, tmp_path / "out.parquet", **_of(liar, None)[0]).run()


def _ledger(liar, tmp_path):
    ledger = sf.Ledger.create(str(tmp_path / "budget.db"), "5/km" if isinstance(liar, CoordinateNoise) else 5.0)
    return Blur(liar, ledger)


def _blur_of_a_promise(liar, tmp_path):
    ledger = sf.Ledger.create(str(tmp_path / "budget.db"), 5.0)
    (guarantee,) = HONEST.guarantees
    assert isinstance(guarantee, sf.MetricPrivacy)
    return Blur(liar, ledger, guarantee)


def _column(liar, _tmp_path):
    return create_duckdb_function(duckdb.connect(), "private", liar)


def _relation(liar, _tmp_path):
    connection = duckdb.connect()
    return released(liar, connection.from_arrow(POINTS))


def _opendp(liar, _tmp_path):
    dp.enable_features("contrib", "honest-but-curious")
    return as_opendp(liar)


def _pipeline(liar, _tmp_path):
    return PlaceRandomizer(mechanism=liar).fit(np.array([[48.85, 2.35], [48.86, 2.36]]))


DOORS = {
    "release of a file": _file,
    "release of Arrow": lambda liar, _: released(liar, POINTS),
    "release of pandas": lambda liar, _: released(liar, POINTS.to_pandas()),
    "release of polars": lambda liar, _: released(liar, pl.from_arrow(POINTS)),
    "release of DuckDB": _relation,
    "function of DuckDB": _column,
    "ledger": _ledger,
    "ledger with a promise": _blur_of_a_promise,
    "OpenDP": _opendp,
    "scikit-learn": _pipeline,
    "audit": lambda liar, _: audit(liar),
    "MechanismFile": lambda liar, _: sf.MechanismFile(liar),
    "save": lambda liar, tmp_path: sf.save(liar, tmp_path / "m.sfm"),
    "estimate": lambda liar, _: Reports.of(liar, ["a", "b", "a"]),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", LIARS)
def test_no_door_takes_it(name, door, tmp_path):
    with pytest.raises(
        InputError, match=r"no kind of mechanism|cannot be|is of type|mechanism is a|noise is a|take"
    ):
        DOORS[door](LIARS[name], tmp_path)
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("name", ["own kind", "subclass of Mechanism", "tupling of a subclass", "disguise"])
def test_no_report_is_written_of_a_design_that_holds_it(name):
    design = sf.design(sf.Prior.uniform(SPACE), loss=sf.hamming(SPACE), guarantees=HONEST.guarantees)
    with pytest.raises(InputError, match=r"no kind of mechanism|cannot be|is of type|mechanism is a"):
        report(dataclasses.replace(design, mechanism=LIARS[name]))


@pytest.mark.parametrize("name", LIARS)
def test_nothing_of_it_is_proved(name):
    assert not is_known(LIARS[name])
    found = prove(LIARS[name])
    assert found
    assert all(isinstance(each, Stated) and each.upper is None for each in found)
    for guarantee in (HONEST.guarantees[0], LocalPrivacy(1.0), sf.CoordinatePrivacy("9/km", slack_m=9)):
        assert isinstance(prove(LIARS[name], guarantee), Stated)


def test_a_sampler_promises_nothing_and_draws():
    assert sf.sampler(Foreign()).draw([0, 1, 1]).tolist() == [0, 1, 1]
    assert sf.sampler(true_mechanism()).draw([0, 1, 1]).tolist() == [0, 1, 1]


def test_only_prove_makes_a_proof():
    (proof,) = prove(HONEST)
    assert isinstance(proof, Proved)
    forged = [
        Proved,
        lambda: dataclasses.replace(proof, upper=0.0),
        lambda: pickle.loads(pickle.dumps(proof)),
        lambda: copy.copy(proof),
        lambda: type("Better", (Proved,), {}),
    ]
    for each in forged:
        with pytest.raises(TypeError):
            each()
    with pytest.raises(dataclasses.FrozenInstanceError):
        proof.upper = 0.0  # type: ignore[misc]


class Cheap(sf.MetricPrivacy):
    """A promise that reads as another one."""

    def __str__(self):
        return "epsilon 0.001"

    def for_any_two(self):  # type: ignore[override]
        return True


def test_a_promise_of_another_class_is_not_proved():
    assert isinstance(prove(HONEST, Cheap(9.0, sf.hamming(SPACE))), Stated)
    assert not is_known(HONEST.promising(Cheap(9.0, sf.hamming(SPACE))))


def closest(matrix):
    """Return the largest logarithm of a likelihood ratio, by brute force over fractions."""
    rows = [[Fraction(int(each)) for each in row] for row in matrix]
    ratios = [
        a / b if b else None for first in rows for second in rows for a, b in zip(first, second, strict=True) if a
    ]
    return np.log(float(max(each for each in ratios if each is not None)))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_what_is_proved_of_integers_is_what_brute_force_finds(epsilon):
    for mechanism in (
        randomised_response(sf.Space("abcd"), epsilon),
        RandomisedResponse(sf.Space("abcd"), epsilon),
    ):
        (proof,) = prove(mechanism)
        assert isinstance(proof, Proved)
        assert proof.upper == pytest.approx(closest(mechanism.channel().weights), rel=1e-12)
    tighter = prove(HONEST, sf.MetricPrivacy(0.5, sf.hamming(SPACE)))
    assert isinstance(tighter, Stated)
    assert tighter.upper == pytest.approx(1.0)


def test_each_kind_is_proved_and_a_tighter_claim_is_not():
    space = sf.Space(range(5))
    for family in (UnaryEncoding(space, 1.0, "optimised"), LocalHashing(space, 1.0), SubsetSelection(space, 1.0)):
        (proof,) = prove(family)
        assert isinstance(proof, Proved)
        assert 0.9 < proof.upper <= 1.0
        assert isinstance(prove(family, LocalPrivacy(0.9)), Stated)
        assert isinstance(prove(family, LocalPrivacy(1.0, 1)), Stated)
    for noise in (DiscreteLaplace(1.0, 2), Staircase(1.0, 2)):
        (proof,) = prove(noise)
        assert isinstance(proof, Proved)
        assert 0.9 < proof.upper <= 1.0
        assert isinstance(prove(noise, LocalPrivacy(0.4, 1)), Stated)
        assert isinstance(prove(noise, LocalPrivacy(9.0)), Stated)
    (rho,) = prove(DiscreteGaussian(1.0))
    assert isinstance(rho, Proved)
    assert rho.bound.measure == "rho"
    planar = CoordinateNoise("1/km", projection=PLANE)
    (of_points,) = prove(planar)
    assert isinstance(of_points, Proved)
    assert isinstance(prove(planar, sf.CoordinatePrivacy("0.9/km", slack_m=9)), Stated)
    line = geometric(sf.Space.numbers(range(4)), 0.5)
    (of_inner,), (of_tuple,) = prove(line), prove(Tupling(line, 3, [0.25] * 4))
    assert isinstance(of_inner, Proved)
    assert isinstance(of_tuple, Proved)
    assert of_tuple.bound == of_inner.bound


def test_every_family_that_may_be_released_is_known():
    for family in families():
        assert is_known(family)
        if not family.study_only:
            assert all(isinstance(each, Proved) for each in prove(family)), family


def test_a_blur_of_another_class_is_not_released_from(tmp_path):
    class Forgetful(Blur):
        def reports(self, *_arguments, **_options):
            return np.zeros(3, dtype=np.intp)

    blur = Forgetful(CoordinateNoise("1/km", projection=PLANE), sf.Ledger.create(str(tmp_path / "b.db"), "5/km"))
    with pytest.raises(InputError, match="is not a Blur"):
        sf.release(blur, POINTS, user="id")


def test_a_ledger_of_another_class_charges_nobody(tmp_path):
    class Free(sf.Ledger):
        def charge(self, *_arguments, **_options):
            return None

    with pytest.raises(InputError, match="is not a Ledger"):
        Blur(HONEST, Free.create(str(tmp_path / "b.db"), 5.0))


def test_a_mechanism_file_has_no_subclasses():
    with pytest.raises(TypeError, match="no subclasses"):
        type("Lying", (sf.MechanismFile,), {"report_channel": HONEST})

    class Pretended:
        __class__ = sf.MechanismFile  # type: ignore[assignment]
        mechanism, report_channel, has_matrix, guarantees = sf.Mechanism(np.eye(2), SPACE), HONEST, True, ()

    for door in (report, lambda held: sf.save(held, "never.sfm")):
        with pytest.raises(InputError, match=r"is of type|no kind of mechanism"):
            door(Pretended())  # type: ignore[arg-type]


def test_a_mechanism_keeps_its_integers_whatever_becomes_of_the_array():
    mine = np.array(HONEST.weights)
    for given in (mine, mine[:], np.frombuffer(bytearray(mine.tobytes()), dtype=np.int64).reshape(2, 2)):
        view = given.view()
        view.flags.writeable = False
        mechanism = sf.Mechanism.from_weights(view, 62, SPACE, SPACE)
        assert not np.shares_memory(mechanism.weights, given)
    shares = np.array([0.5, 0.5])
    view = shares[:]
    view.flags.writeable = False
    prior = sf.Prior(SPACE, view)
    shares[0] = 9.0
    assert prior.probabilities.tolist() == [0.5, 0.5]


def test_the_rows_of_a_lattice_are_those_of_its_promise():
    lattice = sf.Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    promise, stricter = sf.CoordinatePrivacy("1/km"), sf.CoordinatePrivacy("0.1/km")
    mechanism = sf.design(
        sf.Prior.uniform(lattice), loss=lattice.metric("euclidean", "km"), guarantees=promise
    ).mechanism
    assert isinstance(prove(mechanism, VertexPrivacy(promise, lattice)), Proved)
    rows = VertexPrivacy(stricter, lattice)
    assert isinstance(prove(mechanism, rows), Stated)
    for attempt in ("epsilon", "promise"):
        with pytest.raises((AttributeError, TypeError)):
            vars(rows)[attempt] = 50.0
    forged = VertexPrivacy(promise, lattice)
    assert forged.epsilon > rows.epsilon
    object.__setattr__(forged, "promise", stricter)
    assert isinstance(prove(mechanism, forged), Stated)


def test_distances_with_the_name_of_others_prove_nothing(tmp_path):
    grid = sf.Grid.covering(sf.Visits([48.84, 48.88], [2.3, 2.4]), shape=(2, 2))
    near = grid.metric("euclidean", "km")
    mechanism = sf.design(sf.Prior.uniform(grid), loss=near, guarantees=sf.MetricPrivacy(1.0, near)).mechanism
    for name in ("euclidean", "Great Circle"):
        promising = mechanism.promising(sf.MetricPrivacy(0.1, sf.Metric(near.array * 10, unit="km", name=name)))
        ledger = sf.Ledger.create(str(tmp_path / f"{name}.db"), "5/km")
        for door in (prove, lambda each: sf.release(each, POINTS), lambda each, ledger=ledger: Blur(each, ledger)):
            with pytest.raises(InputError, match="give your own distances another name"):
                door(promising)


def test_families_are_charged_and_saved_where_they_draw_from_a_matrix(tmp_path):
    family = RandomisedResponse(sf.Space("abc"), 1.0)
    app = Blur(family, sf.Ledger.create(str(tmp_path / "b.db"), 3.0))
    assert [app.draw("ada", 2) in (0, 1, 2) for _ in range(3)] == [True] * 3
    with pytest.raises(sf.ledgers.BudgetError):
        app.draw("ada", 2)
    sf.save(family, tmp_path / "m.sfm")
    assert sf.load(tmp_path / "m.sfm") == family.channel()
    assert isinstance(prove(sf.load(tmp_path / "m.sfm"))[0], Proved)
    for other in (UnaryEncoding(sf.Space("abc"), 1.0, "optimised"), DiscreteLaplace(1.0)):
        with pytest.raises(InputError, match="recipe that a mechanism file does not hold"):
            sf.save(other, tmp_path / "never.sfm")
    assert not (tmp_path / "never.sfm").exists()


def test_what_a_file_gives_has_a_type():
    assert typing.get_type_hints(sf.load)["return"] is sf.core.Randomizer
    assert typing.get_type_hints(sf.save)["content"] == sf.core.Randomizer | sf.MechanismFile | sf.optimal.Design
