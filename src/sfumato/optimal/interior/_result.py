"""What a solve returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ._arrays import Floats, Ints


class Status(Enum):
    """How a solve ended; the value is the message."""

    OPTIMAL = "solved to the requested gap"
    TIME_LIMIT = (
        "stopped at the time limit; the mechanism is private and its gap is proved. "
        "Hint: allow more time or a larger gap."
    )
    STOPPED = "stopped on request; the mechanism is private and its gap is proved."
    STALLED = (
        "floating point allows no further progress; the mechanism is private and its gap is proved. "
        "Hint: ask for a larger gap."
    )
    ITERATION_LIMIT = "stopped at the iteration limit; the mechanism is private and its gap is proved."


@dataclass(frozen=True, slots=True)
class Entry:
    """One iteration of the method.

    Attributes:
        iteration: Its number, from 0.
        value: The iterate's value.
        bound: The best bound proved so far.
        gap: The relative gap between the two.
        seconds: Wall time since the start.
        rows: Inequality rows present.
        primal_step: Length of the step that led here, in [0, 1].
        dual_step: The same for the multipliers.
    """

    iteration: int
    value: float
    bound: float
    gap: float
    seconds: float
    rows: int
    primal_step: float
    dual_step: float


@dataclass(frozen=True, slots=True)
class Multipliers:
    """A dual point that proves the bound without this method.

    For every observable o and merged secret s,

        reduced[o, s] = loss part - mu[s] - (sum over pair rows) - (sum over guesses) >= 0.

    All arrays are over merged secrets and kept observables (see `Result`), in the unit of the
    objective.

    Attributes:
        mu: Array (n,), multipliers of the row sums.
        theta: Multiplier of the least distortion (one in the game).
        eta: Multipliers of the loss rows: none, (1,) in the game, (N,) with a worst-case loss.
        block: Array (k,), the o of each triple (o, s, t).
        upper: Array (k,), its s.
        lower: Array (k,), its t.
        weight: Array (k,), its multiplier, that of e^E x_o[t] - x_o[s] >= 0.
        guesses: Array (m, guesses), weights of the distortion rows, each row sums to theta; or
            None.
        weighted: Array (guesses, n), the distortion rows' coefficients, or None.
    """

    mu: Floats
    theta: float
    eta: Floats
    block: Ints
    upper: Ints
    lower: Ints
    weight: Floats
    guesses: Floats | None
    weighted: Floats | None


@dataclass(frozen=True, slots=True)
class Result:
    """A mechanism with its proof.

    Attributes:
        matrix: Array (N, M) of p(o|s); kept columns are positive and strictly inside every pair
            row, dropped ones are zero.
        cost: What was minimised (expected or worst-case loss); in the game, minus the
            distortion.
        lower_bound: Proved lower bound of the least ``cost``, up to float rounding.
        gap: (cost - lower_bound) / max(abs(cost), floor).
        status: How it ended.
        multipliers: The dual point behind ``lower_bound``.
        merged: Array (N,), merged secret of each original one.
        kept: Array (m,), original position of each kept observable.
        iterations: Interior-point iterations, phase one of the game included.
        growths: Iterations at which rows joined.
        rows: Inequality rows at the end, over all blocks (one block per orbit of a symmetry).
        symmetry: Size of the symmetry group that was used, 1 for none.
        keys: The pair rows at the end, for a warm start.
        seconds: Wall time.
        log: One entry per iteration.
    """

    matrix: Floats
    cost: float
    lower_bound: float
    gap: float
    status: Status
    multipliers: Multipliers
    merged: Ints
    kept: Ints
    iterations: int
    growths: int
    rows: int
    symmetry: int
    keys: Ints
    seconds: float
    log: tuple[Entry, ...]
