"""Claims of Tables I and III, sections III and V, and Figure 1, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sfumato.rounding import about, at_most, counted

from ..reproduction import PaperClaim, RunTables, judged, ours
from .counterexamples import COUNTEREXAMPLES, CounterexampleRow
from .couplings import DISTANCES, LINE, MAP, GroupDistanceRow
from .generators import GENERATORS, GeneratorRow
from .theorems import COMPOSITION, LIFTING, THEOREMS, StatementRow

_TURN: Final = -1e-6
_EQUAL: Final = 1e-9
_ROUNDED: Final = 1e-6  # of a divergence: where two laws are nearly equal, its sum cancels


class _Tried(NamedTuple):
    """A statement that is tried on instances.

    Attributes:
        where: Its place.
        says: The statement.
        keys: The rows that it holds on, by their keys or the beginnings of keys.
        ours: Whether it is ours.
        more: A sentence about what was found.
    """

    where: str
    says: str
    keys: tuple[str, ...]
    ours: bool = False
    more: str = ""


_TRIED: Final = (
    _Tried(
        LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta |Phi|)-DistP for the lifting of Phi.",
        ("dp-factor",),
        more="The factor is not needed.",
    ),
    _Tried(
        LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta)-DistP for the lifting of Phi, without a factor.",
        ("dp",),
        ours=True,
    ),
    _Tried(LIFTING, "DistP for the lifting of Phi gives DP for Phi.", ("points",), ours=True),
    _Tried(
        LIFTING,
        "(epsilon, d)-XDP gives XDistP for W_inf.",
        ("xdp",),
        more="Deltas above 0 stay the same.",
    ),
    _Tried(
        LIFTING,
        "XDP for each f-divergence of Table I gives XDistP for W_1.",
        ("mean KL", "mean reverse", "mean total", "mean chi", "mean squared"),
    ),
    _Tried(
        LIFTING,
        "DP for each f-divergence of Table I gives DistP for the lifting.",
        ("divergence KL", "divergence reverse", "divergence total", "divergence chi", "divergence squared"),
    ),
    _Tried(LIFTING, "DP for a Rényi divergence gives DistP for the lifting.", ("divergence Rényi",), ours=True),
    _Tried("Section III", "(epsilon, delta)-PDistP gives (epsilon, delta)-DistP.", ("pdistp",)),
    _Tried(
        "Section III-F",
        "Against beliefs that are wrong by one step on both sides 3 epsilon is enough.",
        ("beliefs",),
        more="With a delta above 0 it is delta (1 + e^epsilon + e^(2 epsilon)).",
    ),
    _Tried(
        COMPOSITION,
        "Two reports about one secret, guaranteed for the lifting of Phi: epsilons and deltas add, deltas times "
        "|Phi|.",
        ("same-input",),
        more="The factor is not needed.",
    ),
    _Tried(
        COMPOSITION,
        "Two reports about one secret, guaranteed for W_inf: epsilons add.",
        ("same-input-metric",),
        more="Deltas add without a factor.",
    ),
    _Tried(
        COMPOSITION,
        "Two reports about independent secrets, for any pairs: epsilons and deltas add.",
        ("independent",),
    ),
    _Tried(
        COMPOSITION,
        "Two reports about independent secrets, guaranteed for W_inf: epsilons add.",
        ("independent-metric",),
    ),
    _Tried(
        COMPOSITION,
        "Two reports about independent secrets: KL, reverse KL, total variation, Hellinger and Rényi "
        "divergences add.",
        ("sum KL", "sum reverse", "sum total", "sum squared", "sum Rényi"),
        ours=True,
    ),
    _Tried(COMPOSITION, "Post-processing preserves DistP.", ("post",)),
    _Tried(
        COMPOSITION,
        "A c-stable transformation before the mechanism gives c epsilon, with delta times c e^((c - 1) epsilon).",
        ("pre", "pre-printed"),
    ),
    _Tried(
        COMPOSITION,
        "A c-stable transformation gives c epsilon with the smaller delta (1 + e^epsilon + ... + e^((c - 1) "
        "epsilon)).",
        ("pre",),
        ours=True,
    ),
    _Tried(
        COMPOSITION,
        "A transformation that stretches W_inf by at most c gives c epsilon, with the same delta.",
        ("pre-metric",),
    ),
)


_FAILING: Final = (
    (LIFTING, "(epsilon, d)-XDP does not give XDistP for W_1.", "xdp-mean", "xdp-mean"),
    (
        LIFTING,
        "XDP for a Rényi divergence of order above 1 does not give XDistP for W_1.",
        "mean Renyi",
        "mean Rényi divergence of order 8",
    ),
    (
        COMPOSITION,
        "Two reports about one secret, guaranteed for a pair of distributions alone: epsilons do not add.",
        "same-input-pairs",
        "same-input-pairs",
    ),
    (
        COMPOSITION,
        "Two reports about one secret, guaranteed for liftings of two relations: epsilons do not add.",
        "two relations",
        "",
    ),
    (
        COMPOSITION,
        "Two reports about independent secrets: chi-square divergences do not add.",
        "sum chi-square",
        "sum chi-square divergence",
    ),
    (
        COMPOSITION,
        "Two reports about independent secrets: deltas at the same epsilon do not add.",
        "sum hockey-stick",
        "sum hockey-stick",
    ),
    (COMPOSITION, "Post-processing can break PDistP.", "post-pdistp", "post-pdistp"),
)
"""Statements that fail: place, sentence, key of the counterexample, and key of the rows that count it."""


def theorem_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of the theorems."""
    rows = tables.rows(THEOREMS, StatementRow)
    fixed = {row.key: row for row in tables.rows(COUNTEREXAMPLES, CounterexampleRow)}
    return [
        _generators(tables.rows(GENERATORS, GeneratorRow)),
        _couplings(tables.rows(DISTANCES, GroupDistanceRow)),
        *(_tried(rows, each) for each in _TRIED),
        judged(
            "Section III",
            "(epsilon, delta)-DistP does not give (epsilon, delta)-PDistP.",
            fixed["pdistp-back"].refuted,
            _instance(rows, fixed["pdistp-back"], "pdistp-back"),
        ),
        judged("Section V", fixed["domain"].says, not fixed["domain"].refuted, fixed["domain"].instance),
        *(
            ours(where, says, fixed[key].refuted, _instance(rows, fixed[key], counting))
            for where, says, key, counting in _FAILING
        ),
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
        f"{len(rows)} generators, each on a grid of ratios and on {rows[0].pairs:,} random pairs: the sum and "
        f"another formula differ by at most {at_most(far, 2)} of the value."
        + (f" Not for {', '.join(wrong)}." if wrong else ""),
    )


def _couplings(rows: Sequence[GroupDistanceRow]) -> PaperClaim:
    line = [row for row in rows if row.where == LINE]
    flat = [row for row in rows if row.where == MAP]
    wrong = [row for row in line if row.north_west_km is None or row.north_west_km > row.upper_km * (1 + _EQUAL)]
    refused = [row for row in flat if row.north_west_km is None]
    apart = next(row for row in flat if row.order == 1)
    farthest = next(row for row in flat if row.groups == apart.groups and row.order > 2)
    return judged(
        "Section III, Figure 1",
        "On a line the north-west corner rule gives one coupling that is optimal for every order.",
        not wrong,
        f"Its cost is optimal in {len(line) - len(wrong)} of {len(line)} cases (orders 1, 2 and infinity). On the "
        f"map its precondition fails, and the package refuses it in {len(refused)} of {len(flat)} cases. There "
        f"the distance of {apart.groups} is {about(apart.upper_km, 3)} km (W_1) and "
        f"{about(farthest.upper_km, 3)} km (W_inf).",
    )


def _own(rows: Sequence[StatementRow], keys: Sequence[str]) -> list[StatementRow]:
    exact = {row.key for row in rows}
    return [
        row for row in rows if any(row.key == key if key in exact else row.key.startswith(key) for key in keys)
    ]


def _tried(rows: Sequence[StatementRow], each: _Tried) -> PaperClaim:
    own = _own(rows, each.keys)
    tried, broken = sum(row.tried for row in own), [row for row in own if row.violations]
    found = f"No violation in {counted(tried, 'instance')}"
    if broken:
        first = broken[0]
        found = (
            f"Violated on {sum(row.violations for row in broken)} of {tried} instances, such as {first.shown}: "
            f"{about(first.value or 0.0, 4)} against {about(first.bound or 0.0, 4)}"
        )
    rated = [row for row in own if row.largest_ratio is not None]
    if rated:
        tight = max(rated, key=lambda row: row.largest_ratio or 0.0)
        found += f"; at most {at_most(tight.largest_ratio or 0.0, 4)} of the bound"
    found += f". {each.more}" if each.more and not broken else "."
    return (ours if each.ours else judged)(each.where, each.says, not broken, found)


def _instance(rows: Sequence[StatementRow], fixed: CounterexampleRow, key: str) -> str:
    allowed = "0" if fixed.bound < _EQUAL else about(fixed.bound, 4)
    found = f"{fixed.instance} Value {about(fixed.value, 4)}, allowed {allowed}."
    own = _own(rows, (key,)) if key else []
    tried, broken = sum(row.tried for row in own), sum(row.violations for row in own)
    return found + (f" Also on {broken:,} of {tried:,} other instances." if own else "")
