"""Refinement, guesses and beliefs as libqif finds them, on random channels."""

import json
import subprocess
import sys

import numpy as np
import pytest

import sfumato as sf
from sfumato.leakage import guessing_entropy, hyper_distribution, prior_guessing_entropy, refines

pytestmark = pytest.mark.usefixtures("qif")

PROGRAM = """
import json, sys
import numpy, qif
found = []
for one, other, prior in json.load(sys.stdin):
    a, b, pi = (numpy.array(each) for each in (one, other, prior))
    outer, inners = qif.channel.hyper(b, pi)
    found.append([
        bool(qif.refinement.refined_by(a, b)),
        float(qif.measure.guessing.posterior(pi, b)),
        float(qif.measure.guessing.prior(pi)),
        sorted(numpy.asarray(outer).ravel().tolist()),
    ])
print(json.dumps(found))
"""


def drawn(rng):
    """Two channels and a prior; the second channel is often the first one, processed."""
    n, m, k = rng.integers(2, 6, 3)
    one = rng.dirichlet(np.ones(m), n)
    other = one @ rng.dirichlet(np.ones(k), m) if rng.random() < 0.5 else rng.dirichlet(np.ones(k), n)
    return one, other, rng.dirichlet(np.ones(n))


def test_they_agree():
    # In a process of its own: libqif brings its own solvers.
    rng = np.random.default_rng(5)
    cases = [drawn(rng) for _ in range(150)]
    text = json.dumps([[each.tolist() for each in case] for case in cases])
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=text, capture_output=True, text=True, check=True)
    same = 0
    for (one, other, p), (refined, guesses, before, outer) in zip(cases, json.loads(done.stdout), strict=True):
        first, second = sf.Mechanism(one), sf.Mechanism(other)
        prior = sf.Prior(second.secrets, p)
        same += bool(refines(second, first)) == refined
        assert guessing_entropy(second, prior) == pytest.approx(guesses, rel=1e-9)
        assert prior_guessing_entropy(prior) == pytest.approx(before, rel=1e-9)
        assert sorted(hyper_distribution(second, prior).outer.tolist()) == pytest.approx(outer, abs=1e-9)
    assert same == len(cases)
