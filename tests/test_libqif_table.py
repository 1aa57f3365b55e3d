"""The table of docs/how-to/from-libqif.md: both sides of its rows on random channels, and where libqif differs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf

pytestmark = pytest.mark.usefixtures("qif")

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "from-libqif.md"

PROGRAM = """
import json, sys
import numpy, qif
m, c, k, r = qif.measure, qif.channel, qif.mechanism, qif.refinement
def line(a, b):
    return float(abs(a - b))
def found(pi, C, G, P):
    n = len(pi)
    yield "bayes_vuln.prior", m.bayes_vuln.prior(pi)
    yield "bayes_vuln.posterior", m.bayes_vuln.posterior(pi, C)
    yield "bayes_vuln.add_leakage", m.bayes_vuln.add_leakage(pi, C)
    yield "bayes_vuln.mult_leakage", m.bayes_vuln.mult_leakage(pi, C)
    yield "bayes_vuln.min_entropy_leakage", m.bayes_vuln.min_entropy_leakage(pi, C)
    yield "bayes_vuln.mult_capacity", m.bayes_vuln.mult_capacity(C)
    yield "bayes_risk.posterior", m.bayes_risk.posterior(pi, C)
    yield "bayes_risk.mult_capacity", m.bayes_risk.mult_capacity(C)[0]
    yield "g_vuln.prior", m.g_vuln.prior(G, pi)
    yield "g_vuln.posterior", m.g_vuln.posterior(G, pi, C)
    yield "g_vuln.mult_leakage", m.g_vuln.mult_leakage(G, pi, C)
    yield "g_vuln.add_leakage", m.g_vuln.add_leakage(G, pi, C)
    yield "l_risk.add_capacity", m.l_risk.add_capacity(pi, C)
    yield "pred_vuln.prior", m.pred_vuln.prior(P, pi)
    yield "posterior", c.posterior(C, pi, 0).tolist()
    yield "l_risk.posterior", m.l_risk.posterior(G, pi, C)
    yield "pred_vuln.posterior", m.pred_vuln.posterior(P, pi, C)
    yield "shannon.prior", m.shannon.prior(pi)
    yield "shannon.posterior", m.shannon.posterior(pi, C)
    yield "shannon.add_leakage", m.shannon.add_leakage(pi, C)
    yield "shannon.add_capacity", m.shannon.add_capacity(C)[0]
    yield "guessing.prior", m.guessing.prior(pi)
    yield "guessing.posterior", m.guessing.posterior(pi, C)
    yield "posteriors", c.posteriors(C, pi).T.tolist()
    yield "parallel", c.compose.parallel(C, C).tolist()
    yield "repeated", c.compose.repeated_independent(C, 2).tolist()
    epsilon = m.d_privacy.smallest_epsilon(C, line)
    kept = [m.d_privacy.is_private(C, lambda a, b, e=e: e * line(a, b)) for e in (0.99 * epsilon, 1.01 * epsilon)]
    yield "is_private", [float(each) for each in kept]
    yield "smallest_epsilon", m.d_privacy.smallest_epsilon(C, line)
    yield "sum_column_min", c.sum_column_min(C)
    yield "bayes_risk.prior", m.bayes_risk.prior(pi)
    yield "l_risk.prior", m.l_risk.prior(G, pi)
    yield "l1_diameter", qif.metric.optimize.l1_diameter(C)[0]
    yield "reduced", sorted(c.reduced(C).mean(axis=0).tolist())
    yield "l1", qif.metric.l1()(C[0], C[-1])
    yield "total_variation", qif.metric.total_variation()(C[0], C[-1])
    yield "mult_total_variation", qif.metric.mult_total_variation()(C[0], C[-1])
    yield "kantorovich", qif.metric.kantorovich(line)(C[0], C[-1])
    yield "expected_distance", qif.utility.expected_distance(G, pi, k.d_privacy.geometric(n, 1.0))
    yield "geometric", k.d_privacy.geometric(n, 1.0).tolist()
    yield "exponential", k.d_privacy.exponential(n, line).tolist()
    yield "randomized_response", k.d_privacy.randomized_response(n, 1.0).tolist()
    yield "tight_constraints", k.d_privacy.tight_constraints(n, line).tolist()
    private = k.d_privacy.min_loss_given_d(pi, n, line, line)
    yield "min_loss_given_d", qif.utility.expected_distance(line, pi, private)
    risk = 0.5 * m.bayes_risk.prior(pi)
    hidden = k.bayes_risk.min_loss_given_min_risk(pi, n, risk, line)
    yield "min_loss_given_min_risk", qif.utility.expected_distance(line, pi, hidden)
    same = k.bayes_vuln.min_loss_given_max_vuln(pi, n, 1 - risk, line)
    yield "min_loss_given_max_vuln", qif.utility.expected_distance(line, pi, same)
    bounded = k.bayes_risk.max_risk_given_max_loss(pi, n, 0.25, line)
    yield "max_risk_given_max_loss", m.bayes_risk.posterior(pi, bounded)
    same = k.bayes_vuln.min_vuln_given_max_loss(pi, n, 0.25, line)
    yield "min_vuln_given_max_loss", m.bayes_risk.posterior(pi, same)
answers = []
for pi, C, G, P in json.load(sys.stdin):
    given = [numpy.array(each) for each in (pi, C, G)] + [numpy.array(P, dtype=numpy.uint32)]
    answers.append(dict(found(*given)))
# Where libqif differs.
ones, unused = numpy.ones((2, 1)), numpy.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
off = numpy.array([[0.50005, 0.49995], [0.5, 0.5]])
differs = {
    "factorize": qif.channel.factorize(off, ones).size > 0,
    "refined_by": bool(r.refined_by(ones, off)),
    "max_refined_by": bool(r.max_refined_by(unused, ones)),
    "without the unused": bool(r.max_refined_by(unused[:, :2], ones)),
    "nan": bool(numpy.isnan(c.posteriors(unused, numpy.array([0.5, 0.5]))).any()),
    "rows": qif.channel.factorize(numpy.eye(3), numpy.eye(2)).size,
}
def functions(module, path=""):
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or name in ("builtins", "math", "numpy", "typing"):
            continue
        if hasattr(value, "__path__") or type(value).__name__ == "module":
            yield from functions(value, path + name + ".")
        elif callable(value) and path:
            yield path + name
print(json.dumps([answers, differs, sorted(set(functions(qif)))]))
"""


def cases():
    """Priors, channels, losses and predicates, of which none is trivial."""
    rng = np.random.default_rng(23)
    for _ in range(25):
        n, m = rng.integers(2, 6, 2)
        predicate = np.append([0, 1], rng.integers(0, 2, n - 2))
        yield rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m), n), rng.random((n, n)), predicate


@pytest.fixture(scope="module")
def answers():
    """Answers of libqif: of the cases, where it differs, and which functions it has."""
    text = json.dumps([[each.tolist() for each in case] for case in cases()])
    # In a process of its own: libqif brings its own solvers.
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=text, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def ours(p, matrix, gain, predicate):
    n = len(p)
    space = sf.Space(range(n), coordinates=range(n))
    channel, prior = sf.Mechanism(matrix, space), sf.Prior(space, p)
    line, leak = space.metric("euclidean"), sf.leakage
    last = len(matrix) - 1
    geometric = sf.mechanisms.geometric(space, 1.0)
    bet = np.array([predicate == 1, predicate == 0], dtype=float)
    yield "bayes_vuln.prior", leak.prior_vulnerability(prior)
    yield "bayes_vuln.posterior", leak.bayes_vulnerability(channel, prior)
    yield "bayes_vuln.add_leakage", leak.additive_leakage(channel, prior)
    yield "bayes_vuln.mult_leakage", leak.multiplicative_leakage(channel, prior)
    yield "bayes_vuln.min_entropy_leakage", leak.min_entropy_leakage_bits(channel, prior)
    yield "bayes_vuln.mult_capacity", 2 ** leak.min_entropy_capacity_bits(channel)
    yield "bayes_risk.posterior", leak.bayes_error(channel, prior)
    yield "bayes_risk.mult_capacity", 1 / leak.bayes_security(channel).value
    yield "g_vuln.prior", leak.prior_g_vulnerability(prior, gain)
    yield "g_vuln.posterior", leak.g_vulnerability(channel, prior, gain)
    yield "g_vuln.mult_leakage", 2 ** leak.g_leakage_bits(channel, prior, gain)
    yield (
        "g_vuln.add_leakage",
        leak.g_vulnerability(channel, prior, gain) - leak.prior_g_vulnerability(prior, gain),
    )
    yield "l_risk.add_capacity", leak.additive_capacity(channel, prior).value.value
    yield "pred_vuln.prior", leak.prior_g_vulnerability(prior, bet)
    yield "posterior", channel.posterior(prior)[0]
    yield "l_risk.posterior", sf.attacks.optimal(channel, prior, gain).error
    yield "pred_vuln.posterior", leak.g_vulnerability(channel, prior, bet)
    yield "shannon.prior", prior.entropy_bits
    yield "shannon.posterior", leak.conditional_entropy_bits(channel, prior)
    yield "shannon.add_leakage", leak.mutual_information_bits(channel, prior)
    yield "shannon.add_capacity", leak.shannon_capacity(channel, tolerance_bits=1e-7).bits.value
    yield "guessing.prior", leak.prior_guessing_entropy(prior)
    yield "guessing.posterior", leak.guessing_entropy(channel, prior)
    yield "posteriors", channel.posterior(prior)
    yield "parallel", sf.privacy.product_channel(channel, channel).matrix
    yield "repeated", sf.privacy.product_channel(channel, channel).matrix
    yield "is_private", [0.0, 1.0]
    yield "smallest_epsilon", sf.privacy.MetricDifferentialPrivacy(line).measure(channel).value
    yield "sum_column_min", 1 - leak.additive_capacity(channel).value.value
    yield "bayes_risk.prior", sf.attacks.blind(prior, sf.hamming(space)).error
    yield "l_risk.prior", sf.attacks.blind(prior, gain).error
    yield "l1_diameter", 2 * (1 - leak.bayes_security(channel).value)
    yield "reduced", np.sort(leak.hyper_distribution(channel, sf.Prior.uniform(space)).outer)
    yield "l1", 2 * sf.divergences.TOTAL_VARIATION(matrix[0], matrix[last])
    yield "total_variation", sf.divergences.TOTAL_VARIATION(matrix[0], matrix[last])
    largest = sf.divergences.MaxDivergence()
    yield "mult_total_variation", max(largest(matrix[0], matrix[last]), largest(matrix[last], matrix[0]))
    steps = np.abs(np.subtract.outer(np.arange(matrix.shape[1]), np.arange(matrix.shape[1]))).astype(float)
    yield "kantorovich", sf.transport.wasserstein(matrix[0], matrix[last], steps).distance.value
    yield "expected_distance", geometric.expected_loss(prior, gain)
    yield "geometric", geometric.matrix
    yield "exponential", sf.mechanisms.exponential(space, line, 1.0).matrix
    yield "randomized_response", sf.mechanisms.randomised_response(space, 1.0).matrix
    yield "tight_constraints", sf.mechanisms.tight_constraints(space, line, 1.0).matrix


def designed(p):
    space = sf.Space(range(len(p)), coordinates=range(len(p)))
    prior, line, hit = sf.Prior(space, p), space.metric("euclidean"), sf.hamming(space)
    private = sf.design(prior, loss=line, guarantees=sf.MetricPrivacy(1.0, line))
    yield "min_loss_given_d", private.mechanism.expected_loss(prior, line)
    half = 0.5 * (1 - sf.leakage.prior_vulnerability(prior))
    hidden = sf.design(prior, loss=line, guarantees=sf.DistortionPrivacy(half, hit))
    yield "min_loss_given_min_risk", hidden.mechanism.expected_loss(prior, line)
    yield "min_loss_given_max_vuln", hidden.mechanism.expected_loss(prior, line)
    bounded = sf.maximise_distortion(prior, loss=line, distance=hit, max_loss=0.25)
    yield "max_risk_given_max_loss", sf.leakage.bayes_error(bounded.mechanism, prior)
    yield "min_vuln_given_max_loss", sf.leakage.bayes_error(bounded.mechanism, prior)


def test_both_sides_of_the_rows_agree(answers):
    for case, theirs in zip(cases(), answers[0], strict=True):
        for name, value in ours(*case):
            assert np.asarray(value, dtype=float) == pytest.approx(np.asarray(theirs[name]), abs=1e-5), name


def test_designs_agree(answers):
    for case, theirs in list(zip(cases(), answers[0], strict=True))[:6]:
        for name, value in designed(case[0]):
            assert value == pytest.approx(theirs[name], abs=1e-5), name


def test_libqif_differs_where_the_page_says_so(answers):
    assert answers[1] == {
        "factorize": True,
        "refined_by": True,
        "max_refined_by": False,
        "without the unused": True,
        "nan": True,
        "rows": 0,
    }
    says_nothing, off = sf.Mechanism([[1.0], [1.0]]), sf.Mechanism([[0.50005, 0.49995], [0.5, 0.5]])
    assert not sf.leakage.factorise(off, says_nothing)
    assert sf.leakage.factorise(off, says_nothing).distance.lower == pytest.approx(2.5e-5, rel=1e-6)
    assert sf.leakage.refines(off, says_nothing).holds is False
    unused = sf.Mechanism([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    even = sf.Prior.uniform(unused.secrets)
    beliefs = [sf.Mechanism(sf.leakage.hyper_distribution(each, even).inners) for each in (says_nothing, unused)]
    assert sf.leakage.left_factorise(*beliefs)


def test_the_page_names_every_function_of_libqif(answers):
    page = PAGE.read_text(encoding="utf-8")
    assert set(answers[2]) - set(re.findall(r"`([a-z][\w.]*)`", page)) == set()
