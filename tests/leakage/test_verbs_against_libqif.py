"""Capacities, factorisations, refinement metrics and Bayes security as libqif finds them, on random channels."""

import json
import subprocess
import sys

import numpy as np
import pytest

import sfumato as sf
from sfumato.leakage import (
    additive_capacity,
    bayes_security,
    factorise,
    hyper_distribution,
    left_factorise,
    refinement_metric,
)

pytestmark = pytest.mark.usefixtures("qif")

PROGRAM = """
import json, sys
import numpy, qif
def found(cases):
    for one, other, rows, prior in cases:
        a, b, mixed, pi = (numpy.array(each) for each in (one, other, rows, prior))
        capacity = qif.measure.g_vuln.add_capacity
        yield {
            "vulnerability": capacity(pi, a),
            "guess": capacity(pi, a, one_spanning_g=True),
            "radius": qif.metric.optimize.simplex_l1_min_enclosing_ball(a)[0] / 2,
            "factors": bool(qif.channel.factorize(b, a).size),
            "mixes": bool(qif.channel.left_factorize(mixed, a).size),
            "metric": float(qif.refinement.add_metric(pi, a, b)[0]),
            "bound": float(qif.refinement.add_metric_bound(pi, a, b)),
            "greatest": bool(qif.refinement.max_refined_by(a, b)),
            "private": bool(qif.refinement.priv_refined_by(a, b)),
            "error": float(qif.measure.bayes_risk.mult_capacity(a)[0]),
            "diameter": float(qif.metric.optimize.l1_diameter(a)[0]),
        }
print(json.dumps(list(found(json.load(sys.stdin)))))
"""


def drawn(rng):
    """A channel, another one that is often the first, processed, rows that are often its mixtures, and a prior."""
    n, m, k = rng.integers(2, 6, 3)
    rows_of = sparse if rng.random() < 0.5 else dense
    one = rows_of(rng, n, m)
    other = one @ rows_of(rng, m, k) if rng.random() < 0.5 else rows_of(rng, n, k)
    mixed = rows_of(rng, 2, n) @ one if rng.random() < 0.5 else rows_of(rng, 2, m)
    return one, other, mixed, rows_of(rng, 1, n)[0]


def dense(rng, n, m):
    return rng.dirichlet(np.ones(m), n)


def sparse(rng, n, m):
    """Rows of which about a third is zero, often in whole columns."""
    counts = rng.integers(0, 3, (n, m)).astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module", params=[40, pytest.param(250, marks=pytest.mark.slow)])
def both(request):
    """Random cases, with what libqif says of each."""
    # In a process of its own: libqif brings its own solvers.
    rng = np.random.default_rng(17)
    cases = [drawn(rng) for _ in range(request.param)]
    text = json.dumps([[each.tolist() for each in case] for case in cases])
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=text, capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)
    made = [
        (sf.Mechanism(a), sf.Mechanism(b), sf.Mechanism(c), sf.Prior(sf.Space(range(len(p))), p))
        for a, b, c, p in cases
    ]
    return list(zip(made, theirs, strict=True))


@pytest.mark.slow
def test_additive_capacities(both):
    for (one, _, _, prior), theirs in both:
        for bounded in ("vulnerability", "guess"):
            found = additive_capacity(one, prior, bounded=bounded).value
            assert found.value == pytest.approx(theirs[bounded], abs=1e-12)
        radius = additive_capacity(one, bounded="gain").value
        assert radius.lower - 1e-6 <= theirs["radius"] <= radius.upper + 1e-6


@pytest.mark.slow
def test_factorisations(both):
    assert all(bool(factorise(other, one)) == theirs["factors"] for (one, other, _, _), theirs in both)
    assert all(bool(left_factorise(rows, one)) == theirs["mixes"] for (one, _, rows, _), theirs in both)


def test_refinement_metric(both):
    for (one, other, _, prior), theirs in both:
        value = refinement_metric(other, one, prior).value.value
        assert value == pytest.approx(theirs["metric"], abs=1e-6)
        assert value <= theirs["bound"] + 1e-6


@pytest.mark.slow
def test_greatest_case_refinement_is_a_left_factorisation_of_beliefs(both):
    for (one, other, _, prior), theirs in both:
        if not (one.matrix.any(axis=0).all() and other.matrix.any(axis=0).all()):
            continue  # libqif says no where a report is never made
        even = sf.Prior.uniform(prior.space)
        ours, given = (sf.Mechanism(hyper_distribution(each, even).inners) for each in (other, one))
        assert bool(left_factorise(ours, given)) == theirs["greatest"]


def test_refinement_of_privacy_is_a_metric_privacy(both):
    largest = sf.divergences.MaxDivergence()
    for (one, other, _, _), theirs in both:
        rows = one.matrix
        if not rows.all():
            continue  # the largest log-ratio may be infinite, or no number
        distances = np.array([[max(largest(p, q), largest(q, p)) for q in rows] for p in rows])
        np.fill_diagonal(distances, 0.0)
        epsilon = sf.privacy.MetricDifferentialPrivacy(sf.Metric(distances)).measure(other).value
        assert (epsilon <= 1 + 1e-9) == theirs["private"]


def test_bayes_security(both):
    for (one, *_), theirs in both:
        found = bayes_security(one)
        assert found.value == pytest.approx(1 / theirs["error"], abs=1e-12)  # 0, where they say inf
        assert 2 * (1 - found.value) == pytest.approx(theirs["diameter"], abs=1e-12)
