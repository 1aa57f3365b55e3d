"""Floor of an unfinished solve: simple private mechanisms, and the bound of a problem with few secrets."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core import Loss, Mechanism, Prior, Space, shortest_paths
from ..core.arrays import Floats
from ..core.naming import DISTORTION, EXPECTED, WORST_CASE
from ..errors import InputError, SolverError, UnitError
from ..mechanisms import merge_close_secrets, planar_geometric, repair_to_private
from ..proofs import Multipliers
from .problem import Problem
from .solver import Answer, Control, Progress, Status, gap_of, objective_of, proved_bound
from .structured import Structured

_MOST_SECRETS: Final = 3_000  # for which exponential mechanism and planar noise take a few seconds
_MOST_PRICES: Final = 4_000_000
_CLOSED_S, _COARSE_S = (
    0.5,
    2.0,
)  # seconds after which an unfinished solve is compared with closed forms, and bounded
_LEAST_SECRETS: Final = 100  # of a problem that is worth a coarser one
_COARSE_WORK: Final = 500_000  # observables times the square of a coarser problem's secrets: about a second
_COARSE_GAP: Final = 0.02
_COARSE_SHARE, _LONGEST_S = 0.25, 10.0  # of the remaining time, for a coarser problem
_PARTS: Final = 8  # of the reports, remapped in turn
_ROOM = 1e-9  # left for rounding
_NO_MASS: Final = 1e-15  # of a class of secrets


class Baseline:
    """Values and bounds that a running solve is never worse than, and its progress measured against them.

    A constant report and a plain bound are known from the first line. The other closed forms join after half a
    second and, for an expected loss, the bound of a problem with few secrets after two.
    """

    def __init__(self, problem: Problem, control: Control) -> None:
        self._problem, self._control = problem, control
        self._stage = 0  # how many of constant report, closed forms and coarse bound were tried
        self._known: list[tuple[float, Answer]] = []  # seconds since which an answer was known
        self._bounded: Answer | None = None  # the last of them, with the bound of a coarser problem

    def watch(self, line: Progress) -> None:
        """Pass a line of progress on, with value and bound at least as good as the baseline's."""
        if self._stage == 0:
            self._stage = 1
            self._add(0.0, fallback(self._problem, Status.TIME_LIMIT, quick=True))
        if self._stage == 1 and line.seconds >= _CLOSED_S:
            self._stage = 2
            self._add(line.seconds, fallback(self._problem, Status.TIME_LIMIT))
        elif self._stage == 2 and line.seconds >= _COARSE_S:
            self._stage = 3
            prices = coarse_prices(self._problem, self._control)
            if prices is not None and self._known:
                bound, name = proved_bound(self._problem, prices), "a problem with fewer secrets"
                self._bounded = replace(self._known[-1][1], bound=bound, prices=prices, solver=name)
                self._known.append((line.seconds, self._bounded))
        if self._control.progress is not None:
            self._control.progress(self.lift(line))

    def _add(self, seconds: float, answer: Answer | None) -> None:
        if answer is not None:
            used = np.flatnonzero(answer.matrix.any(axis=0))
            self._known.append((seconds, replace(answer, matrix=answer.matrix[:, used], used=used)))

    def lift(self, line: Progress) -> Progress:
        """Return a line of progress with the baseline that was known at that time."""
        problem, sign = self._problem, self._problem.sign
        known = [answer for seconds, answer in self._known if seconds <= line.seconds]
        if not known:
            return line
        value = sign * min(sign * line.value, sign * known[-1].value)
        bound = sign * max(sign * line.bound, sign * known[-1].bound)
        return replace(line, value=value, bound=bound, gap=gap_of(problem, value, bound))

    def best(self, answer: Answer) -> Answer:
        """Return an unfinished answer with its reports remapped, or what is better of the baseline."""
        problem, gap = self._problem, self._control.gap
        answer = replace(answer, log=tuple(map(self.lift, answer.log)))
        if answer.status is Status.OPTIMAL:
            return answer
        if self._stage < 2:
            self._add(math.inf, fallback(problem, answer.status))
        answer = answer if problem.objective != EXPECTED else _remapped_answer(problem, answer)
        closed = [candidate for _, candidate in self._known if candidate is not self._bounded][-1:]
        for candidate in (*closed, *([] if self._bounded is None else [self._bounded])):
            answer = better_of(problem, gap, answer, replace(candidate, status=answer.status))
        return answer


def better_of(problem: Problem, gap: float, best: Answer | None, other: Answer) -> Answer:
    """Return the better mechanism of two answers with the better bound: each is proved by itself."""
    sign = problem.sign
    better = other if best is None or sign * other.value < sign * best.value else best
    bounded = other if best is None or sign * other.bound > sign * best.bound else best
    name, log, state = better.solver, other.log, other.state
    if best is not None:
        log, state = best.log + other.log, best.state
        if better is other:
            name += f" (the {best.solver} stopped short)"
        elif bounded is other:
            name += f" (its bound by {other.solver})"
    status = better.status
    if gap_of(problem, better.value, bounded.bound) <= gap:
        status = Status.OPTIMAL
    elif status is Status.OPTIMAL:
        status = Status.INACCURATE
    bound, prices, has_proof = bounded.bound, bounded.prices, bounded.has_proof
    return replace(
        better, bound=bound, prices=prices, has_proof=has_proof, solver=name, status=status, log=log, state=state
    )


def fallback(problem: Problem, status: Status, why: str = "", *, quick: bool = False) -> Answer | None:
    """Return the best of a few closed forms, or of constant reports alone; None if none is usable."""
    constant, candidates = constant_report(problem), {} if quick else closed_forms(problem)
    if problem.objective == DISTORTION:
        mixtures = {
            f"{name} or a constant report": _mix(problem, matrix, constant) for name, matrix in candidates.items()
        }
        candidates = mixtures
    candidates["constant report"] = constant
    prices = plain_prices(problem)
    bound = proved_bound(problem, prices)
    distance = problem.distance.array if problem.distance is not None and problem.minimum > 0 else None
    best: Answer | None = None
    for name, matrix in candidates.items():
        # Their ratios are within by construction; only the distortion may lack something.
        repaired, share = repair_to_private(
            matrix, None, prior=problem.prior.probabilities, distance=distance, minimum=problem.minimum
        )
        value = objective_of(problem, repaired)
        text = f"closed form: {name}" + (f" ({why})" if why else "")
        answer = Answer(repaired, share, value, bound, status, (), text, prices)
        if answer.usable and (best is None or problem.sign * value < problem.sign * best.value):
            best = answer
    return best


def closed_forms(problem: Problem) -> dict[str, Floats]:
    """Return mechanisms with the metric privacy of a problem by name, arrays (n, m); none if n is large."""
    if problem.exponents is None:
        return {"cheapest reports": _cheapest_reports(problem)}
    if len(problem.exponents) > _MOST_SECRETS:
        return {}
    noise = _planar_noise(problem, problem.exponents)
    candidates = {"exponential mechanism": _exponential(problem, problem.exponents)}
    return candidates if noise is None else candidates | {"planar noise": noise}


def closed_form_answer(problem: Problem, mechanism: Mechanism) -> Answer:
    """Return a mechanism of least loss as the answer to a game whose limit leaves no room for another one."""
    prices, matrix = plain_prices(problem), mechanism.matrix
    value, bound = objective_of(problem, matrix), proved_bound(problem, prices)
    name = "design of least loss (its limit leaves no room for more distortion)"
    return Answer(matrix, 0.0, value, bound, Status.INACCURATE, (), name, prices, mechanism=mechanism)


def constant_report(problem: Problem) -> Floats:
    """Return the mechanism that always makes the best constant report, array (n, m)."""
    n, m = problem.shape
    loss = problem.loss.array
    costs = loss.max(axis=0) if problem.objective == WORST_CASE else problem.prior.probabilities @ loss
    matrix = np.zeros((n, m))
    matrix[:, int(np.argmin(costs))] = 1.0
    return matrix


def _cheapest_reports(problem: Problem) -> Floats:
    n, m = problem.shape
    closest = np.zeros((n, m))
    closest[np.arange(n), problem.loss.array.argmin(axis=1)] = 1.0
    return closest


def _exponential(problem: Problem, exponents: Floats) -> Floats:
    if not np.array_equal(exponents, exponents.T):
        exponents = shortest_paths(np.minimum(exponents, exponents.T))
    channel = np.exp(-merge_close_secrets(exponents) * (0.5 - _ROOM))
    return _remap_channel(problem, channel / channel.sum(axis=1, keepdims=True))


def _planar_noise(problem: Problem, exponents: Floats) -> Floats | None:
    """Return planar noise on cells with the guarantees of a problem, remapped; None where it does not exist."""
    space = problem.prior.space
    x = space.coordinates
    if x is None or x.shape[1] != 2:
        return None
    apart = np.hypot(*np.moveaxis(x[:, None] - x, 2, 0))
    far = apart > 0
    if not far.any():
        return None
    epsilon = float((exponents[far] / apart[far]).min()) * (1 - _ROOM)
    try:
        return _remap_channel(problem, planar_geometric(space, epsilon).matrix)
    except (InputError, UnitError):
        return None  # the places are on no lattice, or epsilon is 0 or infinite


def _remap_channel(problem: Problem, channel: Floats) -> Floats:
    n, m = problem.shape
    weights = np.full(n, 1.0 / n) if problem.objective == WORST_CASE else problem.prior.probabilities
    matrix = np.zeros((n, m))
    np.add.at(matrix.T, _best_reports(weights, problem.loss.array, channel), channel.T)
    return matrix


def _remapped_answer(problem: Problem, answer: Answer) -> Answer:
    """Return an answer with each report moved to the best observable for what it reveals, where this is better."""
    best = _best_reports(problem.prior.probabilities, problem.loss.array, answer.matrix)
    used, place = np.unique(best, return_inverse=True)
    matrix = np.zeros((len(answer.matrix), len(used)))
    np.add.at(matrix.T, place, answer.matrix.T)
    value = objective_of(problem, matrix, used)
    if not value < answer.value:
        return answer
    return replace(answer, matrix=matrix, used=used, value=value, mechanism=None)


def _best_reports(weights: Floats, loss: Floats, channel: Floats) -> NDArray[np.intp]:
    """Return the observable of least expected loss for each column of a matrix (n, k)."""
    parts = np.array_split(weights[:, None] * channel, _PARTS, axis=1)
    return np.concatenate([(part.T @ loss).argmin(axis=1) for part in parts])


def _mix(problem: Problem, telling: Floats, constant: Floats) -> Floats:
    """Return the mixture whose loss is just below the limit; mixtures of private mechanisms are private."""
    weighted = problem.prior.probabilities[:, None] * problem.loss.array
    low, high = float((weighted * telling).sum()), float((weighted * constant).sum())
    room = (problem.max_loss - low) * (1 - _ROOM)
    if room <= 0:
        return telling
    share = 1.0 if high - low <= room else room / (high - low)
    return (1 - share) * telling + share * constant


def plain_prices(problem: Problem) -> Multipliers:
    """Return prices of the worst secret alone, or of the best guess without a report."""
    guesses = worst = None
    if problem.objective == WORST_CASE:
        worst = np.zeros(problem.shape[0])
        worst[int(np.argmax(problem.loss.array.min(axis=1)))] = 1.0
    if problem.objective == DISTORTION and problem.distance is not None:
        distance = problem.distance.array
        guesses = np.zeros((len(distance), problem.shape[1]))
        guesses[int(np.argmin(distance @ problem.prior.probabilities))] = 1.0
    return Multipliers.without_rows(guesses, worst)


def coarse_prices(problem: Problem, control: Control) -> Multipliers | None:
    """Return prices that bound an expected loss by a problem with few secrets; None where there are none in time.

    A secret s in the class of a representative r has p(o|s) >= exp(-E(r, s)) p(o|r). So the optimum is at least
    that of the representatives, where r bears exp(-E(r, s)) prior(s) loss(s, o) for each s of its class.
    """
    n, m = problem.shape
    exponents, plain = problem.exponents, problem.objective == EXPECTED and problem.distance is None
    size = min(n // 2, int((_COARSE_WORK / m) ** 0.5))
    if not plain or exponents is None or n < _LEAST_SECRETS or n * m > _MOST_PRICES or size < 2:
        return None
    prior, loss = problem.prior.probabilities, problem.loss.array
    costs = prior[:, None] * (loss - loss.min(axis=1, keepdims=True))
    heads = _representatives(exponents, costs[:, int(costs.sum(axis=0).argmin())], size)
    member = exponents[heads].argmin(axis=0)
    share = np.exp(-exponents[heads[member], np.arange(n)]) * (1 - _ROOM)
    borne = np.zeros((size, m))
    np.add.at(borne, member, share[:, None] * costs)
    mass = np.maximum(np.bincount(member, prior, size), _NO_MASS)
    mass /= mass.sum()
    small = replace(
        problem,
        prior=Prior(Space(range(size)), mass),
        loss=Loss(borne / mass[:, None], problem.loss.unit),
        guarantees=(),
        exponents=exponents[np.ix_(heads, heads)],
    )
    seconds = min(_COARSE_SHARE * control.remaining, _LONGEST_S)
    limits = replace(control, gap=_COARSE_GAP, deadline=time.monotonic() + seconds, progress=None)
    try:
        prices = Structured().answer(small, limits).prices
    except SolverError:
        return None
    if prices is None:
        return None
    rest = np.setdiff1d(np.arange(n), heads)
    s, t = np.repeat(heads[member[rest]], m), np.repeat(rest, m)
    local = np.concatenate([prices.local, (share[rest, None] * costs[rest]).reshape(-1)])
    used = local > 0
    secrets = np.concatenate([heads[prices.secrets], s])[used]
    further = np.concatenate([heads[prices.rivals], t])[used]
    observables = np.concatenate([prices.observables, np.tile(np.arange(m), len(rest))])[used]
    return Multipliers(secrets, further, observables, local[used], exponents[secrets, further])


def _representatives(exponents: Floats, costs: Floats, size: int) -> NDArray[np.intp]:
    """Return the secrets, chosen greedily, whose classes bear the largest share of the costs (n,)."""
    shares = np.exp(-exponents)
    borne, mask = np.zeros(len(costs)), np.zeros(len(costs), dtype=np.bool_)
    for _ in range(size):
        gains = np.where(mask, -1.0, np.maximum(shares, borne) @ costs)
        best = int(gains.argmax())
        mask[best] = True
        borne = np.maximum(borne, shares[best])
    return np.flatnonzero(mask)
