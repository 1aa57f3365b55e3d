"""The claims of AIPO, judged from the tables of a run, and by the table that its artifact prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sfumato.rounding import about, percent

from ..reproduction import PaperClaim, RunTables, illustrates, interval, judged, unchecked
from .anchors_beside import AIPO, AIPO_WIDE, ANCHORS, BOUND, CERTIFIED, EM, LP, RELAXED, AnchorRow
from .published import ROME, ROME_EPSILONS

_WHO: Final = "AIPO"
_ABSTRACT: Final = f"{_WHO}, abstract"
_README: Final = f"{_WHO}, README of the artifact"
_ROUNDED: Final = 1e-9  # of epsilon, for slopes in floats
_DATA: Final = (
    "The loss there is of travel distances on maps that are not available, so the numbers do not compare."
)


def anchor_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of AIPO, judged."""
    rows = tables.rows(ANCHORS, AnchorRow)
    return [
        _promise(rows),
        _broken(rows, LP, _README, "A program on cells violates epsilon between points.", ""),
        _broken(
            rows,
            RELAXED,
            _ABSTRACT,
            "Interpolation in two dimensions without the correction of epsilon (AIPO-R) violates epsilon.",
            "privacy violations caused by naive interpolation in high-dimensional spaces",
        ),
        *_noise(rows),
        _program(rows),
        _bound(rows),
        unchecked(
            f"{_WHO}, Table 3",
            "The losses in Rome, New York and London.",
            f"{_DATA} The README of the artifact prints Rome's: from {ROME['AIPO'][0]:g} to {ROME['AIPO'][-1]:g} "
            f"for epsilon {ROME_EPSILONS[0]:g} to {ROME_EPSILONS[-1]:g}.",
        ),
    ]


def _pick(rows: Sequence[AnchorRow], name: str) -> list[AnchorRow]:
    return [row for row in rows if row.mechanism == name]


def _promise(rows: Sequence[AnchorRow]) -> PaperClaim:
    found = [*_pick(rows, AIPO), *_pick(rows, AIPO_WIDE)]
    beyond = [row for row in found if row.broken or (row.epsilon_upper or 0.0) > row.epsilon * (1 + _ROUNDED)]
    seen = max(found, key=lambda row: (row.epsilon_seen or 0.0) / row.epsilon)
    return judged(
        _ABSTRACT,
        "AIPO satisfies epsilon between all points.",
        not beyond,
        f"No pair of points breaks it in {len(found) - len(beyond)} of {len(found)} cases, and the slopes of its "
        "logarithms bound epsilon for all points. The largest epsilon between two points is "
        f"{percent((seen.epsilon_seen or 0.0) / seen.epsilon)} of epsilon.",
        quote="a corrected formulation that enforces lp-norm mDP by design",
    )


def _broken(rows: Sequence[AnchorRow], name: str, where: str, says: str, quote: str) -> PaperClaim:
    """Judge a violation of epsilon: one pair of points shows it, and none shows nothing."""
    found = _pick(rows, name)
    least, most = (pick(found, key=lambda row: row.broken or 0.0) for pick in (min, max))
    return illustrates(
        where,
        says,
        bool(most.broken),
        f"It is broken for {percent(least.broken or 0.0)} to {percent(most.broken or 0.0)} of the pairs of "
        f"points. At {most.epsilon:g}/km in {most.city} two points have epsilon "
        f"{about(most.epsilon_seen or 0.0, 3)}/km.",
        quote=quote,
    )


def _ratios(rows: Sequence[AnchorRow], name: str, other: str) -> list[float]:
    """Return the loss of a mechanism over that of another with the same reports, of each case."""
    by = {(row.city, row.epsilon, row.seed, row.mechanism): row.loss for row in rows}
    return [
        by[row.city, row.epsilon, row.seed, name] / by[row.city, row.epsilon, row.seed, other]
        for row in _pick(rows, name)
    ]


def _noise(rows: Sequence[AnchorRow]) -> list[PaperClaim]:
    ratios = _ratios(rows, AIPO, EM)
    less = interval([1 - ratio for ratio in ratios]).value
    published = 1 - float(np.mean(ROME["AIPO"])) / float(np.mean(ROME["EM"]))
    return [
        unchecked(
            _ABSTRACT,
            "AIPO outperforms baseline mechanisms.",
            "Of the baselines with a guarantee only the exponential mechanism is run here. RMP, which the README "
            "lists too, is not. The program on cells loses less than AIPO, and violates epsilon.",
            quote="outperforming baseline mechanisms",
        ),
        illustrates(
            _README,
            "AIPO loses less than the exponential mechanism.",
            max(ratios) < 1,
            f"Compared with the exponential mechanism with the same 20 reports AIPO loses {percent(less)} less on "
            f"average over {len(ratios)} cases ({percent(1 - max(ratios))} to {percent(1 - min(ratios))}), in "
            "straight distances.",
        ),
        unchecked(
            _README,
            "AIPO loses about 60 % less than noise of a fixed law.",
            f"{_DATA} In its own table of Rome it is {percent(published)}, where the exponential mechanism loses "
            f"{ROME['EM'][0]:g} at epsilon {ROME_EPSILONS[0]:g} and {ROME['EM'][-1]:g} at {ROME_EPSILONS[-1]:g}. "
            f"Here, in straight distances, it is {percent(less)}.",
        ),
    ]


def _program(rows: Sequence[AnchorRow]) -> PaperClaim:
    ratios = _ratios(rows, AIPO, LP)
    published = [each / other for each, other in zip(ROME["AIPO"], ROME["LP"], strict=True)]
    return judged(
        _README,
        "AIPO loses more than the program on cells, which violates epsilon between points.",
        min(ratios) >= 1,
        f"It loses {percent(min(ratios) - 1)} to {percent(max(ratios) - 1)} more here; in its own table of Rome "
        f"{percent(min(published) - 1)} to {percent(max(published) - 1)}.",
    )


def _bound(rows: Sequence[AnchorRow]) -> PaperClaim:
    least = {(row.city, row.epsilon): row.loss for row in _pick(rows, BOUND)}
    theirs, certified = (
        [row.loss / least[row.city, row.epsilon] - 1 for row in _pick(rows, name)] for name in (AIPO, CERTIFIED)
    )
    return unchecked(
        _README,
        "AIPO is near the least loss of any mechanism.",
        "The stored README breaks off before it says how near, and its bound in Rome is 0. Here AIPO loses about "
        f"{percent(min(theirs))} to {percent(max(theirs))} more than a proved bound; certified noise with the "
        f"same epsilon {percent(min(certified))} to {percent(max(certified))}.",
    )
