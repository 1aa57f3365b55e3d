"""Designs for many people, from priors or visits, into a folder that a rerun resumes."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from ...core import AnyLoss, CoordinatePrivacy, Guarantees, Prior, as_guarantees, as_loss, units
from ...core.arguments import check_arguments
from ...core.immutable import CompactRepr
from ...errors import DataError, InputError, argument
from ...geo import DISTANCES, KINDS, Region, Visits
from ...optimal import place_problem
from ...rounding import plural
from .folder import DesignFolder, DesignRow, add, check_names, open_folder
from .job import DesignJob, DesignWorkers, Job, Stop, fingerprint_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignNews(CompactRepr):
    """The result of one design for a person (without one, the ``reason``), and the progress of the run."""

    name: str
    row: DesignRow | None
    reason: str
    count: int
    total: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Designs tried per minute."""
        return 60 * self.count / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        """The time for the rest at this rate."""
        return (self.total - self.count) * self.seconds / self.count


OnNews = Callable[[DesignNews], None]


@check_arguments
def design_many(
    priors: Mapping[str, Prior],
    folder: str | PathLike[str],
    *,
    loss: AnyLoss | Mapping[str, AnyLoss],
    guarantees: Guarantees,
    medians: Mapping[str, Visits] | None = None,
    processes: int = 1,
    executor: Executor | None = None,
    in_flight: int | None = None,
    stop: Stop | None = None,
    progress: OnNews | None = None,
    **options: Any,
) -> DesignFolder:
    """Design a mechanism for each of many people from their priors, into a folder of mechanism files.

    Each file is written when its design is ready, and then a line of the index. A crash loses at most the
    designs in flight; a second call with the same arguments makes only the missing ones. An infeasible or failed
    design is reported, and the others go on. `read_designs` returns the mechanisms for
    ``sf.release(..., by="user")``.

    The files hold the priors, and the index holds names: only their owner can read them. Keep them as secret as
    the visits. A person's name is the file name, with ``%`` and two digits for unsafe characters. Raises
    `InputError` if there is no prior, the folder holds designs for other arguments, or another run writes to it.
    Raises `FileError` if the folder cannot be written. Raises `SolverError` if the workers ended; completed
    designs stay.

    Args:
        priors: Priors by name.
        folder: The output folder; created if it is missing.
        loss: The loss of all designs, or of each by its name.
        guarantees: The guarantees of each; see `design`.
        medians: Visits by name, where reports are moved to medians.
        processes: Worker processes; a script with more than one needs ``if __name__ == "__main__":``.
        executor: Any executor of `concurrent.futures`, also one of a cluster, such as Dask's
            ``client.get_executor()``. Workers need sfumato, but not the folder.
        in_flight: Designs submitted at a time; by default one more than there are processes, or 64.
        stop: Called between designs; true to stop.
        progress: Called after each design with the progress of the run.
        options: ``objective``, ``gap``, ``tie_break`` and ``time_limit`` of `design`, for each design.
    """
    unknown = sorted(set(options) - {"objective", "gap", "tie_break", "time_limit"})
    if unknown:
        raise InputError(
            f"{argument(unknown[0])} is not an option here.", "use objective, gap, tie_break and time_limit."
        )
    if not priors:
        raise InputError("there is no prior.", "pass at least one, by name.")
    check_names(priors)
    workers = DesignWorkers(processes, executor, in_flight, stop)
    every, jobs = as_guarantees(guarantees), []
    for name, prior in priors.items():
        if not isinstance(prior, Prior):
            raise InputError(
                f"the prior of {name!r} is of type {type(prior).__name__}.", "pass a Prior for each name."
            )
        for noun, by_name in (("loss", loss), ("medians", medians)):
            if isinstance(by_name, Mapping) and name not in by_name:
                raise InputError(f"the {noun} of {name!r} is missing.", f"give {argument(noun)} for every name.")
        cost = as_loss(loss[name] if isinstance(loss, Mapping) else loss, len(prior), len(prior))
        visits = None if medians is None else medians[name]
        jobs.append(DesignJob(name, prior, cost, every, visits, dict(options), workers.threads))
    return _fill_folder(folder, jobs, workers, progress)


@check_arguments
def design_each_user(
    visits: Visits,
    folder: str | PathLike[str],
    *,
    epsilon: float | str,
    spacing: float | str | None = None,
    lattice: Literal["square", "triangular"] = "square",
    region: Region | str | None = None,
    near: float | str | None = None,
    loss: str = "euclidean",
    smoothing: float = 0.0,
    least_visits: int = 20,
    gap: float = 1e-4,
    time_limit: float = float("inf"),
    processes: int = 1,
    executor: Executor | None = None,
    in_flight: int | None = None,
    stop: Stop | None = None,
    progress: OnNews | None = None,
) -> DesignFolder:
    """Design a mechanism for each user from their own visits, into a folder of mechanism files.

    Each is the design of ``sfumato design`` for a file with this user's visits: on a lattice over them, with
    reports at medians, the better of program and planar noise. The folder is filled as in `design_many`.

    A mechanism that is made of its user's visits reveals them: its region, its lattice and its possible reports
    show where they are, and no guarantee covers that. With one ``region`` and ``spacing`` for all, only the
    possible reports do. Raises `InputError` if an argument makes no sense, the folder holds designs for other
    visits or arguments, or another run writes to it. Raises `DataError` if no visit names its user, or no user has
    enough visits. Raises `FileError` if the folder cannot be written. Raises `SolverError` if the workers ended;
    completed designs stay.

    Args:
        visits: Visits with users.
        folder: The output folder; created if it is missing.
        epsilon: The epsilon for any two points, such as ``"1/km"``; a number is per kilometre.
        spacing: The distance of neighbours on each lattice; by default chosen from the guarantee and the visits.
        lattice: ``square`` or ``triangular``.
        region: The region that each lattice covers; by default that of the user's visits.
        near: Serve only points within this distance of one of the user's visits.
        loss: ``euclidean`` or ``manhattan``, the distance from the true point.
        smoothing: Added to the number of visits of each vertex; planar noise is then not tried.
        least_visits: Users with fewer visits in the region are left out.
        gap: The relative gap to reach.
        time_limit: Seconds for each design.
        processes: As for `design_many`, and so are the others.
        executor: Any executor.
        in_flight: Designs submitted at a time.
        stop: Called between designs; true to stop.
        progress: Called after each design.
    """
    area = Region.parse(region) if isinstance(region, str) else region
    promise = CoordinatePrivacy(epsilon)
    problem = {
        "spacing": spacing,
        "kind": lattice,
        "region": area,
        "near": near,
        "loss": loss,
        "smoothing": smoothing,
    }
    _check_problem(spacing, lattice, near, loss, smoothing)
    options, workers = {"gap": gap, "time_limit": time_limit}, DesignWorkers(processes, executor, in_flight, stop)
    jobs, few = [], 0
    for name, sample in visits_by_user(visits):
        inside = len(sample) if area is None else int(area.contains(sample.lat, sample.lon).sum())
        if inside < max(least_visits, 1):
            few += 1
            continue
        jobs.append(PersonJob(name, sample, promise, problem, options, workers.threads))
    if not jobs:
        raise DataError(
            f"of {plural(few, 'user')} none has {plural(max(least_visits, 1), 'visit')}"
            f"{'' if area is None else ' in the region'}.",
            f"lower {argument('least_visits', least_visits)}.",
        )
    check_names([job.name for job in jobs])
    return _fill_folder(folder, jobs, workers, progress, few)


def _check_problem(
    spacing: float | str | None, kind: str, near: float | str | None, loss: str, smoothing: float
) -> None:
    """Refuse options of `place_problem` that make no sense for anyone (`InputError`)."""
    if loss not in DISTANCES:
        raise InputError(
            f"{argument('loss', loss)} is not a distance from the true point.", f"use {' or '.join(DISTANCES)}."
        )
    if kind not in KINDS:
        raise InputError(f"{argument('lattice', kind)} is unknown.", f"use {' or '.join(KINDS)}.")
    if not (math.isfinite(smoothing) and smoothing >= 0):
        raise InputError(f"a smoothing of {smoothing:g} is negative or not finite.", "use 0, or a small number.")
    for name, length in (("spacing", spacing), ("near", near)):
        metres = 1.0 if length is None else units.length_m(length, f"the length of {argument(name)}")
        if not (math.isfinite(metres) and metres > 0):
            raise InputError(f"{argument(name, str(length))} is not positive.", "use a length: '500 m'.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonJob(CompactRepr):
    """A design for one person with these visits; ``problem`` are options of `place_problem` for all people."""

    name: str
    visits: Visits
    promise: CoordinatePrivacy
    problem: Mapping[str, Any]
    options: Mapping[str, Any]
    threads: int

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on; the number of threads does not count."""
        promise = (self.promise.epsilon, self.promise.unit, self.promise.slack_m)
        region = self.problem["region"]
        problem = {**self.problem, "region": None if region is None else asdict(region)}
        texts = [*promise, sorted(problem.items()), sorted(self.options.items())]
        return fingerprint_of(texts, [self.visits.lat, self.visits.lon])

    def prepare(self) -> DesignJob:
        """Return the job with its lattice, prior and loss; `InputError` if the visits allow no lattice."""
        limit = self.options["time_limit"]
        task = place_problem(self.visits, self.promise, time_limit=limit, **self.problem)
        medians = task.visits if self.problem["loss"] == "euclidean" else None
        return DesignJob(self.name, task.prior, task.loss, (self.promise,), medians, self.options, self.threads)


def visits_by_user(visits: Visits) -> Iterator[tuple[str, Visits]]:
    """Yield users' names and visits, in the order of first visits; `DataError` for none, or one name twice."""
    rows: dict[Any, list[int]] = {}
    for row, user in enumerate(() if visits.user is None else visits.user.tolist()):
        if user is not None and user != "":
            rows.setdefault(user, []).append(row)
    if not rows:
        raise DataError(
            "the visits have no user column.",
            f"name it with {argument('read_visits.user', 'column')}",
            f"state who is a person with {argument('people', 'file')} (or folder, or one).",
        )
    names = {user: str(user) for user in rows}
    if len(set(names.values())) < len(names):
        twice = next(name for name in names.values() if list(names.values()).count(name) > 1)
        raise DataError(f"two users are written {twice!r}.", "give each user one name of one type.")
    for user, indices in rows.items():
        yield names[user], Visits(visits.lat[indices], visits.lon[indices], polar=True)


def _fill_folder(
    folder: str | PathLike[str], jobs: Sequence[Job], workers: DesignWorkers, progress: OnNews | None, few: int = 0
) -> DesignFolder:
    """Make the missing designs of a folder, each written when it is ready; ``few`` counts the people left out."""
    start, where = time.monotonic(), Path(folder)
    failed: dict[str, str] = {}
    with open_folder(where) as designs:
        missing = [job for job in jobs if not _has_design(where, job, designs.get(job.name))]
        for job in missing:
            designs.pop(job.name, None)
        count = 0
        for name, result in workers.results(missing):
            count += 1
            if result.row is None:
                failed[name] = result.reason
            else:
                add(where, result.row, result.content)
                designs[name] = result.row
            if progress is not None:
                seconds = time.monotonic() - start
                progress(DesignNews(name, result.row, result.reason, count, len(missing), seconds))
    rows = {job.name: designs[job.name] for job in jobs if job.name in designs}
    return DesignFolder(where, rows, count - len(failed), failed, len(missing) - count, few)


def _has_design(folder: Path, job: Job, row: DesignRow | None) -> bool:
    """Return whether the folder has the whole design; one for other arguments is refused, not replaced."""
    if row is None:
        return False
    if row.request != job.request:
        raise InputError(
            f"{str(folder)!r} holds a design for {job.name!r} from other data or options.",
            "choose another folder, or give the same data and options.",
        )
    with suppress(OSError):
        return hashlib.sha256((folder / row.file).read_bytes()).hexdigest() == row.sha256
    return False
