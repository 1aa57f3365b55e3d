"""Statements of the article and of its originals, judged by the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.rounding import about, about_percent, at_most, plural

from ..reproduction import PaperClaim, RunTables, follows, illustrates, interval, judge, remark
from ..results import where
from .experiments import BLOG, CLASSIC, ChoiceRow, DrawRow, FloatRow, JointRow, NoiseRow, SensitivityRow

_CLOSE = 1e-6  # relative, of values that are integrated in floats
_ROUNDED = 1e-9  # of an epsilon that is measured from above, in floats
_SIGMAS = 5  # standard errors that a mean over seeds may be off


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the statements, judged."""
    return [
        *_laplace(tables.rows("noise", NoiseRow), tables.rows("draws", DrawRow)),
        _floats(tables.rows("floats", FloatRow)),
        _sensitivity(tables.rows("sensitivities", SensitivityRow)),
        *_joint(tables.rows("queries", JointRow)),
        *_exponential(tables.rows("choices", ChoiceRow)),
    ]


def _laplace(rows: Sequence[NoiseRow], draws: Sequence[DrawRow]) -> list[PaperClaim]:
    off = max(abs(row.deviation / row.deviation_formula - 1) for row in rows)
    wide = max(rows, key=lambda row: row.kept / row.epsilon)
    narrow = min(rows, key=lambda row: (row.sensitivity, row.epsilon))
    means = [
        (first, interval([row.absolute for row in where(draws, epsilon=first.epsilon)]))
        for first in where(draws, seed=draws[0].seed)
    ]
    row, mean = means[0]
    return [
        follows(
            "Laplace mechanism",
            "The standard deviation of noise of scale Delta / epsilon is sqrt(2) Delta / epsilon.",
            off < _CLOSE,
            f"The density gives it, to a relative {off:.0e}. The standard deviation of integer noise differs a "
            f"little: at epsilon {narrow.epsilon:g} and sensitivity 1 it is "
            f"{about(narrow.deviation_of_integers, 5)}, against {about(narrow.deviation_formula, 5)}.",
        ),
        remark(
            "Laplace mechanism",
            "Integer noise in place of noise of scale Delta / epsilon is epsilon-differentially private.",
            all(row.kept <= row.epsilon * (1 + _ROUNDED) for row in rows),
            f"Its epsilon is at most {at_most(wide.kept / wide.epsilon, 6)} times the epsilon asked for, on the "
            f"integers that are sampled, in {plural(len(rows), 'case')}. For noise in real numbers it is a "
            "theorem; in floats it is false, see below.",
        ),
        remark(
            "Laplace mechanism",
            "Integer noise as it is drawn has the width of its law.",
            all(
                abs(mean.value - row.absolute_closed) <= max(_SIGMAS * (mean.upper - mean.value), _CLOSE)
                for row, mean in means
            ),
            f"At epsilon {row.epsilon:g} the mean absolute noise of {plural(row.draws, 'draw')} is "
            f"{about(mean.value, 4)} ({about(mean.lower, 4)} to {about(mean.upper, 4)} over seeds), by the closed "
            f"form {about(row.absolute_closed, 4)}. At all {len(means)} epsilons they agree within {_SIGMAS} "
            "times the interval.",
        ),
    ]


def _floats(rows: Sequence[FloatRow]) -> PaperClaim:
    first, last = (pick(row.epsilon for row in rows) for pick in (min, max))
    told_1 = max(row.told_1 for row in rows)
    shares = [
        about_percent(interval([row.told_0 for row in where(rows, epsilon=epsilon)]).value)
        for epsilon in (first, last)
    ]
    return illustrates(
        "Mironov (2012), abstract",
        "Textbook Laplace noise in floating point is not differentially private.",
        any(row.told_0 for row in rows) and not told_1,
        f"Of reports of the answer 0, {shares[0]} at epsilon {first:g} and {shares[1]} at epsilon {last:g} can "
        "never come from the answer 1: they are between -1/2 and 1/2 and no multiple of 2^-53. Of the reports of "
        f"the answer 1 {f'{about_percent(told_1)} are.' if told_1 else 'none are. No epsilon covers that.'}",
        quote="the textbook sampling procedure results in a porous distribution over double-precision numbers "
        "that allows one to breach differential privacy",
    )


def _sensitivity(rows: Sequence[SensitivityRow]) -> PaperClaim:
    known = {"records": 1.0, "sum, from 0 to 2 each": 2.0, "records above 0": 1.0, "records of 0": 1.0}
    listed = "; ".join(f"{row.query}: {about(row.sensitivity)}, {row.witness}" for row in rows)
    return follows(
        "Sensitivity",
        "Delta f is the largest |f(D1) - f(D2)| over data sets that differ by one record more: 1 for counts, the "
        "largest record for sums.",
        all(row.sensitivity == known[row.query] for row in rows),
        f"Over all {rows[0].datasets} data sets of up to three records: {listed}.",
    )


def _joint(rows: Sequence[JointRow]) -> list[PaperClaim]:
    def evidence(subset: Sequence[JointRow]) -> tuple[bool, str]:
        loose, tight = (pick(subset, key=lambda row: row.kept / row.allowed) for pick in (min, max))
        words = f"{tight.queries} at {tight.epsilons} cost {about(tight.kept, 6)} of {about(tight.allowed)}"
        if loose is not tight:
            words += (
                f"; {loose.queries} at {loose.epsilons} only {about(loose.kept, 6)} of {about(loose.allowed)}, "
                "since no record moves all of them"
            )
        return all(row.kept <= row.allowed * (1 + _ROUNDED) for row in subset), (
            "Measured on joint mechanisms of integer noise over all data sets, with reports clamped to a range: "
            f"{words}."
        )

    return [
        judge(
            "Equations (4), (5)",
            "Two queries with noise of scale (Delta f1 + Delta f2) / epsilon each are jointly epsilon-private.",
            *evidence(where(rows, rule="the same noise")),
        ),
        remark(
            "Equations (4), (5)",
            "In general, noise of scale Delta f_i / epsilon_i on each query costs the sum of the epsilon_i.",
            *evidence(where(rows, rule="as given")),
        ),
    ]


def _exponential(rows: Sequence[ChoiceRow]) -> list[PaperClaim]:
    def bound_text(tables: Sequence[ChoiceRow]) -> str:
        largest = max(row.measured for row in tables)
        return f"{plural(len(tables), 'table')} have an epsilon of at most {at_most(largest, 6)}."

    def utility(tables: Sequence[ChoiceRow]) -> tuple[bool, str]:
        part = max(row.below_best / row.below_best_bound for row in tables)
        words = f"In {plural(len(tables), 'table')} the loss is at most {about(part, 3)} of the bound."
        return part <= 1 + _ROUNDED, words

    blog, classic = (where(rows, convention=convention) for convention in (BLOG, CLASSIC))
    private = [all(row.measured <= row.promised * (1 + _ROUNDED) for row in tables) for tables in (blog, classic)]
    steep = max(where(blog, kind="steep"), key=lambda row: row.answers)
    random = max(where(blog, kind="any"), key=lambda row: row.kept)
    above = [row for row in blog if row.kept > 1 + _CLOSE]
    place = "Equations (6), (7)"
    return [
        judge(
            place,
            "exp(epsilon u / Delta u) is 2 epsilon-differentially private.",
            private[0],
            f"At epsilon 1, {bound_text(blog)} The 2 is a limit that no finite table reaches: one answer against "
            f"{steep.answers - 1:,} others has {about(steep.kept, 5)}, and the random table with the largest "
            f"epsilon {about(random.kept, 5)}.",
        ),
        remark(
            place,
            "exp(epsilon u / Delta u) is not epsilon-differentially private.",
            bool(above),
            f"{len(above)} of {plural(len(blog), 'table')} have more than 1 at epsilon 1: half the exponent must "
            "be taken, or 2 epsilon be paid.",
        ),
        judge(
            "McSherry and Talwar (2007), section not known",
            "exp(epsilon u / (2 Delta u)) is epsilon-differentially private.",
            private[1],
            f"At epsilon 1, {bound_text(classic)}",
        ),
        remark(
            place,
            "The privacy loss of exp(epsilon u / Delta u) ranges over at most 2 epsilon.",
            all(row.measured_range <= 2 * (1 + _ROUNDED) for row in blog),
            f"The largest range is {at_most(max(row.measured_range for row in blog), 6)}, also where the table "
            "has a smaller epsilon.",
        ),
        *(
            remark(
                place,
                f"If {condition}, exp(epsilon u / Delta u) is epsilon-private.",
                all(row.measured <= 1 + _ROUNDED for row in tables),
                bound_text(tables),
            )
            for tables, condition in (
                (where(blog, kind="monotone"), "no answer gains where another loses"),
                (where(blog, kind="symmetric"), "all data sets have the same normaliser"),
            )
        ),
        judge(
            "differentialprivacy.org, on the exponential mechanism",
            "The answer is on average at most (2 Delta u / epsilon) ln |Y| below the best.",
            *utility(classic),
        ),
        remark(
            place,
            "With the article's exponent it is at most (Delta u / epsilon) ln |Y| below the best.",
            *utility(blog),
        ),
    ]
