"""Strictly interior starting points."""

from __future__ import annotations

import numpy as np

from ...errors import InfeasibleError
from ._arrays import Floats
from ._form import Form
from ._pairs import PairRows
from ._program import Program
from ._rows import Point, Rows

FULL = 0.999
LONGEST = 12.0


class Infeasible(InfeasibleError):  # noqa: N818 - a verdict, read as interior.Infeasible
    """No mechanism meets the demands strictly."""


def exponential(program: Program, share: float = 0.5) -> Floats:
    """Return an exponential mechanism inside every pair row, array (m, n).

    p(o|s) is proportional to exp(-share * ratio[s, a(o)]), a(o) the secret that o costs least;
    the normaliser adds at most as much again.
    """
    loss = np.where(program.prior[None, :] > 0, program.expected / np.maximum(program.prior, 1e-300), np.inf)
    anchor = np.asarray(loss.argmin(axis=1))
    # Truncating a metric leaves a metric: still private, and no entry is so small that the
    # first iterations are spent on it.
    span = np.minimum(np.minimum(program.ratio, program.ratio.T), LONGEST)
    weight = np.exp(-share * span[:, anchor].T)
    weight /= weight.sum(axis=0)
    worst = _worst(weight, program.ratio)
    if worst < FULL:
        return weight
    # Without the triangle inequality this is not private: the power halves what it and its normaliser may add.
    flatter = weight ** (0.45 / worst)
    return np.asarray(flatter / flatter.sum(axis=0))


def _worst(point: Floats, ratio: Floats) -> float:
    """Return the largest log likelihood ratio over its limit."""
    log = np.log(point)
    limit = ratio + np.diag(np.full(len(ratio), np.inf))
    return max(float(((row[:, None] - row[None, :]) / limit).max()) for row in log)


def mechanism(program: Program) -> Floats:
    """Return a point strictly inside the pair rows and above the least distortion, if one is set.

    Raises:
        Infeasible: If the demanded distortion is not below that of reporting at random.
    """
    point = exponential(program)
    if program.minimum is None or program.weighted is None:
        return point
    flat = np.full_like(point, 1 / len(point))
    have, most = program.distortion(point), program.distortion(flat)
    if program.minimum >= most:
        raise Infeasible(
            f"a distortion of {program.minimum:.6g} is demanded, and {most:.6g} is the most that any "
            "mechanism gives.",
            "ask for less; at the limit itself only mechanisms that ignore the secret remain.",
        )
    goal = program.minimum + 0.5 * (most - program.minimum)
    if have >= goal:
        return point
    mix = (goal - have) / (most - have)
    return np.asarray((1 - mix) * point + mix * flat)


def point(form: Form, pairs: PairRows, x: Floats) -> tuple[Rows, Point]:
    """Complete a strictly interior mechanism (blocks, n) to an iterate with multipliers."""
    program, n = form.program, form.secrets
    rows = Rows(form, pairs)
    u = np.empty((form.blocks, form.size))
    u[:, :n] = x
    v = 0.0
    if program.weighted is not None:
        attained = (x @ program.weighted.T).min(axis=1)
        if program.minimum is None:
            # Below what is attained, also where a prior on one secret attains nothing.
            demanded = 0.5 * float(attained.sum()) - 1e-3 * (float(program.weighted.max()) or 1.0)
        else:
            demanded = program.minimum
        u[:, n] = attained - (float(attained.sum()) - demanded) / len(attained)
        v = float(u[:, n].sum()) if program.game else 0.0
    w = np.zeros(0)
    if form.losses is not None:
        loss = form.losses.apply(u)
        if program.game:
            w = form.target[form.size :] - loss
        else:
            v = 1.1 * float(loss.max()) - 0.1 * float(loss.min()) + 0.01 * (float(np.abs(loss).max()) + 1e-300)
            w = v - loss
    z = rows.slack(u, w)
    scale = abs(form.value(u)) or float(np.abs(program.expected).max()) or 1.0
    lam = scale / rows.count / z
    mu = np.empty(len(form.target))
    mu[form.size :] = -lam[rows.cut :]
    reduced = form.objective - rows.adjoint(lam)
    if form.losses is not None:
        reduced = reduced - form.losses.adjoint(mu[form.size :])
    mu[: form.size] = (
        form.symmetry.average_vector(reduced.min(axis=0)) if form.symmetry.order > 1 else reduced.min(axis=0)
    )
    return rows, Point(u, w, v, lam, mu)
