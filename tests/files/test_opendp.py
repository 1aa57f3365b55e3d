"""Mechanisms in OpenDP: their maps beside exact logarithms and audits, composition, the law of reports."""

import gc
import math
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opendp.mod import OpenDPException

import sfumato as sf
from sfumato.errors import InputError, MetricWarning, MissingExtraError
from sfumato.mechanisms.planar import CoordinateNoise
from tests.catalogue import CASES, line
from tests.sampling.mechanisms import fix_seeds
from tests.sampling.test_sampler import FALSE_ALARM, p_value

FEATURES = ("contrib", "honest-but-curious")
AGES = sf.Space.numbers(range(18, 24), unit="year")
COMPOSED = getattr(dp.c, "make_composition", None) or dp.c.make_basic_composition  # their names until 0.13
ADAPTIVE = getattr(dp.c, "make_adaptive_composition", None) or dp.c.make_sequential_composition
GEOMETRIC = sf.mechanisms.geometric(AGES, "0.3/year")


@pytest.fixture(autouse=True)
def features(monkeypatch):
    """Allow what measurements need; what other tests allow stays as it was."""
    monkeypatch.setattr("opendp.mod.GLOBAL_FEATURES", set(FEATURES))


@pytest.fixture(scope="module")
def by_year():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opendp.mod.GLOBAL_FEATURES", set(FEATURES))
        return sf.files.as_opendp(GEOMETRIC, AGES.metric())


def ratios(mechanism):
    """Yield s, t and the largest likelihood ratio of s to t, exactly; infinity where t gives 0 alone."""
    rows = mechanism.weights.tolist()
    for s, row in enumerate(rows):
        for t, other in enumerate(rows):
            pairs = [(int(a), int(b)) for a, b in zip(row, other, strict=True) if a]
            yield s, t, max(Fraction(a, b) if b else math.inf for a, b in pairs)


def logarithm(ratio):
    """Return the logarithm to 60 digits: another route than floats and intervals."""
    if ratio == math.inf:
        return Decimal("inf")
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def is_tight_bound(bound, true):
    """Whether a bound is not below a logarithm of 60 digits, and hardly above."""
    if true == Decimal("inf"):
        return bound == math.inf
    slack = Decimal("1e-9") * (1 + abs(true))
    return true * (1 - Decimal("1e-50")) <= Decimal(bound) <= true + slack


def check_maps(mechanism, metric):
    logs = {(s, t): logarithm(ratio) for s, t, ratio in ratios(mechanism)}
    between_any = sf.files.as_opendp(mechanism)
    assert between_any.map(0) == 0
    assert is_tight_bound(between_any.map(1), max(logs.values()))
    assert between_any.map(7) == between_any.map(1)
    measurement = sf.files.as_opendp(mechanism, metric)
    for (s, t), true in logs.items():
        apart = float(metric.array[s, t])
        if math.isfinite(apart):
            assert Decimal(measurement.map(apart)) >= true * (1 - Decimal("1e-50"))
    finite = [(pair, float(metric.array[pair])) for pair in logs if 0 < metric.array[pair] < math.inf]
    if finite and measurement.map(0) == 0:
        steepest = max((logs[pair] / Decimal(apart) for pair, apart in finite), default=Decimal(0))
        assert is_tight_bound(measurement.map(1), steepest)
    return between_any, measurement


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_maps_are_above_exact_logarithms_and_hardly_so(case):
    _, measurement = check_maps(case.mechanism, case.metric)
    if math.isfinite(case.epsilon):
        assert measurement.map(1) == pytest.approx(case.epsilon, abs=1e-7)


@given(
    st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2, 5, 1000, 10**9]), min_size=3, max_size=3), min_size=2, max_size=4
    )
)
def test_the_maps_of_random_mechanisms(rows):
    matrix = np.array(rows) + np.array([1e-3, 0, 0])
    mechanism = sf.Mechanism(matrix / matrix.sum(axis=1, keepdims=True))
    check_maps(mechanism, sf.Metric(line(len(rows)) * 0.7, "km"))


@pytest.mark.parametrize("seed", range(5))
def test_the_maps_agree_with_an_audit(seed):
    rng = np.random.default_rng(seed)
    mechanism = sf.Mechanism(rng.dirichlet(np.ones(5), 6), AGES, sf.Space("vwxyz"))
    metric = AGES.metric()
    between_any, measurement = sf.files.as_opendp(mechanism), sf.files.as_opendp(mechanism, metric)
    local = sf.privacy.MetricDifferentialPrivacy(sf.hamming(AGES)).measure(mechanism).value
    per_year = sf.privacy.MetricDifferentialPrivacy(metric).measure(mechanism).value
    assert local <= between_any.map(1) <= local + 1e-9
    assert 3 * per_year <= measurement.map(3) <= 3 * per_year + 1e-9
    assert measurement.check(3, 3 * per_year + 1e-9)
    assert not measurement.check(3, 3 * per_year * 0.999)
    assert not between_any.check(1, local * 0.999)


def test_what_was_designed_for_is_what_is_checked():
    """The claim is tried on the integers, so the map is not above it by the rounding of a search."""
    mechanism = sf.mechanisms.randomised_response(sf.Space("abc"), 1.2)
    assert sf.files.as_opendp(mechanism).map(1) == 1.2
    assert sf.files.as_opendp(mechanism, sf.hamming(mechanism.secrets)).map(1.0) == 1.2
    assert sf.files.as_opendp(GEOMETRIC, AGES.metric("absolute")).check(1, 0.3)


def test_a_files_own_words_are_not_believed(tmp_path):
    mechanism = sf.mechanisms.randomised_response(sf.Space("abc"), 1.2)
    boasting = mechanism.promising(sf.MetricPrivacy(0.01, sf.hamming(mechanism.secrets)))
    sf.save(boasting, tmp_path / "boast.sfm")
    loaded = sf.load(tmp_path / "boast.sfm")
    assert isinstance(loaded, sf.Mechanism)
    assert [str(each) for each in loaded.guarantees] == ["epsilon 0.01, hamming"]
    for metric in (None, sf.hamming(mechanism.secrets)):
        measurement = sf.files.as_opendp(loaded, metric)
        assert 1.2 - 1e-12 <= measurement.map(1) <= 1.2 + 1e-12
        assert not measurement.check(1, 1.19)


def test_secrets_at_distance_zero():
    """Equal rows cost nothing there; rows that differ are told apart without limit."""
    metric = sf.Metric([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    alike = sf.Mechanism([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75]])
    apart = sf.Mechanism([[0.75, 0.25], [0.7, 0.3], [0.25, 0.75]])
    assert sf.files.as_opendp(alike, metric).map(0) == 0
    assert sf.files.as_opendp(apart, metric).map(0) == math.inf
    truth = sf.files.as_opendp(sf.Mechanism(np.eye(2)), sf.Metric(line(2)))
    assert (truth.map(0), truth.map(5e-324), truth.map(1)) == (0, math.inf, math.inf)
    assert not truth.check(1, 1e300)


@example(np.int64(2**62 + 1))
@given(
    st.one_of(
        st.integers(0, 10**400),
        st.fractions(0, 100),
        st.floats(0, 1e308),
        st.floats(0, 2.0**127, width=32).map(np.float32),
        st.integers(0, 2**63 - 1).map(np.int64),
        st.floats(0, 1e300).map(lambda x: np.longdouble(x) + np.longdouble(1e-18)),
    )
)
def test_no_distance_is_rounded_down(by_year, d_in):
    epsilon = sf.proofs.prove_metric_privacy(GEOMETRIC, sf.MetricPrivacy(0.3, AGES.metric())).upper
    exact = Fraction(int(d_in)) if isinstance(d_in, np.int64) else Fraction(*d_in.as_integer_ratio())
    found = by_year.map(d_in)
    if found == math.inf:
        assert exact * 4 > sys.float_info.max
    else:
        distance = next(d for d in (float(d_in), math.nextafter(float(d_in), math.inf)) if Fraction(d) >= exact)
        product = Fraction(epsilon) * Fraction(distance)
        assert Fraction(math.nextafter(found, -1.0)) < product <= Fraction(found)


def test_without_limit_nothing_is_promised(by_year):
    assert by_year.map(math.inf) == math.inf
    assert by_year.map(0) == 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("d_in", "said"),
    [
        (
            "1 year",
            "d_in is of type str, but a number is needed.\nHint: pass the largest distance of two secrets in year",
        ),
        (True, "d_in is of type bool"),
        (np.True_, "d_in is of type bool"),
        (None, "d_in is of type NoneType"),
        ([1.0], "d_in is of type list"),
        (Decimal(1), "d_in is of type Decimal"),
        (-1, "a d_in of -1 is no distance.\nHint: pass a number of at least 0."),
        (-(10**400), "a d_in of -inf is no distance"),
        (math.nan, "a d_in of nan is no distance"),
    ],
)
def test_what_is_no_distance_is_refused(by_year, d_in, said):
    with pytest.raises(OpenDPException) as raised:
        by_year.map(d_in)
    assert said in str(raised.value)


@pytest.mark.parametrize("d_in", [1.5, -1, "x"])
def test_opendp_itself_refuses_what_is_no_discrete_distance(d_in):
    measurement = sf.files.as_opendp(sf.mechanisms.randomised_response(sf.Space("abc"), 1.0))
    with pytest.raises((TypeError, ValueError)):
        measurement.map(d_in)


LATTICE = sf.Lattice.covering("2 km x 1500 m around 48.85,2.35", spacing="1 km")
SPACES = {
    "numbers": AGES,
    "tuples and sets": sf.Space([(1, "a"), frozenset({"a", 2}), 3.5, None, "text"]),
    "bins": sf.NumberBins(18, 5, 4, "year"),
    "columns": sf.JointSpace({"a": sf.Space("xy"), "b": sf.Space([1, 2])}),
    "cells": sf.Grid.covering("2 km x 1500 m around 48.85,2.35", cell="500 m"),
    "vertices": LATTICE,
}


@pytest.mark.parametrize("name", SPACES)
def test_any_space_and_its_file(name, tmp_path):
    space = SPACES[name]
    made = sf.mechanisms.randomised_response(space, 3.0)
    sf.save(made, tmp_path / "made.sfm")
    first, second = sf.files.as_opendp(made), sf.files.as_opendp(sf.load(tmp_path / "made.sfm"))
    for label in space.labels:
        assert first(label) in space.labels
        assert first.input_domain.member(label)
    assert not first.input_domain.member("nowhere")
    assert not first.input_domain.member(["cannot be a label"])
    assert COMPOSED([first, second]).map(1) == pytest.approx(6.0)  # the file's space is the same domain


def test_a_design_for_true_places_keeps_its_promise_between_vertices(tmp_path):
    distances = LATTICE.metric("euclidean", "km")
    prior, promise = sf.Prior.uniform(LATTICE), sf.CoordinatePrivacy("1/km")
    sf.save(sf.design(prior, loss=distances, guarantees=promise, method="table").mechanism, tmp_path / "city.sfm")
    loaded = sf.load(tmp_path / "city.sfm")
    measurement = sf.files.as_opendp(loaded, distances)
    assert 0.5 < measurement.map(1) <= 1
    assert measurement.check(0.7, 0.7)
    assert measurement(LATTICE.labels[0]) in LATTICE.labels
    assert "unit=km" in repr(measurement)


def test_reports_are_labels_of_observables():
    keep = sf.Mechanism(np.eye(3), sf.Space("abc"), sf.Space([frozenset({"a", "b"}), (1, 2), None]))
    measurement = sf.files.as_opendp(keep)
    assert [measurement(each) for each in "abc"] == list(keep.observables.labels)


@pytest.mark.slow
def test_reports_follow_the_mechanism(monkeypatch):
    fix_seeds(monkeypatch)
    rng = np.random.default_rng(3)
    mechanism = sf.Mechanism(rng.dirichlet(np.ones(4), 3), sf.Space("abc"), sf.Space("wxyz"))
    measurement = sf.files.as_opendp(mechanism)
    composed = COMPOSED([measurement] * 1500)
    for row, secret in enumerate("abc"):
        reports = [*composed(secret), *(measurement(secret) for _ in range(500))]
        counts = np.bincount(mechanism.observables.positions(reports), minlength=4)
        assert counts.sum() == 2000
        assert p_value(mechanism, row, counts) > FALSE_ALARM / 3


def test_every_measurement_draws_its_own_reports():
    mechanism = sf.mechanisms.randomised_response(sf.Space(range(100)), 0.1)
    drawn = set()
    for measurement in (sf.files.as_opendp(mechanism) for _ in range(20)):
        drawn |= {tuple(measurement(0) for _ in range(10)) for _ in range(2)}
    assert len(drawn) == 40


def test_composition_adds_up():
    space = sf.Space("abc")
    metric = sf.hamming(space)
    parts = [sf.mechanisms.randomised_response(space, epsilon) for epsilon in (0.1, 0.7, 1.3)]
    for given_metric, d_in in ((None, 1), (metric, 1.0)):
        measurements = [sf.files.as_opendp(each, given_metric) for each in parts]
        composed = COMPOSED(measurements)
        total = sum(Fraction(each.map(d_in)) for each in measurements)
        assert total <= Fraction(composed.map(d_in)) <= total + Fraction(1, 2**40)
        assert composed.check(d_in, 2.1 + 1e-9)
        assert not composed.check(d_in, 2.1 - 1e-9)
        del measurements
        gc.collect()
        assert set(composed("a")) <= set("abc")
    two = sf.files.as_opendp(parts[0], metric)
    assert two.map(2) == pytest.approx(0.2)


def test_a_budget_is_kept():
    measurement = sf.files.as_opendp(GEOMETRIC)
    queries = ADAPTIVE(*measurement.input_space, dp.max_divergence(), 1, [1.6, 1.6, 0.5])
    assert queries.map(1) == pytest.approx(3.7)
    ask = queries(20)
    assert {ask(measurement), ask(measurement)} <= set(AGES.labels)
    with pytest.raises(OpenDPException, match="insufficient budget"):
        ask(measurement)


def test_other_secrets_and_other_distances_do_not_compose():
    metric = AGES.metric()
    others = sf.Space.numbers(range(18, 24))  # the same labels without the unit
    here, there = (sf.mechanisms.geometric(space, 0.3) for space in (AGES, others))
    with pytest.raises(OpenDPException, match="omain"):
        COMPOSED([sf.files.as_opendp(here), sf.files.as_opendp(there)])
    with pytest.raises(OpenDPException, match="etric"):
        COMPOSED([sf.files.as_opendp(here, metric), sf.files.as_opendp(here, metric.scale(2.0))])
    with pytest.raises(OpenDPException, match="etric"):
        COMPOSED([sf.files.as_opendp(here, metric), sf.files.as_opendp(here)])


def test_an_unknown_secret_is_refused(by_year):
    with pytest.raises(OpenDPException, match="the label 17 is not in the space"):
        by_year(17)
    with pytest.raises(OpenDPException, match=r"the label \[18\] is not in the space"):
        by_year([18])


def test_without_its_features_opendp_is_not_called():
    dp.disable_features("honest-but-curious")
    mechanism = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    with pytest.raises(InputError, match=r"enable_features\('contrib', 'honest-but-curious'\)"):
        sf.files.as_opendp(mechanism)


def test_without_opendp_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[opendp\]'"):
        sf.files.as_opendp(sf.mechanisms.randomised_response(sf.Space("ab"), 1.0))


def test_what_cannot_be_a_measurement_is_refused():
    mechanism = GEOMETRIC
    with pytest.raises(InputError, match="is for 3 secrets, but there are 6"):
        sf.files.as_opendp(mechanism, sf.Metric(line(3)))
    with pytest.warns(MetricWarning, match="triangle"):
        bent = sf.Metric(line(6) ** 2, name="squares")
    with pytest.raises(InputError, match=r"'squares' breaks the triangle inequality.*\n.*metric.closure"):
        sf.files.as_opendp(mechanism, bent)
    assert sf.files.as_opendp(mechanism, bent.closure()).map(1) == pytest.approx(0.3)
    with pytest.raises(InputError, match="depends on the direction"):
        sf.files.as_opendp(mechanism, sf.Metric(line(6) * np.where(np.tri(6), 2, 1), symmetric=False))
    with pytest.raises(InputError, match="metric= is of type str, but a Metric or None is needed"):
        sf.files.as_opendp(mechanism, "euclidean")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="mechanism= is of type list"):
        sf.files.as_opendp([[1.0]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no finite set of secrets"):
        sf.files.as_opendp(CoordinateNoise("1/km"))
    with pytest.raises(InputError, match="a mechanism file cannot hold"):
        sf.files.as_opendp(sf.mechanisms.randomised_response(sf.Space([object(), object()]), 1.0))
