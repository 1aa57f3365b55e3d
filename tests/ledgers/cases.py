"""Small mechanisms that repeat, with an unused observable and a secret of prior zero."""

import numpy as np

import sfumato as sf
from sfumato.ledgers import Scheme

from ..catalogue import randomised_response, unused

SPACE = sf.Space("abc")
PRIOR = sf.Prior(SPACE, [0.0, 0.4, 0.6])


def noise(seed: int, secrets: sf.Space = SPACE, observables: int = 3) -> sf.Mechanism:
    """A random mechanism whose last observable no secret produces."""
    matrix = unused(np.random.default_rng(seed).dirichlet(np.ones(observables), size=len(secrets)))
    return sf.Mechanism(matrix, secrets, sf.Space([f"o{i}" for i in range(observables + 1)]))


def response(epsilon: float = 1.0) -> sf.Mechanism:
    """Randomised response with an unused observable."""
    return sf.Mechanism(unused(randomised_response(3, epsilon)), SPACE, sf.Space("abc?"))


def two_steps(seed: int) -> Scheme:
    """Fresh noise on a memo, with three memos that occur and one that does not."""
    permanent = noise(seed)
    rows = np.random.default_rng(seed + 1000).dirichlet(np.ones(2), size=4)
    instantaneous = sf.Mechanism(unused(rows), permanent.observables, sf.Space("xyz"))
    return Scheme(permanent, instantaneous)


def both(first: sf.Mechanism, second: sf.Mechanism) -> sf.Mechanism:
    """The mechanism that makes two independent reports about one secret, written out."""
    matrix = first.matrix[:, :, None] * second.matrix[:, None, :]
    return sf.Mechanism(matrix.reshape(len(matrix), -1), first.secrets)
