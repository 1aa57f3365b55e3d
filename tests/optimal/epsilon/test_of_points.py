"""The search where planar noise may stand in for the program, and reports are moved to the best places."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError
from sfumato.optimal import EpsilonTrial, LossGoal, find_epsilon
from sfumato_papers.invented_city import invented_city

CITY = invented_city(users=12, days=10)


def asked(lattice, goal, **more):
    return find_epsilon(sf.Prior.from_visits(lattice, CITY), loss=lattice.loss(CITY), goal=goal, **more)


def same(lattice, epsilon, **more):
    """The design of an epsilon."""
    return sf.design(
        sf.Prior.from_visits(lattice, CITY),
        loss=lattice.loss(CITY),
        guarantees=sf.CoordinatePrivacy(epsilon),
        gap=1e-4,
        tie_break=False,
        **more,
    )


def loss_of(made):
    return made.certificate.loss if made.has_program else made.choice.noise.upper


@pytest.mark.slow
@pytest.mark.parametrize("medians", [None, CITY])
def test_what_is_found_is_what_design_gives_where_the_noise_is_kept(medians):
    coarse = sf.Lattice.covering(CITY, "2.5 km", kind="triangular")
    found = asked(coarse, LossGoal("1 km"), medians=medians)
    assert not found.design.has_program
    assert found.design.choice is not None
    assert (found.kind, found.is_finished, found.loss_unit) == ("noise", True, "km")
    assert found.design.choice.noise.upper <= 1
    again = same(coarse, found.epsilon, medians=medians)
    assert not again.has_program
    assert again.choice is not None
    assert loss_of(again) == pytest.approx(loss_of(found.design), rel=5e-3)
    assert found.next_trial is not None
    less = same(coarse, found.next_trial.epsilon, medians=medians)
    assert loss_of(less) > 1 - 5e-3
    assert "planar noise loses" in found.sentences[1]
    # By another route: reports of the visits themselves.
    lat, lon = np.tile(CITY.lat, 40), np.tile(CITY.lon, 40)
    plane = coarse.projection
    reports = sf.simulator(found.design.mechanism, 5).blur(lat, lon)
    away = np.hypot(*(plane.forward(lat, lon) - plane.forward(*reports.T)).T) / 1000
    assert away.mean() <= 1 + 4 * away.std() / np.sqrt(len(away))
    assert away.mean() == pytest.approx(1, abs=0.02)


@pytest.mark.slow
def test_what_is_found_is_what_design_gives_where_the_program_is_kept():
    small = sf.Lattice.covering("4 km x 3 km around 40,-30", "500 m", kind="square")
    found = asked(small, LossGoal("1 km"))
    assert found.design.has_program
    assert (found.kind, found.is_finished) == ("table", True)
    assert found.design.choice is not None
    assert found.design.choice.kind == "table"
    assert found.design.certificate.loss <= 1
    again = same(small, found.epsilon)
    assert again.has_program
    assert again.certificate.loss == pytest.approx(found.design.certificate.loss, rel=5e-4)
    noise = asked(small, LossGoal("1 km"), method="noise")
    assert noise.epsilon > found.epsilon
    assert not noise.design.has_program
    assert noise.design.choice is not None
    assert noise.design.choice.program is None


@pytest.mark.slow
def test_reports_at_the_best_places_need_less_epsilon():
    lattice = sf.Lattice.covering("6 km x 5 km around 40,-30", "1.2 km", kind="triangular")
    plain = asked(lattice, LossGoal("1.2 km"), method="table")
    moved = asked(lattice, LossGoal("1.2 km"), method="table", medians=CITY)
    assert moved.epsilon < 0.98 * plain.epsilon
    assert moved.design.has_program
    assert moved.design.certificate.loss <= 1.2
    assert moved.design.certificate.holds
    once = same(lattice, moved.epsilon, method="table", medians=CITY)
    assert moved.design.certificate.loss == pytest.approx(once.certificate.loss, rel=0.01)


@pytest.mark.slow
def test_a_loss_that_no_lattice_of_this_spacing_can_keep_is_kept_by_noise():
    coarse = sf.Lattice.covering(CITY, "2.5 km", kind="triangular")
    with pytest.raises(InfeasibleError, match="the best report for every secret already loses"):
        asked(coarse, LossGoal("800 m"), method="table")
    found = asked(coarse, LossGoal("800 m"), medians=CITY)
    assert not found.design.has_program
    assert found.design.choice is not None
    assert found.design.choice.noise.upper <= 0.8
    assert found.design.choice.program is None
    assert found.epsilon <= 2.02 / 0.8  # without a remap noise loses 2 / epsilon
    assert {trial.kind for trial in found.trials} == {"noise"}


def test_no_loss_and_too_much_loss_are_refused():
    coarse = sf.Lattice.covering(CITY, "2.5 km", kind="triangular")
    for most in ("0 km", "-1 km"):
        with pytest.raises(InfeasibleError, match="every guarantee costs some"):
            asked(coarse, LossGoal(most))
    with pytest.raises(InputError, match="needs no epsilon"):
        asked(coarse, LossGoal("20 km"))


@pytest.mark.slow
def test_a_search_stopped_after_the_noise_keeps_it_and_says_so():
    small = sf.Lattice.covering("4 km x 3 km around 40,-30", "500 m", kind="triangular")
    seen: list[EpsilonTrial] = []

    def late() -> bool:
        return any(trial.holds for trial in seen)

    found = asked(small, LossGoal("700 m"), progress=seen.append, stop=late)
    assert not found.is_finished
    assert not found.design.has_program
    assert found.design.choice is not None
    assert found.design.choice.noise.upper <= 0.7
