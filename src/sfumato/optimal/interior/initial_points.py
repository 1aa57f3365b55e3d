"""Points strictly inside all demands: the first mechanism, the first iterate, and the last mechanism."""

from __future__ import annotations

import math

import numpy as np

from ...core.arrays import Floats
from ...errors import InfeasibleError
from .block_form import Form, Iterate, Rows
from .pair_rows import Columns, PairRows

FULL = 0.999
LONGEST = 12.0
MIXES: tuple[float, ...] = (0.0, *(math.pow(10.0, k / 4) for k in range(-56, -15)))


def exponential(columns: Columns, share: float = 0.5) -> Floats:
    """Return an exponential mechanism inside every pair row, array (m, n).

    p(o|s) is proportional to exp(-share * ratio[s, a(o)]), a(o) the secret that o costs least;
    the normaliser adds at most as much again.
    """
    loss = np.where(columns.prior[None, :] > 0, columns.expected / np.maximum(columns.prior, 1e-300), np.inf)
    anchor = np.asarray(loss.argmin(axis=1))
    # Truncating a metric leaves a metric: still private, and no entry is so small that the
    # first iterations are spent on it.
    span = np.minimum(columns.ratio[anchor], columns.ratio[:, anchor].T)
    weight: Floats = np.exp(-share * np.minimum(span, LONGEST))
    weight /= weight.sum(axis=0)
    worst = _worst(weight, columns)
    if worst < FULL:
        return weight
    # Without the triangle inequality this is not private: the power halves what it and its normaliser may add.
    flatter = weight ** (0.45 / worst)
    return np.asarray(flatter / flatter.sum(axis=0))


def _worst(point: Floats, columns: Columns) -> float:
    """Return the largest log likelihood ratio over its limit."""
    log, ratio = np.log(point), columns.ratio
    if columns.edges is not None:
        s, t = columns.edges.T
        return float(((log[:, s] - log[:, t]) / ratio[s, t]).max())
    limit = ratio + np.diag(np.full(len(ratio), np.inf))
    return max(float(((row[:, None] - row[None, :]) / limit).max()) for row in log)


def first_mechanism(columns: Columns) -> Floats:
    """Return a mechanism (m, n) strictly inside the pair rows and above the least distortion, if one is set.

    Raises:
        InfeasibleError: If the demanded distortion is not below that of reporting at random.
    """
    point = exponential(columns)
    if columns.minimum is None or columns.weighted is None:
        return point
    flat = np.full_like(point, 1 / len(point))
    have, most = columns.distortion(point), columns.distortion(flat)
    if columns.minimum >= most:
        raise InfeasibleError(
            f"a distortion of {columns.minimum:.6g} was asked for, and {most:.6g} is the most that any "
            "mechanism gives.",
            "ask for less; at the limit itself only mechanisms that ignore the secret remain.",
        )
    goal = columns.minimum + 0.5 * (most - columns.minimum)
    if have >= goal:
        return point
    mix = (goal - have) / (most - have)
    return np.asarray((1 - mix) * point + mix * flat)


def complete_iterate(form: Form, pairs: PairRows, x: Floats) -> tuple[Rows, Iterate]:
    """Complete a strictly interior mechanism (blocks, n) to an iterate with multipliers."""
    columns, n = form.columns, form.secrets
    rows = Rows(form, pairs)
    u = np.empty((form.blocks, form.size))
    u[:, :n] = x
    v = 0.0
    if columns.weighted is not None:
        attained = (x @ columns.weighted.T).min(axis=1)
        if columns.minimum is None:
            # Below what is attained, also where a prior on one secret attains nothing.
            demanded = 0.5 * float(attained.sum()) - 1e-3 * (float(columns.weighted.max()) or 1.0)
        else:
            demanded = columns.minimum
        u[:, n] = attained - (float(attained.sum()) - demanded) / len(attained)
        v = float(u[:, n].sum()) if columns.game else 0.0
    w = np.zeros(0)
    if form.losses is not None:
        loss = form.losses.apply(u)
        if columns.game:
            w = form.target[form.size :] - loss
        else:
            v = 1.1 * float(loss.max()) - 0.1 * float(loss.min()) + 0.01 * (float(np.abs(loss).max()) + 1e-300)
            w = v - loss
    z = rows.slack(u, w)
    scale = abs(form.value(u)) or float(np.abs(columns.expected).max()) or 1.0
    lam = scale / rows.count / z
    mu = np.empty(len(form.target))
    mu[form.size :] = -lam[rows.cut :]
    reduced = form.objective - rows.adjoint(lam)
    if form.losses is not None:
        reduced = reduced - form.losses.adjoint(mu[form.size :])
    mu[: form.size] = (
        form.symmetry.average_vector(reduced.min(axis=0)) if form.symmetry.order > 1 else reduced.min(axis=0)
    )
    return rows, Iterate(u, w, v, lam, mu)


def last_mechanism(columns: Columns, x: Floats, interior: Floats) -> Floats:
    """Normalise the columns of x (m, n) and mix in an interior mechanism, so that all demands hold in floats.

    The least share of `MIXES` that does so is taken.
    """
    bound = _limits(columns)
    for mix in MIXES:
        out = (1 - mix) * x + mix * interior
        out /= out.sum(axis=0)
        if _inside(columns, out, bound):
            return out
    return interior


def _limits(columns: Columns) -> Floats:
    """Return the largest likelihood ratios: of the edges, where they are known, else of all pairs."""
    if columns.edges is not None:
        s, t = columns.edges.T
        return np.asarray(np.exp(columns.ratio[s, t]))
    bound = np.exp(columns.ratio)
    np.fill_diagonal(bound, np.inf)
    return bound


def _inside(columns: Columns, x: Floats, bound: Floats) -> bool:
    if not (x > 0).all():
        return False
    if columns.minimum is not None and columns.distortion(x) < columns.minimum:
        return False
    if columns.max_loss is not None and columns.loss(x) > columns.max_loss:
        return False
    if columns.edges is not None:
        s, t = columns.edges.T
        return all(bool((row[s] < bound * row[t]).all()) for row in x)
    return all(bool((row[:, None] < bound * row[None, :]).all()) for row in x)
