"""The prices of a design prove its bound again, before and after they went through a file."""

import dataclasses

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.evidence import prove_optimality

SPACE = sf.Space.numbers([0.0, 1.0, 2.0, 3.5, 5.0], unit="km")
METRIC = SPACE.metric("absolute")
PRIOR = sf.Prior(SPACE, [0.3, 0.0, 0.25, 0.25, 0.2])
COST = sf.hamming(SPACE)


def designs():
    metric, near = sf.MetricPrivacy(0.8, METRIC), sf.ThresholdPrivacy(1.0, METRIC, 1.6)
    distortion = sf.DistortionPrivacy(1.0, METRIC)
    yield "metric", sf.design(PRIOR, loss=COST, guarantees=[metric])
    yield "closed form", sf.design(PRIOR, loss=METRIC, guarantees=[metric])
    yield "distortion", sf.design(PRIOR, loss=COST, guarantees=[distortion])
    yield "joint", sf.design(PRIOR, loss=COST, guarantees=[metric, distortion])
    yield "two metrics", sf.design(PRIOR, loss=COST, guarantees=[metric, near])
    yield "worst case", sf.design(PRIOR, loss=COST, guarantees=[metric], objective="worst-case")
    yield "general back-end", sf.design(PRIOR, loss=COST, guarantees=[metric], solver=sf.optimal.Highs())
    yield "spanner", sf.design(PRIOR, loss=COST, guarantees=[metric], pairs="spanner", dilation=1.5)
    yield "dual", sf.design_private(PRIOR, loss=COST, distance=METRIC, max_loss=0.4)
    yield (
        "dual with metric",
        sf.design_private(PRIOR, loss=COST, distance=METRIC, max_loss=0.6, guarantees=[metric]),
    )


@pytest.mark.parametrize(("name", "result"), [pytest.param(*pair, id=pair[0]) for pair in designs()])
def test_the_bound_is_proved_again_from_the_file(name, result, tmp_path):
    del name
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
