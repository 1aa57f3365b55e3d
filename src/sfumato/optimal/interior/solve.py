"""The entry point of the structured interior-point method."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import InfeasibleError, SolverError
from ...proofs import Multipliers
from ..reduction import Reduced
from ..solver import Control, Progress, Status
from . import form, inside, symmetry
from .kept import StateFile
from .loop import Course, first_rows, floor, follow
from .pairs import Columns, Ints, PairRows, columns
from .workers import Workers

NEAR_LIMIT = 0.999
# The loop aims a little closer, to leave room for the last normalisation and mix.
INNER = 0.7
ROOM = 1e-11  # of the largest loss, below its limit: less is no room in floats
SMALL = 100  # secrets up to which threads cost more than they save
NEAR = 1e-10  # relative gap at which the least loss counts as found, before the game begins


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(CompactRepr):
    """A mechanism of a reduced problem with its proof.

    Attributes:
        matrix: Array (n, m) of p(o|s), positive and strictly inside every demand.
        cost: What was minimised (expected or worst-case loss); in the game, minus the
            distortion.
        lower_bound: Proved lower bound of the least ``cost``, up to float rounding.
        gap: (cost - lower_bound) / max(abs(cost), floor).
        status: How it ended.
        prices: The multipliers behind ``lower_bound``, of the reduced problem.
        iterations: Interior-point iterations, phase one of the game included.
        symmetry: Size of the symmetry group that was used, 1 for none.
        keys: The pair rows at the end, for a warm start.
        log: One line per iteration; values and bounds are of the objective.
    """

    matrix: Floats
    cost: float
    lower_bound: float
    gap: float
    status: Status
    prices: Multipliers
    iterations: int
    symmetry: int
    keys: Ints
    log: tuple[Progress, ...]


def solve(
    reduced: Reduced,
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

    Args:
        reduced: The problem.
        control: How far and how long to go, and who is told. A stop is noticed between blocks.
        iteration_limit: The most interior-point iterations.
        warm: An earlier result of a similar problem; its pair rows are present from the start.
        threads: Worker threads; BLAS is held to one thread in each. Up to 100 secrets take one.
        with_symmetry: Whether to look for symmetries and use them.
        memory: Told the number of blocks and the size of each before memory is taken; may raise.
        folder: Where states between iterations are kept and looked for, to go on from; None for nowhere.

    Returns:
        The mechanism, its value, the proved bound and the multipliers behind it. Every way of
        stopping returns a mechanism strictly inside all demands.

    Raises:
        InfeasibleError: If no mechanism meets the demands strictly.
        SolverError: If the game found no mechanism within its limit of the loss.
        StoppedError: If the time is over, or a stop was asked for, before the first iterate.

    Source:
        Shokri, "Privacy Games", programs 21 to 24.
    """
    started = time.monotonic()
    weighted, minimum = reduced.weighted, reduced.minimum
    if weighted is not None and minimum is not None and minimum >= NEAR_LIMIT * float(weighted.sum(axis=1).min()):
        # Next to the limit the joint problem has almost no interior; often the pairs alone reach
        # the distortion already.
        plain = solve(
            replace(reduced, weighted=None, minimum=None),
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
    seen = columns(reduced)
    aim = replace(control, gap=INNER * control.gap)
    helpers = threads if len(seen.prior) > SMALL else 1
    with Workers(helpers, lambda: control.stopped is not None) as workers:
        interior, before = _interior(seen, aim, workers, started, iteration_limit, folder)
        n, m = len(seen.prior), len(seen.expected)
        group = symmetry.detect(seen) if with_symmetry else symmetry.trivial(n, m)
        found = form.build(seen, group)
        if memory is not None:
            memory(found.blocks, found.size)
        pairs, threshold = first_rows(found, workers, None if warm is None else warm.keys)
        point = interior[group.representatives]
        course = _followed(
            found, point, pairs, threshold, aim, workers, started=started, most=iteration_limit, folder=folder
        )
    return _result(reduced, before, course, interior, control.gap)


def _interior(
    seen: Columns, control: Control, workers: Workers, started: float, most: int, folder: Path | None
) -> tuple[Floats, tuple[Progress, ...]]:
    """Return a strictly interior mechanism (m, n) and the progress towards it.

    The game first lowers the loss below its limit.
    """
    point = inside.first(seen)
    limit = seen.max_loss
    if limit is None:
        return point, ()
    room = ROOM * max(abs(limit), float(np.abs(seen.expected).max()))
    if seen.loss(point) < limit - room:
        return point, ()
    plain = replace(seen, weighted=None, minimum=None, max_loss=None)
    found = form.build(plain, symmetry.trivial(len(plain.prior), len(plain.expected)))
    pairs, threshold = first_rows(found, workers, None)
    lowering = replace(control, gap=min(control.gap, NEAR))
    course = _followed(
        found,
        point,
        pairs,
        threshold,
        lowering,
        workers,
        started=started,
        most=most,
        folder=folder,
        below=limit - room,
    )
    x = course.point.u[:, : found.secrets]
    if seen.loss(x) >= limit - room:
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


def _followed(
    found: form.Form,
    point: Floats,
    pairs: PairRows,
    threshold: Floats,
    control: Control,
    workers: Workers,
    *,
    started: float,
    most: int,
    folder: Path | None,
    below: float | None = None,
) -> Course:
    """Follow the central path from the state that is kept in a folder; anew where that leads nowhere."""
    file = None if folder is None else StateFile(folder, found, control.gap, below)

    def course() -> Course:
        return follow(
            *inside.completed(found, pairs, point),
            threshold,
            control,
            workers,
            started=started,
            most=most,
            below=below,
            file=file,
        )

    first = course()
    if file is None or not file.used or first.status is not Status.INACCURATE:
        return first
    file.drop()
    return course()


def _result(
    reduced: Reduced, before: tuple[Progress, ...], course: Course, interior: Floats, wanted: float
) -> Result:
    rows = course.rows
    seen, group = rows.form.columns, rows.form.symmetry
    x = inside.last(seen, group.expand(course.point.u[:, : rows.form.secrets]), interior)
    value, bound = seen.value(x), course.proof.bound
    gap = max(0.0, value - bound) / max(abs(value), floor(rows.form))
    return Result(
        matrix=np.ascontiguousarray(x[:, : len(reduced.prior)].T),
        cost=value,
        lower_bound=bound,
        gap=gap,
        status=Status.INACCURATE if course.status is Status.OPTIMAL and gap > wanted else course.status,
        prices=_prices(reduced, course),
        iterations=len(course.log) - 1 + max(len(before) - 1, 0),
        symmetry=group.order,
        keys=rows.pairs.keys,
        log=before + course.log,
    )


def _prices(reduced: Reduced, course: Course) -> Multipliers:
    """Return the proof's multipliers as prices of the reduced problem, one block per observable."""
    proof, seen, group = course.proof, course.rows.form.columns, course.rows.form.symmetry
    # The row is scaled by e^{-E/2}; its plain form e^E x_t - x_s has the multiplier divided by e^{E/2}.
    block, upper, lower = course.rows.pairs.triples()
    weight = proof.pairs * np.exp(-seen.ratio[upper, lower] / 2)
    if group.order > 1:
        first = np.full(group.images.shape[1], -1)
        for k, image in enumerate(group.images):
            place = image[group.representatives]
            first[place] = np.where(first[place] < 0, k, first[place])
        parts = []
        for k, image in enumerate(group.images):
            place = image[group.representatives][block]
            mine = first[place] == k
            # Several representatives never share an image, so `place` and k together pick each observable once.
            parts.append((place[mine], group.secrets[k][upper[mine]], group.secrets[k][lower[mine]], weight[mine]))
        block, upper, lower, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    # What is left of a single secret's imaginary companion, or of rows at the cap, has no weight.
    used = weight > 0
    block, upper, lower, weight = block[used], upper[used], lower[used], weight[used]
    return Multipliers(
        upper,
        lower,
        block,
        weight,
        reduced.exponents[upper, lower],
        None if proof.guesses is None else proof.guesses.T,
        proof.eta if seen.secret_loss is not None else None,
        float(proof.eta[0]) if seen.game and seen.secret_loss is None else 0.0,
    )
