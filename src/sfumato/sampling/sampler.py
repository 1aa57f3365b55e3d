"""Samplers of reports: an exact cryptographic one, and a seeded one for studies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Integers, PointRecipe, Randomizer, Recipe, Row, Uints, Words
from ..core.arrays import Floats, numbers, round_degrees
from ..core.immutable import Immutable, assign
from ..errors import InputError, argument
from .coins import SeededWords, SystemWords

_BLOCK: Final = 1 << 17  # numbers drawn at a time: what a block needs stays in the processor's cache
_FURTHEST: Final = 1 << 62
Outside = Literal["error", "nearest"]
_OUTSIDE = ("error", "nearest")


class _Reports:
    """Reports for secrets and for points, drawn by a recipe from words."""

    __slots__ = ()

    drawable: Randomizer
    _recipe: Recipe | PointRecipe
    _words: Words
    _points: PointRecipe | None

    def draw(self, indices: ArrayLike) -> Integers:
        """Return one report per secret, independent of the others.

        ``indices`` are positions of secrets, integers of any shape; for noise the answers themselves, of magnitude
        below 2**62. The result has the same shape, followed by the shape of one report. A report of a mechanism is
        the position of an observable; of noise, the noisy answer; of a tupling, k + 1 positions; of a unary
        encoding, one bit per category; of local hashing, (a, b, bucket); of subset selection, positions in rising
        order.

        Raises:
            InputError: If the indices are not integers, or not positions of secrets.
        """
        recipe = self._recipe
        if isinstance(recipe, PointRecipe):
            raise InputError(
                f"{recipe!r} has no numbered secrets to draw for.", "use blur() with latitudes and longitudes."
            )
        rows = _positions(indices, recipe.secrets) if recipe.secrets is not None else _answers(indices)
        flat, step = rows.reshape(-1), max(1, _BLOCK // math.prod(recipe.shape))
        starts = range(0, max(1, flat.size), step)
        blocks = [recipe.draw(flat[start : start + step], self._words) for start in starts]
        return np.concatenate(blocks).reshape((*rows.shape, *recipe.shape))

    def blur(self, lat: ArrayLike, lon: ArrayLike, *, outside: Outside = "error") -> Floats:
        """Return reports for points on the ground, independent of each other, as latitudes and longitudes.

        Each point is mapped to a secret (its cell, or a vertex of the lattice drawn at random), and then a report
        is drawn. One point, given as two floats, takes some microseconds.

        Points are degrees, numbers or arrays (...) of one shape; reports are an array (..., 2). Points outside are
        refused (``error``), or moved to the nearest place first. On a lattice that needs a convex region, such as
        a rectangle, and the guarantee then holds for any two points on Earth; cells guarantee nothing for points
        outside.

        Raises:
            InputError: If secrets or reports are not places, a point is outside, or points cannot be moved.
        """
        recipe = points_of(self)
        if outside not in _OUTSIDE:
            raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(_OUTSIDE)}.")
        nearest = outside == "nearest"
        point = _number(lat), _number(lon)
        if point[0] is not None and point[1] is not None:
            return np.array(recipe.blur_point(point[0], point[1], self._words, nearest=nearest))
        north, east = numbers(lat, "the latitude"), numbers(lon, "the longitude")
        if north.shape != east.shape:
            raise InputError(
                f"latitudes of shape {north.shape} and longitudes of shape {east.shape} were given.",
                "pass as many latitudes as longitudes.",
            )
        reports = recipe.blur_points(north.ravel(), east.ravel(), self._words, nearest=nearest)
        return reports.reshape(*north.shape, 2)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Sampler(_Reports, Immutable):
    """Draws reports with the operating system's randomness, exactly, each of them fresh.

    Every report has the probability that the integers of the mechanism or recipe say: no float lies between the
    kernel's words and the report. It takes no seed, and no two samplers repeat each other.

    Args:
        drawable: A `Mechanism`, a family of `sfumato.mechanisms`, a `Tupling` or a `CoordinateNoise`.

    Raises:
        InputError: If it is for studies only, or not a mechanism.
    """

    drawable: Randomizer
    _recipe: Recipe | PointRecipe = field(init=False)
    _words: SystemWords = field(init=False)
    _points: PointRecipe | None = field(init=False)

    def __init__(self, drawable: Randomizer) -> None:
        assign(self, drawable=drawable, _recipe=_recipe(drawable), _words=SystemWords(), _points=None)

    def __repr__(self) -> str:
        return f"Sampler of a {self.drawable!r}: exact, cryptographic"


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Simulator(_Reports):
    """Draws reproducible reports, for tests and studies; never for release.

    The same seed gives the same noise, so anyone with the seed can undo it.

    Raises:
        InputError: If it has no exact recipe, or the seed is not a non-negative integer.
    """

    drawable: Randomizer
    seed: int
    _recipe: Recipe | PointRecipe
    _words: SeededWords
    _points: PointRecipe | None

    def __init__(self, drawable: Randomizer, seed: int) -> None:
        words = SeededWords(seed)
        assign(self, drawable=drawable, seed=words.seed, _recipe=_recipe(drawable), _words=words, _points=None)

    def __repr__(self) -> str:
        return f"Simulator(seed={self.seed}) of a {self.drawable!r}: for studies, never for release"


def sampler(drawable: Randomizer) -> Sampler:
    """Return the sampler of a mechanism or family: exact and cryptographic, for release; see `Sampler`.

    Noise on all integers takes a time that depends on the noise alone, so it reveals nothing about the answer.
    Families of real numbers are refused: noise in floats reveals the secret.

    Example:
        >>> import sfumato as sf
        >>> keep = sf.Mechanism([[1.0, 0.0], [0.0, 1.0]])
        >>> sf.sampler(keep).draw([0, 1, 1])
        array([0, 1, 1])
    """
    return Sampler(drawable)


def simulator(drawable: Randomizer, seed: int) -> Simulator:
    """Return a seeded `Simulator` of a mechanism or family, for studies and tests, never for release."""
    return Simulator(drawable, seed)


def _recipe(drawable: object) -> Recipe | PointRecipe:
    """Return the recipe of reports: for numbered secrets, or for points."""
    if isinstance(drawable, Randomizer):
        return drawable.recipe()
    subject = f"the class {drawable.__name__}" if isinstance(drawable, type) else f"a value of {type(drawable)}"
    raise InputError(
        f"{subject} is not a mechanism.",
        "pass a Mechanism, a family of sfumato.mechanisms or a Tupling; sf.load reads one from a file.",
    )


def points_of(sampler: _Reports) -> PointRecipe:
    """Return the recipe of a sampler for points, and store it: tables are made only where points are reported."""
    points, recipe = sampler._points, sampler._recipe
    if points is None:
        if isinstance(recipe, PointRecipe):
            points = recipe
        elif isinstance(recipe, Row):
            points = MechanismPoints(recipe)
        else:
            raise _no_points(sampler.drawable)
        assign(sampler, _points=points)
    return points


def _positions(indices: ArrayLike, secrets: int) -> Integers:
    array = _array(indices)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise InputError(
            f"the indices are not integers but {array.dtype}.",
            "pass positions of secrets; Space.positions(labels) gives them.",
        )
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= secrets:
        raise InputError(
            f"the index {low if low < 0 else high} is not the position of a secret.",
            f"the mechanism has {secrets} secrets: use 0 to {secrets - 1}.",
        )
    return array.astype(np.intp, copy=False)


def _answers(indices: ArrayLike) -> Integers:
    array = _array(indices)
    if array.dtype.kind not in "iu" or (array.size and max(int(array.max()), -int(array.min())) >= _FURTHEST):
        raise InputError(
            "the answers are not integers below 2**62.", "round them to multiples of a unit, and count these."
        )
    return array.astype(np.int64)


def _array(indices: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    try:
        return np.asarray(indices)
    except ValueError as error:
        raise InputError(
            "the indices are lists of different lengths.", "pass one list of integers, or an array."
        ) from error


class _Single(Protocol):
    def draw_secret(
        self, lat: float, lon: float, words: Callable[[int], Uints], *, nearest: bool
    ) -> int | None: ...


@runtime_checkable
class _Ground(Protocol):
    """Places that map points to secrets."""

    def draw_secrets(self, lat: ArrayLike, lon: ArrayLike, words: Callable[[int], Uints]) -> NDArray[np.intp]: ...

    def nearest(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]: ...

    def singly(self) -> _Single: ...


@dataclass(frozen=True, slots=True)
class MechanismPoints(PointRecipe):
    """Points under a mechanism on places: on a lattice they are first rounded at random, cells hold them."""

    row: Row
    _ground: _Ground = field(init=False, repr=False, compare=False)
    _single: _Single = field(init=False, repr=False, compare=False)
    _places: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        mechanism = self.row.mechanism
        if not isinstance(mechanism.secrets, _Ground):
            raise _no_points(mechanism)
        single, places = mechanism.secrets.singly(), round_degrees(mechanism.observables.latlon)
        assign(self, _ground=mechanism.secrets, _single=single, _places=places)

    def reports(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Integers:
        """Return the positions of reports for points, array (n,)."""
        if nearest:
            lat, lon = self._ground.nearest(lat, lon)
        secrets = self._ground.draw_secrets(lat, lon, words.draw)
        if (secrets < 0).any():
            first = int(np.argmax(secrets < 0))
            problem = (
                f"{int((secrets < 0).sum()):,} of {secrets.size:,} points are not served by "
                f"{self.row.mechanism.secrets!r} (the first is number {first + 1}"
            )
            if not (abs(lat[first]) <= 90 and np.isfinite(lon[first])):
                raise InputError(
                    f"{problem}, which is not a latitude and a longitude).",
                    "pass degrees, the latitude first, and leave out points without them.",
                )
            swapped = self._ground.draw_secrets(lon[first : first + 1], lat[first : first + 1], words.draw)[0] >= 0
            raise InputError(
                f"{problem}).",
                "pass the latitude first: the other way round it is served" if swapped else "",
                "" if nearest else f"pass {argument('outside', 'nearest')} to move them to the nearest place",
                "leave them out, or design for a wider region.",
            )
        return self.row.draw(secrets, words)

    def report(self, lat: float, lon: float, words: Words, *, nearest: bool) -> int:
        """Return the position of the report for one point."""
        secret = self._single.draw_secret(lat, lon, words.draw, nearest=nearest)
        if secret is None:
            return int(self.reports(np.array([lat]), np.array([lon]), words, nearest=nearest)[0])
        return self.row.draw_one(secret, words)

    def blur_points(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Floats:
        """Return reports for points, array (n, 2), degrees; see `PointRecipe`."""
        places: Floats = self._places[self.reports(lat, lon, words, nearest=nearest)]
        return places

    def blur_point(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return the report for one point, degrees; see `PointRecipe`."""
        report = self.report(lat, lon, words, nearest=nearest)
        return self._places.item(report, 0), self._places.item(report, 1)


def _no_points(drawable: object) -> InputError:
    return InputError(
        f"points cannot be blurred by {drawable!r}: its secrets are not places on the ground.",
        "design a mechanism on a Lattice, a Grid or Hexagons",
        "use draw() with positions of secrets.",
    )


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, float | int) else None
    except OverflowError:
        return None
