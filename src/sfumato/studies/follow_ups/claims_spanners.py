"""The claims on spanners, judged from the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ...rounding import about, at_least, at_most, percent_at_most
from ..reproduction import PaperClaim, RunTables, follows, judged, unchecked
from .spanners import ASKED, EXACT, REALISED, SPANNERS, SpannerRow

_WHO: Final = "Bordenabe et al. (2014)"
_NEAR: Final = 1.1  # the dilations of the paper's comparison are at most this, as far as we know
_SMALL: Final = 0.1  # what counts as not significant, of the loss
_SAME: Final = 1e-3  # of the loss: within it the attacker's error and the loss are equal
_BETWEEN: Final = 2.5  # a power below it is nearer to 2 than to 3


def spanner_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims on spanners, judged."""
    rows = tables.rows(SPANNERS, SpannerRow)
    return [
        _quadratic(rows),
        _kept(rows),
        _dilation(rows),
        _utility(rows),
        _attacker(rows),
        unchecked(
            f"{_WHO}, times",
            "A spanner lowers the time of the program considerably; a table has the times.",
            "The published times are not at hand. Those of this run differ from run to run and are in a table "
            "of their own, beside the certified optimum without a spanner.",
        ),
    ]


def _quadratic(rows: Sequence[SpannerRow]) -> PaperClaim:
    """Judge "from cubic to quadratic" by the power of the places that the rows grow with, from fewest to most."""
    found = [row for row in rows if row.kind == REALISED]
    powers: dict[tuple[str, float], float] = {}
    for key in dict.fromkeys((row.ground, row.dilation_asked) for row in found):
        own = sorted((row.places, row.rows) for row in found if (row.ground, row.dilation_asked) == key)
        (few, less), (many, more) = own[0], own[-1]
        if many > few:
            powers[key] = math.log(more / less) / math.log(many / few)
    worst, best = max(powers, key=lambda key: powers[key]), min(powers, key=lambda key: powers[key])
    most = max(found, key=lambda row: (row.places, -row.dilation_asked))
    sizes = [row.places for row in found if row.ground == worst[0]]
    holds = powers[worst] < _BETWEEN
    verdict = "nearer to 2 than to 3" if holds else "not nearer to 2 than to 3"
    return judged(
        f"{_WHO}, abstract",
        "The number of constraints falls from cubic to quadratic.",
        holds,
        f"On {most.places} places ({most.ground}) with dilation {most.dilation_asked:g} the spanner needs "
        f"{most.rows:,} rows instead of {most.places**2 * (most.places - 1):,}. From {min(sizes)} to {max(sizes)} "
        f"places rows grow with at most the power {at_most(powers[worst], 3)} of their number ({worst[0]}, at "
        f"{worst[1]:g}) and with {about(powers[best], 3)} at least ({best[0]}, at {best[1]:g}): {verdict}.",
    )


def _kept(rows: Sequence[SpannerRow]) -> PaperClaim:
    found = [row for row in rows if row.kind != EXACT]
    broken = [row for row in found if not row.kept]
    loose = min((row for row in found if row.kind == ASKED), key=lambda row: row.epsilon_proved)
    words = (
        f"Epsilon {loose.epsilon:g}/km is proved for all pairs in {len(found) - len(broken)} of {len(found)} "
        "designs with spanners. Divided by the dilation asked for, epsilon is used up to "
        f"{at_most(loose.epsilon_proved, 4)}/km only for {loose.places} places ({loose.ground}) at "
        f"{loose.dilation_asked:g}."
    )
    if broken:
        words += f" Not for {broken[0].places} places ({broken[0].ground}) at {broken[0].dilation_asked:g}."
    return judged(f"{_WHO}, spanners", "The promise is kept for all pairs.", not broken, words)


def _dilation(rows: Sequence[SpannerRow]) -> PaperClaim:
    found = [row for row in rows if row.kind == REALISED]
    beyond = [row for row in found if row.dilation > row.dilation_asked * (1 + 1e-9)]
    least = max(found, key=lambda row: row.dilation_asked / row.dilation)
    same = {(row.ground, row.places, row.dilation_asked): row for row in found}
    saved = [
        (1 - same[row.ground, row.places, row.dilation_asked].loss / row.loss, row)
        for row in rows
        if row.kind == ASKED
    ]
    most, where = max(saved, key=lambda each: each[0])
    return follows(
        f"{_WHO}, spanners",
        "The greedy spanner has at most the dilation asked for.",
        not beyond,
        f"It holds for all {len(found)} spanners. The realised dilation is often smaller: "
        f"{about(least.dilation, 4)} where {least.dilation_asked:g} was asked for, on {least.places} places "
        f"({least.ground}). To divide epsilon by the realised one saves up to {about(100 * most, 2)} % of the "
        f"loss ({where.places} places, {where.ground}, at {where.dilation_asked:g})."
        if not beyond
        else f"{beyond[0].dilation} on {beyond[0].places} places ({beyond[0].ground}).",
    )


def _utility(rows: Sequence[SpannerRow]) -> PaperClaim:
    found = [row for row in rows if row.kind == REALISED]
    more = {row: row.loss / row.least - 1 for row in found}
    near = [row for row in found if row.dilation_asked <= _NEAR]
    worst = max(near, key=lambda row: more[row])
    far = max(found, key=lambda row: more[row])
    exact = [row for row in rows if row.kind == EXACT]
    gap = max(row.loss / row.least - 1 for row in exact)
    return judged(
        f"{_WHO}, abstract",
        "The loss hardly grows.",
        more[worst] <= _SMALL,
        f"With dilations up to {_NEAR:g} the loss is at most {percent_at_most(more[worst])} above the least one "
        f"({worst.places} places, {worst.ground}, at {worst.dilation_asked:g}). With {far.dilation_asked:g} it "
        f"is up to {percent_at_most(more[far])} above ({far.places} places, {far.ground}). Without a spanner "
        f"the loss is proved to be within {percent_at_most(gap)} of the least one, on up to "
        f"{max(row.places for row in exact)} places. Up to a tenth is called hardly here.",
    )


def _attacker(rows: Sequence[SpannerRow]) -> PaperClaim:
    exact = [row for row in rows if row.kind == EXACT]
    apart = [row for row in exact if row.error_best < row.loss * (1 - _SAME)]
    worst = min(exact, key=lambda row: row.error_best / row.loss)
    return judged(
        f"{_WHO}, optimal mechanism",
        "Where loss and error are one distance, the optimal mechanism also forces the best attacker to err by "
        "its loss.",
        not apart,
        f"In {len(exact) - len(apart)} of {len(exact)} optimal designs the best attacker errs by the loss. Most "
        f"apart are a loss of {at_most(worst.loss, 5)} km and an error of {at_least(worst.error_best, 5)} km "
        f"({worst.places} places, {worst.ground}).",
    )
