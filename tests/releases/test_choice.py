"""Every kind of mechanism gets its sampler, and what is for studies only gets none."""

import numpy as np
import pytest

from sfumato.core import Mechanism, Space
from sfumato.errors import InputError
from sfumato.mechanisms import (
    DiscreteLaplace,
    Laplace,
    PermuteAndFlip,
    RandomisedResponse,
    Tupling,
    UnaryEncoding,
    UtilityTable,
)
from sfumato.releases import NoiseSampler, OracleSampler, Sampler, TupleSampler, sampler

SPACE = Space("abc")


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (Mechanism(np.eye(3)), Sampler),
        (RandomisedResponse(SPACE, 1.0), OracleSampler),
        (UnaryEncoding(SPACE, 1.0, "optimised"), OracleSampler),
        (DiscreteLaplace(1.0), NoiseSampler),
        (Tupling(Mechanism(np.full((3, 3), 1 / 3)), 2, [1 / 3] * 3), TupleSampler),
        (PermuteAndFlip(UtilityTable(np.eye(3), SPACE, SPACE), 1.0), Sampler),
    ],
)
def test_the_sampler_fits(subject, kind):
    found = sampler(subject)
    assert type(found) is kind
    assert len(found.draw(np.array([0, 1, 2, 0]))) == 4


def test_noise_in_floats_is_refused():
    with pytest.raises(InputError, match="studies only"):
        sampler(Laplace(1.0, 1.0))
    with pytest.raises(InputError, match="no mechanism"):
        sampler("noise")  # type: ignore[call-overload]
