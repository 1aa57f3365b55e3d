"""Random towns on lattices, as programs whose observables are generated."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import sfumato as sf
from sfumato.optimal import Status
from sfumato.optimal.column_generation.program import edges_of, program


def optimum(given):
    """The least loss by HiGHS, all observables at once, with the rows of the edges or of all pairs."""
    n, m = given.shape
    loose = given.threshold is None
    s, t = (given.edges.upper, given.edges.lower) if loose else np.nonzero(~np.eye(n, dtype=np.bool_))
    root, every, k = np.exp(given.exponents[s, t] / 2), np.arange(len(s)), len(s)
    one = sparse.csr_array((1 / root, (every, s)), shape=(k, n))
    rows = one - sparse.csr_array((root, (every, t)), shape=(k, n))
    return linprog(
        given.costs.ravel(),
        A_ub=sparse.block_diag([rows] * m, format="csr"),
        b_ub=np.zeros(k * m),
        A_eq=sparse.hstack([sparse.eye_array(n)] * m, format="csr"),
        b_eq=np.ones(n),
        method="highs-ipm",
    ).fun


def check_optimum(ended, exact, gap=1e-5):
    """The end of rounds is a mechanism, and its loss and its bound are on the right sides of the least loss."""
    assert ended.status is Status.OPTIMAL
    assert ended.value - ended.best.bound <= gap * ended.value
    assert ended.best.bound <= exact * (1 + 1e-8)
    assert ended.value >= exact * (1 - 1e-8)
    assert ended.x.sum(axis=0) == pytest.approx(1)


def check_agreement(one, other, gap=1e-5):
    """A design by one method reaches its gap, and its loss and its bound agree with those of another method."""
    assert one.status is Status.OPTIMAL
    assert one.certificate.holds
    assert one.certificate.gap <= gap
    assert one.certificate.value == pytest.approx(other.certificate.value, rel=2 * gap)
    assert one.certificate.bound <= other.certificate.value
    assert other.certificate.bound <= one.certificate.value


def few_edges(exponents):
    """Few pairs whose rows imply those of all others, of exponents that have such."""
    found = edges_of(exponents)
    assert found is not None
    return found


def town(seed, *, size="4 km x 3 km", spacing="500 m", kind="triangular", epsilon=0.5):
    """Return a program: a lattice, a skewed prior in which a third is never visited, and Euclidean loss in km."""
    rng = np.random.default_rng(seed)
    lattice = sf.geo.Lattice.covering(f"{size} around 48.85,2.35", spacing, kind=kind)
    prior = rng.dirichlet(np.full(len(lattice), 0.3))
    prior[rng.random(len(lattice)) < 0.3] = 0.0
    prior /= prior.sum()
    loss = lattice.metric().to("km").array
    exponents = epsilon * lattice.steps().array
    return program(prior, prior[:, None] * loss, exponents, np.arange(len(lattice)), few_edges(exponents))
