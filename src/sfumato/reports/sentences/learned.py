"""Sentences and rows on mechanisms that were learned to hide a value, and on the certified optimum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...learning import Hiding
from ...optimal import SensitiveDesign
from ...rounding import (
    about_percent,
    amount_at_least,
    amount_at_most,
    at_most,
    counted,
    gap_at_most,
    percent_at_most,
)

_ROUNDED_GAP: Final = 1e-6  # a smaller one is written as this
_FEW_BITS: Final = 1e-6  # fewer are written as this


def hiding_rows(results: Iterable[tuple[str, Hiding]]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings, and a row for each named result of an attack on the hidden value."""
    rows = (
        (
            name,
            percent_at_most(each.hit_rate),
            at_most(max(each.information_bits, _FEW_BITS), 3),
            amount_at_most(each.loss, "m"),
        )
        for name, each in results
    )
    return ("", "finds the value", "information (bits)", "off from the true point"), tuple(rows)


def examples_words(learning: int, judging: int, values: int) -> str:
    """Return the numbers of visits that train and judge a mechanism, and of the values that it hides."""
    return f"{counted(learning, 'visit')} to learn from, {judging:,} to judge; hiding {values} values."


def learned_words(judged: Hiding, blind_error: float) -> str:
    """Return the attacker's success and the loss on held-out visits."""
    return (
        "A mechanism was learned whose reports of places are to hide another value. On held-out visits, the best "
        f"attacker finds the value {percent_at_most(judged.hit_rate)} of the time after one report "
        f"({about_percent(1 - blind_error)} without a report). Reports are {amount_at_most(judged.loss, 'm')} "
        "from the true point on average."
    )


def certified_words(optimum: SensitiveDesign, blind_error: float) -> tuple[str, str]:
    """Return the attacker's success without a report on the training visits, and what is proved on them."""
    proved = (
        "no mechanism of this loss that reports the centres of these cells hides more than the optimum by "
        f"{gap_at_most(max(optimum.gap, _ROUNDED_GAP))} of its value."
    )
    if optimum.information_bits <= _FEW_BITS:
        bits = at_most(_FEW_BITS)
        proved = f"a report of the certified optimum reveals at most {bits} bits of the value, next to nothing."
    without = f"Without a report the best attacker finds the value {about_percent(1 - blind_error)} of the time."
    return without, f"Proved: on the training visits, {proved}"


def excess_words(loss_m: float, max_loss_m: float) -> str:
    """Return that the average loss of a learned mechanism exceeds its limit."""
    return (
        "NOT within the limit: the average loss of the learned mechanism is at least "
        f"{amount_at_least(loss_m, 'm')}, but at most {amount_at_most(max_loss_m, 'm')} was allowed."
    )
