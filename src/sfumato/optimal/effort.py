"""Estimates of the time and memory of a design, checks against what is available, and the method they suggest."""

from __future__ import annotations

import math
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from .._system import cores
from ..core import AnyLoss, Guarantees, Prior, Space
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION, EXPECTED, WORST_CASE
from ..errors import InputError, argument
from ..rounding import about, at_most
from .column_generation.program import graph_of, nearest_of
from .problem import Problem, least_loss
from .solver import check_gap, check_pairs

MOST_PRICES: Final = 8_000_000
"""Most prices of absent observables that are kept: they take 40 bytes each, in memory and in a file."""

# Measured: factors of 8 bytes an entry, and pair rows of about 2,000 bytes for each probability.
_PER_ENTRY, _PER_PROBABILITY = 8, 2_000
# Measured where observables are generated: arrays of all pairs, what each probability of a present observable
# takes, the share of these, which is smaller where the gap is wide, and what prices take while they prove a bound.
_ARRAYS, _PER_PRESENT = 12, 3_000
_WIDE, _PRESENT, _PRESENT_WIDE = 2.5e-3, 0.12, 0.03
_EDGES, _PER_PRICE = 6, 120
_OF_PAIRS = 4  # times that where all pairs count, which have more rows and prices
_PER_PAIRS: Final = 36  # bytes of the method for distributions alone: times observables, times the square of pairs
_SHARE = 0.9  # of the free memory that may be taken
_PASSES, _PER_PRICE_S = 4.0, 3e-6  # over all likelihood ratios, and for each probability, to end and to prove
_OVERHEAD_S = 0.1
_NO_TIME = 2.0  # seconds of a proof that are not worth a refusal
_MOST_KEPT, _UNDERSTATED = 0.6, 2.0  # of the remaining time: the most reserved for the proof, the refusal limit
_SYMMETRIC = 8  # images of a square, which an even prior may have
_SAMPLE = 2_000_000  # likelihood ratios that are looked at to time all of them
_SMALL = 1_000_000  # likelihood ratios that take no time worth measuring
STRUCTURED: Final = "structured interior point"
GENERATED: Final = "generated observables"
OF_PAIRS: Final = "generated observables and pairs"
_LEAST: Final = 150  # secrets: with fewer, the structured method is quicker
_FEW_USED: Final = 0.45  # of the observables, expected to be used: with more, so is it
# Measured on one thread, CPU seconds: lattices of 95 to 2,016 vertices at a gap of 1e-4 for both methods, and for
# the structured one cells with all pairs, of real, even and random priors, epsilon times diameter from 2 to 50.
_STRUCTURED_S: Final = 1.4e-5  # times m n^1.5
_GENERATED_S: Final = 5e-6  # times n^1.8 used^0.9
_OF_PAIRS_S: Final = 1e-6  # times n^2.4 used^0.8, where edges do not imply all rows
_WORTHWHILE: Final = 0.9  # of the structured method's time: beyond, that method is used
_FINER_PAYS: Final = 0.15  # more of it for each digit of the gap beyond _GAP
_FINER: Final = 0.4  # more for each digit of the gap beyond _GAP
_GAP: Final = 1e-4
_WIDER, _LEAST_SHARE = 0.2, 0.3  # less for each digit of a wider gap, and the least factor
_LOW, _HIGH = 0.4, 2.5  # measured times were within these multiples of the estimate
_SPEED_UP: Final = 4  # threads that help
NO_EDGES: Final = "few edges do not imply all rows"
NOT_QUICKER: Final = f"{NO_EDGES}, and to generate observables for all pairs is not expected to be quicker"


def check_memory(blocks: int, size: int) -> None:
    """Raise `InputError` for blocks (observables or orbits) of the structured method that exceed the memory."""
    if (short := shortage(blocks, size)) is not None:
        problem, fits = short
        cells = argument("cells", f"({math.isqrt(fits)}, {math.isqrt(fits)})")
        raise InputError(problem, f"about {fits:,} secrets fit: use {cells}, larger cells or a smaller region.")


def check_family_memory(observables: int, pairs: int) -> None:
    """Raise `InputError` for the rows of so many pairs of distributions that their blocks exceed the memory."""
    memory, free = float(_PER_PAIRS * observables * pairs**2), _SHARE * free_bytes()
    if memory > free:
        raise InputError(
            f"the optimum for {pairs:,} ordered pairs of distributions takes about {gigabytes(memory)} of memory, "
            f"and {gigabytes(free)} is available.",
            "use fewer distributions, or only some of their pairs.",
        )


def check_generated(secrets: int, observables: int, allocated: float, gap: float) -> None:
    """Raise `InputError` for generated observables that do not fit into memory next to the ``allocated`` bytes."""
    short = shortage_of_generated(secrets, observables, allocated, gap)
    if short is not None:
        raise InputError(short[0], f"about {short[1]:,} secrets fit: use a wider spacing or a smaller region.")


def shortage(blocks: int, size: int) -> tuple[str, int] | None:
    """Return the missing memory in words, and how many secrets fit; None where nothing is missing."""
    return _shortage(needed_bytes(blocks, size), size, lambda fits: needed_bytes(fits, fits), free_bytes())


def shortage_of_generated(
    secrets: int, observables: int, allocated: float = 0.0, gap: float = _WIDE, *, of_pairs: bool = False
) -> tuple[str, int] | None:
    """Return the same as `shortage` for generated observables; ``allocated`` bytes are allocated already."""
    estimate = partial(needed_bytes_of_generated, gap=gap, of_pairs=of_pairs)
    ratio, available = observables / secrets, free_bytes() + allocated / _SHARE
    memory = estimate(secrets, observables)
    return _shortage(memory, secrets, lambda fits: estimate(fits, math.ceil(ratio * fits)), available)


def _shortage(
    memory: float, size: int, estimate: Callable[[int], float], available: float
) -> tuple[str, int] | None:
    free, fits = _SHARE * available, size
    if memory <= free:
        return None
    while fits > 1 and estimate(fits) > free:
        fits -= 1 + fits // 50
    return (
        f"the optimum for {size:,} secrets takes about {gigabytes(memory)} of memory, and "
        f"{gigabytes(free)} is available.",
        fits,
    )


def needed_bytes(blocks: int, size: int) -> float:
    """Return about how much memory the structured method takes."""
    return float(blocks) * size * (_PER_ENTRY * size + _PER_PROBABILITY)


def needed_bytes_of_generated(secrets: int, observables: int, gap: float, *, of_pairs: bool = False) -> float:
    """Return about how much memory generated observables take, with problem and proof."""
    present = (_PRESENT_WIDE if gap >= _WIDE else _PRESENT) * observables
    prices = min(_EDGES * secrets * observables, MOST_PRICES)
    arrays = _ARRAYS * secrets * max(secrets, observables)
    once = 8.0 * arrays + _PER_PRESENT * present * secrets + float(_PER_PRICE * prices)
    return _OF_PAIRS * once if of_pairs else once


def free_bytes() -> float:
    """Return the memory that this process can still take; infinite where the system does not say."""
    free = math.inf
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free = 1024.0 * int(line.split()[1])
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
            free = min(free, float(int(limit) - used))
    except (OSError, ValueError, IndexError):
        pass  # another system, or one that does not tell
    return free


def check_size(secrets: int, observables: int, time_limit: float) -> None:
    """Raise `InputError`, before any large array is made, for a problem too large for memory or time.

    It is too large if not even the most symmetric problem of this size would fit, or its proof alone takes longer
    than the time limit in seconds.
    """
    check_memory(max(1, observables // _SYMMETRIC), secrets)
    check_time(secrets, observables, time_limit)


def check_time(secrets: int, observables: int, left: float) -> float:
    """Return the seconds, of those left, to reserve for the proof; raise `InputError` where they are too few."""
    seconds, left = proof_seconds(secrets, observables), max(left, 0.0)
    if seconds > max(_UNDERSTATED * left, _NO_TIME):
        raise InputError(
            f"the proof alone of a design of {secrets:,} secrets takes about {at_most(seconds, 2)} seconds, and "
            f"{at_most(left, 2)} are left.",
            f"allow {argument('time_limit', at_most(2 * seconds, 2))}",
            "use fewer or larger cells.",
        )
    return min(seconds, _MOST_KEPT * left)


def proof_seconds(secrets: int, observables: int) -> float:
    """Return about how long ending and proving take, from a sample of the work on this machine."""
    n, m = secrets, observables
    if n * n * m <= _SMALL:
        return _OVERHEAD_S
    rows = np.full((min(n, max(1, _SAMPLE // m)), m), 0.5)
    seconds = min(timeit.repeat(lambda: (rows[0] * rows).argmax(axis=1), number=1))  # the others were interrupted
    return _OVERHEAD_S + _PASSES * seconds * n * n / len(rows) + _PER_PRICE_S * n * m


def gigabytes(size: float) -> str:
    """Return a number of bytes in words."""
    size /= 2**30
    return "less than 0.1 GB" if size < 0.1 else f"{size:.1f} GB" if size < 10 else f"{size:,.0f} GB"


@dataclass(frozen=True, slots=True, repr=False)
class Forecast(CompactRepr):
    """Expected time and memory of a design on an idle machine, from measurements; not guaranteed.

    ``method`` is the one that `Auto` begins with, and ``reason`` says why, empty where there is no other. The
    memory is about the peak, in addition to the process itself.
    """

    method: str
    reason: str
    least_seconds: float
    most_seconds: float
    memory_bytes: float

    @property
    def sentence(self) -> str:
        """The time and the memory in words."""
        return f"{_range(self.least_seconds, self.most_seconds)} and {gigabytes(self.memory_bytes)} of memory"


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """The method that `Auto` begins with."""

    generated: bool  # whether observables are generated, if few edges imply all rows
    reason: str  # why, in words; "" where there is no other method
    of_pairs: str | None = (
        None  # why they are generated where few edges nearly imply them; None where they are not
    )


@check_arguments
def forecast(
    prior: Prior,
    *,
    loss: AnyLoss,
    guarantees: Guarantees,
    objective: str = EXPECTED,
    observables: Space | None = None,
    pairs: str = "generated",
    gap: float = _GAP,
    threads: int | None = None,
) -> Forecast:
    """Return the expected time and memory of `design` for a problem and a gap, without solving it.

    The arguments are those of `design`, with a gap of 1e-4, at which it counts as finished, and one thread per
    core by default. With a `PlaceDistortion` the forecast is for the first of its programs. Linear constraints,
    several distortions and `FamilyPrivacy` need another method, for which no times were measured. Raises
    `InputError` if sizes or units do not fit, ``pairs`` is unknown, the gap is not between 0 and 1, there are
    fewer than one thread, or several distortions or distribution privacy are required. Raises `InfeasibleError` if
    more distortion is required than any mechanism can give.
    """
    check_gap(gap)
    check_pairs(pairs)
    workers = min(cores() if threads is None else threads, _SPEED_UP)
    if workers < 1:
        raise InputError(f"{argument('threads', threads)} is not at least 1.", "leave it out for one per core.")
    problem = least_loss(prior, loss, guarantees, objective, observables)
    if problem.general:
        raise InputError(
            "there are no measured times for several distortions at once, or for distribution privacy.",
            "leave some out, or design with a time limit.",
        )
    n, m = problem.shape
    choice = select_method(problem, pairs, gap)
    method, reason = (GENERATED if choice.generated else STRUCTURED), choice.reason
    if choice.generated and problem.exponents is not None:
        graph = graph_of(problem.exponents)
        if graph is None or (not graph[1] and choice.of_pairs is None):
            method, reason = STRUCTURED, NO_EDGES if choice.of_pairs is not None else NOT_QUICKER
        elif not graph[1] and choice.of_pairs is not None:
            method, reason = OF_PAIRS, choice.of_pairs
    seconds = _seconds(method, n, m, expected_reports(problem))
    memory = needed_bytes_of_generated(n, m, gap, of_pairs=method == OF_PAIRS)
    if method == STRUCTURED:
        memory = needed_bytes(m, n)
    digits = math.log10(_GAP / gap)
    seconds *= 1 + _FINER * digits if digits > 0 else max(_LEAST_SHARE, 1 + _WIDER * digits)
    low = _LOW / (_SYMMETRIC if problem.prior.even and method == STRUCTURED else 1)
    return Forecast(method, reason, low * seconds / workers, _HIGH * seconds / math.sqrt(workers), memory)


def select_method(problem: Problem, pairs: str = "generated", gap: float = _GAP) -> MethodChoice:
    """Return the method that `Auto` begins with, before the edges are examined."""
    n, m = problem.shape
    if n < _LEAST:
        return MethodChoice(False, "")
    if problem.objective == WORST_CASE:
        return MethodChoice(False, "the loss is a worst-case one")
    if problem.objective == DISTORTION or problem.distance is not None:
        return MethodChoice(False, "the attacker's error is part of the problem")
    if problem.exponents is None or pairs != "generated":
        return MethodChoice(False, f"pairs are {pairs}")
    expected = expected_reports(problem)
    if expected > _FEW_USED * m and shortage(m, n) is None:
        return MethodChoice(False, f"about {about(expected, 2)} of {m:,} reports are expected to be used")
    worthwhile = _WORTHWHILE + _FINER_PAYS * max(0.0, math.log10(_GAP / gap))
    pays = _seconds(OF_PAIRS, n, m, expected) <= worthwhile * _seconds(STRUCTURED, n, m, expected)
    pays &= shortage_of_generated(n, m, of_pairs=True) is None
    of_pairs: str | None = f"about {about(expected, 2)} of {m:,} reports are expected to be used"
    if not pays:
        of_pairs = None if shortage(m, n) is None else "the structured method needs more memory"
    noun = "secrets" if problem.prior.space.coordinates is None else "places"
    return MethodChoice(True, f"few edges imply all rows, and {n:,} {noun}", of_pairs)


def _seconds(method: str, n: int, m: int, used: float) -> float:
    """Return about how many CPU seconds a method takes to a gap of 1e-4, with ``used`` of m observables."""
    if method == STRUCTURED:
        return _STRUCTURED_S * m * math.pow(n, 1.5)
    if method == GENERATED:
        return _GENERATED_S * math.pow(n, 1.8) * math.pow(used, 0.9)
    return _OF_PAIRS_S * math.pow(n, 2.4) * math.pow(used, 0.8)


def expected_reports(problem: Problem) -> float:
    """Return about how many of the m observables an optimum uses; measured were 0.6 to 2.5 times that."""
    mass = problem.prior.probabilities
    mass = mass[mass > 0]
    spread = math.exp(-float((mass * np.log(mass)).sum()))
    n, m = problem.shape
    if problem.exponents is None or n < 2:
        return min(float(m), spread)
    step = float(np.median(nearest_of(problem.exponents)))
    return min(float(m), max(1.0, spread * -math.expm1(-(step**1.15))))


def _range(low: float, high: float) -> str:
    """Return a range of seconds in words, rounded outwards."""
    if high <= 1:
        return "up to 1 second"
    unit, size = ("seconds", 1.0) if high < 90 else ("minutes", 60.0) if high < 90 * 60 else ("hours", 3600.0)
    step = 5 if 10 <= high < 90 else 1
    first, last = math.floor(low / size / step) * step, math.ceil(high / size / step) * step
    return f"up to {last:,} {unit}" if first < 1 else f"about {first:,} to {last:,} {unit}"
