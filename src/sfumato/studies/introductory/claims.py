"""The statements of the article, judged from the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...rounding import about, about_percent, at_most, counted
from ..reproduction import PaperClaim, RunTables, interval, judged
from .choices import ANY, BLOG, CLASSIC, MONOTONE, STEEP, SYMMETRIC, ChoiceRow
from .noise import DrawRow, FloatRow, NoiseRow
from .queries import JointRow, SensitivityRow
from .tables import CHOICES, DRAWS, FLOATS, JOINT, NOISE, SENSITIVITIES

_CLOSE = 1e-6
_ROUNDED = 1e-9
_SIGMAS = 5  # standard errors that a mean over seeds may be off


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the statements, judged."""
    choices = tables.rows(CHOICES, ChoiceRow)
    return [
        *_laplace(tables.rows(NOISE, NoiseRow), tables.rows(DRAWS, DrawRow)),
        _floats(tables.rows(FLOATS, FloatRow)),
        _sensitivity(tables.rows(SENSITIVITIES, SensitivityRow)),
        *_joint(tables.rows(JOINT, JointRow)),
        *_exponential(choices),
        *_utility(choices),
    ]


def _laplace(rows: Sequence[NoiseRow], draws: Sequence[DrawRow]) -> list[PaperClaim]:
    off = max(abs(row.deviation / row.deviation_formula - 1) for row in rows)
    wide = max(rows, key=lambda row: row.kept / row.epsilon)
    first = min(rows, key=lambda row: (row.sensitivity, row.epsilon))
    means = []
    for epsilon in dict.fromkeys(row.epsilon for row in draws):
        own = [row for row in draws if row.epsilon == epsilon]
        mean = interval([row.absolute for row in own])
        means.append((own[0], mean))
    good = all(_near(mean.value, row.absolute_closed, mean.upper - mean.value) for row, mean in means)
    row, mean = means[0]
    return [
        judged(
            "Laplace mechanism",
            "Noise of scale Delta / epsilon is epsilon-differentially private.",
            all(row.kept <= row.epsilon * (1 + _ROUNDED) for row in rows),
            f"Integer noise keeps at most {at_most(wide.kept / wide.epsilon, 6)} times the epsilon asked for, on "
            f"the integers that are sampled, in {counted(len(rows), 'case')}. In real numbers it is a theorem; "
            "in floats it is false, see below.",
        ),
        judged(
            "Laplace mechanism",
            "The standard deviation is sqrt(2) Delta / epsilon.",
            off < _CLOSE,
            f"The density gives it, to a relative {off:.0e}. That of integer noise differs a little: at epsilon "
            f"{first.epsilon:g} and sensitivity 1 it is {about(first.deviation_of_integers, 5)}, against "
            f"{about(first.deviation_formula, 5)}.",
        ),
        judged(
            "Laplace mechanism",
            "Integer noise as it is drawn has the width of its law.",
            good,
            f"At epsilon {row.epsilon:g} the mean absolute noise of {counted(row.draws, 'draw')} is "
            f"{about(mean.value, 4)} ({about(mean.lower, 4)} to {about(mean.upper, 4)} over seeds), by the closed "
            f"form {about(row.absolute_closed, 4)}; so at all {len(means)} epsilons.",
        ),
    ]


def _near(value: float, closed: float, half: float) -> bool:
    return abs(value - closed) <= max(_SIGMAS * half, _CLOSE)


def _floats(rows: Sequence[FloatRow]) -> PaperClaim:
    first = min(rows, key=lambda row: row.epsilon).epsilon
    last = max(rows, key=lambda row: row.epsilon).epsilon
    shares = [
        about_percent(interval([row.told_0 for row in rows if row.epsilon == epsilon]).value)
        for epsilon in (first, last)
    ]
    return judged(
        "Laplace mechanism, in floats",
        "Textbook noise in floating point is epsilon-differentially private.",
        all(row.told_0 == 0 for row in rows),
        f"Of reports of the answer 0, {shares[0]} at epsilon {first:g} and {shares[1]} at epsilon {last:g} can "
        "never come from the answer 1: they are between -1/2 and 1/2 and no multiple of 2^-53. Of the reports of "
        f"the answer 1 it is {about_percent(max(row.told_1 for row in rows))}. No epsilon covers that.",
    )


def _sensitivity(rows: Sequence[SensitivityRow]) -> PaperClaim:
    known = {"records": 1.0, "sum, from 0 to 2 each": 2.0, "records above 0": 1.0, "records of 0": 1.0}
    listed = "; ".join(f"{row.query}: {about(row.sensitivity)}, {row.witness}" for row in rows)
    return judged(
        "Sensitivity",
        "Delta f is the largest |f(D1) - f(D2)| over data sets that differ by one record more: 1 for counts, the "
        "largest record for sums.",
        all(row.sensitivity == known[row.query] for row in rows),
        f"Over all {rows[0].datasets} data sets of up to three records: {listed}.",
    )


def _joint(rows: Sequence[JointRow]) -> list[PaperClaim]:
    def judge(where: str, says: str, own: Sequence[JointRow]) -> PaperClaim:
        tight = max(own, key=lambda row: row.kept / row.allowed)
        loose = min(own, key=lambda row: row.kept / row.allowed)
        told = f"{tight.queries} at {tight.epsilons} keep {about(tight.kept, 6)} of {about(tight.allowed)}"
        if loose is not tight:
            told += (
                f"; {loose.queries} at {loose.epsilons} only {about(loose.kept, 6)} of {about(loose.allowed)}, "
                "since no record moves all of them"
            )
        return judged(
            where,
            says,
            all(
                row.kept <= row.allowed * (1 + _ROUNDED) and math.isclose(row.kept, row.vector, rel_tol=_CLOSE)
                for row in own
            ),
            f"Measured on joint mechanisms over all data sets, with reports clamped to a range: {told}.",
        )

    return [
        judge(
            "Equations (4), (5)",
            "Two queries with noise of scale (Delta f1 + Delta f2) / epsilon each are jointly epsilon-private.",
            [row for row in rows if row.rule == "the same noise"],
        ),
        judge(
            "Composition",
            "Noise of scale Delta f_i / epsilon_i on each query costs the sum of the epsilon_i.",
            [row for row in rows if row.rule != "the same noise"],
        ),
    ]


def _exponential(rows: Sequence[ChoiceRow]) -> list[PaperClaim]:
    def own(convention: str, *kinds: str) -> list[ChoiceRow]:
        return [row for row in rows if row.convention == convention and (not kinds or row.kind in kinds)]

    blog, classic = own(BLOG), own(CLASSIC)
    steep = max(own(BLOG, STEEP), key=lambda row: row.answers)
    dearest = max(own(BLOG, ANY), key=lambda row: row.kept)
    above = [row for row in blog if row.kept > 1 + _CLOSE]
    monotone, symmetric = own(BLOG, MONOTONE), own(BLOG, SYMMETRIC)
    return [
        judged(
            "Equations (6), (7)",
            "exp(epsilon u / Delta u) is 2 epsilon-differentially private.",
            all(row.measured <= row.promised * (1 + _ROUNDED) for row in blog),
            f"At epsilon 1, {counted(len(blog), 'table')} keep at most "
            f"{at_most(max(r.measured for r in blog), 6)}. The 2 is a limit "
            f"that no finite table reaches: one answer against {steep.answers - 1:,} others keeps "
            f"{about(steep.kept, 5)}, and the dearest random table {about(dearest.kept, 5)}.",
        ),
        judged(
            "Equation (6), read as epsilon-private",
            "exp(epsilon u / Delta u) is epsilon-differentially private.",
            not above,
            f"{len(above)} of {counted(len(blog), 'table')} keep more than 1 at epsilon 1: half the exponent must "
            "be taken, or 2 epsilon be paid.",
        ),
        judged(
            "McSherry and Talwar's convention",
            "exp(epsilon u / (2 Delta u)) is epsilon-differentially private.",
            all(row.measured <= row.promised * (1 + _ROUNDED) for row in classic),
            f"At epsilon 1, {counted(len(classic), 'table')} keep at most "
            f"{at_most(max(r.measured for r in classic), 6)}.",
        ),
        judged(
            "Bounded range",
            "The privacy loss of exp(epsilon u / Delta u) ranges over at most 2 epsilon.",
            all(row.measured_range <= 2 * (1 + _ROUNDED) for row in blog),
            f"The largest range is {at_most(max(r.measured_range for r in blog), 6)}, also where the table keeps "
            "a smaller epsilon.",
        ),
        judged(
            "Monotone utilities",
            "If no answer gains where another loses, exp(epsilon u / Delta u) is epsilon-private.",
            all(row.measured <= 1 + _ROUNDED for row in monotone),
            f"{counted(len(monotone), 'table')} keep at most {at_most(max(r.measured for r in monotone), 6)}.",
        ),
        judged(
            "Symmetric utilities",
            "If all data sets have the same normaliser, exp(epsilon u / Delta u) is epsilon-private.",
            all(row.measured <= 1 + _ROUNDED for row in symmetric),
            f"{counted(len(symmetric), 'table')} keep at most {at_most(max(r.measured for r in symmetric), 6)}.",
        ),
    ]


def _utility(rows: Sequence[ChoiceRow]) -> list[PaperClaim]:
    found = []
    for convention, says in (
        (CLASSIC, "The answer is on average at most (2 Delta u / epsilon) ln |Y| below the best."),
        (BLOG, "With the article's exponent it is at most (Delta u / epsilon) ln |Y| below the best."),
    ):
        own = [row for row in rows if row.convention == convention]
        tight = max(own, key=lambda row: row.below_best / row.below_best_bound)
        found.append(
            judged(
                "Utility",
                says,
                all(row.below_best <= row.below_best_bound * (1 + _ROUNDED) for row in own),
                f"In {counted(len(own), 'table')} the loss is at most "
                f"{about(tight.below_best / tight.below_best_bound, 3)} of the bound.",
            )
        )
    return found
