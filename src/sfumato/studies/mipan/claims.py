"""The claims of the paper, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...rounding import at_most
from ..reproduction import PaperClaim, RunTables, judged, unchecked
from .claims_games import game_claims
from .claims_square import square_claims
from .contest import ContestRow
from .summary import of, over_field, said, span, values
from .vocabulary import NOISE, OPTIMUM, TABLE

_HIDDEN: Final = 0.01  # below the error of a blind guess, where a label counts as hidden


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims of the paper, judged."""
    return [
        *game_claims(tables),
        *square_claims(tables),
        *_people(tables.rows("people", ContestRow)),
        unchecked(
            "Tables of Experiments 1 and 2 and of Gowalla",
            "The printed Bayes errors, and the mean distances that were measured.",
            "The published digits are not at hand.",
        ),
        unchecked(
            "Section IV",
            "The sizes of the networks, and how many rounds they needed.",
            "The published numbers are not at hand; the networks here have sizes of our choice, and two heads.",
        ),
        unchecked(
            "Gowalla",
            "The results for the users and the region of the paper.",
            "It is not known which users and which region they were; other users were taken here.",
        ),
    ]


def _people(rows: Sequence[ContestRow]) -> list[PaperClaim]:
    cases = list(dict.fromkeys((row.source, row.hidden, row.max_loss_m, row.seed) for row in rows))
    by = {(row.source, row.hidden, row.max_loss_m, row.seed, row.mechanism): row for row in rows}
    pairs = [(by[*case, TABLE], by[*case, NOISE]) for case in cases]
    known = [(one, two) for one, two in pairs if not one.error > two.error]
    fresh = [(one, two) for one, two in pairs if not one.held_out_error > two.held_out_error]
    shares = [by[*case, TABLE].error / by[*case, TABLE].largest_error for case in cases]
    robust = [case for case in cases if by[*case, TABLE].held_out_error > by[*case, OPTIMUM].held_out_error]
    return [
        judged(
            "Real users",
            "The learned mechanism hides more than planar Laplace noise of the same loss.",
            not known,
            _beaten(rows, pairs, known, "error"),
        ),
        judged(
            "Real users",
            "The same on data that it was not learned from.",
            not fresh,
            _beaten(rows, pairs, fresh, "held_out_error"),
        ),
        _largest_limit(rows),
        judged(
            "Title, real users",
            "The learned mechanism is optimal: nothing hides more within the limit.",
            min(shares) >= 1 - 1e-3,
            f"The learned table reaches {span(shares)} of the error that "
            f"no table of these cells exceeds (proved), in {len(cases)} cases. On held-out visits it leaves the "
            f"strongest attacker more errors than the certified optimum of the other visits in {len(robust)} "
            "of them.",
        ),
    ]


def _beaten(
    rows: Sequence[ContestRow],
    pairs: Sequence[tuple[ContestRow, ContestRow]],
    worse: Sequence[tuple[ContestRow, ContestRow]],
    name: str,
) -> str:
    words = f"So in {len(pairs) - len(worse)} of {len(pairs)} cases (labels, limits, splits)."
    for source in values(rows, "source"):
        first = of(rows, source=source)[0]
        mine = of(rows, source=source, hidden=first.hidden, max_loss_m=first.max_loss_m)
        learned, noise = (over_field(of(mine, mechanism=each), name) for each in (TABLE, NOISE))
        words += f" {source}, {first.hidden}, {first.max_loss_m:,g} m: {said(learned)} against {said(noise)}."
    if worse:
        one, two = worse[0]
        words += (
            f" Not for {one.hidden} of {one.source} at {one.max_loss_m:,g} m (seed {one.seed}): "
            f"{getattr(one, name):.3f} against {getattr(two, name):.3f}."
        )
    return words


def _largest_limit(rows: Sequence[ContestRow]) -> PaperClaim:
    limit = max(row.max_loss_m for row in rows)
    mine = [row for row in of(rows, mechanism=TABLE, max_loss_m=limit) if row.hidden.endswith(" users")]
    short = [row for row in mine if row.error < row.blind_error - _HIDDEN]
    far = min(mine, key=lambda row: row.error - row.blind_error)
    return judged(
        "Real users, larger limit",
        f"Within {limit:,g} m users are hidden: the best guess errs as often as a blind one.",
        not short,
        f"So in {len(mine) - len(short)} of {len(mine)} cases. The farthest below is {far.hidden} of {far.source} "
        f"(seed {far.seed}): {far.error:.3f}, a blind guess {far.blind_error:.3f}, and no table of "
        "these cells exceeds "
        f"{at_most(far.largest_error, 4)}.",
    )
