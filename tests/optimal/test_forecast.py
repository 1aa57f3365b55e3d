"""The method that is chosen, and what it is expected to take: where it says so, it is so."""

import re
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.optimal import Answer, Solver, Status, effort
from sfumato.optimal import solver_registry as solvers
from sfumato.optimal.effort import NOT_QUICKER, Forecast, expected_reports, forecast, select_method
from sfumato.optimal.problem import least_loss

LATTICE = sf.geo.Lattice.covering("6 km x 6 km around 48.85,2.35", "500 m", kind="triangular")
KM = LATTICE.metric().to("km")


def skewed(seed=3):
    """A town whose people are near one place."""
    rng = np.random.default_rng(seed)
    middle = KM.array[len(LATTICE) // 2]
    mass = np.exp(-middle) * rng.gamma(0.5, size=len(LATTICE))
    return sf.Prior(LATTICE, mass / mass.sum())


def asked(prior, epsilon="0.5/km", **others):
    return least_loss(prior, KM, sf.CoordinatePrivacy(epsilon), "expected", None, **others)


class Named(Solver):
    """A solver that reports at one place, and says what it is called and how it ended."""

    def __init__(self, name, status):
        self.name, self.status = name, status

    def answer(self, problem, control, start=None):
        flat = np.zeros(problem.shape)
        flat[:, 0] = 1.0
        value = float(problem.prior.probabilities @ problem.loss.array[:, 0])
        return Answer(flat, 0.0, value, 0.9 * value, self.status, (), self.name)

    def attempt(self, problem, control, start=None, *, of_pairs=True):
        return self.answer(problem, control)


def chosen(prior, **options):
    """The name of what `auto` chose."""
    options = {"guarantees": sf.CoordinatePrivacy("0.5/km"), "method": "table", "tie_break": False, **options}
    return sf.design(prior, loss=KM, **options).solver


def test_generated_observables_are_chosen_where_few_are_expected(monkeypatch):
    monkeypatch.setattr(solvers, "Generating", lambda *_, **__: Named("generated observables", Status.OPTIMAL))
    n = len(LATTICE)
    assert n > 150
    expected = f"generated observables (chosen: few edges imply all rows, and {n} places)"
    assert chosen(skewed()) == expected


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"objective": "worst-case"}, "the loss is a worst-case one"),
        ({"pairs": "spanner"}, "pairs are spanner"),
        ({"guarantees": sf.CoordinatePrivacy("3/km")}, r"about \d+ of \d+ reports are expected to be used"),
        (
            {"guarantees": sf.MetricPrivacy(1.0, sf.Metric(1.0 - np.eye(len(LATTICE))))},
            "few edges do not imply all rows",
        ),
        (
            {"guarantees": [sf.CoordinatePrivacy("0.5/km"), sf.DistortionPrivacy("0.1 km", KM)]},
            "the attacker's error is part of the problem",
        ),
        ({"guarantees": sf.MetricPrivacy("4/km", KM), "gap": 1e-3}, NOT_QUICKER),
    ],
    ids=["worst case", "spanner", "many reports", "no neighbours", "error", "many of all pairs"],
)
def test_the_structured_method_says_why_it_was_chosen(monkeypatch, tmp_path, options, reason):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        solvers, "Structured", lambda *_, **__: Named("structured interior point", Status.INTERRUPTED)
    )
    prior = sf.Prior.uniform(LATTICE) if "reports" in reason else skewed()
    found = chosen(prior, stop=lambda: True, **options)
    assert re.search(rf"structured interior point \(chosen: {reason}\)", found)


def test_the_structured_method_is_asked_where_generating_stops_short(monkeypatch):
    monkeypatch.setattr(solvers, "Generating", lambda *_, **__: Named("generated observables", Status.INACCURATE))
    monkeypatch.setattr(solvers, "Structured", lambda *_, **__: Named("structured interior point", Status.OPTIMAL))
    assert "generated observables (chosen: few edges" in chosen(skewed())
    monkeypatch.setattr(solvers, "_MORE", 10)
    monkeypatch.setattr(solvers, "Structured", None)
    assert "generated observables (chosen: few edges" in chosen(skewed())


def test_what_is_expected_grows_with_people_apart_and_epsilon():
    even = sf.Prior.uniform(LATTICE)
    near = [expected_reports(asked(skewed(), f"{epsilon}/km")) for epsilon in (0.1, 1, 10)]
    assert near == sorted(near)
    assert expected_reports(asked(even)) > expected_reports(asked(skewed()))
    assert expected_reports(asked(even, "1000/km")) > 0.99 * len(LATTICE)


def test_a_forecast_names_the_method_that_is_chosen_and_a_range():
    found = forecast(skewed(), loss=KM, guarantees=sf.CoordinatePrivacy("0.5/km"))
    assert found.method == "generated observables"
    assert 0 < found.least_seconds < found.most_seconds
    assert found.memory_bytes > 8 * len(LATTICE) ** 2
    finer = forecast(skewed(), loss=KM, guarantees=sf.CoordinatePrivacy("0.5/km"), gap=1e-8)
    assert finer.most_seconds > found.most_seconds
    far = forecast(skewed(), loss=KM, guarantees=sf.MetricPrivacy("0.5/km", KM))
    assert far.method == "generated observables and pairs"
    assert re.fullmatch(r"about \d+ of \d+ reports are expected to be used", far.reason)
    assert far.most_seconds > found.most_seconds
    many = forecast(skewed(), loss=KM, guarantees=sf.MetricPrivacy("4/km", KM))
    assert (many.method, many.reason) == ("structured interior point", NOT_QUICKER)


def test_pairs_are_generated_for_more_reports_where_the_gap_is_fine():
    problem = least_loss(skewed(), KM, sf.MetricPrivacy("3/km", KM), "expected", None)
    assert select_method(problem).of_pairs is None
    assert select_method(problem, gap=1e-6).of_pairs is not None


@pytest.mark.slow
def test_pairs_are_generated_where_few_reports_are_expected():
    found = chosen(skewed(), guarantees=sf.MetricPrivacy("0.5/km", KM), gap=0.05)
    assert re.fullmatch(
        r"generated observables and pairs \(chosen: about \d+ of \d+ reports are expected to be used\)", found
    )


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.2, 3.1, "up to 4 seconds and 1.5 GB of memory"),
        (12.0, 61.0, "about 10 to 65 seconds and 1.5 GB of memory"),
        (61.0, 100.0, "about 1 to 2 minutes and 1.5 GB of memory"),
        (3_000.0, 10_000.0, "up to 3 hours and 1.5 GB of memory"),
    ],
)
def test_a_range_is_rounded_outwards(low, high, words):
    assert Forecast("", "", low, high, 1.5 * 2**30).sentence == words


def test_where_the_structured_method_does_not_fit_observables_are_generated(monkeypatch):
    even = asked(sf.Prior.uniform(LATTICE), "4/km")
    assert not select_method(even).generated
    monkeypatch.setattr(effort, "free_bytes", lambda: 6e7)
    assert select_method(even).generated


def test_what_does_not_fit_into_memory_is_refused_with_what_does(monkeypatch):
    monkeypatch.setattr(effort, "free_bytes", lambda: 2.0**30)
    with pytest.raises(InputError, match=r"of memory, and .* is available") as error:
        effort.check_generated(10_000, 10_000, 0.0, 1e-4)
    told = re.search(r"about ([\d,]+) secrets fit", error.value.hint)
    assert told is not None
    fits = int(told[1].replace(",", ""))
    effort.check_generated(fits, fits, 0.0, 1e-4)
    with pytest.raises(InputError):
        effort.check_generated(fits + fits // 25 + 2, fits + fits // 25 + 2, 0.0, 1e-4)
    monkeypatch.setattr(effort, "free_bytes", lambda: 1e7)
    with pytest.raises(InputError, match="of memory"):
        chosen(skewed())


def test_unknown_pairs_are_refused_as_by_a_design():
    for ask in (sf.design, forecast):
        with pytest.raises(InputError, match="pairs='spaner' is unknown"):
            ask(skewed(), loss=KM, guarantees=sf.CoordinatePrivacy("0.5/km"), pairs="spaner")


@pytest.mark.parametrize("gap", [0.0, -1.0, 5.0, float("nan")])
def test_a_gap_is_between_none_and_all(gap):
    with pytest.raises(InputError, match=r"gap=.* is not between 0 and 1"):
        forecast(skewed(), loss=KM, guarantees=sf.CoordinatePrivacy("0.5/km"), gap=gap)


@pytest.mark.parametrize("threads", [0, -1])
def test_a_forecast_needs_a_thread(threads):
    with pytest.raises(InputError, match=f"threads={threads} is not at least 1"):
        forecast(skewed(), loss=KM, guarantees=sf.CoordinatePrivacy("0.5/km"), threads=threads)


def test_what_was_not_measured_is_not_forecast():
    several: list[Any] = [
        sf.MetricPrivacy("0.5/km", KM),
        sf.DistortionPrivacy("1 m", KM),
        sf.DistortionPrivacy("2 m", KM),
    ]
    with pytest.raises(InputError, match="no measured times"):
        forecast(skewed(), loss=KM, guarantees=several)


def test_little_is_said_in_the_singular():
    few = sf.Space("abc")
    promise = sf.MetricPrivacy(1.0, sf.hamming(few))
    found = forecast(sf.Prior.uniform(few), loss=sf.hamming(few), guarantees=promise)
    assert found.sentence == "up to 1 second and less than 0.1 GB of memory"
