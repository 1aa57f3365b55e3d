"""The solver that generates observables, through the public design."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.evidence.optimality import prove_optimality
from sfumato.optimal import Generating, Status

LATTICE = sf.geo.Lattice.covering("3 km x 2 km around 48.85,2.35", "500 m", kind="triangular")
PROMISE = sf.CoordinatePrivacy("1/km")


def town(seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(LATTICE), 0.4))
    shares[rng.random(len(LATTICE)) < 0.3] = 0.0
    return sf.Prior(LATTICE, shares / shares.sum())


def design(prior, **options):
    loss = LATTICE.metric().to("km")
    options = {"guarantees": PROMISE, "keep": "program", "tie_break": False, **options}
    return sf.design(prior, loss=loss, **options)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_and_proves_what_the_structured_method_does(seed):
    prior = town(seed)
    one, other = (design(prior, solver=name, gap=1e-5) for name in ("generating", "structured"))
    assert one.solver == "generated observables"
    assert one.status is Status.OPTIMAL
    assert one.certificate.holds
    assert one.certificate.gap <= 1e-5
    assert one.certificate.value == pytest.approx(other.certificate.value, rel=2e-5)
    assert one.certificate.bound <= other.certificate.value
    assert other.certificate.bound <= one.certificate.value


def test_its_prices_prove_the_bound_again():
    found = design(town(5), solver="generating", gap=1e-4)
    problem = found.problem
    again = prove_optimality(problem.prior, problem.loss, problem.guarantees, found.optimality)
    assert again == pytest.approx(found.certificate.bound, rel=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "worst-case"},
        {"guarantees": [PROMISE, sf.DistortionPrivacy("0.05 km", LATTICE.metric().to("km"))]},
        {"pairs": "spanner"},
    ],
    ids=["worst case", "distortion", "spanner"],
)
def test_other_problems_go_to_the_structured_method(options):
    assert design(town(1), solver="generating", gap=1e-3, **options).solver == "structured interior point"


def test_pairs_that_few_edges_do_not_imply_go_to_the_structured_method():
    rng = np.random.default_rng(3)
    points = rng.random((40, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    prior = sf.Prior.uniform(sf.Space([f"p{k}" for k in range(40)]))
    found = sf.design(
        prior,
        loss=apart,
        guarantees=sf.MetricPrivacy(2.0, sf.Metric(apart)),
        solver=Generating(threads=1),
        gap=1e-3,
        tie_break=False,
    )
    assert found.solver == "structured interior point"


def test_a_time_limit_leaves_a_proved_mechanism():
    found = design(town(2), solver="generating", gap=1e-9, stop=lambda: True)
    assert found.certificate.holds
    assert found.status is Status.INTERRUPTED
    assert found.certificate.bound <= found.certificate.value
