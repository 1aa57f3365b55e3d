"""Metric privacy as libqif measures it, on random channels."""

import json
import subprocess
import sys

import numpy as np
import pytest

from sfumato.core import Metric
from sfumato.privacy import MetricDifferentialPrivacy

pytestmark = pytest.mark.usefixtures("qif")

PROGRAM = """
import json, sys
import numpy, qif
cases = json.load(sys.stdin)
found = []
for rows, side in cases:
    def d(a, b, side=side):
        return float(((a % side - b % side) ** 2 + (a // side - b // side) ** 2) ** 0.5)
    found.append(qif.measure.d_privacy.smallest_epsilon(numpy.array(rows), d))
print(json.dumps(found))
"""


def test_smallest_epsilon_agrees():
    # In a process of its own: libqif brings its own solvers.
    rng = np.random.default_rng(11)
    cases = [(rng.dirichlet(np.full(m, 0.7), size=n).tolist(), 3) for n, m in ((4, 3), (6, 9), (9, 5), (9, 9)) * 5]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout)
    for (rows, side), epsilon in zip(cases, theirs, strict=True):
        x, y = np.arange(len(rows)) % side, np.arange(len(rows)) // side
        metric = Metric(np.hypot(x[:, None] - x, y[:, None] - y))
        assert MetricDifferentialPrivacy(metric).measure(rows).value == pytest.approx(epsilon, rel=1e-10)
