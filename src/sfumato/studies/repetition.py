"""What repetition costs: an attacker's error after t reports of one place, with fresh noise and with a memo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..attacks import blind
from ..core import Mechanism, Prior
from ..releases.budget import ErrorCurve, Scheme, averaging_errors, errors_after
from ..report.drawing import blank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORTS: Final = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)

FRESH: Final = "fresh noise each time"
MEMO: Final = "one report, kept as a memo"
BOTH: Final = "fresh noise on a memo"

_COLOURS: Final = {FRESH: "#D55E00", MEMO: "#0072B2", BOTH: "#009E73"}
_METRES: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Repetition:
    """The attackers' errors and the epsilon spent, by how reports repeat.

    Attributes:
        optimal: For each scheme, the error of the optimal attack on all reports, in metres.
        averaging: For each scheme, how far the mean of the reported places is from the secret, in metres.
        epsilons: For each scheme, the proved epsilon of all reports together, per km, by number of reports.
        blind_error_m: The error without a report.
    """

    optimal: dict[str, ErrorCurve]
    averaging: dict[str, ErrorCurve]
    epsilons: dict[str, tuple[float, ...]]
    blind_error_m: float


def repetition(
    mechanism: Mechanism, prior: Prior, reports: Sequence[int] = REPORTS, *, trials: int = 2_000, seed: int = 1
) -> Repetition:
    """Return what t reports of one place tell, for three ways to repeat them.

    Args:
        mechanism: From places to places, with coordinates in metres.
        prior: Where the user is.
        reports: The numbers of reports t.
        trials: How often to simulate where the reports are too many to sum them all.
        seed: Of the simulation.

    Raises:
        InputError: If there are no planar coordinates, or sizes do not fit.
    """
    metric = mechanism.secrets.metric("euclidean", unit="m")
    per_km = mechanism.secrets.metric("euclidean", unit="km")
    schemes = {
        FRESH: Scheme.fresh(mechanism),
        MEMO: Scheme.memo(mechanism),
        BOTH: Scheme(mechanism, mechanism),
    }
    return Repetition(
        {
            name: errors_after(scheme, prior, metric, reports, trials=trials, seed=seed)
            for name, scheme in schemes.items()
        },
        {
            name: averaging_errors(scheme, prior, reports, trials=trials, seed=seed)
            for name, scheme in schemes.items()
        },
        {name: tuple(scheme.epsilon_upper(per_km, t) for t in reports) for name, scheme in schemes.items()},
        blind(prior, metric).error,
    )


def repetition_figure(found: Repetition) -> Figure:
    """Return two panels: the attackers' errors, and the proved epsilon, against the number of reports.

    Bands are the intervals of simulated errors.

    Args:
        found: What `repetition` returned.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(12, 4.8)
    left, right = figure.subplots(1, 2)
    for curves, style, attack in (
        (found.optimal, "-", "optimal attack"),
        (found.averaging, ":", "mean of the reports"),
    ):
        for name, curve in curves.items():
            error, lower, upper = (values / _METRES for values in (curve.error, curve.lower, curve.upper))
            colour = _COLOURS[name]
            left.plot(
                curve.reports, error, style, color=colour, marker="o", markersize=3, label=f"{name}: {attack}"
            )
            left.fill_between(curve.reports, lower, upper, color=colour, alpha=0.15, linewidth=0)
    left.axhline(
        found.blind_error_m / _METRES, color="#555555", linestyle="--", linewidth=1, label="without a report"
    )
    left.set(ylim=(0, None), ylabel="attacker's expected error (km)", title="what the attacker learns")
    left.legend(fontsize=7.5, loc="upper right", bbox_to_anchor=(1, 0.93))
    for name, values in found.epsilons.items():
        dashes = (0, (4, 4)) if name == BOTH else "-"
        right.plot(
            found.optimal[name].reports, values, color=_COLOURS[name], linestyle=dashes, linewidth=2, label=name
        )
    right.set(
        yscale="log", ylabel="proved epsilon of all reports (per km)", title="what is spent against any attacker"
    )
    right.yaxis.set_major_formatter("{x:g}")
    right.legend(fontsize=8.5, handlelength=3)
    for ax in (left, right):
        ax.set(xscale="log", xlabel="reports of the same place")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    return figure
