"""Names of generators and mechanisms, as tables, figures and claims have them."""

from __future__ import annotations

from typing import Final

NO_NOISE: Final = "no noise"
LAPLACE: Final = "planar Laplace"
TABLE: Final = "learned table"
ANNEALED: Final = "annealed table"
NETWORK: Final = "learned network"
LEAST_INFORMATION: Final = "least information"
OPTIMUM: Final = "certified optimum"
SQUARE_GENERATORS: Final = (NO_NOISE, LAPLACE, LEAST_INFORMATION, TABLE, ANNEALED, NETWORK, OPTIMUM)
"""Those of Experiments 1 and 2, in the order of figures."""

NOISE: Final = "planar geometric"
REMAP: Final = "planar geometric + remap"
EXPOST: Final = "ExPost"
DUMMIES: Final = 10
TUPLED: Final = f"planar geometric among {DUMMIES} dummies"

TRAIN: Final = "train"
TEST: Final = "test"
