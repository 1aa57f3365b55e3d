"""A sweep: designs over epsilons, distortions and priors, for the frontier of privacy and cost."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from ..core import AnyLoss, DistortionPrivacy, Guarantee, Metric, MetricPrivacy, Prior
from ..core.arguments import checked
from ..core.frozen import Short
from ..errors import InputError, SfumatoError, argument
from ..evidence import distortion_below
from ..leakage import bayes_vulnerability
from .design import design
from .result import Design
from .solver import Stop
from .solvers import Auto
from .structured import cores


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Point(Short):
    """One design of a sweep.

    Attributes:
        who: The name of the prior.
        epsilon: Per unit of the metric; None if only distortion was asked for.
        minimum: The distortion asked for, in the metric's unit; None if there was none.
        design: The design, or None where there is none.
        distortion: Proved distortion privacy of the mechanism, in the metric's unit.
        hit_rate: How often the best attacker finds the secret.
        reason: Why there is no design; empty if there is one.
    """

    who: str
    epsilon: float | None
    minimum: float | None
    design: Design | None
    distortion: float
    hit_rate: float
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Designs for one prior, solved one after the other, each from the rows of the last."""

    who: str
    prior: Prior
    loss: AnyLoss
    metric: Metric
    requests: tuple[tuple[float | None, float | None], ...]
    objective: str
    gap: float | None
    tie_break: bool | None
    time_limit: float
    threads: int


@checked
def sweep(
    priors: Mapping[str, Prior],
    *,
    loss: AnyLoss,
    metric: Metric,
    epsilons: Sequence[float | None],
    distortions: Sequence[float | None] = (None,),
    objective: str = "expected",
    gap: float | None = 1e-4,
    tie_break: bool | None = None,
    time_limit: float = float("inf"),
    processes: int = 1,
    stop: Stop | None = None,
    progress: Callable[[Point], None] | None = None,
) -> list[Point]:
    """Design for every prior, epsilon and distortion.

    Designs for one prior start from the rows that the last one needed. A request that
    cannot be met gives a point with its reason; the others go on. Ties are broken as in
    `design`; ``point.design.tie_gap`` says how well.

    Args:
        priors: Priors on one space, by name.
        loss: The loss of all designs.
        metric: The metric of privacy, which is also the adversary's distance.
        epsilons: Per unit of the metric; None for distortion alone.
        distortions: In the metric's unit; None for metric privacy alone.
        objective: ``expected`` or ``worst-case``.
        gap: The relative gap to reach; for None see `design`.
        tie_break: Whether to take, among mechanisms of equal loss, one of most distortion
            privacy; see `design`.
        time_limit: Seconds for each design.
        processes: Worker processes; each takes a share of the priors, or of the
            epsilons where there is one prior. A script that asks for more than one needs
            the guard ``if __name__ == "__main__":``.
        stop: Asked between designs whether to stop.
        progress: Called with each point when it is there.

    Returns:
        The points, by prior, epsilon and distortion in the given order.

    Raises:
        InputError: If there is nothing to do.
    """
    for who, prior in priors.items():
        if not isinstance(prior, Prior):
            raise InputError(
                f"the prior of {who!r} is of type {type(prior).__name__}.", "pass a Prior for each name."
            )
    for value in (*epsilons, *distortions):
        if value is not None and not isinstance(value, str | int | float | np.number):
            raise InputError(f"the sweep is asked for {value!r}.", "use numbers, in the units of the metric.")
    requests = [(e, m) for m in distortions for e in epsilons if e is not None or m is not None]
    if not priors or not requests:
        raise InputError(
            "the sweep has no prior, or no epsilon and no distortion.",
            f"pass {argument('epsilons')} or {argument('distortions')}.",
        )
    threads = cores() if processes <= 1 else 1
    shares = [requests] if processes <= 1 or len(priors) >= processes else _dealt(requests, processes)
    chains = [
        _Chain(who, prior, loss, metric, tuple(share), objective, gap, tie_break, time_limit, threads)
        for who, prior in priors.items()
        for share in shares
    ]
    asked: Stop = stop or (lambda: False)
    found: list[Point] = []
    if processes <= 1:
        for chain in chains:
            for point in _points(chain, asked):
                found.append(point)
                if progress is not None:
                    progress(point)
    else:
        # Fresh processes: a fork would copy the locks of BLAS and of HiGHS in any state.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            for future in as_completed([pool.submit(_run, chain) for chain in chains]):
                for point in future.result():
                    found.append(point)
                    if progress is not None:
                        progress(point)
                if asked():
                    pool.shutdown(cancel_futures=True)
                    break
    places = {request: k for k, request in enumerate(requests)}
    names = {who: k for k, who in enumerate(priors)}
    return sorted(found, key=lambda point: (names[point.who], places[(point.epsilon, point.minimum)]))


def _dealt(
    requests: list[tuple[float | None, float | None]], hands: int
) -> list[list[tuple[float | None, float | None]]]:
    """Return the requests in this number of runs of neighbours."""
    size = -(-len(requests) // hands)
    return [requests[k : k + size] for k in range(0, len(requests), size)]


def _run(chain: _Chain) -> list[Point]:
    return list(_points(chain, lambda: False))


def _points(chain: _Chain, stop: Stop) -> Iterator[Point]:
    last: Design | None = None
    for epsilon, minimum in chain.requests:
        if stop():
            break
        guarantees: list[Guarantee] = []
        try:
            if epsilon is not None:
                guarantees.append(MetricPrivacy(epsilon, chain.metric))
            if minimum is not None:
                guarantees.append(DistortionPrivacy(minimum, chain.metric))
            last = design(
                chain.prior,
                loss=chain.loss,
                guarantees=guarantees,
                objective=chain.objective,
                solver=Auto(chain.threads),
                gap=chain.gap,
                tie_break=chain.tie_break,
                time_limit=chain.time_limit,
                start=last,
            )
        except SfumatoError as error:
            yield Point(chain.who, epsilon, minimum, None, nan, nan, error.problem)
            continue
        distortion = distortion_below(last.mechanism, chain.prior, chain.metric)
        hits = bayes_vulnerability(last.mechanism, chain.prior)
        yield Point(chain.who, epsilon, minimum, replace(last, answer=None), distortion, hits)
