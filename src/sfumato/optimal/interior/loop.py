"""Interior-point loop, with rows that grow while it runs: iterates are strictly inside absent rows as well."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import InfeasibleError, SolverError
from ...proofs import Multipliers
from ..reduction import Reduction
from ..solver import Control, Progress, Status
from .block_form import (
    BreakdownError,
    Form,
    Iterate,
    Rows,
    build_form,
    complete_iterate,
    first_mechanism,
    last_mechanism,
)
from .checkpoints import Proof, State, StateFile, prove
from .lapack import StoppedError, Workers
from .newton import System, compute, end, factors
from .pair_rows import (
    CAP,
    Bools,
    Columns,
    Ints,
    columns,
    detect_symmetry,
    irreducible,
    nearest,
    search,
    trivial_symmetry,
)
from .tail_repair import Tails

NEIGHBOURS = 4
FLOOR = 1e-9
SHORTEST_STEP = 1e-7
PATIENCE = 5
OVERSHOOT = 0.1
# The aimed mean of slack times multiplier, as a share of the present one: after a plain step, and a lifted one.
AIM, LIFTED_AIM = 0.5, 0.3
SHORT = 0.7  # primal steps shorter than this are lengthened and repaired
LAG = 1.2  # a bound lags where the gap is more than this times the product of slacks and multipliers
NEARLY = 2.0  # times the wanted gap: a lagging bound is improved where that product is at most this
ENDS, MENDED_END = (1.0, 0.0), 0.4
NEAR = 0.8
BACK = 0.9
_NONE: Final = np.empty(0, dtype=np.int64)
MULTIPLIER_CAP = 0.1
LEAST_CAP = 1e-6
NEAR_LIMIT = 0.999
INNER = 0.7  # of the gap: room for the last normalisation and mix
ROOM = 1e-11  # of the largest loss, below its limit: less is no room in floats
SMALL = 100  # secrets up to which threads cost more than they save
LEAST_LOSS_GAP = 1e-10  # relative gap at which the least loss counts as found, before the game begins


@dataclass(frozen=True, slots=True)
class Course:
    """End of the loop."""

    rows: Rows  # the rows present at the end
    point: Iterate  # the last iterate
    proof: Proof  # the best bound that was proved on the way, with multipliers for all rows
    status: Status  # why the loop ended
    log: tuple[Progress, ...]  # one line per iteration; values and bounds are of the objective


def floor(form: Form) -> float:
    """Return the least denominator of a gap: 1e-9 of the cheapest constant report's loss, or rounding."""
    losses = np.abs(form.columns.expected).sum(axis=1)
    return max(FLOOR * float(losses.min()), 2.0**-50 * float(losses.max()), 1e-300)


def all_rows(form: Form, edges: Ints) -> Rows:
    """Return the rows of some pairs (k, 2) in every block."""
    n = form.secrets
    flat = np.sort(edges[:, 0].astype(np.int64) * n + edges[:, 1])
    keys = (np.arange(form.blocks, dtype=np.int64)[:, None] * (n * n) + flat).reshape(-1)
    return Rows.of(form, keys)


def first_rows(form: Form, workers: Workers, warm: Ints | None) -> tuple[Rows, Floats]:
    """Return the initial rows, including the keys ``warm``, and the thresholds of the search."""
    ratio, n = form.columns.ratio, form.secrets
    mask = irreducible(ratio, workers)
    rows = all_rows(form, np.argwhere(nearest(ratio, mask, NEIGHBOURS, CAP)))
    if warm is not None and len(warm) and warm.min() >= 0 and warm.max() < form.blocks * n * n:
        rest = warm % (n * n)
        rows = Rows.of(form, np.union1d(rows.pairs.keys, warm[rest // n != rest % n]))
    return rows, limits(ratio, mask)


def follow(
    rows: Rows,
    point: Iterate,
    threshold: Floats | None,
    control: Control,
    workers: Workers,
    *,
    begin: float,
    most: int,
    below: float | None = None,
    file: StateFile | None = None,
    all_bounds: bool = True,
) -> Course:
    """Follow the central path from an iterate strictly inside all pair rows and demands.

    ``threshold`` (n, n) is as in `limits`, or None where all rows that count are present. ``most`` limits the
    iterations. The loop ends once what is minimised is below ``below``, or cannot be. Unless ``all_bounds`` is
    set, only the last iterate's bound counts.
    """
    form, n = rows.form, rows.form.secrets
    checkpoint = None if file is None else file.read(PATIENCE, workers)
    if checkpoint is None:
        best, short, aim = prove(rows, point), 0, AIM
        log: list[Progress] = []
    else:
        rows, point, best = Rows.of(form, checkpoint.keys), checkpoint.point, checkpoint.proof
        short, aim = checkpoint.short, checkpoint.aim
        log = list(checkpoint.log)
        begin = time.monotonic() - log[-1].seconds
    before = len(log)
    blocks = factors(rows, workers)
    least = floor(form)
    sign = form.columns.sign if below is None else -1.0
    while True:
        value = form.value(point.u)
        gap = max(0.0, value - best.bound) / max(abs(value), least)
        seconds = time.monotonic() - begin
        # Before the game has a mechanism within its limit of the loss, there is no value and no bound to tell.
        view = (value, best.bound, gap) if below is None else (np.inf, -np.inf, np.inf)
        if checkpoint is None:
            log.append(Progress(len(log), rows.pairs.count, sign * view[0], sign * view[1], view[2], seconds))
            if control.progress is not None:
                control.progress(log[-1])
        state, checkpoint = State(rows.pairs.keys, point, best, aim, short, tuple(log)), None
        is_met = gap <= control.gap or (below is not None and (value < below or best.bound > below))
        status = Status.OPTIMAL if is_met else control.cutoff
        if status is None and (len(log) - before > most or short >= PATIENCE):
            status = Status.INACCURATE
        if file is not None and status is not Status.INACCURATE:
            (file.offer if status is None else file.keep)(state)
        if status is not None:
            return Course(rows, point, best, status, tuple(log))
        z = rows.slack(point.u, point.w)
        try:
            system = System(rows, point, z, blocks, workers)
            floor_of_mean = OVERSHOOT * control.gap * max(abs(value), least) / rows.count
            step = compute(system, point, z, floor_of_mean, aim, workers)
            best = max([best, *(prove(rows, end(point, step, share)) for share in ENDS)], key=attrgetter("bound"))
            product = float(point.lam @ z)
            lags = value - best.bound > LAG * product
            if not all_bounds:
                # A better bound is looked for only where it may end the course.
                lags &= product <= NEARLY * control.gap * abs(value)
            tails = Tails(rows, point, z) if lags or step.primal < SHORT else None
            if lags:
                best = max(best, prove(rows, end(point, step, MENDED_END), tails), key=attrgetter("bound"))
            d, primal, dual = step.direction, step.primal, step.dual
            there, aim = point.u + primal * d.u, AIM
            if tails is not None and primal < SHORT and rows.pairs.count == rows.count:
                lift = tails.lift(d, primal)
                if lift is not None:
                    (there, primal), aim = lift, LIFTED_AIM
            new = _NONE if threshold is None else search(there[:, :n], threshold, rows.pairs.keys, workers)
        except BreakdownError:
            return Course(rows, point, best, Status.INACCURATE, tuple(log))
        except StoppedError:
            if file is not None:
                file.keep(state)
            return Course(rows, point, best, control.cutoff or Status.INTERRUPTED, tuple(log))
        share = shorten(rows, point.u[:, :n], there[:, :n], new) if len(new) else 1.0
        primal *= share
        candidate = Iterate(
            point.u + share * (there - point.u),
            point.w + primal * d.w,
            point.v + primal * d.v,
            point.lam + dual * d.lam,
            point.mu + dual * d.mu,
        )
        inside = (rows.slack(candidate.u, candidate.w) > 0).all() and (candidate.lam > 0).all()
        if not (inside and np.isfinite(candidate.mu).all()):
            return Course(rows, point, best, Status.INACCURATE, tuple(log))
        point = candidate
        short = short + 1 if max(primal, dual) < SHORTEST_STEP else 0
        residual = (1 - dual) * float(np.abs(system.dual_residual).max())
        del system, step, d, tails, there, candidate, z, state  # before the next factors need memory
        if len(new):
            rows, point, best = extend(rows, point, best, new, residual)


def limits(ratio: Floats, mask: Bools) -> Floats:
    """Return the thresholds (n, n) of the search: e^E times NEAR ** min(E, 1), +inf for implied pairs."""
    return np.where(mask, np.exp(ratio + np.log(NEAR) * np.minimum(ratio, 1.0)), np.inf)


def shorten(rows: Rows, here: Floats, there: Floats, new: Ints) -> float:
    """Return the share of the step between two points (blocks, n) that stays strictly inside new rows."""
    n, ratio = rows.form.secrets, rows.form.columns.ratio
    block, rest = np.divmod(new, n * n)
    s, t = np.divmod(rest, n)
    up, down = np.exp(ratio[s, t] / 2), np.exp(-ratio[s, t] / 2)
    before = up * here[block, t] - down * here[block, s]
    after = up * there[block, t] - down * there[block, s]
    mask = after <= 0
    if not mask.any():
        return 1.0
    return BACK * float((before[mask] / (before[mask] - after[mask])).min())


def extend(rows: Rows, point: Iterate, proof: Proof, new: Ints, residual: float) -> tuple[Rows, Iterate, Proof]:
    """Return rows, point and proof with new rows (sorted keys), whose multipliers do not spoil the residual."""
    form, old = rows.form, rows.pairs
    mean = float(point.lam @ rows.slack(point.u, point.w)) / rows.count
    n, ratio = form.secrets, form.columns.ratio
    block, rest = np.divmod(new, n * n)
    s, t = np.divmod(rest, n)
    z = np.exp(ratio[s, t] / 2) * point.u[block, t] - np.exp(-ratio[s, t] / 2) * point.u[block, s]
    largest = max(float(np.abs(form.columns.expected).max()), 1e-300)
    cap = min(MULTIPLIER_CAP * largest, max(residual, LEAST_CAP * largest))
    place = np.searchsorted(old.keys, new)
    lam = np.insert(point.lam, place, np.minimum(mean / z, cap))
    wider = Rows.of(form, np.insert(old.keys, place, new))
    iterate = Iterate(point.u, point.w, point.v, lam, point.mu)
    return wider, iterate, replace(proof, pairs=np.insert(proof.pairs, place, 0.0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(CompactRepr):
    """A mechanism of a reduced problem with its proof."""

    matrix: Floats  # array (n, m) of p(o|s), positive and strictly inside every demand
    cost: float  # the expected or worst-case loss; in the game, minus the distortion
    lower_bound: float  # proved lower bound of the least `cost`, up to float rounding
    gap: float  # (cost - lower_bound) / max(abs(cost), floor)
    status: Status  # how it ended
    prices: Multipliers  # the multipliers behind `lower_bound`, of the reduced problem
    iterations: int  # interior-point iterations, phase one of the game included
    symmetry: int  # size of the symmetry group that was used, 1 for none
    keys: Ints  # the pair rows at the end, for a warm start
    families: Floats | None  # array (m, k), the multipliers of the rows of distribution privacy, or None
    log: tuple[Progress, ...]  # one line per iteration; values and bounds are of the objective


def solve(
    reduction: Reduction,
    control: Control,
    *,
    iteration_limit: int = 500,
    warm: Result | None = None,
    threads: int = 2,
    with_symmetry: bool = True,
    memory: Callable[[int, int], None] | None = None,
    folder: Path | None = None,
) -> Result:
    """Solve a reduced problem: expected or worst-case loss, or the zero-sum game.

    Pair rows of the earlier result ``warm`` are present from the start. ``memory`` gets the number and size of
    blocks before they are allocated, and may raise. The mechanism is strictly inside all demands for every
    status. Raises `StoppedError` without time for a first iterate.

    Source:
        Shokri, "Privacy Games", programs 21 to 24.
    """
    begin = time.monotonic()
    weighted, minimum = reduction.weighted, reduction.minimum
    if weighted is not None and minimum is not None and minimum >= NEAR_LIMIT * float(weighted.sum(axis=1).min()):
        # Next to the limit the joint problem has almost no interior; often the pairs alone reach the distortion.
        plain = solve(
            replace(reduction, weighted=None, minimum=None),
            control,
            iteration_limit=iteration_limit,
            warm=warm,
            threads=threads,
            with_symmetry=with_symmetry,
            memory=memory,
            folder=folder,
        )
        if float((weighted @ plain.matrix).min(axis=0).sum()) >= minimum:
            return plain
    problem = columns(reduction)
    aim = replace(control, gap=INNER * control.gap)
    helpers = threads if len(problem.prior) > SMALL else 1
    with Workers(helpers, lambda: control.cutoff is not None) as workers:
        trace = partial(_follow_from_state, workers=workers, begin=begin, most=iteration_limit, folder=folder)
        interior, before = _interior(problem, aim, trace)
        n, m = len(problem.prior), len(problem.expected)
        group = detect_symmetry(problem) if with_symmetry else trivial_symmetry(n, m)
        form = build_form(problem, group)
        if memory is not None:
            memory(form.blocks, form.size)
        course = trace(form, interior[group.representatives], aim, warm=None if warm is None else warm.keys)
    rows, group = course.rows, course.rows.form.symmetry
    x = last_mechanism(problem, group.expand(course.point.u[:, : rows.form.secrets]), interior)
    value, bound = problem.value(x), course.proof.bound
    gap = max(0.0, value - bound) / max(abs(value), floor(rows.form))
    return Result(
        matrix=np.ascontiguousarray(x[:, : len(reduction.prior)].T),
        cost=value,
        lower_bound=bound,
        gap=gap,
        status=Status.INACCURATE if course.status is Status.OPTIMAL and gap > control.gap else course.status,
        prices=_prices(reduction, course),
        iterations=len(course.log) - 1 + max(len(before) - 1, 0),
        symmetry=group.order,
        keys=rows.pairs.keys,
        families=course.proof.families,
        log=before + course.log,
    )


def _interior(
    problem: Columns, control: Control, trace: Callable[..., Course]
) -> tuple[Floats, tuple[Progress, ...]]:
    """Return a strictly interior mechanism (m, n), for the game within its limit of the loss, and the progress."""
    point = first_mechanism(problem)
    limit = problem.max_loss
    room = ROOM * max(abs(limit or 0.0), float(np.abs(problem.expected).max()))
    if limit is None or problem.loss(point) < limit - room:
        return point, ()
    plain = replace(problem, weighted=None, minimum=None, max_loss=None)
    form = build_form(plain, trivial_symmetry(len(plain.prior), len(plain.expected)))
    lowering = replace(control, gap=min(control.gap, LEAST_LOSS_GAP))
    course = trace(form, point, lowering, below=limit - room)
    x = course.point.u[:, : form.secrets]
    if problem.loss(x) >= limit - room:
        if course.proof.bound < limit:
            # Without numbers: problems come here in units of their own.
            raise SolverError(
                f"no mechanism within the limit of the loss was found: {course.status.value}.",
                "allow more loss or more time.",
            )
        raise InfeasibleError(
            "the limit of the loss is below the least loss that the guarantees allow.",
            "allow more loss or ask for less privacy.",
        )
    return x, course.log


def _follow_from_state(
    form: Form,
    point: Floats,
    control: Control,
    *,
    workers: Workers,
    begin: float,
    most: int,
    folder: Path | None,
    warm: Ints | None = None,
    below: float | None = None,
) -> Course:
    """Follow the central path from the state in a folder, or from the start where that state fails."""
    rows, threshold = first_rows(form, workers, warm)
    file = None if folder is None else StateFile(folder, form, control.gap, below)

    def course() -> Course:
        start = complete_iterate(rows, point)
        return follow(rows, start, threshold, control, workers, begin=begin, most=most, below=below, file=file)

    first = course()
    if file is None or not file.used or first.status is not Status.INACCURATE:
        return first
    file.drop()
    return course()


def _prices(reduction: Reduction, course: Course) -> Multipliers:
    """Return the proof's multipliers as prices of the reduced problem, one block per observable."""
    proof, problem, group = course.proof, course.rows.form.columns, course.rows.form.symmetry
    # The row is scaled by e^{-E/2}; its plain form e^E x_t - x_s has the multiplier divided by e^{E/2}.
    block, upper, lower = course.rows.pairs.triples()
    weight = proof.pairs * np.exp(-problem.ratio[upper, lower] / 2)
    if group.order > 1:
        first = np.full(group.images.shape[1], -1)
        for k, image in enumerate(group.images):
            place = image[group.representatives]
            first[place] = np.where(first[place] < 0, k, first[place])
        parts = []
        for k, image in enumerate(group.images):
            place = image[group.representatives][block]
            once = first[place] == k
            # Several representatives never share an image, so `place` and k together pick each observable once.
            parts.append((place[once], group.secrets[k][upper[once]], group.secrets[k][lower[once]], weight[once]))
        block, upper, lower, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    # What is left of a single secret's imaginary companion, or of rows at the cap, has no weight.
    used = weight > 0
    block, upper, lower, weight = block[used], upper[used], lower[used], weight[used]
    return Multipliers(
        upper,
        lower,
        block,
        weight,
        reduction.exponents[upper, lower],
        None if proof.guesses is None else proof.guesses.T,
        proof.eta if problem.secret_loss is not None else None,
        float(proof.eta[0]) if problem.game and problem.secret_loss is None else 0.0,
    )
