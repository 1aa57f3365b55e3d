"""Claims about Experiments 1 and 2, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

from ...core import Bracket
from ...rounding import about, at_most
from ..reproduction import PaperClaim, RunTables, judged
from .experiments import EXPERIMENT_1, EXPERIMENT_2, Experiment, SquareDesign
from .generators import GridRow
from .summary import of, over_field, over_runs, said, span, values
from .vocabulary import LAPLACE, LEAST_INFORMATION, NETWORK, NO_NOISE, OPTIMUM, TABLE, TEST, TRAIN

BLIND: Final = 0.75
_NEAR: Final = 0.01  # of the error of a blind guess, where everything counts as hidden
_STABLE: Final = 0.02  # between grids
_OPTIMAL: Final = 1e-3  # of the largest error
_FAIR: Final = 0.95  # of the largest error, for a target that stands for it
_ERRORS: Final = 3.0  # standard errors that a measured mean may be above a limit
_EXPERIMENTS: Final = (EXPERIMENT_1, EXPERIMENT_2)


def square_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims about the square, judged."""
    rows = tables.rows("square", GridRow)
    designs = tables.rows("square-designs", SquareDesign)
    most = [row for row in rows if row.hits == max(each.hits for each in rows)]
    return [
        _distances(most),
        _one_cell(most),
        _falls(most),
        _all_hidden(most),
        _stable(most),
        *(_beats(most, each) for each in _EXPERIMENTS),
        *(_keeps(most, name) for name in _learned(most)),
        *(_optimal(designs, most, each) for each in _EXPERIMENTS),
        _target(designs),
        _bias(rows),
    ]


def _mean(rows: Sequence[GridRow], experiment: Experiment, name: str, part: str, cell_m: float) -> Bracket:
    mine = of(rows, experiment=experiment.name, generator=name, part=part, cell_m=cell_m)
    return over_field(mine, "error")


def _distances(rows: Sequence[GridRow]) -> PaperClaim:
    words, holds = [], True
    for each in _EXPERIMENTS:
        mine = of(rows, experiment=each.name, generator=LAPLACE, part=TRAIN, cell_m=rows[0].cell_m)
        closed = 2 / each.epsilon_per_m
        holds = holds and all(abs(row.loss_m - closed) <= _ERRORS * row.loss_standard_error_m for row in mine)
        found = sum(row.loss_m for row in mine) / len(mine)
        words.append(f"{about(found, 4)} m in {each.name} (closed form {about(closed, 6)} m)")
    return judged(
        "(24), (29), (30)",
        "The mean distance of planar Laplace noise is 2/epsilon: 288.5 m and 173.1 m.",
        holds,
        f"The mean over the reports of all seeds is {' and '.join(words)}.",
    )


def _one_cell(rows: Sequence[GridRow]) -> PaperClaim:
    mine = of(rows, generator=NO_NOISE)
    coarse, *fine = sorted(values(mine, "cell_m"), reverse=True)
    large = {row.error for row in of(mine, cell_m=coarse)}
    small = max(row.error for row in mine if row.cell_m in fine)
    return judged(
        "Experiments 1 and 2, no noise",
        "On the coarsest grid even the true places have the largest Bayes error, since all vertices are in one "
        "cell.",
        large == {BLIND} and small == 0.0,
        f"The error without noise is {about(max(large), 4)} on cells of {coarse:g} m, and at most "
        f"{about(small, 4)} "
        "on finer ones. So only errors on equal grids compare.",
    )


def _falls(rows: Sequence[GridRow]) -> PaperClaim:
    cells = sorted(values(rows, "cell_m"), reverse=True)
    holds, words = True, []
    for each in _EXPERIMENTS:
        found = [_mean(rows, each, LAPLACE, TEST, cell).value for cell in cells]
        holds = holds and found[0] - max(found[1:]) > 0.1 and max(found[1:]) - min(found[1:]) < 0.05
        words.append(f"{'/'.join(about(value, 3) for value in found)} in {each.name}")
    return judged(
        "Experiments 1 and 2, planar Laplace",
        "The Bayes error falls from the coarsest grid to the next, and then hardly changes.",
        holds,
        f"On cells of {'/'.join(f'{cell:g}' for cell in cells)} m it is {' and '.join(words)} (test).",
    )


def _all_hidden(rows: Sequence[GridRow]) -> PaperClaim:
    words, holds = [], True
    for name in _learned(rows):
        mine = of(rows, experiment=EXPERIMENT_1.name, generator=name)
        grids = {
            (part, cell): over_field(of(mine, part=part, cell_m=cell), "error_corrected")
            for part, cell in product((TRAIN, TEST), values(mine, "cell_m"))
        }
        (part, cell), least = min(grids.items(), key=lambda item: item[1].value)
        plain = over_field(of(mine, part=part, cell_m=cell), "error")
        holds = holds and least.value >= BLIND - _NEAR
        words.append(
            f"The {name} is lowest on cells of {cell:g} m ({part}): {said(least)} corrected for the bias of "
            f"counting, {said(plain)} counted."
        )
    return judged(
        "Experiment 1",
        "The learned mechanism reaches the largest Bayes error, 0.75, on every grid.",
        holds,
        " ".join(words),
    )


def _learned(rows: Sequence[GridRow]) -> list[str]:
    """Return the names of the learned mechanisms that the run has."""
    return [name for name in (TABLE, NETWORK) if of(rows, generator=name)]


def _stable(rows: Sequence[GridRow]) -> PaperClaim:
    changes = {}
    for name in (*_learned(rows), LAPLACE):
        found = [_mean(rows, EXPERIMENT_1, name, TRAIN, cell).value for cell in values(rows, "cell_m")]
        changes[name] = max(found) - min(found)
    return judged(
        "Experiment 1",
        "The Bayes error of the learned mechanism is stable over the grids.",
        all(changes[name] <= _STABLE for name in _learned(rows)),
        "From grid to grid it changes by "
        + ", ".join(f"{about(change, 2)} ({name})" for name, change in changes.items())
        + " on train records, counted.",
    )


def _beats(rows: Sequence[GridRow], experiment: Experiment) -> PaperClaim:
    mine = of(rows, experiment=experiment.name)
    noise = {(row.part, row.cell_m, row.seed): row for row in of(mine, generator=LAPLACE)}
    cases = [
        (row, noise[row.part, row.cell_m, row.seed]) for name in _learned(rows) for row in of(mine, generator=name)
    ]
    beaten = [(row, other) for row, other in cases if not row.error > other.error]
    fine = min(values(rows, "cell_m"))
    found = [f"the {name} has {said(_mean(rows, experiment, name, TEST, fine))}" for name in _learned(rows)]
    words = (
        f"So in {len(cases) - len(beaten)} of {len(cases)} cases (mechanisms, parts of the data, grids, "
        "seeds). On "
        f"test records and cells of {fine:g} m {', '.join(found)}, and planar Laplace "
        f"{said(_mean(rows, experiment, LAPLACE, TEST, fine))}."
    )
    if beaten:
        row, other = beaten[0]
        words += (
            f" Not for the {row.generator} on cells of {row.cell_m:g} m ({row.part}, seed {row.seed}): "
            f"{row.error:.3f} against {other.error:.3f}."
        )
    return judged(
        experiment.name,
        "The learned mechanism hides more than planar Laplace noise whose mean distance is "
        f"{about(2 / experiment.epsilon_per_m, 4)} m, with at most {experiment.max_loss_m:g} m.",
        not beaten,
        words,
    )


def _keeps(rows: Sequence[GridRow], name: str) -> PaperClaim:
    limits = {each.name: each.max_loss_m for each in _EXPERIMENTS}
    mine = of(rows, generator=name, cell_m=rows[0].cell_m)
    over = [row for row in mine if row.loss_m > limits[row.experiment] + _ERRORS * row.loss_standard_error_m]
    far = max(mine, key=lambda row: row.loss_m / limits[row.experiment])
    return judged(
        f"(28), {name}",
        "The mean distance is within the limit, on the records learned from and on others.",
        not over,
        f"It is at most {at_most(far.loss_m, 4)} m where {limits[far.experiment]:g} m are allowed "
        f"({far.experiment}, {far.part}, seed {far.seed}; standard error {about(far.loss_standard_error_m, 2)} "
        "m), "
        f"over {len(mine)} cases. It is more than {_ERRORS:g} standard errors above the limit in {len(over)} "
        "of them.",
    )


def _optimal(designs: Sequence[SquareDesign], rows: Sequence[GridRow], experiment: Experiment) -> PaperClaim:
    mine = of(designs, experiment=experiment.name)
    best = {row.seed: row for row in of(mine, generator=OPTIMUM)}
    shares = [row.error / (best[row.seed].largest_error or 1.0) for row in of(mine, generator=TABLE)]
    largest = over_runs(best.values(), lambda row: row.largest_error or 0.0)
    fine = min(values(rows, "cell_m"))
    words = (
        f"No table of cells of 50 m exceeds {said(largest)} on the records learned from (proved; mean over "
        "seeds). "
        f"The learned table has {span(shares)} of that."
    )
    if network := of(rows, experiment=experiment.name, generator=NETWORK, part=TRAIN, cell_m=fine):
        words += (
            " The network is not bounded by it; it has "
            f"{said(over_field(network, 'error_corrected'))} (measured, corrected)."
        )
    fresh = [
        f"the {name} has {said(_mean(rows, experiment, name, TEST, fine))}" for name in (*_learned(rows), OPTIMUM)
    ]
    return judged(
        f"Title, {experiment.name}",
        "The learned mechanism is optimal: nothing hides more within the limit.",
        min(shares) >= 1 - _OPTIMAL,
        f"{words} On test records and cells of {fine:g} m {', '.join(fresh)} (counted); the optimum is that of "
        "the "
        "other records.",
    )


def _target(designs: Sequence[SquareDesign]) -> PaperClaim:
    mine = of(designs, experiment=EXPERIMENT_2.name)
    best = {row.seed: row for row in of(mine, generator=OPTIMUM)}
    told = of(mine, generator=LEAST_INFORMATION)
    shares = [row.error / (best[row.seed].largest_error or 1.0) for row in told]
    bits = [over_runs(some, lambda row: row.information_bits / 2) for some in (told, best.values())]
    hidden = over_field(of(designs, experiment=EXPERIMENT_1.name, generator=LEAST_INFORMATION), "error")
    return judged(
        "Section III, with (14)",
        "Least mutual information of person and report stands for the largest Bayes error.",
        min(shares) >= _FAIR,
        f"In Experiment 2 the mechanism trained for the least information tells {about(2 * bits[0].value, 3)} "
        "bits, and "
        f"the one of largest Bayes error {about(2 * bits[1].value, 3)}. The first has a Bayes error of "
        f"{said(over_field(told, 'error'))}: {span(shares)} "
        f"of the largest one that is possible. In Experiment 1 it has {said(hidden)} of 0.75.",
    )


def _bias(rows: Sequence[GridRow]) -> PaperClaim:
    fine = min(values(rows, "cell_m"))
    mine = of(rows, experiment=EXPERIMENT_1.name, generator=LAPLACE, part=TEST, cell_m=fine)
    few, many = min(row.hits for row in mine), max(row.hits for row in mine)
    by = {(row.hits, row.seed): row.error for row in mine}
    higher = [seed for hits, seed in by if hits == few and not by[few, seed] < by[many, seed]]
    counted = [over_field(of(mine, hits=hits), "error") for hits in (few, many)]
    mended = over_field(of(mine, hits=few), "error_corrected")
    return judged(
        "(27)",
        "On fine grids with few hits the estimated Bayes error is too low, whatever the mechanism.",
        not higher,
        f"Planar Laplace in Experiment 1 (test, cells of {fine:g} m): {said(counted[0])} with {few} reports of "
        "each "
        f"record, {said(counted[1])} with {many}; corrected, {said(mended)} with {few}.",
    )
