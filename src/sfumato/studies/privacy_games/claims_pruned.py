"""Claims of appendix C of "Privacy Games": programs without far pairs and far guesses, judged."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...rounding import about, at_least, at_most
from ..reproduction import PaperClaim, RunTables, judged, unchecked
from .games import DISTORTION, JOINT
from .pruning import ATTACKS, CORRECTED, EXACT, PAIRS, PRUNED, AttackRow, PairRow


def pruned_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of appendix C, judged."""
    pairs, attacks = tables.rows(PAIRS, PairRow), tables.rows(ATTACKS, AttackRow)
    return [
        _promise(pairs),
        _cost(pairs),
        _distortion(attacks, DISTORTION),
        _distortion(attacks, JOINT),
        unchecked(
            "Figure 8",
            "The time grows with the threshold.",
            "The published times are not at hand. Those of this run differ from run to run and are in tables and "
            "figures of their own.",
        ),
    ]


def _promise(pairs: Sequence[PairRow]) -> PaperClaim:
    pruned = [row for row in pairs if row.kind == PRUNED]
    broken = [row for row in pruned if not row.kept]
    over = [row for row in pruned if not row.epsilon_true <= row.epsilon * row.dilation * (1 + 1e-9)]
    kept = [row for row in pairs if row.kind == CORRECTED]
    words = f"The promise is broken in {len(broken)} of {len(pruned)} designs."
    joined = [row for row in broken if math.isfinite(row.dilation)]
    if joined:
        row = max(joined, key=lambda each: each.epsilon_true)
        words += (
            f" With pairs within {row.threshold:g} km, user {row.user} has epsilon "
            f"{about(row.epsilon_true, 4)}/km instead of {row.epsilon:g}/km; the dilation of the graph is "
            f"{about(row.dilation, 4)}."
        )
    apart = [row for row in broken if not math.isfinite(row.dilation)]
    if apart:
        row = max(apart, key=lambda each: each.epsilon_true)
        words += (
            f" Pairs within {row.threshold:g} km do not connect all cells, and epsilon is "
            f"{about(row.epsilon_true, 4)}/km for user {row.user}."
        )
    words += (
        " Epsilon never exceeds epsilon times the dilation."
        if not over
        else f" Epsilon exceeds epsilon times the dilation {len(over)} times."
    )
    words += (
        f" Dividing epsilon by the dilation first keeps the promise in {sum(row.kept for row in kept)} of "
        f"{len(kept)} designs."
    )
    return judged("Appendix C", "Without far pairs, metric privacy at epsilon is kept.", not broken, words)


def _cost(pairs: Sequence[PairRow]) -> PaperClaim:
    exact = {row.user: row for row in pairs if row.kind == EXACT}
    pruned = [row for row in pairs if row.kind == PRUNED]
    dearer = [row for row in pruned if row.cost_lower_bound > exact[row.user].cost]
    least = min(pruned, key=lambda row: row.cost / exact[row.user].cost)
    honest = [row.cost / exact[row.user].cost_lower_bound - 1 for row in pairs if row.kind == CORRECTED]
    return judged(
        "Figure 8",
        "Without far pairs the cost is no more than the least one, and comes near to it as the threshold grows.",
        not dearer,
        f"With pairs within {least.threshold:g} km, user {least.user} pays at most {at_most(least.cost, 4)}; "
        f"with all of them kept, at least {at_least(exact[least.user].cost_lower_bound, 4)}. With the promise "
        f"restored the cost is at most {at_most(100 * max(honest, default=0.0), 2)} % above the least one.",
    )


def _distortion(attacks: Sequence[AttackRow], name: str) -> PaperClaim:
    pruned = [row for row in attacks if row.kind == PRUNED and row.mechanism == name]
    short = [row for row in pruned if row.error_best < row.distortion_asked * (1 - 1e-6)]
    words = (
        f"On {pruned[0].cells} cells the best attacker errs less than was asked for in {len(short)} of "
        f"{len(pruned)} designs."
    )
    if short:
        row = max(short, key=lambda each: each.threshold or 0.0)
        words += (
            f" With guesses within {row.threshold:g} km of the report, user {row.user} asked for "
            f"{about(row.distortion_asked, 3)} km and gets {about(row.error_best, 2)} km: far reports are made, "
            "for which no near guess is good."
        )
        if row.epsilon is not None and row.epsilon_true is not None:
            words += f" Epsilon is {about(row.epsilon_true, 4)}/km instead of {row.epsilon:g}/km."
    what = "Without far guesses" if name == DISTORTION else "Without far guesses and far pairs"
    return judged("Appendix C", f"{what}, {name} still forces d_m.", not short, words)
