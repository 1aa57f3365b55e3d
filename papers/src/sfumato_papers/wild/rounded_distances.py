"""Trilateration from rounded distances (Dhondt et al., USENIX Security 2024, section 5.5; R. Heaton, 2021)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError

from .attack_errors import AS_DOCUMENTED, REMEMBERED, ErrorRow
from .channels import FixedCells, check_positive, directions
from .radial import CertifiedNoise

MILE_M: Final = 1609.344
_RAYS: Final = 3
_NEAREST_M: Final = 1e-3  # the search ends

Shown = Callable[[Floats], int]


@dataclass(frozen=True, slots=True, repr=False)
class RoundedDistance(CompactRepr):
    """An app that shows the whole steps to a person, or to the centre of their cell."""

    step_m: float = MILE_M
    cells: FixedCells | None = None

    def __post_init__(self) -> None:
        check_positive(self.step_m, "a step")

    def of(self, person_m: Floats) -> Shown:
        """Return the shown distance of a person as a function of the attacker's position."""
        place = person_m if self.cells is None else self.cells.centres(person_m)
        return lambda attacker: int(np.hypot(*(place - attacker)) // self.step_m)


def trilaterate(shown: Shown, step_m: float, start_m: Floats, questions: int) -> Floats:
    """Return where an attacker locates a person by bisection on three rays, array (2,); the start if too few."""
    if questions < 1:
        raise InputError(f"{questions} questions are too few.", "ask at least one.")
    here = shown(start_m)
    left = questions - 1
    spots: list[Floats] = []
    radii: list[float] = []
    for ray in range(_RAYS):
        angle = 2 * np.pi * ray / _RAYS
        way = np.array([np.cos(angle), np.sin(angle)])
        spent, flip = _flip(shown, here, start_m, way, step_m, left // (_RAYS - ray))
        left -= spent
        if flip is not None:
            spots.append(flip[0])
            radii.append(flip[1] * step_m)
    if len(spots) < _RAYS:
        return start_m
    points, distances = np.array(spots), np.array(radii)
    found = [
        least_squares(lambda x: np.hypot(*(points - x).T) - distances, begin, method="lm")
        for begin in (_radical_centre(points, distances), *(start_m + step_m * np.array([[1, 0.1], [-1, -0.1]])))
    ]
    best: Floats = min(found, key=lambda each: each.cost).x
    return best


def _radical_centre(points: Floats, distances: Floats) -> Floats:
    """Return where three circles meet, array (2,): their equations differ by linear ones."""
    squares = (points**2).sum(axis=1) - distances**2
    found: Floats = np.linalg.lstsq(2 * (points[1:] - points[0]), squares[1:] - squares[0], rcond=None)[0]
    return found


def _flip(
    shown: Shown, here: int, start_m: Floats, way: Floats, step_m: float, most: int
) -> tuple[int, tuple[Floats, int] | None]:
    """Return the questions spent, and a point where the shown distance changes, with its whole steps."""
    near, low, spent = 0.0, here, 0
    far = high = None
    for _ in range(most):
        if far is None:
            tried = near + step_m
        elif far - near > _NEAREST_M:
            tried = (near + far) / 2
        else:
            break
        value = shown(start_m + tried * way)
        spent += 1
        if value == low:
            near = tried
        else:
            far, high = tried, value
    if far is None or high is None:
        return spent, None
    return spent, (start_m + (near + far) / 2 * way, max(low, high))


def distance_errors(app: str, rule: RoundedDistance, questions: int, seed: int, people: int) -> list[ErrorRow]:
    """Return the errors of an attacker who starts up to ten steps away, without and with certified noise.

    The noise moves a place as far as the cells do on average. Without cells it matches the error of rounding, a
    quarter of a step: a move by r changes the distance from far away by 2 r / pi on average.
    """
    generator = np.random.default_rng(seed)
    places = generator.uniform(0, 1000 * rule.step_m, (people, 2))
    ways, away = directions(people, generator), rule.step_m * generator.uniform(1, 10, people)
    starts = places + away[:, None] * ways
    guesses = np.array(
        [
            trilaterate(rule.of(place), rule.step_m, start, questions)
            for place, start in zip(places, starts, strict=True)
        ]
    )
    moved_m = rule.step_m / 4 * np.pi / 2 if rule.cells is None else rule.cells.mean_m
    noise = CertifiedNoise.of_mean(moved_m, renewed=False)
    blurred = noise.reports(places, 1, generator)[:, 0] if questions > 2 else starts  # three distances fix it
    return [
        ErrorRow.of(app, mechanism, "", questions, seed, found - places)
        for mechanism, found in ((AS_DOCUMENTED, guesses), (REMEMBERED, blurred))
    ]
