"""The automatic choice: what it asks, whom it believes and what it calls finished."""

import numpy as np
import pytest

from sfumato.core import MetricPrivacy, Prior, Space, hamming
from sfumato.errors import InputError, SolverError
from sfumato.geo import Grid, read_visits
from sfumato.optimal import SOLVERS, Answer, Auto, Highs, Solver, Status, Structured, design
from sfumato.optimal import solver_registry as automatic

from ..proofs import exact

PAIR = Space(range(2))
PRIOR, LOSS = Prior(PAIR, [0.73, 0.27]), np.array([[0, 0.767], [1, 0]])
FAR = [MetricPrivacy(5.0, hamming(PAIR))]


@pytest.mark.parametrize("solver", [Auto(), Structured(), Highs()], ids=lambda solver: solver.name)
def test_a_large_epsilon_does_not_spoil_the_bound(solver):
    found = design(PRIOR, loss=LOSS, guarantees=FAR, objective="worst-case", solver=solver)
    assert found.status is Status.OPTIMAL
    assert found.certificate.gap < 1e-6
    # Both rows lose the same: p (1 - a) = 0.767 (1 - b) with both ratios at e^5.
    assert found.certificate.value == pytest.approx(0.00667927089, rel=1e-7)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("side", [3, 5, 7])
def test_grids_at_large_epsilons_reach_the_gap(side):
    space = Space(range(side * side), [(x, y) for x in range(side) for y in range(side)], "km")
    prior = Prior.from_counts(space, np.random.default_rng(side).integers(0, 9, side * side))
    steps = space.metric("euclidean")
    found = design(prior, loss=steps, guarantees=[MetricPrivacy(15.0, steps)], gap=1e-6)
    assert found.status is Status.OPTIMAL
    assert found.certificate.gap <= 1e-5  # of a loss of a millionth of the largest


class Short(Solver):
    """A solver that stops at a constant report and knows no bound."""

    name = "short"

    def answer(self, problem, control, start=None):
        flat = np.zeros(problem.shape)
        flat[:, 0] = 1.0
        value = float(problem.prior.probabilities @ problem.loss.array[:, 0])
        return Answer(flat, 0.0, value, -np.inf, Status.INACCURATE, (), self.name)


def test_a_second_opinion_is_asked_for_and_named(monkeypatch):
    monkeypatch.setattr(automatic, "Structured", lambda *_, **__: Short())
    monkeypatch.setattr(automatic, "closed_form", lambda problem, gap: None)
    found = design(PRIOR, loss=LOSS, guarantees=FAR, solver=Auto())
    assert found.status is Status.OPTIMAL
    assert found.solver == "HiGHS ipm (the short stopped short)"
    assert exact.private(found.mechanism, hamming(PAIR).array, 5.0)


class Broken(Solver):
    name = "broken"

    def answer(self, problem, control, start=None):
        raise SolverError("it broke.")


def test_where_no_solver_answers_a_closed_form_stands_in(monkeypatch):
    for name in ("Structured", "Highs", "Clarabel"):
        monkeypatch.setattr(automatic, name, lambda *_, **__: Broken())
    monkeypatch.setattr(automatic, "closed_form", lambda problem, gap: None)
    found = design(PRIOR, loss=LOSS, guarantees=FAR, solver=Auto())
    assert found.status is Status.INACCURATE
    assert "no solver found an answer" in found.solver
    assert not found.is_finished
    assert exact.private(found.mechanism, hamming(PAIR).array, 5.0)
    assert found.certificate.bound <= 0.01 <= found.certificate.value


def test_solvers_have_names():
    values = []
    for name in SOLVERS:
        found = design(PRIOR, loss=LOSS, guarantees=FAR, solver=name, objective="worst-case", gap=1e-5)
        assert found.is_finished
        assert found.solver == (
            "structured interior point" if name in ("auto", "generating") else SOLVERS[name]().name
        )
        values.append(found.certificate.value)
    assert values == pytest.approx([values[0]] * len(values), rel=2e-5)
    with pytest.raises(InputError, match="solver='quick' is unknown") as error:
        design(PRIOR, loss=LOSS, guarantees=FAR, solver="quick")
    assert "structured" in error.value.hint


def test_a_gap_that_nobody_asked_for_is_finished_at_one_in_ten_thousand():
    space = Space(range(12), np.arange(12.0) ** 1.5, "km")
    steps = space.metric("euclidean")
    rough = design(
        Prior.uniform(space),
        loss=hamming(space),
        guarantees=[MetricPrivacy(0.5, steps)],
        gap=5e-5,
        solver="structured",
    )
    assert rough.is_finished
    assert rough.enough == 5e-5
    plain = design(Prior.uniform(space), loss=hamming(space), guarantees=[MetricPrivacy(0.5, steps)])
    assert plain.enough == 1e-4
    assert plain.certificate.gap <= 1e-6


@pytest.mark.thinned(2)
@pytest.mark.parametrize("epsilon", ["3/km", "10/km"])
def test_real_places_at_large_epsilons_reach_the_gap(shared_data, epsilon):
    visits = read_visits(shared_data / "gowalla_paris.parquet")
    grid = Grid.covering(visits, shape=(7, 6))
    steps = grid.metric("euclidean", unit="km")
    found = design(Prior.from_visits(grid, visits), loss=steps, guarantees=[MetricPrivacy(epsilon, steps)])
    assert found.status is Status.OPTIMAL
    assert found.certificate.gap <= 1e-5
