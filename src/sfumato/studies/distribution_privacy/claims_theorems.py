"""Claims of Tables I to III and of Figure 1, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...rounding import about, at_most, counted
from ..reproduction import PaperClaim, RunTables, judged
from .counterexamples import COUNTEREXAMPLES, CounterexampleRow
from .couplings import DISTANCES, LINE, MAP, GroupDistanceRow
from .generators import GENERATORS, GeneratorRow
from .theorems import COMPOSITION, LIFTING, THEOREMS, StatementRow

BEYOND: Final = "beyond the paper"

_TURN: Final = -1e-6
_EQUAL: Final = 1e-9
_ROUNDED: Final = 1e-6  # of a divergence: where two laws are nearly equal, its sum cancels

_LIFTED: Final = (
    (
        ("dp",),
        "(epsilon, delta)-DP for Phi gives (epsilon, delta)-DistP for the lifting of Phi, without a factor.",
    ),
    (("dp-factor",), "(epsilon, delta)-DP for Phi gives (epsilon, delta |Phi|)-DistP for the lifting of Phi."),
    (("points",), "DistP for the lifting of Phi gives DP for Phi."),
    (("xdp",), "(epsilon, delta, d)-XDP gives XDistP for W_inf, with the same delta."),
    (
        ("mean KL", "mean reverse", "mean total", "mean chi", "mean squared"),
        "XDP for each f-divergence of Table I gives XDistP for W_1.",
    ),
    (
        ("divergence ",),
        "DP for each f-divergence of Table I gives DistP for the lifting; so does a Rényi divergence.",
    ),
    (("pdistp",), "(epsilon, delta)-PDistP gives (epsilon, delta)-DistP."),
    (
        ("beliefs",),
        "Against beliefs that are one step off on both sides 3 epsilon is kept, with delta (1 + e^epsilon + "
        "e^(2 epsilon)).",
    ),
)
_COMPOSED: Final = (
    (("same-input",), "Two reports about one secret, promised for a whole lifting: epsilons and deltas add."),
    (("same-input-metric",), "Two reports about one secret, promised for W_inf: epsilons and deltas add."),
    (("independent",), "Two reports about independent secrets, for any pairs: epsilons and deltas add."),
    (("independent-metric",), "Two reports about independent secrets, promised for W_inf: epsilons add."),
    (
        ("sum KL", "sum reverse", "sum total", "sum squared", "sum Rényi"),
        "Two reports about independent secrets: KL, reverse KL, total variation, Hellinger and Rényi "
        "divergences add.",
    ),
    (("post",), "Post-processing keeps DistP."),
    (
        ("pre",),
        "A c-stable transformation before the mechanism gives c epsilon, with delta (1 + e^epsilon + ... + "
        "e^((c - 1) epsilon)).",
    ),
    (
        ("pre-printed",),
        "The delta of a c-stable transformation is at most c e^((c - 1) epsilon) delta, as printed.",
    ),
    (("pre-metric",), "A transformation that stretches W_inf by at most c gives c epsilon, with the same delta."),
)
# Statements that fail, by the key of their counterexample, their place, and the rows that show how often.
_FAILING: Final = (
    ("domain", "Section V", ""),
    ("xdp-mean", f"Table II, {BEYOND}", "xdp-mean"),
    ("mean Renyi", f"Table II, {BEYOND}", "mean Rényi divergence of order 8"),
    ("same-input-pairs", "Table III", "same-input-pairs"),
    ("two relations", f"Table III, {BEYOND}", ""),
    ("sum chi-square", f"Table III, {BEYOND}", "sum chi-square divergence"),
    ("sum hockey-stick", f"Table III, {BEYOND}", "sum hockey-stick"),
    ("post-pdistp", f"Table III, {BEYOND}", "post-pdistp"),
)


def theorem_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of the theorems."""
    rows = tables.rows(THEOREMS, StatementRow)
    fixed = {row.key: row for row in tables.rows(COUNTEREXAMPLES, CounterexampleRow)}
    return [
        _generators(tables.rows(GENERATORS, GeneratorRow)),
        *_couplings(tables.rows(DISTANCES, GroupDistanceRow)),
        *(_kept(rows, LIFTING, keys, says) for keys, says in _LIFTED),
        _converse(rows, fixed["pdistp-back"]),
        *(_kept(rows, COMPOSITION, keys, says) for keys, says in _COMPOSED),
        *(_failing(rows, fixed[key], where, more) for key, where, more in _FAILING),
    ]


def _generators(rows: Sequence[GeneratorRow]) -> PaperClaim:
    wrong = [
        row.generator
        for row in rows
        if row.at_one != 0 or row.least_turn < _TURN or not row.largest_difference < _ROUNDED
    ]
    far = max(row.largest_difference for row in rows)
    return judged(
        "Table I",
        "Each generator is convex with f(1) = 0, and the sum over f(p/q) is the divergence of its name.",
        not wrong,
        f"Checked for {len(rows)} generators on a grid of ratios and on {rows[0].pairs:,} random pairs each, on "
        f"which "
        f"the sum and another formula differ by at most {at_most(far, 2)} of the value."
        + (f" Not for {', '.join(wrong)}." if wrong else ""),
    )


def _couplings(rows: Sequence[GroupDistanceRow]) -> list[PaperClaim]:
    line = [row for row in rows if row.where == LINE]
    wrong = [row for row in line if row.north_west_km is None or row.north_west_km > row.upper_km * (1 + _EQUAL)]
    refused = [row for row in rows if row.where == MAP and row.north_west_km is None]
    flat = [row for row in rows if row.where == MAP]
    apart = next(row for row in flat if row.order == 1)
    farthest = next(row for row in flat if row.groups == apart.groups and row.order > 2)
    return [
        judged(
            "Section III, Figure 1",
            "On a line the north-west corner rule gives one coupling that is optimal for every order.",
            not wrong,
            f"It costs what the optimal coupling does in {len(line) - len(wrong)} of {len(line)} cases: orders "
            f"1, 2 "
            f"and infinity, groups of people from west to east. On the map the package refuses the rule in "
            f"{len(refused)} of {len(flat)} cases, since its precondition fails; there {apart.groups} are "
            f"{about(apart.upper_km, 3)} km apart by W_1 and {about(farthest.upper_km, 3)} km by W_inf.",
        )
    ]


def _own(rows: Sequence[StatementRow], keys: Sequence[str]) -> list[StatementRow]:
    exact = {row.key for row in rows}
    return [
        row for row in rows if any(row.key == key if key in exact else row.key.startswith(key) for key in keys)
    ]


def _kept(rows: Sequence[StatementRow], where: str, keys: Sequence[str], says: str) -> PaperClaim:
    own = _own(rows, keys)
    tried, broken = sum(row.tried for row in own), [row for row in own if row.violations]
    rated = [row for row in own if row.largest_ratio is not None]
    found = f"Tried on {counted(tried, 'instance')}; none violates it." if not broken else ""
    if broken:
        violated = sum(row.violations for row in broken)
        found = f"Violated on {violated} of {tried} instances, such as {_shown(broken[0])}."
    if rated:
        tight = max(rated, key=lambda row: row.largest_ratio or 0.0)
        found += f" The number reaches {at_most(tight.largest_ratio or 0.0, 4)} of its bound ({tight.shown})."
    if keys == ("dp-factor",):
        found += " The factor is not needed: the row before holds with delta itself."
    return judged(where, says, not broken, found)


def _shown(row: StatementRow) -> str:
    return f"{row.shown}: {about(row.value or 0.0, 4)} against {about(row.bound or 0.0, 4)}"


def _instance(rows: Sequence[StatementRow], fixed: CounterexampleRow, key: str) -> str:
    found = f"{fixed.instance} The number is {about(fixed.value, 4)}, the statement says {about(fixed.bound, 4)}."
    if fixed.bound < _EQUAL:
        found = f"{fixed.instance} The number is {about(fixed.value, 4)}, the statement says 0."
    own = _own(rows, (key,)) if key else []
    tried, broken = sum(row.tried for row in own), sum(row.violations for row in own)
    return found + (f" It fails on {broken:,} of {tried:,} other instances." if own else "")


def _converse(rows: Sequence[StatementRow], fixed: CounterexampleRow) -> PaperClaim:
    return judged(
        "Section III",
        "(epsilon, delta)-DistP does not give (epsilon, delta)-PDistP.",
        fixed.refuted,
        _instance(rows, fixed, "pdistp-back"),
    )


def _failing(rows: Sequence[StatementRow], fixed: CounterexampleRow, where: str, key: str) -> PaperClaim:
    return judged(where, fixed.says, not fixed.refuted, _instance(rows, fixed, key))
