"""The claims of the paper, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sfumato.rounding import about, at_most

from ..reproduction import PaperClaim, RunTables, ours, unchecked
from .claims_games import game_claims
from .claims_square import square_claims
from .contest import ContestRow
from .summary import favourable, of, over_field, said, span, values
from .vocabulary import NOISE, OPTIMUM, TABLE

_HIDDEN: Final = 0.01  # below the error of a blind guess, where a label counts as hidden
_NEAR: Final = 0.05  # of the largest error


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims of the paper, judged."""
    return [
        *game_claims(tables),
        *square_claims(tables),
        *_people(tables.rows("people", ContestRow)),
        unchecked(
            "Tables of Experiments 1 and 2 and of Gowalla",
            "The printed Bayes errors, and the mean distances that were measured.",
            "The published digits are not available.",
        ),
        unchecked(
            "Section IV",
            "The sizes of the networks, and how many rounds they needed.",
            "The published numbers are not available; the networks here have sizes of our choice, and two heads.",
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
    shares = [by[*case, TABLE].error / by[*case, TABLE].largest_error for case in cases]
    robust = [case for case in cases if by[*case, TABLE].held_out_error > by[*case, OPTIMUM].held_out_error]
    pairs = [(by[*case, TABLE], by[*case, NOISE]) for case in cases]
    return [
        _beats(rows, pairs, "on the visits that it was learned from", "error"),
        _beats(rows, pairs, "on held-out visits", "held_out_error"),
        _largest_limit(rows),
        ours(
            "Title, users of a city",
            f"The learned table is within {100 * _NEAR:g} % of the largest error that tables of its cells can "
            "have.",
            min(shares) >= 1 - _NEAR,
            f"Its target has order 8, and resampled visits. It reaches {span(shares)} of the error that no table "
            f"of these cells exceeds (proved), in {len(cases)} cases. On held-out visits it leaves the strongest "
            f"attacker more errors than the certified optimum of the other visits in {len(robust)} of them.",
        ),
    ]


def _beats(
    rows: Sequence[ContestRow], pairs: Sequence[tuple[ContestRow, ContestRow]], where: str, name: str
) -> PaperClaim:
    better = sum(getattr(learned, name) > getattr(noise, name) for learned, noise in pairs)
    words = f"So in {better} of {len(pairs)} cases (labels, limits, splits) of other users than the paper's."
    for source in values(rows, "source"):
        first = of(rows, source=source)[0]
        runs = of(rows, source=source, hidden=first.hidden, max_loss_m=first.max_loss_m)
        learned, noise = (said(over_field(of(runs, mechanism=each), name)) for each in (TABLE, NOISE))
        words += f" {source}, {first.hidden}, {first.max_loss_m:,g} m: {learned} against {noise}."
    return favourable(
        "Abstract, users of a city",
        f"The learned mechanism hides more than planar noise of the same loss, {where}.",
        better == len(pairs),
        words,
    )


def _largest_limit(rows: Sequence[ContestRow]) -> PaperClaim:
    limit = max(row.max_loss_m for row in rows)
    cases = [row for row in of(rows, mechanism=TABLE, max_loss_m=limit) if row.hidden.endswith(" users")]
    hidden = [row for row in cases if row.error >= row.blind_error - _HIDDEN]
    far = min(cases, key=lambda row: row.error - row.blind_error)
    return ours(
        "Users of a city, larger limit",
        f"Within {limit:,g} m users are hidden: the error of the best guess is within {_HIDDEN:g} of a blind "
        "one's.",
        len(hidden) == len(cases),
        f"So in {len(hidden)} of {len(cases)} cases. The farthest below is {far.hidden} of {far.source} (seed "
        f"{far.seed}): {about(far.error, 3)}, a blind guess {about(far.blind_error, 3)}, and no table of these "
        f"cells exceeds {at_most(far.largest_error, 4)}.",
    )
