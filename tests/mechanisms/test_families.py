"""Invariants of every family: it is in the catalogue, keeps its promise, and draws from its own matrix."""

import inspect
import math

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms
from sfumato.core import Row
from sfumato.errors import InputError
from sfumato.mechanisms import AdditiveNoise, MechanismFamily, RealNoise
from sfumato.proofs import prove_metric_privacy

from ..catalogue import FAMILIES

LISTED = [family for family in FAMILIES if not isinstance(family, AdditiveNoise)]
DRAWN = [family for family in FAMILIES if not isinstance(family, RealNoise)]


def test_every_family_of_the_room_is_in_the_catalogue() -> None:
    public = [getattr(mechanisms, name) for name in dir(mechanisms)]
    kinds = {it for it in public if inspect.isclass(it) and issubclass(it, MechanismFamily)}
    assert {kind for kind in kinds if not inspect.isabstract(kind)} == {type(family) for family in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_it_says_what_it_is_in_one_short_line(family: MechanismFamily) -> None:
    assert family.name in repr(family)
    assert "epsilon" in repr(family)
    assert len(repr(family)) < 100
    assert family.epsilon > 0
    assert 0 <= family.hamming_loss <= 1


@pytest.mark.parametrize("family", LISTED, ids=repr)
def test_its_matrix_keeps_what_it_promises(family: MechanismFamily) -> None:
    mechanism = family.mechanism()
    promised = mechanism.guarantees
    assert bool(promised) == math.isfinite(family.epsilon) or isinstance(family, mechanisms.Clamped)
    for guarantee in promised:
        assert isinstance(guarantee, sf.MetricPrivacy)
        assert prove_metric_privacy(mechanism, guarantee).holds


@pytest.mark.parametrize("family", DRAWN, ids=repr)
def test_it_draws_from_its_recipe(family: MechanismFamily) -> None:
    recipe = family.recipe()
    rows = np.arange(3)
    drawn = sf.sampler(family).draw(rows)
    assert drawn.shape == (3, *recipe.shape)
    first, second = (sf.simulator(family, 5).draw(rows) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    if isinstance(recipe, Row):
        mechanism = family.mechanism()
        assert recipe.mechanism == mechanism
        assert (mechanism.matrix[rows, drawn] > 0).all()


@pytest.mark.parametrize("family", [f for f in FAMILIES if isinstance(f, RealNoise)], ids=repr)
def test_real_numbers_are_for_studies_only(family: RealNoise) -> None:
    assert family.study_only
    assert "for studies only" in repr(family)
    for refused in (family.mechanism, family.recipe):
        with pytest.raises(InputError) as error:
            refused()
        assert family.instead in error.value.hint
