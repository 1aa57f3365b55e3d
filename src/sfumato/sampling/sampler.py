"""Drawing reports: the exact cryptographic sampler, and the seeded one for studies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import PointRecipe, Randomizer, Recipe, Words
from ..core.arrays import Floats
from ..core.immutable import Immutable
from ..core.recipe import Integers
from ..errors import InputError
from .blurring import Outside, blurred, points_of
from .entropy import SeededWords, SystemWords

_BLOCK: Final = 1 << 17  # numbers drawn at a time: what a block needs stays in the processor's cache
_FURTHEST: Final = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sampler(Immutable):
    """Draws reports with the operating system's randomness, exactly.

    Every report has the probability that the integers of the mechanism or recipe say: no
    float lies between the kernel's words and the report. It takes no seed, and no two
    samplers repeat each other.

    Args:
        drawable: A `Mechanism`, a family of `sfumato.mechanisms`, a `Tupling` or a `CoordinateNoise`.

    Attributes:
        drawable: What it draws from.

    Raises:
        InputError: If it is for studies only, or not a mechanism.
    """

    drawable: Randomizer
    _recipe: Recipe | PointRecipe = field(init=False)
    _words: SystemWords = field(init=False)
    _points: PointRecipe | None = field(init=False)

    def __init__(self, drawable: Randomizer) -> None:
        object.__setattr__(self, "drawable", drawable)
        object.__setattr__(self, "_recipe", _recipe(drawable))
        object.__setattr__(self, "_words", SystemWords())
        object.__setattr__(self, "_points", None)

    def draw(self, indices: ArrayLike) -> Integers:
        """Return one report per secret, fresh and independent.

        Args:
            indices: Positions of secrets, integers of any shape; for noise the answers
                themselves, of magnitude below 2**62.

        Returns:
            An array of the same shape, followed by the shape of one report. A report of a
            mechanism is the position of an observable; of noise, the noisy answer; of a
            tupling, k + 1 positions; of a unary encoding, one bit per category; of local
            hashing, (a, b, bucket); of subset selection, positions in rising order.

        Raises:
            InputError: If the indices are not integers, or not positions of secrets.
        """
        return _drawn(self._recipe, self._words, indices)

    def blur(self, lat: ArrayLike, lon: ArrayLike, *, outside: Outside = "error") -> Floats:
        """Return reports for points on the ground, fresh and independent, as latitudes and longitudes.

        Each point is taken for a secret, as the promise of the mechanism's places says (a cell, or a vertex of a
        lattice drawn at random), and then a report is drawn. One point, given as two floats, takes some
        microseconds.

        Args:
            lat: Latitudes in degrees, a number or an array.
            lon: Longitudes in degrees, of the same shape.
            outside: Whether points outside are refused (``error``), or moved to the nearest place first. On a
                lattice that needs a convex region, such as a rectangle, and the promise then holds for any two
                points on Earth; cells promise nothing for points outside.

        Returns:
            Array (..., 2) of latitudes and longitudes.

        Raises:
            InputError: If secrets or reports are not places, a point is outside, or points cannot be moved.
        """
        points = self._points or _kept(self, points_of(self.drawable, self._recipe))
        return blurred(points, self._words, lat, lon, outside)

    def __repr__(self) -> str:
        return f"Sampler of a {self.drawable!r}: exact, cryptographic"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulator:
    """Draws reproducible reports, for tests and studies; never for release.

    The same seed gives the same noise, so anyone with the seed can undo it.

    Args:
        drawable: A `Mechanism`, a family of `sfumato.mechanisms`, a `Tupling` or a `CoordinateNoise`.
        seed: A non-negative integer.

    Attributes:
        drawable: What it draws from.
        seed: The seed.

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
        object.__setattr__(self, "drawable", drawable)
        object.__setattr__(self, "seed", words.seed)
        object.__setattr__(self, "_recipe", _recipe(drawable))
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "_points", None)

    def draw(self, indices: ArrayLike) -> Integers:
        """Return one simulated report per secret; see `Sampler.draw`."""
        return _drawn(self._recipe, self._words, indices)

    def blur(self, lat: ArrayLike, lon: ArrayLike, *, outside: Outside = "error") -> Floats:
        """Return simulated reports for points on the ground; see `Sampler.blur`."""
        points = self._points or _kept(self, points_of(self.drawable, self._recipe))
        return blurred(points, self._words, lat, lon, outside)

    def __repr__(self) -> str:
        return f"Simulator(seed={self.seed}) of a {self.drawable!r}: for studies, never for release"


def sampler(drawable: Randomizer) -> Sampler:
    """Return the sampler of a mechanism or family: exact and cryptographic, for release.

    Noise on all integers takes as long as the noise needs, which says nothing about the
    answer. Families of real numbers are refused: noise in floats reveals the secret.

    Args:
        drawable: A `Mechanism`, a family of `sfumato.mechanisms`, a `Tupling` or a `CoordinateNoise`.

    Raises:
        InputError: If it is for studies only, or not a mechanism.

    Example:
        >>> import sfumato as sf
        >>> keep = sf.Mechanism([[1.0, 0.0], [0.0, 1.0]])
        >>> sf.sampler(keep).draw([0, 1, 1])
        array([0, 1, 1])
    """
    return Sampler(drawable)


def simulator(drawable: Randomizer, seed: int) -> Simulator:
    """Return a seeded simulator of a mechanism or family, for studies and tests; never for release.

    Args:
        drawable: A `Mechanism`, a family of `sfumato.mechanisms`, a `Tupling` or a `CoordinateNoise`.
        seed: A non-negative integer.

    Raises:
        InputError: If it has no exact recipe, or the seed is not a non-negative integer.
    """
    return Simulator(drawable, seed)


def _recipe(drawable: object) -> Recipe | PointRecipe:
    """Return how reports are drawn: for numbered secrets, or for points."""
    if isinstance(drawable, Randomizer):
        return drawable.recipe()
    what = f"the class {drawable.__name__}" if isinstance(drawable, type) else f"a value of {type(drawable)}"
    raise InputError(
        f"{what} is not a mechanism.",
        "pass a Mechanism, a family of sfumato.mechanisms or a Tupling; sf.load reads one from a file.",
    )


def _kept(sampler: Sampler | Simulator, points: PointRecipe) -> PointRecipe:
    """Return how a sampler reports points, and keep it: tables for it are made only where points are asked for."""
    object.__setattr__(sampler, "_points", points)
    return points


def _drawn(recipe: Recipe | PointRecipe, words: Words, given: ArrayLike) -> Integers:
    if isinstance(recipe, PointRecipe):
        raise InputError(
            f"{recipe!r} has no numbered secrets to draw for.", "use blur() with latitudes and longitudes."
        )
    rows = _positions(given, recipe.secrets) if recipe.secrets is not None else _answers(given)
    flat, step = rows.reshape(-1), max(1, _BLOCK // math.prod(recipe.shape))
    blocks = [recipe.draw(flat[start : start + step], words) for start in range(0, max(1, flat.size), step)]
    return np.concatenate(blocks).reshape((*rows.shape, *recipe.shape))


def _positions(given: ArrayLike, secrets: int) -> Integers:
    array = _array(given)
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


def _answers(given: ArrayLike) -> Integers:
    array = _array(given)
    if array.dtype.kind not in "iu" or (array.size and max(int(array.max()), -int(array.min())) >= _FURTHEST):
        raise InputError(
            "the answers are not integers below 2**62.", "round them to multiples of a unit, and count these."
        )
    return array.astype(np.int64)


def _array(given: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(
            "the indices are lists of different lengths.", "pass one list of integers, or an array."
        ) from error
