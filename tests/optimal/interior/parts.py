"""The parts of the interior-point method that tests look at one by one.

Everything else goes through `loop.solve`. A part that moves within the method changes this file alone.
"""

from sfumato.optimal.interior import lapack, loop, newton
from sfumato.optimal.interior import pair_rows as pairs
from sfumato.optimal.interior import tail_repair as tails
from sfumato.optimal.interior.block_form import Iterate, Rows, build_form, complete_iterate, first_mechanism
from sfumato.optimal.interior.blocks import (
    BandedBlocks,
    DenseBlocks,
    add_placed,
    arrange,
    factor_band,
    invert_band,
    pack_band,
)
from sfumato.optimal.interior.checkpoints import prove
from sfumato.optimal.interior.lapack import Workers
from sfumato.optimal.interior.loop import extend, first_rows
from sfumato.optimal.interior.newton import SHARES, System, best_share, compute, end, factors, length
from sfumato.optimal.interior.pair_rows import PairRows, columns, search, trivial_symmetry
from sfumato.optimal.interior.tail_repair import Flow
from sfumato.optimal.reduction import Reduction

__all__ = [
    "SHARES",
    "BandedBlocks",
    "DenseBlocks",
    "Flow",
    "Iterate",
    "PairRows",
    "Rows",
    "System",
    "Workers",
    "add_placed",
    "arrange",
    "best_share",
    "compute",
    "end",
    "extend",
    "factor_band",
    "factors",
    "invert_band",
    "lapack",
    "length",
    "loop",
    "newton",
    "pack_band",
    "pairs",
    "prove",
    "search",
    "started",
    "tails",
]


def started(reduced: Reduction, workers: Workers) -> tuple[Rows, Iterate]:
    """Return the first rows and the first iterate of a problem, without symmetry."""
    seen = columns(reduced)
    form = build_form(seen, trivial_symmetry(len(seen.prior), len(seen.expected)))
    rows, _ = first_rows(form, workers, None)
    return rows, complete_iterate(rows, first_mechanism(seen))
