"""The choice between a program and planar noise: what each loses by another route, and which is kept."""

import importlib

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Bracket
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.optimal import Choice
from sfumato.optimal.coordinates.rival import Rivalry, noise_rival, rivalry
from sfumato_papers.invented_city import invented_city

CITY = invented_city(users=12, days=10)
COARSE, FINE = sf.Lattice.covering(CITY, "2.5 km"), sf.Lattice.covering(CITY, "900 m")
PROMISE = sf.CoordinatePrivacy("1/km")


def asked(lattice, **options):
    prior = sf.Prior.from_visits(lattice, CITY)
    return sf.design(prior, loss=lattice.loss(CITY), guarantees=PROMISE, gap=1e-3, **options)


def field(promise=PROMISE, visits=CITY) -> Rivalry:
    found = rivalry(sf.Prior.from_visits(FINE, visits), FINE.loss(visits), (promise,), "expected", None)
    assert isinstance(found, Rivalry)
    return found


def simulated(mechanism, times=60):
    """The mean distance from the true points to reports in km, and its standard error."""
    lat, lon = np.tile(CITY.lat, times), np.tile(CITY.lon, times)
    reports = sf.simulator(mechanism, 5).blur(lat, lon)
    plane = FINE.projection
    away = np.hypot(*(plane.forward(lat, lon) - plane.forward(*reports.T)).T) / 1000
    return away.mean(), away.std() / np.sqrt(len(away))


@pytest.mark.slow
def test_on_a_coarse_lattice_the_noise_is_kept_and_loses_what_is_said():
    made = asked(COARSE)
    assert not made.has_program
    assert made.choice is not None
    assert isinstance(made.mechanism, CoordinateNoise)
    choice, certificate = made.choice, made.certificate
    assert (choice.kind, choice.is_decided, made.is_finished, choice.remapped) == ("noise", True, True, True)
    mean, error = simulated(made.mechanism)
    assert choice.noise.lower - 4 * error <= mean <= choice.noise.upper + 4 * error
    assert choice.noise.upper == pytest.approx(certificate.loss.upper / 1000)
    # The promise is the same, but for a slack that is named.
    assert certificate.holds
    assert certificate.privacy.promise.epsilon == PROMISE.epsilon
    assert 0 < choice.slack_m == certificate.privacy.slack_m < 2
    assert f"{sf.rounding.amount_at_most(choice.slack_m, 'm')} farther apart" in choice.sentence
    # The program was stopped, but its bound is proved: designed alone, it loses more.
    alone = asked(COARSE, method="table")
    assert choice.program is not None
    assert choice.noise.upper <= choice.program.lower <= alone.certificate.loss


@pytest.mark.slow
def test_on_a_fine_lattice_the_program_is_kept_and_both_losses_are_told():
    small = sf.Lattice.covering("4 km x 3 km around 40,-30", "500 m")
    prior, loss = sf.Prior.from_visits(small, CITY), small.loss(CITY)
    made = sf.design(prior, loss=loss, guarantees=PROMISE, gap=1e-3)
    assert made.has_program
    assert made.choice is not None
    assert made.choice.kind == "table"
    assert made.choice.program is not None
    assert made.choice.program.upper == made.certificate.loss <= made.choice.noise.upper
    assert made.choice.sentence in sf.reports.summarise(made).markdown()
    alone = sf.design(prior, loss=loss, guarantees=PROMISE, gap=1e-3, method="table")
    assert alone.choice is None
    np.testing.assert_array_equal(alone.mechanism.weights, made.mechanism.weights)


def test_one_of_them_can_be_asked_for():
    noise = asked(FINE, method="noise")
    assert not noise.has_program
    assert noise.choice is not None
    assert noise.choice.program is None
    assert noise.choice.is_decided
    assert "the program" not in noise.choice.sentence
    assert (noise.kind, noise.value, noise.slack_m) == ("noise", noise.choice.noise.upper, noise.choice.slack_m)
    assert noise.without_answer() is noise
    with pytest.raises(sf.errors.InputError, match="which no program found"):
        noise.problem  # noqa: B018
    for text in (repr(noise), noise._repr_html_()):
        assert "1/km" in text
        assert sf.rounding.amount_at_most(noise.value, "km") in text
    program = asked(COARSE, method="table")
    assert (program.kind, program.value, program.guarantees) == (
        "table",
        program.certificate.loss,
        program.problem.guarantees,
    )
    with pytest.raises(sf.errors.InputError, match="'both' is unknown"):
        asked(COARSE, method="both")


def test_the_module_does_not_hide_the_function():
    importlib.import_module("sfumato.optimal.design")
    assert sf.optimal.design is sf.design


def test_little_time_is_left_to_the_program():
    made = asked(COARSE, time_limit=2.0)
    assert made.has_program
    assert made.choice is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"guarantees": [PROMISE, sf.DistortionPrivacy("0.1 km", COARSE.metric(unit="km"))]}, "and no other"),
        ({"guarantees": sf.MetricPrivacy("1/km", COARSE.metric(unit="km"))}, "and no other"),
        ({"loss": COARSE.metric(unit="km")}, "not the Euclidean distance of the true point"),
        ({"loss": COARSE.loss(CITY, "manhattan")}, "not the Euclidean distance of the true point"),
        ({"loss": COARSE.loss(CITY, user=next(iter(CITY.users())))}, "prior is not that of the visits"),
        ({"objective": "worst-case"}, "expected loss"),
        ({"observables": sf.Grid.covering(CITY, "2 km"), "loss": None}, "not the Euclidean distance"),
    ],
)
def test_noise_is_no_rival_for_other_requests(change, reason):
    prior = sf.Prior.from_visits(COARSE, CITY)
    request = {"loss": COARSE.loss(CITY), "guarantees": PROMISE} | change
    if request["loss"] is None:
        request["loss"] = np.ones((len(COARSE), len(request["observables"])))
    with pytest.raises(sf.errors.InputError, match=reason):
        sf.design(prior, method="noise", **request)


def test_a_user_who_stops_early_gets_the_better_so_far():
    made = asked(FINE, stop=lambda: True)
    assert not made.has_program
    assert made.choice is not None
    assert not made.is_finished
    assert not made.choice.is_decided
    assert made.choice.program is not None
    assert made.choice.noise.upper < made.choice.program.upper


def test_points_put_together_widen_the_bounds_and_keep_them_true():
    many = field(visits=invented_city(users=40, days=12))
    exact, few = noise_rival(many), noise_rival(many, seconds=1e-6)
    assert len(many.points.xy) > 200
    assert exact.certificate.loss.lower <= exact.certificate.loss.upper
    for name in ("loss", "attacker", "blind"):
        inner, outer = getattr(exact.certificate, name), getattr(few.certificate, name)
        assert outer.lower < inner.upper, name
        assert outer.upper > inner.lower, name
    # The noise that was made for the groups, on the points themselves.
    points = many.points
    true = few.noise.error(points.xy, points.weights).loss
    assert few.certificate.loss.lower <= true.lower <= true.upper <= few.certificate.loss.upper
    assert few.certificate.loss.upper - few.certificate.loss.lower > true.upper - true.lower


@pytest.mark.slow
def test_without_a_table_where_one_would_be_too_coarse():
    strict = sf.CoordinatePrivacy("12/km")
    found = noise_rival(field(strict))
    assert found.loss.upper <= 2 / 12 * 1.01
    assert found.loss.lower > 0


def test_a_finer_table_loses_no_more_and_is_known_better():
    rough, fine = noise_rival(field(), 0.5), noise_rival(field(), 0.25)
    assert fine.loss.upper - fine.loss.lower < rough.loss.upper - rough.loss.lower
    assert fine.loss.upper < rough.loss.upper
    assert fine.loss.lower <= rough.loss.upper


def test_the_unit_is_that_of_the_loss_and_the_promise_may_have_another():
    prior = sf.Prior.from_visits(FINE, CITY)
    metres = rivalry(prior, FINE.loss(CITY, unit="m"), (sf.CoordinatePrivacy(0.001, "m"),), "expected", None)
    assert isinstance(metres, Rivalry)
    assert noise_rival(metres).loss.upper == pytest.approx(1000 * noise_rival(field()).loss.upper)


@pytest.mark.parametrize(
    ("kept", "program", "told", "decided"),
    [
        (
            "noise",
            Bracket(0.9, 1.2, 1.2),
            "at least 900 m on average, planar noise with a remap 700 m to 800 m",
            True,
        ),
        ("noise", Bracket(0.75, 1.2, 1.2), "750 m to 1.2 km on average, planar noise", False),
        ("table", Bracket(0.6, 0.6, 0.6), "loses at most 600 m on average, planar noise", True),
        ("table", Bracket(0.7, 0.75, 0.75), "because the noise was not proved to lose less", False),
        ("noise", None, "Planar noise with a remap loses 700 m to 800 m on average", True),
    ],
)
def test_sentences_of_the_choice(kept, program, told, decided):
    choice = Choice(kept, program, Bracket(0.7, 0.75, 0.8), True, "km", 1.4)
    assert told in choice.sentence
    assert choice.is_decided is decided
    assert ("slack" in choice.sentence) is (kept == "noise")
