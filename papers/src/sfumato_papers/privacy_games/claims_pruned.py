"""Claims about appendix C of "Privacy Games": programs without far pairs and far guesses, judged.

The paper calls its threshold an approximation. That guarantees are violated is a statement of ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sfumato.rounding import about, at_least, at_most

from ..reproduction import PaperClaim, RunTables, follows, ours, unchecked
from .games import DISTORTION, JOINT
from .pruning import ATTACKS, CORRECTED, EXACT, PAIRS, PRUNED, AttackRow, PairRow


def pruned_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims about appendix C, judged."""
    pairs, attacks = tables.rows(PAIRS, PairRow), tables.rows(ATTACKS, AttackRow)
    return [
        _promise(pairs),
        _cost(pairs),
        _distortion(attacks, DISTORTION),
        _distortion(attacks, JOINT),
        unchecked(
            "Figure 8",
            "The time grows with the threshold.",
            "The published times are not available. Those of this run differ from run to run and are in tables "
            "and figures of their own.",
        ),
    ]


def _promise(pairs: Sequence[PairRow]) -> PaperClaim:
    pruned = [row for row in pairs if row.kind == PRUNED]
    broken = [row for row in pruned if not row.kept]
    within = [row for row in pruned if row.epsilon_true <= row.epsilon * row.dilation]
    corrected = [row for row in pairs if row.kind == CORRECTED]
    repaired = [row for row in corrected if row.kept]
    words = [
        f"Epsilon is not proved in {len(broken)} of {len(pruned)} designs, and is at most epsilon times the "
        f"dilation in {len(within)}. Divided by the dilation first, it is proved in {len(repaired)} of "
        f"{len(corrected)}."
    ]
    for joined in (True, False):
        some = [row for row in broken if math.isfinite(row.dilation) == joined]
        if some:
            row = max(some, key=lambda each: each.epsilon_true)
            graph = f"the dilation is {about(row.dilation, 5)}" if joined else "they do not connect all cells"
            words.append(
                f"With pairs within {row.threshold:g} km user {row.user} has epsilon "
                f"{at_most(row.epsilon_true)}/km instead of {row.epsilon:g}/km: {graph}."
            )
    return ours(
        "Appendix C",
        "Without far pairs epsilon can be larger, by the dilation of the graph of near pairs at most.",
        bool(broken) and len(within) == len(pruned) and len(repaired) == len(corrected),
        " ".join(words),
    )


def _cost(pairs: Sequence[PairRow]) -> PaperClaim:
    exact = {row.user: row for row in pairs if row.kind == EXACT}
    pruned = [row for row in pairs if row.kind == PRUNED]
    cheap = [row for row in pruned if row.cost_lower_bound <= exact[row.user].cost]
    least, most = (pick(pruned, key=lambda row: row.cost / exact[row.user].cost) for pick in (min, max))
    rise = max(row.cost / exact[row.user].cost_lower_bound - 1 for row in pairs if row.kind == CORRECTED)
    return follows(
        "Figure 8",
        "Without far pairs the cost is no more than the least one.",
        len(cheap) == len(pruned),
        f"So in {len(cheap)} of {len(pruned)} designs. With pairs within {least.threshold:g} km user {least.user} "
        f"pays at most {at_most(least.cost, 4)}, within {most.threshold:g} km user {most.user} at most "
        f"{at_most(most.cost, 4)}; with all pairs at least {at_least(exact[least.user].cost_lower_bound, 4)} and "
        f"{at_least(exact[most.user].cost_lower_bound, 4)}. With epsilon divided by the dilation the cost is at "
        f"most {at_most(100 * rise, 2)} % above the least one.",
    )


def _distortion(attacks: Sequence[AttackRow], name: str) -> PaperClaim:
    pruned = [row for row in attacks if row.kind == PRUNED and row.mechanism == name]
    short = [row for row in pruned if row.error_best < row.distortion_asked]
    row = max(pruned, key=lambda each: each.threshold or 0.0)
    words = (
        f"On {row.cells} cells the best attacker's error is below d_m in {len(short)} of {len(pruned)} "
        f"designs. With guesses within {row.threshold:g} km of the report, user {row.user} asked for "
        f"{about(row.distortion_asked, 3)} km and gets {about(row.error_best, 2)} km: reports go far away, where "
        "no near guess is good."
    )
    if row.epsilon is not None and row.epsilon_true is not None:
        words += f" Epsilon is {at_most(row.epsilon_true)}/km instead of {row.epsilon:g}/km."
    what = "Without far guesses" if name == DISTORTION else "Without far guesses and far pairs"
    return ours("Appendix C", f"{what}, {name} can force less than d_m.", bool(short), words)
