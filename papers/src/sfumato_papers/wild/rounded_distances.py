"""Trilateration from rounded distances, which can be queried from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError

from .certified import CertifiedNoise
from .channel import check_positive
from .fixed_cells import FixedCells
from .vocabulary import AS_DOCUMENTED, NEAR_M, REMEMBERED

MILE_M: Final = 1609.344

_RAYS: Final = 3
_NEAREST_M: Final = 1e-3  # nobody searches on

Shown = Callable[[Floats], int]


@dataclass(frozen=True, slots=True, repr=False)
class RoundedDistance(CompactRepr):
    """An app that shows how many whole steps a person is away.

    Attributes:
        step_m: The step, metres; distances are rounded down.
        cells: Cells whose centre stands for the person, or None for the exact place.

    Raises:
        InputError: If the step is not positive.
    """

    step_m: float = MILE_M
    cells: FixedCells | None = None

    def __post_init__(self) -> None:
        check_positive(self.step_m, "a step")

    def of(self, person_m: Floats) -> Shown:
        """Return the shown distance of a person as a function of where the asker stands.

        Args:
            person_m: Where they are, array (2,), metres.
        """
        place = person_m if self.cells is None else self.cells.centres(person_m)
        return lambda asker: int(np.hypot(*(place - asker)) // self.step_m)


def trilaterated(shown: Shown, step_m: float, start_m: Floats, questions: int) -> Floats:
    """Return where an asker locates a person with a number of questions, array (2,), metres.

    They walk along three rays and halve, on each, the interval in which the shown distance changes; there they
    know the exact one. Three such points fix the place. With too few questions for it they take what they have.

    Args:
        shown: The shown distance in whole steps, by where the asker stands.
        step_m: The step, metres.
        start_m: Where the asker begins, array (2,), metres.
        questions: How many they may ask, at least 1.

    Raises:
        InputError: If there is no question.

    Source:
        Dhondt et al., "Swipe Left for Identity Theft", USENIX Security 2024, section 5.5; R. Heaton on Bumble,
        2021.
    """
    if questions < 1:
        raise InputError(f"{questions} questions are too few.", "ask at least one.")
    here = shown(start_m)
    left = questions - 1
    spots: list[Floats] = []
    radii: list[float] = []
    for ray in range(_RAYS):
        angle = 2 * np.pi * ray / _RAYS
        way = np.array([np.cos(angle), np.sin(angle)])
        share = left // (_RAYS - ray)
        spent, flip = _flip(shown, here, start_m, way, step_m, share)
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
    """Return where three circles meet: their equations differ by linear ones, array (2,), metres."""
    squares = (points**2).sum(axis=1) - distances**2
    found: Floats = np.linalg.lstsq(2 * (points[1:] - points[0]), squares[1:] - squares[0], rcond=None)[0]
    return found


def _flip(
    shown: Shown, here: int, start_m: Floats, way: Floats, step_m: float, most: int
) -> tuple[int, tuple[Floats, int] | None]:
    """Return how many questions were spent, and a point where the shown distance changes, with its whole steps."""
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


@dataclass(frozen=True, slots=True, repr=False)
class DistanceRow(CompactRepr):
    """Errors of an asker, in one run.

    Attributes:
        app: What is shown, in words.
        mechanism: As documented, or the distance to a place that certified noise moved.
        questions: How many distances were asked.
        seed: Of the run.
        people: How many people were located.
        median_m: The median distance of the guess from the person, metres.
        within_50: The share of people within 50 m of the guess.
        within_100: Within 100 m.
        within_200: Within 200 m.
    """

    app: str
    mechanism: str
    questions: int
    seed: int
    people: int
    median_m: float
    within_50: float
    within_100: float
    within_200: float


def asked(app: str, rule: RoundedDistance, questions: int, seed: int, people: int) -> list[DistanceRow]:
    """Return the errors of an attacker who starts up to ten steps away, without and with certified noise.

    The certified app shows the exact distance to a place that was blurred once: by noise that moves it as far on
    average as the cells of the rule do. Without cells the distances are matched instead. A distance of whole
    steps, read as the middle of its step, is wrong by a quarter of a step on average; the distance to a place that
    is moved by r in an even direction by 2 r / pi, for askers far away. So that noise moves places by pi / 2
    quarters of a step on average.

    Args:
        app: What is shown, in words.
        rule: How it is rounded.
        questions: How many distances are asked.
        seed: Of the study.
        people: How many people.
    """
    generator = np.random.default_rng(seed)
    places = generator.uniform(0, 1000 * rule.step_m, (people, 2))
    angle, away = generator.uniform(0, 2 * np.pi, people), rule.step_m * generator.uniform(1, 10, people)
    starts = places + away[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    guesses = np.array(
        [
            trilaterated(rule.of(place), rule.step_m, start, questions)
            for place, start in zip(places, starts, strict=True)
        ]
    )
    moved_m = rule.step_m / 4 * np.pi / 2 if rule.cells is None else rule.cells.mean_m
    noise = CertifiedNoise.of_mean(moved_m, renewed=False)
    blurred = noise.reports(places, 1, generator)[:, 0] if questions > 2 else starts  # three distances fix it
    rows = []
    for mechanism, found in ((AS_DOCUMENTED, guesses), (REMEMBERED, blurred)):
        errors = np.hypot(*(found - places).T)
        shares = [float((errors <= near).mean()) for near in NEAR_M]
        rows.append(DistanceRow(app, mechanism, questions, seed, people, float(np.median(errors)), *shares))
    return rows
