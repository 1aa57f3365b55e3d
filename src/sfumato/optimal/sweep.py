"""Sweeps: designs over epsilons, distortions and priors, for the frontier of privacy and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from math import nan
from typing import Any, Final

import numpy as np

from .._system import cores, worker_pool
from ..core import (
    AnyLoss,
    CoordinatePrivacy,
    DesignGuarantee,
    DistortionPrivacy,
    Metric,
    MetricPrivacy,
    Prior,
    units,
)
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr
from ..errors import InputError, SfumatoError, argument
from ..geo import Lattice, Places, Visits
from ..leakage import bayes_vulnerability
from ..proofs import PlaceDistortion, distortion_below
from ..rounding import down
from .coordinates.rival import rivalry
from .design import design
from .result import BEST, Design
from .solver import Stop
from .solver_registry import Auto

_UNIT: Final = "km"  # of promises and errors on a lattice


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Point(CompactRepr):
    """One design of a sweep.

    Attributes:
        name: The name of the prior.
        epsilon: Per unit of the metric, or per km on a lattice; None for distortion alone.
        minimum: The required distortion, in the metric's unit or km; None for metric privacy alone.
        design: The design, a program or planar noise, or None where there is none.
        distortion: Proved distortion privacy of the mechanism, in the metric's unit or km.
        hit_rate: How often the best attacker finds the secret (on a lattice, the vertex rounded to). NaN for
            noise, which has no vertices.
        reason: Why there is no design; empty if there is one.
        true_point: Whether the distortion is that of the true point, for guesses anywhere on the plane.
        without_noise: Why planar noise was not tried, on a lattice; empty if it was.
    """

    name: str
    epsilon: float | None
    minimum: float | None
    design: Design | None
    distortion: float
    hit_rate: float
    reason: str = ""
    true_point: bool = False
    without_noise: str = ""

    @property
    def loss(self) -> float:
        """The proved upper bound of the design's loss, in `loss_unit`; NaN without one."""
        return nan if self.design is None else self.design.value

    @property
    def loss_unit(self) -> str:
        """The unit of the loss."""
        return "" if self.design is None else self.design.loss_unit


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Designs for one prior in sequence, each started from the rows of the last."""

    name: str
    prior: Prior
    metric: Metric | None
    visits: Visits | None
    medians: bool
    requests: tuple[tuple[float | None, float | None], ...]
    threads: int
    options: dict[str, Any]  # of each design: its loss, objective, gap, tie_break, time_limit and method

    def errors(self, minimum: float) -> DistortionPrivacy:
        """Return the attacker's errors, of the true point where the visits are known."""
        if self.visits is not None and isinstance(self.prior.space, Places):
            unit = _UNIT if self.metric is None else self.metric.unit
            return PlaceDistortion(minimum, self.prior.space, self.visits, unit=unit)
        if self.metric is None:
            raise InputError("the sweep has no metric.", f"pass {argument('metric')}.")
        return DistortionPrivacy(minimum, self.metric)

    def promise(self, epsilon: float) -> DesignGuarantee:
        return CoordinatePrivacy(epsilon, _UNIT) if self.metric is None else MetricPrivacy(epsilon, self.metric)

    def distortion(self, design: Design) -> float:
        """Return a proved lower bound of the attacker's error."""
        if not design.has_program:
            return max(0.0, down(design.certificate.attacker.lower * units.factor("m", _UNIT) * (1 - 2.0**-50)))
        errors = self.errors(0.0)
        if isinstance(errors, PlaceDistortion):
            return errors.lower(errors.attack(design.mechanism, self.prior))
        return distortion_below(design.mechanism, self.prior, errors.distance)

    def without_noise(self, design: Design, guarantees: list[DesignGuarantee]) -> str:
        """Return why planar noise was not tried, on a lattice."""
        has_noise = design.choice is not None or self.options["method"] != BEST
        if has_noise or not isinstance(self.prior.space, Lattice):
            return ""
        field = rivalry(self.prior, self.options["loss"], tuple(guarantees), self.options["objective"], None)
        return field if isinstance(field, str) else "there is no time for it, or its table would be too large"


@check_arguments
def sweep(
    priors: Mapping[str, Prior],
    *,
    loss: AnyLoss | Mapping[str, AnyLoss],
    metric: Metric | None = None,
    epsilons: Sequence[float | None],
    distortions: Sequence[float | None] = (None,),
    visits: Visits | Mapping[str, Visits] | None = None,
    medians: bool = False,
    objective: str = "expected",
    gap: float | None = None,
    tie_break: bool | None = None,
    time_limit: float = float("inf"),
    processes: int = 1,
    method: str = BEST,
    stop: Stop | None = None,
    progress: Callable[[Point], None] | None = None,
) -> list[Point]:
    """Return a design for every prior, epsilon and distortion.

    Designs for one prior start from the rows that the last one needed. A request that cannot be met gives a point
    with its reason. On a lattice planar noise is tried too; where it cannot be tried, the point says why. Raises
    `InputError` if there is nothing to do, or what is needed on a lattice is missing. The points are in the order
    of priors, epsilons and distortions.

    Args:
        priors: Priors on one space, by name.
        loss: The loss of all designs, or that of each prior by its name.
        metric: The metric of privacy, which is also the adversary's distance. None on a lattice, for
            `CoordinatePrivacy` per km; then visits are needed.
        epsilons: Per unit of the metric, or per km; None for distortion alone.
        distortions: In the metric's unit, or km; None for metric privacy alone.
        visits: Visits on places, for all priors or for each by its name: the error is then the distance from the
            true point to a guess anywhere on the plane (`PlaceDistortion`).
        medians: Whether reports are moved to medians of the visits (`at_medians`) where no distortion is required.
            It needs a loss of the true point, and takes about twice as long.
        objective: ``expected`` or ``worst-case``.
        gap: The relative gap to reach; for None see `design`.
        tie_break: See `design`.
        time_limit: Seconds for each design.
        processes: Worker processes; each takes a share of the priors, or of the epsilons where there is one prior.
            A script with more than one needs the guard ``if __name__ == "__main__":``.
        method: ``best``, or ``table`` (the program) to consider that one alone; see `design`.
        stop: Called between designs; True stops the sweep.
        progress: Called with each finished point.
    """
    _check_places(priors, metric, visits, medians)
    for value in (*epsilons, *distortions):
        if value is not None and not isinstance(value, str | int | float | np.number):
            raise InputError(
                f"{value!r} is not an epsilon or a distortion.", "use numbers, in the units of the metric."
            )
    requests = [(e, m) for m in distortions for e in epsilons if e is not None or m is not None]
    if not priors or not requests:
        raise InputError(
            "the sweep has no prior, or no epsilon and no distortion.",
            f"pass {argument('epsilons')} or {argument('distortions')}.",
        )
    losses, people = _by_name(loss, priors, "loss"), _by_name(visits, priors, "visits")
    threads = cores() if processes <= 1 else 1
    size = -(-len(requests) // max(processes, 1))
    runs = [requests[k : k + size] for k in range(0, len(requests), size)]  # of neighbours
    shares = [requests] if processes <= 1 or len(priors) >= processes else runs
    options = {"objective": objective, "gap": gap, "tie_break": tie_break, "time_limit": time_limit}
    options["method"] = method
    chains = [
        _Chain(key, prior, metric, people[key], medians, tuple(share), threads, {"loss": losses[key], **options})
        for key, prior in priors.items()
        for share in shares
    ]
    halt: Stop = stop or (lambda: False)
    points: list[Point] = []

    def add(point: Point) -> None:
        points.append(point)
        if progress is not None:
            progress(point)

    if processes <= 1:
        for chain in chains:
            for point in _points(chain, halt):
                add(point)
    else:
        with worker_pool(processes) as pool:
            for future in as_completed([pool.submit(_run, chain) for chain in chains]):
                for point in future.result():
                    add(point)
                if halt():
                    pool.shutdown(cancel_futures=True)
                    break
    places = {request: k for k, request in enumerate(requests)}
    names = {name: k for k, name in enumerate(priors)}
    return sorted(points, key=lambda point: (names[point.name], places[(point.epsilon, point.minimum)]))


def _check_places(priors: Mapping[str, Prior], metric: Metric | None, visits: object, medians: bool) -> None:
    """Raise `InputError` for a missing lattice, places or visits."""
    if metric is None and (visits is None or not all(isinstance(p.space, Lattice) for p in priors.values())):
        raise InputError(
            "the sweep has no metric, and priors on a lattice with their visits are needed then.",
            f"pass {argument('metric')}, or {argument('visits')} and priors on a lattice.",
        )
    if visits is not None and not all(isinstance(prior.space, Places) for prior in priors.values()):
        raise InputError(
            "the sweep has visits, but its priors are not on places.", f"leave out {argument('visits')}."
        )
    if medians and visits is None:
        raise InputError(
            "reports are moved to medians of visits, and there are none.", f"pass {argument('visits')}."
        )


def _by_name(items: Any, priors: Mapping[str, Prior], noun: str) -> dict[str, Any]:
    if not isinstance(items, Mapping):
        return dict.fromkeys(priors, items)
    missing = [name for name in priors if name not in items]
    if missing:
        raise InputError(
            f"the {noun} of {missing[0]!r} is missing.", f"give {argument(noun)} for every name of a prior."
        )
    return {name: items[name] for name in priors}


def _run(chain: _Chain) -> list[Point]:
    return list(_points(chain, lambda: False))


def _points(chain: _Chain, stop: Stop) -> Iterator[Point]:
    last: Design | None = None
    for epsilon, minimum in chain.requests:
        if stop():
            break
        guarantees: list[DesignGuarantee] = []
        try:
            if epsilon is not None:
                guarantees.append(chain.promise(epsilon))
            if minimum is not None:
                guarantees.append(chain.errors(minimum))
            result = design(
                chain.prior,
                guarantees=guarantees,
                solver=Auto(chain.threads),
                start=last,
                medians=chain.visits if chain.medians and minimum is None else None,
                **chain.options,
            )
        except SfumatoError as error:
            yield Point(chain.name, epsilon, minimum, None, nan, nan, error.problem)
            continue
        hits = bayes_vulnerability(result.mechanism, chain.prior) if result.has_program else nan
        if result.has_program and result.problem.observables == chain.prior.space:
            last = result  # with other reports its rows are others
        yield Point(
            chain.name,
            epsilon,
            minimum,
            result.without_answer(),
            chain.distortion(result),
            hits,
            true_point=chain.visits is not None,
            without_noise=chain.without_noise(result, guarantees),
        )
