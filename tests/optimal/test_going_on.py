"""Designs of several programs, stopped and gone on with: what was solved is not solved again."""

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SolverError
from sfumato.optimal import (
    Auto,
    EpsilonTrial,
    LossGoal,
    Progress,
    Solver,
    Structured,
    design,
    find_epsilon,
    maximise_distortion,
)
from sfumato_papers.invented_city import invented_city

VISITS = invented_city()
CITY = sf.Lattice.covering(VISITS, "2 km", kind="triangular", region=VISITS.region(trim=0.05))
PRIOR, LOSS = sf.Prior.from_visits(CITY, VISITS), CITY.loss(VISITS)


@dataclass(frozen=True)
class Heard(Solver):
    """A solver whose lines of progress are heard, and that is stopped after some of them."""

    inner: Solver
    most: float = np.inf
    lines: list[Progress] = field(default_factory=list)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.inner.name

    def answer(self, problem, control, start=None):
        def tell(step):
            self.lines.append(step)

        return self.inner.answer(problem, replace(control, progress=tell, stop=self.stop), start)

    def stop(self):
        return len(self.lines) > self.most


def heard(folder, most=np.inf):
    return Heard(Structured(folder=folder), most)


@pytest.mark.slow
def test_a_search_for_epsilon(tmp_path):
    def found(solver, told):
        return find_epsilon(
            PRIOR,
            loss=LOSS,
            goal=LossGoal("1.4 km"),
            solver=solver,
            gap=1e-3,
            method="table",
            stop=solver.stop,
            progress=told.append,
        )

    whole, once = heard(None), list[EpsilonTrial]()
    best = found(whole, once)
    assert len(once) > 2
    second = next(k for k, line in enumerate(whole.lines) if k and line.step == 0)
    early = heard(tmp_path, second + 3)  # within the second trial
    with suppress(SolverError):  # the goal may not be reached yet
        found(early, [])
    late, then = heard(tmp_path), list[EpsilonTrial]()
    again = found(late, then)
    assert [each.epsilon for each in then] == [each.epsilon for each in once]
    assert again.epsilon == best.epsilon
    np.testing.assert_array_equal(again.design.mechanism.matrix, best.design.mechanism.matrix)
    assert len(early.lines) + len(late.lines) == len(whole.lines)


@pytest.mark.slow
def test_the_error_of_the_true_point(tmp_path):
    promise = sf.CoordinatePrivacy("4/km")
    plain = design(PRIOR, loss=LOSS, guarantees=promise, tie_break=False, method="table").mechanism
    least = 1.1 * sf.attacks.true_place(plain, VISITS).error.upper

    def made(solver):
        errs = sf.PlaceDistortion(least, CITY, VISITS)
        options = {"observables": CITY, "solver": solver, "stop": solver.stop}
        return design(PRIOR, loss=LOSS, guarantees=[promise, errs], **options)

    whole = heard(None)
    once = made(whole)
    rounds = [k for k, line in enumerate(whole.lines) if line.step == 0]
    assert len(rounds) > 1
    early = heard(tmp_path, rounds[1] + 4)
    assert not made(early).is_finished
    late = heard(tmp_path)
    again = made(late)
    np.testing.assert_array_equal(again.mechanism.matrix, once.mechanism.matrix)
    assert again.certificate == once.certificate
    assert len(early.lines) + len(late.lines) == len(whole.lines)


@pytest.mark.parametrize("after", [2, 6, 20])
def test_the_game(tmp_path, after):
    """It first lowers the loss, and then raises the error: two programs."""
    metric = CITY.metric(unit="km")

    def made(solver):
        return maximise_distortion(PRIOR, loss=metric, max_loss="500 m", solver=solver, stop=solver.stop)

    whole = heard(None)
    once = made(whole)
    early, late = heard(tmp_path, after), heard(tmp_path)
    made(early)
    again = made(late)
    np.testing.assert_array_equal(again.mechanism.matrix, once.mechanism.matrix)
    assert len(late.lines) <= max(0, len(whole.lines) - after)


def test_the_automatic_choice(tmp_path):
    def made(solver, **more):
        guarantees = sf.CoordinatePrivacy("1/km")
        return design(PRIOR, loss=LOSS, guarantees=guarantees, solver=solver, method="table", **more)

    once = made(None)
    told: list[Progress] = []
    early = made(Auto(folder=tmp_path), stop=lambda: len(told) > 3, progress=told.append)
    assert not early.is_finished
    assert early.certificate.holds
    late = made(Auto(folder=tmp_path), progress=told.append)
    np.testing.assert_array_equal(late.mechanism.matrix, once.mechanism.matrix)
    steps = [line.step for line in told]
    assert steps[:5] == list(range(5))
    assert [line.value for line in late.log] == [line.value for line in once.log]
