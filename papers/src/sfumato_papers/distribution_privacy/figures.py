"""All figures of distribution privacy, from the tables of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..reproduction import RunTables
from .confidence import CONFIDENCE, ConfidenceRow
from .couplings import COUPLING, MovedRow
from .figure_sweep import sweep_figure
from .figure_theorems import RatioRow, coupling_figure, tightness_figure
from .figure_tupling import (
    bounds_figure,
    confidence_figure,
    groups_figure,
    success_figure,
    triangle_figure,
    tupling_figure,
)
from .lines import LAPLACE
from .real import SWEEP
from .rows import DELTA, DistributionRow
from .success import SUCCESS, SuccessRow
from .theorems import TIGHTNESS
from .tupled import BOUNDS, FEWEST, TUPLING, BoundRow, FewestRow, TuplingRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    "figure-1": "Figure 1: two groups of people, from west to east; the coupling that moves one distribution to "
    "the other at the least mean distance, on this line and on the map. Larger marks and wider arrows carry "
    "more mass; arrows of less than 0.2 % are left out.",
    "tightness": "Section V and Table III: the number that each statement is about, over its bound, for random "
    "instances and for groups of people (theorems.csv says what each name stands for). At 1 a bound is "
    "attained; to the right of the line the statement is false.",
    "experiments": "Epsilon against loss for the first groups and planar Laplace noise, by the number of dummies. "
    "Left: dummies like the groups' reports. Right: uniform dummies. Mechanisms without a finite epsilon are left "
    "out; sweep.csv has the other mechanisms.",
    "groups": "Epsilon against loss for all groups: each source by its attributes, without dummies and among "
    "dummies of the mixture.",
    "tupling": "Restricted Laplace noise among dummies: epsilon against the number of dummies, the radius and the "
    "epsilon of the noise, each with the other two fixed. Noise that reaches everywhere is in tupling.csv.",
    "bounds": "The bound of the paper at its best alpha and beta, and the exact epsilon, at delta 0.001, with "
    "uniform dummies. Bounds without a mark are vacuous.",
    "success": "The share of right guesses of the best attacker under the weakest noise. The attacker learned the "
    "distributions from one half of the users, and is judged on these (filled) and on the others (hollow). Marks "
    "are means over random halves, lines 95 % intervals over them. Dotted: a random guess.",
    "triangle": "Privacy, loss and dummies: the fewest dummies that an epsilon needs, and the loss that is "
    "left, over noise of several strengths. Each line is an epsilon; to the right noise is weaker.",
    "confidence": "Estimated distributions: the epsilon that holds with 95 % confidence, by the "
    "number of samples. Dots mark the actual numbers of samples.",
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    rows = tables.rows(SWEEP, DistributionRow)
    first = [row for row in rows if row.groups == rows[0].groups]
    return {
        "figure-1": coupling_figure(tables.rows(COUPLING, MovedRow)),
        "tightness": tightness_figure(tables.rows(TIGHTNESS, RatioRow)),
        "experiments": sweep_figure(first, mechanism=LAPLACE, delta=DELTA),
        "groups": groups_figure(rows),
        "tupling": tupling_figure(tables.rows(TUPLING, TuplingRow)),
        "bounds": bounds_figure(tables.rows(BOUNDS, BoundRow)),
        "success": success_figure(tables.rows(SUCCESS, SuccessRow)),
        "triangle": triangle_figure(tables.rows(FEWEST, FewestRow)),
        "confidence": confidence_figure(tables.rows(CONFIDENCE, ConfidenceRow)),
    }
