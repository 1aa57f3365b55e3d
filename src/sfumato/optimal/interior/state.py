"""All that the loop knows between two iterations, and whether a state from outside can be one.

A state is only a start: whatever it leads to is proved by itself. Still it is looked through, so that no line
of progress tells a value or a bound that is not there: the iterate must be strictly inside all rows, and its
multipliers must prove the bound again.

A dual bound from any multipliers.

Every block's reduced cost c_o + D_o' eta - mu - G_o' lam - A' nu must be non-negative,
since p(o|s) >= 0 follows from the rows. So for any lam >= 0 the best mu is what the rest
leaves: mu_s = min_o (c_o + D_o' eta - G_o' lam - A' nu)[s]. The guess weights nu_o are
scaled to sum to theta for every o, which removes the distortion variables exactly.
Multipliers of rows at the cap are left out: they stand for x >= 0.

The multipliers are those at the end of a full dual step, where reduced costs vanish but for
rounding, with the few negative ones set to zero. At the iterate itself, after a shortened step,
the reduced costs are far from zero and the bound lags behind the value. What setting
multipliers to zero spoils, `tails` mends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core.arrays import Floats
from ..solver import Progress
from .form import Form, Iterate, Rows
from .pairs import Ints, PairRows, search
from .tails import Tails
from .workers import Workers

_ROUNDING = 1e-9  # relative: of sums that another machine adds up in another order
_FEASIBLE = 1e-6  # of the coupling rows
_LONGEST_S = 1e9


@dataclass(frozen=True, slots=True)
class Proof:
    """A feasible dual point.

    Attributes:
        bound: Lower bound of the minimised value, up to float rounding.
        mu: Array (n,), multipliers of the row sums.
        theta: Multiplier of the distortion.
        eta: Array (loss rows,), multipliers of the loss rows.
        pairs: Array (pair rows,), multipliers of the scaled pair rows, zero where capped.
        guesses: Array (blocks, guesses), or None.
    """

    bound: float
    mu: Floats
    theta: float
    eta: Floats
    pairs: Floats
    guesses: Floats | None


def prove(rows: Rows, point: Iterate, tails: Tails | None = None) -> Proof:
    """Return the bound that a point's multipliers prove, with the multipliers that prove it.

    Args:
        rows: The inequality rows.
        point: Only its lam, which must not be negative, and its mu are used.
        tails: Carries costs inward first, so that the prices come near mu.
    """
    form, columns = rows.form, rows.form.columns
    n = form.secrets
    pairs = rows.pairs
    lam = point.lam[: pairs.count]
    if columns.capped.any():
        _, upper, lower = pairs.triples()
        lam = np.where(columns.capped[upper, lower], 0.0, lam)
    eta = np.maximum(0.0, -point.mu[form.size :])
    if form.free is not None and not columns.game:
        total = float(eta.sum())
        eta = eta / total if total > 0 else np.full(len(eta), 1 / len(eta))
    reduced = form.objective[:, :n] - pairs.adjoint(lam)[:, :n]
    if form.losses is not None:
        reduced = reduced + form.losses.adjoint(eta)[:, :n]
    theta, guesses = 0.0, None
    if form.guesses is not None and columns.weighted is not None:
        theta = 1.0 if columns.game else max(0.0, float(point.mu[n]))
        guesses = point.lam[pairs.count : rows.cut].reshape(form.blocks, -1)
        sums = guesses.sum(axis=1, keepdims=True)
        guesses = guesses * (theta / np.where(sums > 0, sums, 1.0))
        reduced = reduced - guesses @ columns.weighted
    if tails is not None:
        lam, reduced = tails.carry(lam, reduced, point.mu[:n])
    mu = reduced.min(axis=0)[form.symmetry.secrets].min(axis=0)
    bound = float(mu.sum())
    if columns.minimum is not None:
        bound += theta * columns.minimum
    if columns.max_loss is not None:
        bound -= float(eta.sum()) * columns.max_loss
    return Proof(bound, mu, theta, eta, lam, guesses)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The loop between two iterations.

    Attributes:
        keys: Sorted keys of the pair rows that are present.
        point: The iterate.
        proof: The best bound so far.
        aim: The share of the present mean that the next step aims at, at most.
        short: How many steps before were next to nothing.
        log: The lines so far, that of this iterate included.
    """

    keys: Ints
    point: Iterate
    proof: Proof
    aim: float
    short: int
    log: tuple[Progress, ...]

    def rows(self, form: Form) -> Rows:
        """Return the rows that are present."""
        return Rows(form, PairRows(self.keys, form.columns.ratio, form.blocks, form.size))


def checked(state: State, form: Form, patience: int, told: tuple[float, float] | None, workers: Workers) -> State:
    """Return a state that was read, or raise a `ValueError` where it cannot be one of this problem.

    Args:
        state: It, with all arrays of the right type and number of axes.
        form: The problem in block-angular form.
        patience: It has fewer short steps than that.
        told: The signs with which the last line tells value and bound; None where it tells neither.
        workers: The pool.
    """
    _check_keys(state.keys, form)
    rows, point, proof = state.rows(form), state.point, state.proof
    coupled = len(form.target)
    shapes = (
        (point.u, (form.blocks, form.size)),
        (point.w, (form.slack_rows,)),
        (point.lam, (rows.count,)),
        (point.mu, (coupled,)),
        (proof.pairs, (rows.pairs.count,)),
        (proof.eta, (form.slack_rows,)),
    )
    for array, shape in shapes:
        _demand(array.shape == shape and bool(np.isfinite(array).all()))
    guesses = form.guesses
    _demand((guesses is None) == (proof.guesses is None))
    if guesses is not None and proof.guesses is not None:
        shape = (form.blocks, guesses.count // form.blocks)
        _demand(proof.guesses.shape == shape and bool(np.isfinite(proof.guesses).all()))
        _demand(bool((proof.guesses >= 0).all()))
    _demand(bool(np.isfinite([point.v, proof.bound, proof.theta, state.aim]).all()))
    _demand(0 < state.aim < 1 and 0 <= state.short < patience and proof.theta >= 0)
    _demand(bool((proof.pairs >= 0).all() and (proof.eta >= 0).all()))
    _check_inside(rows, point, workers)
    again = _proved_again(rows, point, proof)
    value = form.value(point.u)
    near = _ROUNDING * max(abs(value), abs(proof.bound), 1e-300)
    _demand(again.bound >= proof.bound - near)
    _check_log(state.log, rows.pairs.count)
    if told is not None:
        last, signs = state.log[-1], told
        _demand(abs(signs[0] * last.value - value) <= near and abs(signs[1] * last.bound - proof.bound) <= near)
    return replace(state, proof=replace(proof, mu=again.mu))


def _demand(true: bool) -> None:
    if not true:
        raise ValueError("the state does not fit")


def _check_keys(keys: Ints, form: Form) -> None:
    n = form.secrets
    _demand(len(keys) > 0 and int(keys[0]) >= 0 and int(keys[-1]) < form.blocks * n * n)
    _demand(bool((np.diff(keys) > 0).all()))
    rest = keys % (n * n)
    _demand(bool((rest // n != rest % n).all()))
    if form.columns.edges is not None:
        edges = np.sort(form.columns.edges[:, 0].astype(np.int64) * n + form.columns.edges[:, 1])
        blocks = np.arange(form.blocks, dtype=np.int64)[:, None] * (n * n)
        _demand(np.array_equal(keys, (blocks + edges).reshape(-1)))


def _check_inside(rows: Rows, point: Iterate, workers: Workers) -> None:
    """Refuse an iterate that breaks a row, present or not."""
    form = rows.form
    x = point.u[:, : form.secrets]
    _demand(bool((x > 0).all() and (point.lam > 0).all()))
    _demand(bool((rows.slack(point.u, point.w) > 0).all()))
    lacking = form.target - form.total(point.u)
    lacking[form.size :] -= point.w
    if form.free is not None:
        lacking -= form.free * point.v
    _demand(float(np.abs(lacking).max()) <= _FEASIBLE * max(1.0, float(np.abs(form.target).max())))
    if form.columns.edges is not None:
        return  # their rows, which imply all others, are all present
    bound = np.exp(form.columns.ratio)
    np.fill_diagonal(bound, np.inf)
    _demand(len(search(x, bound, np.empty(0, dtype=np.int64), workers)) == 0)


def _proved_again(rows: Rows, point: Iterate, proof: Proof) -> Proof:
    """Return what the multipliers of a proof prove."""
    form = rows.form
    lam: list[Floats] = [proof.pairs]
    if proof.guesses is not None:
        lam.append(proof.guesses.ravel())
    mu = np.zeros(len(form.target))
    if proof.guesses is not None:
        mu[form.secrets] = proof.theta
    mu[form.size :] = -proof.eta
    multipliers = np.concatenate([*lam, np.zeros(form.slack_rows)])
    return prove(rows, Iterate(point.u, point.w, point.v, multipliers, mu))


def _check_log(log: tuple[Progress, ...], rows: int) -> None:
    _demand(len(log) > 0 and log[-1].rows <= rows)
    seconds = np.array([line.seconds for line in log])
    _demand(bool((seconds >= 0).all() and (np.diff(seconds) >= 0).all() and (seconds <= _LONGEST_S).all()))
    _demand([line.step for line in log] == list(range(len(log))))
    _demand(not np.isnan([(line.value, line.bound, line.gap) for line in log]).any())
