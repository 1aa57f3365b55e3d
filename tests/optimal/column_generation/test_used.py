"""Designs that report few of their observables: the mechanism, its file and its proofs are of these alone."""

import tracemalloc

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import MechanismFile, read_mechanism_file
from sfumato.geo import ChosenPlaces
from sfumato.optimal import Status
from sfumato.optimal.solver import Answer, Solver, objective_of, proved_bound
from sfumato.proofs import (
    Candidates,
    Multipliers,
    expected_loss_above,
    prove_guarantees,
    prove_optimality,
    worst_loss_above,
)

from ...files.forging import forged, opened

PROMISE = sf.CoordinatePrivacy("1/km")


class Known(Solver):
    """Answers with reports of a few places, and prices of neighbours."""

    name = "known"

    def __init__(self, used):
        self.used = used

    def answer(self, problem, control, start=None):
        x = np.exp(-0.45 * problem.exponents[:, self.used])
        x /= x.sum(axis=1, keepdims=True)
        n, m = problem.shape
        rng = np.random.default_rng(1)
        s, o = rng.integers(0, n, 4 * n), rng.integers(0, m, 4 * n)
        t = (s + 1) % n
        prices = Multipliers(s, t, o, rng.random(4 * n) * 1e-6, problem.exponents[s, t])
        value, bound = objective_of(problem, x, self.used), proved_bound(problem, prices)
        return Answer(x, 0.0, value, bound, Status.OPTIMAL, (), self.name, prices, used=self.used)


def lattice(size, spacing):
    return sf.Lattice.covering(f"{size} around 48.85,2.35", spacing, kind="triangular")


def design(places, used):
    prior = np.random.default_rng(3).random(len(places))
    return sf.design(
        sf.Prior(places, prior / prior.sum()),
        loss=places.metric().to("km"),
        guarantees=PROMISE,
        solver=Known(np.asarray(used)),
        tie_break=False,
        method="table",
    )


@pytest.fixture(scope="module")
def made():
    return design(lattice("5 km x 4 km", "500 m"), [3, 40, 41, 77])


@pytest.fixture(scope="module")
def held(made):
    return MechanismFile(made.mechanism, made.problem.prior, made.loss, PROMISE, {}, made.optimality)


@pytest.fixture
def written(held, tmp_path):
    path = tmp_path / "few.sfm"
    sf.save(held, path)
    return path


def whole(made):
    """Return the same mechanism with a column for every place."""
    weights = np.zeros(made.problem.shape, dtype=made.mechanism.weights.dtype)
    weights[:, made.mechanism.observables.indices] = made.mechanism.weights
    return sf.Mechanism.from_weights(weights, made.mechanism.bits, made.problem.prior.space)


def proved_again(file):
    return prove_optimality(file.prior, file.loss, file.guarantees, file.optimality)


def test_the_mechanism_has_a_column_for_every_used_place(made):
    places = made.problem.prior.space
    assert made.mechanism.shape == (len(places), 4)
    assert made.mechanism.observables.labels == tuple(places.labels[k] for k in (3, 40, 41, 77))
    np.testing.assert_array_equal(made.mechanism.observables.latlon, places.latlon[[3, 40, 41, 77]])
    np.testing.assert_array_equal(made.matrix, whole(made).matrix)
    np.testing.assert_array_equal(made.loss.array, made.problem.loss.array[:, [3, 40, 41, 77]])


def test_its_proofs_are_those_of_the_whole_matrix(made, held):
    full, problem = whole(made), made.problem
    (few,), _ = prove_guarantees(made.mechanism, problem.prior, PROMISE)
    (all_of_them,), _ = prove_guarantees(full, problem.prior, PROMISE)
    assert few.holds
    assert (few.upper, few.worst_pair) == (all_of_them.upper, all_of_them.worst_pair)
    c = made.certificate
    assert c.loss == pytest.approx(expected_loss_above(full, problem.prior, problem.loss), rel=1e-12)
    assert c.worst_case_loss == pytest.approx(worst_loss_above(full, problem.loss), rel=1e-12)
    bound = prove_optimality(problem.prior, made.loss, held.guarantees, made.optimality)
    without = type(made.optimality)("expected", made.optimality.multipliers)
    assert bound == prove_optimality(problem.prior, problem.loss, held.guarantees, without)
    assert bound == pytest.approx(c.bound, rel=1e-9)


def test_its_file_holds_only_the_used_columns_and_proves_the_same(made, held, written):
    manifest, members = opened(written)
    name = manifest["mechanism"].get("weights", manifest["mechanism"].get("high"))
    assert len(members[name]) < 8 * 4 * len(made.problem.prior.space) + 200
    again = read_mechanism_file(written)
    assert again.mechanism == made.mechanism
    assert isinstance(again.mechanism.observables, ChosenPlaces)
    assert again.mechanism.observables.places == made.problem.prior.space
    one, other = map(proved_again, (held, again))
    assert one == pytest.approx(other, rel=1e-12)  # a file adds up the prices of one row
    assert again.optimality is not None
    assert again.optimality.candidates is not None
    np.testing.assert_array_equal(again.optimality.candidates.loss.array, made.problem.loss.array)
    assert again.stated == ()


def test_draws_are_those_of_the_whole_matrix(made):
    few, full = sf.sampler(made.mechanism), whole(made)
    rows = np.arange(len(full.secrets)).repeat(400)
    drawn = made.mechanism.observables.indices[few.draw(rows)]
    counts = np.zeros(full.shape)
    np.add.at(counts, (rows, drawn), 1.0)
    assert not counts[full.weights == 0].any()
    off = (counts.sum(axis=0) - 400 * full.matrix.sum(axis=0))[made.mechanism.observables.indices]
    assert (np.abs(off) < 10 * np.sqrt(400 * len(full.secrets))).all()  # by chance: below 1e-80 (Hoeffding)
    spots = few.blur([48.85] * 20, [2.35] * 20)
    near = np.abs(spots[:, None] - made.mechanism.observables.latlon).max(axis=2)
    assert (near.min(axis=1) < 1e-6).all()  # degrees are released rounded


def test_candidates_must_hold_the_mechanism(made, held):
    every = made.optimality.candidates
    louder = Candidates(every.observables, sf.Loss(every.loss.array * 0.5, "km", name="euclidean"))
    fewer = Candidates(ChosenPlaces(made.problem.prior.space, [0, 1]), every.loss.of_columns([0, 1]))
    for wrong, said in ((louder, "at another place or loss"), (fewer, "not in the space")):
        optimality = type(made.optimality)("expected", made.optimality.multipliers, candidates=wrong)
        with pytest.raises(InputError, match=said):
            MechanismFile(made.mechanism, held.prior, held.loss, PROMISE, {}, optimality)


@pytest.mark.parametrize("chosen", [[], [3, 3], [40, 3], [-1, 3], [3, 10**6], [3, 40.0], ["3"], [True, 3]])
def test_a_file_with_other_positions_is_refused(written, tmp_path, chosen):
    manifest, members = opened(written)
    for space in manifest["spaces"]:
        if space["kind"] == "chosen":
            space["chosen"] = chosen
    forged(tmp_path / "forged.sfm", manifest, members)
    with pytest.raises(FileError):
        read_mechanism_file(tmp_path / "forged.sfm")


@pytest.mark.parametrize("place", [-1, 9, "itself"])
def test_a_file_with_other_places_is_refused(written, tmp_path, place):
    manifest, members = opened(written)
    for position, space in enumerate(manifest["spaces"]):
        if space["kind"] == "chosen":
            space["places"] = position if place == "itself" else place
    forged(tmp_path / "forged.sfm", manifest, members)
    with pytest.raises(FileError):
        read_mechanism_file(tmp_path / "forged.sfm")


@pytest.mark.slow
def test_the_memory_of_two_thousand_places():
    """Around the solver a design, its file and its proofs take a few arrays of all pairs, whatever they do."""
    places = lattice("20 km x 20 km", "475 m")
    n = len(places)
    assert n > 1_900
    tracemalloc.start()
    try:
        made = design(places, np.arange(0, n, n // 100))
        file = MechanismFile(made.mechanism, made.problem.prior, made.loss, PROMISE, {}, made.optimality)
        proved_again(file)
        sf.sampler(made.mechanism)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8 * 8 * n * n
