"""Estimates of the memory and time of a design, and checks against what is available."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..errors import InputError, argument
from ..rounding import at_most

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
_SHARE = 0.9  # of the free memory that may be taken
_PASSES, _PER_PRICE_S = 4.0, 3e-6  # over all likelihood ratios, and for each probability, to end and to prove
_OVERHEAD_S = 0.1
_NO_TIME = 2.0  # seconds of a proof that are not worth a refusal
_MOST_KEPT, _UNDERSTATED = (
    0.6,
    2.0,
)  # of the remaining time: the most reserved for the proof, and the refusal limit
_MOST_SYMMETRIC = 8  # images of a square
_SAMPLE = 2_000_000  # likelihood ratios that are looked at to time all of them
_SMALL = 1_000_000  # likelihood ratios that take no time worth measuring


def check_memory(blocks: int, size: int) -> None:
    """Raise `InputError` for blocks (observables or orbits) of the structured method that exceed the memory."""
    short = shortage(blocks, size)
    if short is None:
        return
    problem, fits = short
    cells = argument("cells", f"({math.isqrt(fits)}, {math.isqrt(fits)})")
    raise InputError(problem, f"about {fits:,} secrets fit: use {cells}, larger cells or a smaller region.")


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
    wanted = needed_bytes_of_generated(secrets, observables, gap, of_pairs=of_pairs)
    ratio = observables / secrets

    def needed(fits: int) -> float:
        return needed_bytes_of_generated(fits, math.ceil(ratio * fits), gap, of_pairs=of_pairs)

    return _shortage(wanted, secrets, needed, free_bytes() + allocated / _SHARE)


def _shortage(
    wanted: float, size: int, needed: Callable[[int], float], available: float
) -> tuple[str, int] | None:
    free = _SHARE * available
    if wanted <= free:
        return None
    fits = size
    while fits > 1 and needed(fits) > free:
        fits -= 1 + fits // 50
    return (
        f"the optimum for {size:,} secrets takes about {gigabytes(wanted)} of memory, and "
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
    check_memory(max(1, observables // _MOST_SYMMETRIC), secrets)
    check_time(secrets, observables, time_limit)


def check_time(secrets: int, observables: int, left: float) -> float:
    """Return the seconds, of those left, to reserve for the proof; raise `InputError` where they are too few."""
    wanted, left = proof_seconds(secrets, observables), max(left, 0.0)
    if wanted > max(_UNDERSTATED * left, _NO_TIME):
        raise InputError(
            f"the proof alone of a design of {secrets:,} secrets takes about {at_most(wanted, 2)} seconds, and "
            f"{at_most(left, 2)} are left.",
            f"allow {argument('time_limit', at_most(2 * wanted, 2))}",
            "use fewer or larger cells.",
        )
    return min(wanted, _MOST_KEPT * left)


def proof_seconds(secrets: int, observables: int) -> float:
    """Return about how long ending and proving take, from a sample of the work on this machine."""
    n, m = secrets, observables
    if n * n * m <= _SMALL:
        return _OVERHEAD_S
    rows = np.full((min(n, max(1, _SAMPLE // m)), m), 0.5)
    seconds = min(_seconds_of(rows) for _ in range(5))  # the others were interrupted
    return _OVERHEAD_S + _PASSES * seconds * n * n / len(rows) + _PER_PRICE_S * n * m


def _seconds_of(rows: Floats) -> float:
    start = time.perf_counter()
    (rows[0] * rows).argmax(axis=1)
    return time.perf_counter() - start


def gigabytes(size: float) -> str:
    """Return a number of bytes in words."""
    gigabytes = size / 2**30
    if gigabytes < 0.1:
        return "less than 0.1 GB"
    return f"{gigabytes:,.0f} GB" if gigabytes >= 10 else f"{gigabytes:.1f} GB"
