"""The claims of PRIVIC, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ...core import Bracket
from ...rounding import about, percent
from ..reproduction import PaperClaim, RunTables, interval, judged, unchecked
from .published import PRIVIC_EPSILONS
from .rounds import (
    BLAHUT,
    BUSIEST,
    CONVERGED,
    ESTIMATES,
    FIRST,
    ISOLATED,
    NOISE,
    PLACES,
    ROUNDS,
    SLOPES,
    CellNoiseRow,
    EstimateRow,
    RateRow,
    RoundRow,
)

_WHO: Final = "PRIVIC"
_ROUNDING: Final = 1e-9  # of an epsilon
_CLOSE: Final = 0.02  # of an epsilon, within which two are said to agree


def rounds_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of PRIVIC, judged."""
    slopes = tables.rows(SLOPES, RateRow)
    return [
        _promise(slopes),
        _published(slopes),
        _elastic(tables.rows(PLACES, CellNoiseRow)),
        _rounds(tables.rows(ROUNDS, RoundRow)),
        _estimates(tables.rows(ESTIMATES, EstimateRow)),
    ]


def _promise(rows: Sequence[RateRow]) -> PaperClaim:
    broken = [row for row in rows if row.epsilon > 2 * row.slope * (1 + _ROUNDING)]
    tight = max(rows, key=lambda row: row.epsilon / row.slope)
    loose = min(rows, key=lambda row: row.epsilon / row.slope)
    rounded = [row for row in rows if not row.kept]
    words = (
        f"So for {len(rows) - len(broken)} of {len(rows)} mechanisms in floats, after any number of steps. The "
        f"tight epsilon is {percent(loose.epsilon / (2 * loose.slope))} (b {loose.slope:g}, "
        f"{_steps(loose.steps)}, {loose.city}) to {percent(tight.epsilon / (2 * tight.slope))} of 2 b. "
        f"Proved of the integers for {len(rows) - len(rounded)}."
    )
    if rounded:
        worst = max(rounded, key=lambda row: row.epsilon_proved / row.slope)
        words += (
            f" The others exceed it by up to {percent(worst.epsilon_proved / (2 * worst.slope) - 1)} (b "
            f"{worst.slope:g}, {_steps(worst.steps)}, {worst.city}): there the smallest probabilities are few "
            "grains."
        )
    return judged(
        f"{_WHO}, privacy",
        "A mechanism of Blahut and Arimoto with slope b keeps metric privacy at 2 b.",
        not broken,
        words,
    )


def _published(rows: Sequence[RateRow]) -> PaperClaim:
    where, says = f"{_WHO}, code", "The tight epsilons of Paris are those of the mechanism of least information."
    own = {(row.slope, row.steps): row for row in rows if row.published and row.slope in PRIVIC_EPSILONS}
    if not own:
        return unchecked(where, says, "No file with visits to Paris was given.")
    steps = sorted({name for _, name in own if name != CONVERGED}, key=int)
    words, holds = [], True
    for slope in sorted({slope for slope, _ in own}):
        published = PRIVIC_EPSILONS[slope]
        best = own[slope, CONVERGED].epsilon_proved
        holds &= abs(best / published - 1) <= _CLOSE
        some = ", ".join(f"after {name} steps {about(own[slope, name].epsilon_proved, 4)}" for name in steps)
        words.append(f"b {slope:g}: published {published:g}, {some}, converged {about(best, 4)}.")
    return judged(
        where,
        says,
        holds,
        " ".join(words) + " All are per cell, on cells much like the published ones.",
    )


def _elastic(rows: Sequence[CellNoiseRow]) -> PaperClaim:
    by = {(row.city, row.slope, row.place, row.mechanism): row for row in rows}
    cases = list(dict.fromkeys((row.city, row.slope) for row in rows))
    against = [
        (city, slope)
        for city, slope in cases
        if not by[city, slope, ISOLATED, BLAHUT].distance > by[city, slope, ISOLATED, NOISE].distance
    ]
    city, slope = cases[-1]
    alone, noise, busy = (
        by[city, slope, ISOLATED, BLAHUT],
        by[city, slope, ISOLATED, NOISE],
        by[city, slope, BUSIEST, BLAHUT],
    )
    words = (
        f"So in {len(cases) - len(against)} of {len(cases)} cases, at equal tight epsilon. In {city} (b "
        f"{slope:g}) the cell with fewest visits near it gets {about(alone.distance, 3)} cells of noise on "
        f"average, Laplace noise {about(noise.distance, 3)}; the most visited cell gets "
        f"{about(busy.distance, 3)}."
    )
    if against:
        words += f" Not in {against[0][0]} at b {against[0][1]:g}."
    return judged(
        f"{_WHO}, abstract",
        "Isolated places get more noise than from the Laplace mechanism.",
        not against,
        words,
    )


def _steps(name: str) -> str:
    return name if name == CONVERGED else f"{name} steps"


def _mean(rows: Iterable[RoundRow]) -> Bracket:
    return interval([row.truth_km for row in rows])


def _rounds(rows: Sequence[RoundRow]) -> PaperClaim:
    """Judge whether the estimate of the last round is no farther from the truth than that of the first."""
    last = max(row.number for row in rows)
    holds, cases = True, []
    for city, slope, steps in dict.fromkeys((row.city, row.slope, row.steps) for row in rows):
        own = [row for row in rows if (row.city, row.slope, row.steps) == (city, slope, steps)]
        first, second, final = (_mean(row for row in own if row.number == number) for number in (1, 2, last))
        if 2 * slope < FIRST:
            continue
        holds &= final.lower <= first.upper
        words = (
            f"{city}, b {slope:g}, {_steps(steps)}: {_said(first)} after Laplace noise, {_said(second)} after "
            f"round 2, {_said(final)} after round {last}."
        )
        cases.append((final.value - first.value, words))
    ends = dict.fromkeys(words for _, words in (min(cases), max(cases))) if cases else {}
    return judged(
        f"{_WHO}, abstract",
        "The statistical utility of the rounds with Blahut and Arimoto is quite good.",
        holds,
        "Good is called here what is not farther from the truth than the first round, with noise of epsilon 2, "
        "where 2 b is 2. Earth mover's distances from all check-ins, with intervals of 95 % over seeds; of "
        f"{len(cases)} cases the one that loses least by the rounds and the one that loses most. "
        + " ".join(ends),
    )


def _said(found: Bracket) -> str:
    return f"{about(found.value, 2)} km ({about(max(found.lower, 0.0), 2)} to {about(found.upper, 2)})"


def _estimates(rows: Sequence[EstimateRow]) -> PaperClaim:
    """Judge the strongest promise of the run; count the others."""
    strong = min(row.slope for row in rows)
    better = {True: 0, False: 0}
    worse = {True: 0, False: 0}
    cases = list(dict.fromkeys((row.city, row.slope, row.steps, row.updates) for row in rows))
    words = []
    for city, slope, steps, updates in cases:
        own = [
            row for row in rows if (row.city, row.slope, row.steps, row.updates) == (city, slope, steps, updates)
        ]
        best, noise = (
            interval([row.truth_km for row in own if row.mechanism == name]) for name in (BLAHUT, NOISE)
        )
        better[slope == strong] += best.upper < noise.lower
        worse[slope == strong] += best.lower > noise.upper
        if (slope, updates) == (strong, CONVERGED):
            said = (
                f"{city}, {_steps(steps)}: {_said(best)} off with Blahut and Arimoto, {_said(noise)} with noise."
            )
            words.append((best.value - noise.value, said))
    count = sum(slope == strong for _, slope, _, _ in cases)
    others = (
        f" With larger slopes it is better in {better[False]} and worse in {worse[False]} of {len(cases) - count}."
        if len(cases) > count
        else ""
    )
    return judged(
        f"{_WHO}, abstract",
        "For strong promises the distribution is estimated better than from Laplace noise.",
        better[True] == count,
        f"At b {strong:g} and equal tight epsilon it is better beyond the intervals in {better[True]} of {count} "
        f"cases, and worse in {worse[True]}.{others} After all updates, where it loses least and most: "
        + " ".join(dict.fromkeys(said for _, said in (min(words), max(words)))),
    )
