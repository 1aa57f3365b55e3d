"""One sampler and one simulator for every kind of mechanism, and none for what is for studies only."""

import numpy as np
import pytest

from sfumato.core import Mechanism, Space
from sfumato.errors import InputError
from sfumato.mechanisms import (
    DiscreteLaplace,
    Laplace,
    LocalHashing,
    PermuteAndFlip,
    RandomisedResponse,
    SubsetSelection,
    Tupling,
    UnaryEncoding,
    UtilityTable,
)
from sfumato.sampling import Sampler, Simulator, sampler, simulator

SPACE = Space("abc")


SUBJECTS = [
    (Mechanism(np.eye(3)), (4,)),
    (RandomisedResponse(SPACE, 1.0), (4,)),
    (UnaryEncoding(SPACE, 1.0, "optimised"), (4, 3)),
    (LocalHashing(SPACE, 1.0), (4, 3)),
    (SubsetSelection(SPACE, 1.0, 2), (4, 2)),
    (DiscreteLaplace(1.0), (4,)),
    (DiscreteLaplace(1.0).clamp(0, 2), (4,)),
    (Tupling(Mechanism(np.full((3, 3), 1 / 3)), 2, [1 / 3] * 3), (4, 3)),
    (PermuteAndFlip(UtilityTable(np.eye(3), SPACE, SPACE), 1.0), (4,)),
]


@pytest.mark.parametrize(("subject", "shape"), SUBJECTS, ids=lambda it: type(it).__name__)
def test_one_sampler_and_one_simulator_for_all(subject, shape):
    secrets = np.array([0, 1, 2, 0])
    drawn, simulated = sampler(subject), simulator(subject, 7)
    assert (type(drawn), type(simulated)) == (Sampler, Simulator)
    assert drawn.draw(secrets).shape == simulated.draw(secrets).shape == shape
    assert drawn.draw(secrets.reshape(2, 2)).shape == (2, 2, *shape[1:])
    assert drawn.draw(np.int64(1)).shape == shape[1:]
    assert drawn.draw(np.zeros((0, 2), dtype=int)).shape == (0, 2, *shape[1:])
    assert np.array_equal(simulator(subject, 7).draw(secrets), simulator(subject, 7).draw(secrets))
    assert drawn.drawable is simulated.drawable is subject


@pytest.mark.parametrize("make", [sampler, lambda it: simulator(it, 7)], ids=["sampler", "simulator"])
def test_what_cannot_be_drawn_from(make):
    with pytest.raises(InputError, match="studies only"):
        make(Laplace(1.0, 1.0))
    for other in ("noise", None, np.eye(2), DiscreteLaplace, 3):
        with pytest.raises(InputError, match="but a mechanism is needed"):
            make(other)


def test_ragged_indices_are_refused():
    with pytest.raises(InputError, match="different lengths"):
        sampler(Mechanism(np.eye(3))).draw([[0], [1, 2]])
