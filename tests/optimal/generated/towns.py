"""Random towns on lattices, as programs whose observables are generated."""

import numpy as np

import sfumato as sf
from sfumato.optimal.generated.edges import edges_of
from sfumato.optimal.generated.program import program


def town(seed, *, size="4 km x 3 km", spacing="500 m", kind="triangular", epsilon=0.5):
    """Return a program: a lattice, a skewed prior in which a third is never visited, and Euclidean loss in km."""
    rng = np.random.default_rng(seed)
    lattice = sf.geo.Lattice.covering(f"{size} around 48.85,2.35", spacing, kind=kind)
    prior = rng.dirichlet(np.full(len(lattice), 0.3))
    prior[rng.random(len(lattice)) < 0.3] = 0.0
    prior /= prior.sum()
    loss = lattice.metric().to("km").array
    exponents = epsilon * lattice.steps().array
    return program(prior, prior[:, None] * loss, exponents, np.arange(len(lattice)), edges_of(exponents))
