"""The prices of a design prove its bound again, before and after they went through a file."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import sfumato as sf
from sfumato.errors import InputError
from sfumato.proofs import optimality, prove_optimality

SPACE = sf.Space.numbers([0.0, 1.0, 2.0, 3.5, 5.0], unit="km")
METRIC = SPACE.metric("absolute")
PRIOR = sf.Prior(SPACE, [0.3, 0.0, 0.25, 0.25, 0.2])
COST = sf.hamming(SPACE)


KEPT = sf.MetricPrivacy(0.8, METRIC)
NEAR = sf.ThresholdPrivacy(1.0, METRIC, 1.6)
FAR = sf.DistortionPrivacy(1.0, METRIC)
# Uphill is farther; nothing protects the last secret against the others, and the first two must look alike.
STEEP = np.array(
    [[0, 0, 3, 4, 9], [2, 0, 2, 3, 9], [1, 1, 0, 1, 9], [1, 1, 1, 0, 9], [1, 2, 3, 2, 0]], dtype=float
)
STEEP[4, :4] = np.inf
ONE_WAY = sf.MetricPrivacy(0.8, sf.Metric(STEEP, "km", symmetric=False, triangle=False))
DESIGNS = {
    "metric": lambda: sf.design(PRIOR, loss=COST, guarantees=[KEPT]),
    "closed form": lambda: sf.design(PRIOR, loss=METRIC, guarantees=[KEPT]),
    "distortion": lambda: sf.design(PRIOR, loss=COST, guarantees=[FAR]),
    "joint": lambda: sf.design(PRIOR, loss=COST, guarantees=[KEPT, FAR]),
    "two metrics": lambda: sf.design(PRIOR, loss=COST, guarantees=[KEPT, NEAR]),
    "one way": lambda: sf.design(PRIOR, loss=COST, guarantees=[ONE_WAY]),
    "worst case": lambda: sf.design(PRIOR, loss=COST, guarantees=[KEPT], objective="worst-case"),
    "general back-end": lambda: sf.design(PRIOR, loss=COST, guarantees=[KEPT], solver=sf.optimal.Highs()),
    "spanner": lambda: sf.design(PRIOR, loss=COST, guarantees=[KEPT], pairs="spanner", dilation=1.5),
    "dual": lambda: sf.maximise_distortion(PRIOR, loss=COST, distance=METRIC, max_loss=0.4),
    "dual with metric": lambda: sf.maximise_distortion(
        PRIOR, loss=COST, distance=METRIC, max_loss=0.6, guarantees=[KEPT]
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_bound_is_proved_again_from_the_file(name, tmp_path):
    result = DESIGNS[name]()
    problem = result.problem
    assert result.optimality is not None
    again = prove_optimality(problem.prior, problem.loss, problem.guarantees, result.optimality)
    np.testing.assert_allclose(again, result.certificate.bound, rtol=1e-9)
    content = sf.MechanismFile(
        result.mechanism, problem.prior, problem.loss, problem.guarantees, {}, result.optimality
    )
    sf.save(content, tmp_path / "a.sfm")
    held = sf.read_mechanism_file(tmp_path / "a.sfm")
    assert held.prior is not None
    assert held.loss is not None
    assert held.optimality is not None
    assert prove_optimality(held.prior, held.loss, held.guarantees, held.optimality) == pytest.approx(
        again, rel=1e-12
    )


def test_prices_of_pairs_that_nothing_protects_are_refused():
    result = sf.design(PRIOR, loss=COST, guarantees=[sf.MetricPrivacy(0.8, METRIC)])
    assert result.optimality is not None
    with pytest.raises(InputError, match="no guarantee"):
        prove_optimality(PRIOR, result.problem.loss, [sf.DistortionPrivacy(1.0, METRIC)], result.optimality)


def test_prices_for_secrets_that_do_not_exist_are_refused():
    result = sf.design(PRIOR, loss=COST, guarantees=[sf.MetricPrivacy(0.8, METRIC)])
    assert result.optimality is not None
    prices = result.optimality.multipliers
    broken = dataclasses.replace(
        result.optimality, multipliers=dataclasses.replace(prices, secrets=prices.secrets + 5)
    )
    with pytest.raises(InputError, match="does not exist"):
        prove_optimality(PRIOR, result.problem.loss, result.problem.guarantees, broken)


def test_weaker_guarantees_than_the_prices_were_made_for_still_give_a_valid_bound():
    strict = sf.design(PRIOR, loss=COST, guarantees=[sf.MetricPrivacy(0.4, METRIC)])
    loose = sf.design(PRIOR, loss=COST, guarantees=[sf.MetricPrivacy(0.8, METRIC)])
    assert strict.optimality is not None
    bound = prove_optimality(PRIOR, loose.problem.loss, loose.problem.guarantees, strict.optimality)
    assert bound <= loose.certificate.loss


def test_parts_of_secrets_are_those_of_scipy():
    """Thresholds leave secrets in parts, and no guarantee is about two of different parts."""
    generator = np.random.default_rng(5)
    for near in np.geomspace(0.01, 1, 12):
        space = sf.Space.numbers(np.sort(generator.uniform(0, 10, 30)).tolist(), unit="km")
        metric = space.metric("absolute")
        limit = max(near, np.sort(metric.array[metric.array > 0])[0])
        asked = [
            sf.ThresholdPrivacy(1.0, metric, each) for each in (limit, limit / 2) if metric.near_pairs(each).any()
        ]
        part = optimality._components(asked, len(space))
        parts, wanted = connected_components(csr_array(metric.near_pairs(limit)), directed=False)
        assert len(set(zip(part.tolist(), wanted.tolist(), strict=True))) == parts == len(set(part.tolist()))
    assert len(set(optimality._components([], 3).tolist())) == 3
