"""Figure 2.8 of Desfontaines's thesis: what four notions let a report do to the belief in a fact.

At epsilon = ln 3 each panel shows the posteriors to which a prior probability of the fact can lead: under
differential privacy, positive membership privacy, adversarial privacy (delta = 0.05) and a posteriori noiseless
privacy. The lines are computed here. The points are vertices of the published curves, read from the coordinates
of the thesis's own drawing. The table that is printed puts both side by side, and the figure is
``change-in-formalism.png``::

    python examples/change_in_formalism.py --out results

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, section 2.2.6.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from sfumato.privacy import Band, band

EPSILON = math.log(3)
# The published curves are drawn through 100 points, equally far apart from 0 to 0.9999; these are five of them.
PRIORS = tuple(0.9999 * k / 99 for k in (10, 25, 50, 74, 89))
NOWHERE = (0.0,) * 5  # no lower bound
READ = 1e-4  # what the drawing's coordinates and four decimals leave open


@dataclass(frozen=True, slots=True)
class Panel:
    """A notion, and what the published curves show of it at five prior probabilities."""

    name: str
    key: str
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    delta: float = 0.0

    @property
    def band(self) -> Band:
        """The notion's band, computed here."""
        return band(self.key, EPSILON, delta=self.delta)


PANELS = (
    Panel(
        "Differential privacy (DP)",
        "differential-privacy",
        (0.0361, 0.1012, 0.2538, 0.4965, 0.7477),
        (0.2521, 0.5033, 0.7537, 0.8988, 0.9639),
    ),
    Panel(
        "Positive membership privacy (PMPr)",
        "positive-membership",
        NOWHERE,
        (0.3030, 0.7508, 0.8350, 0.9158, 0.9663),
    ),
    Panel(
        "Adversarial privacy (AdvPr)",
        "adversarial",
        NOWHERE,
        (0.3530, 0.8075, 1.0000, 1.0000, 1.0000),
        delta=0.05,
    ),
    Panel(
        "A posteriori noiseless privacy (ANPr)",
        "aposteriori-noiseless",
        (0.0337, 0.0842, 0.1683, 0.2492, 0.6967),
        (0.3030, 0.7508, 0.8350, 0.9158, 0.9663),
    ),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One value of the figure, computed and published."""

    panel: str
    bound: str
    prior: float
    computed: float
    published: float

    @property
    def difference(self) -> float:
        """By how much the two differ."""
        return self.computed - self.published


def rows() -> list[Row]:
    """Return all 40 values."""
    found = []
    for panel in PANELS:
        for bound, values, published in (
            ("lower", panel.band.lower(PRIORS), panel.lower),
            ("upper", panel.band.upper(PRIORS), panel.upper),
        ):
            found += [
                Row(panel.name, bound, prior, float(value), known)
                for prior, value, known in zip(PRIORS, values, published, strict=True)
            ]
    return found


def draw() -> Figure:
    """Return the figure: a panel for each notion, the band as lines and the published values as points."""
    figure = Figure(figsize=(9, 9.4), layout="constrained", dpi=150)
    p = np.linspace(0, 1, 2001)
    for ax, panel in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, PANELS, strict=True):
        own = panel.band
        ax.fill_between(p, own.lower(p), own.upper(p), color="#0072B2", alpha=0.18, linewidth=0)
        ax.plot(p, own.upper(p), color="#0072B2", linewidth=1.8, label="computed here")
        ax.plot(p, own.lower(p), color="#0072B2", linewidth=1.8)
        ax.plot([0, 1], [0, 1], color="0.4", linestyle=":", linewidth=1, label="nothing learned")
        ax.plot(
            PRIORS * 2,
            panel.lower + panel.upper,
            color="#D55E00",
            marker="o",
            linestyle="none",
            markersize=5.5,
            clip_on=False,
            zorder=3,
            label="published curves",
        )
        epsilon = "epsilon ln 3" + (f", delta {panel.delta:g}" if panel.delta else "")
        ax.set_title(f"{panel.name}\n{epsilon}", fontsize=10.5)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("probability of the fact before the report", fontsize=11)
    figure.supylabel("probability after the report", fontsize=11)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=10, frameon=False)
    return figure


def table(found: Sequence[Row]) -> Table:
    """Return the values side by side."""
    shown = Table(title="Figure 2.8 at epsilon = ln 3", title_justify="left")
    for heading in ("notion", "bound", "prior", "computed", "published", "difference"):
        shown.add_column(heading, justify="left" if heading in ("notion", "bound") else "right")
    for row in found:
        shown.add_row(
            row.panel,
            row.bound,
            f"{row.prior:.4f}",
            f"{row.computed:.6f}",
            f"{row.published:.4f}",
            f"{row.difference:+.5f}",
        )
    return shown


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and write the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(), help="the folder of the figure")
    given = parser.parse_args(arguments)
    found = rows()
    console = Console(highlight=False, width=110)
    console.print(table(found))
    most = max(abs(row.difference) for row in found)
    console.print(f"The largest difference is {most:.1e}; reading a drawing leaves {READ:.0e} open.")
    given.out.mkdir(parents=True, exist_ok=True)
    draw().savefig(given.out / "change-in-formalism.png", metadata={"Software": "sfumato"})


if __name__ == "__main__":
    main()
