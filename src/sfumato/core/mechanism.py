"""Mechanisms: the interface of all kinds, and the channel p(o|s) from secrets to observables."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, python
from .arguments import check_arguments
from .arrays import Floats, floats, numbers, readonly
from .guarantees import AnyGuarantee, CoordinatePrivacy, Guarantees, StatedGuarantee, as_guarantees
from .immutable import Immutable, assign
from .loss import AnyLoss, as_loss
from .prior import Prior
from .space import Space
from .weights import (
    AliasTables,
    Integers,
    PointRecipe,
    Recipe,
    Words,
    as_matrix,
    check_stochastic,
    check_weights,
    needed_bits,
    quantise,
)

_PLAIN: Final = {"builtins", "numpy", "fractions", "decimal", "datetime"}
_NUMBERS_AND_TEXTS: Final = {int, float, str, bool}
_COMPUTED: Final = (property, cached_property)  # by the class itself, at some cost
_PACKAGE: Final = __name__.partition(".")[0]


class Capability(Enum):
    """A thing that code may need of a mechanism; see `Randomizer.supports`."""

    MATRIX = "a matrix of finitely many secrets and reports"
    POINTS = "reports for points on the ground, without numbered secrets"
    NUMBERS = "reports for any whole number"
    TUPLES = "several observables in one report"


class Randomizer(ABC):
    """A local randomizer: a mechanism of any kind, with the guarantees that its maker states.

    It never proves them: `sfumato.proofs.prove` does, for the kinds that it knows. A `Randomizer` from elsewhere
    can be drawn from but not released.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # subclasses have fields of these names, whose defaults properties would become

        @property
        def secrets(self) -> Space | None:
            """The secrets; None where they are points or whole numbers."""

        @property
        def observables(self) -> Space | None:
            """The observables; None where they are points, whole numbers or parts of a code."""

    @property
    @abstractmethod
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The guarantees that its maker states; none of them is proved."""

    @abstractmethod
    def recipe(self) -> Recipe | PointRecipe:
        """Return the exact way in which a report is drawn; `InputError` if it is for studies only."""

    @abstractmethod
    def supports(self, capability: Capability) -> bool:
        """Return whether it has a capability."""

    def channel(self) -> Mechanism:
        """Return the mechanism from secrets to reports, in integers; `InputError` if it cannot be listed."""
        raise InputError(
            f"{self!r} has no matrix of finitely many secrets and reports.",
            python("draw from it with sf.sampler, which needs none."),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Mechanism(Immutable, Randomizer):
    """A channel from secrets to observables, in integers.

    The rows of the matrix, array (secrets, observables), are the distributions p(.|s). They are rounded once, at
    construction, to integer `weights` that sum to exactly 2**`bits`, 62 or, where the smallest probability needs
    two words, 126; `matrix` is their float view. Proofs, attacks, files and samplers use these integers. No
    positive probability is rounded to zero. Secrets are numbered from 0 if left out, and are also the observables
    of a square matrix. ``guarantees`` are the metric and distribution privacy that its maker states, for
    files and audits; not proved, and not part of equality. Raises `InputError` if an entry is negative, NaN or
    infinite, or a row does not sum to one within 1e-9.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> coin.bits, int(coin.weights[0].sum()) == 2**62
        (62, True)
    """

    weights: Integers
    bits: int
    secrets: Space
    observables: Space
    matrix: Floats
    guarantees: tuple[StatedGuarantee, ...]

    def __init__(self, matrix: ArrayLike, secrets: Space | None = None, observables: Space | None = None) -> None:
        array = floats(matrix, "the matrix", shape=(None, None))
        if array.size == 0:
            raise InputError("the matrix is empty.", "pass one row per secret and one column per observable.")
        check_stochastic(array)
        bits = needed_bits(array)
        self._set(quantise(array, bits), bits, secrets, observables)

    @classmethod
    def from_weights(
        cls,
        weights: Integers,
        bits: int,
        secrets: Space | None = None,
        observables: Space | None = None,
        guarantees: Guarantees = (),
    ) -> Mechanism:
        """Return the mechanism of given integers, unchanged.

        Weights are an array (secrets, observables) of integers, each row of sum 2**bits, with 62 or 126 bits.
        Guarantees are stated; see `promising`.
        """
        mechanism = object.__new__(cls)
        mechanism._set(check_weights(weights, bits), bits, secrets, observables)
        return mechanism.promising(guarantees)

    @classmethod
    def deterministic(cls, mapping: Mapping[Any, Hashable], secrets: Space, observables: Space) -> Mechanism:
        """Return the mechanism that always reports ``mapping[s]`` (no privacy by itself)."""
        if not isinstance(mapping, Mapping):
            raise InputError(
                f"the mapping is of type {type(mapping).__name__}.",
                "pass a dict from each secret to its observable.",
            )
        matrix = np.zeros((len(secrets), len(observables)))
        for position, label in enumerate(secrets.labels):
            if label not in mapping:
                raise InputError(f"the mapping says nothing about {label!r}.", "map each secret to an observable.")
            matrix[position, observables.position(mapping[label])] = 1.0
        return cls(matrix, secrets, observables)

    def _set(self, weights: Integers, bits: int, secrets: Space | None, observables: Space | None) -> None:
        n, m = weights.shape
        rows = secrets if secrets is not None else Space(range(n))
        columns = observables if observables is not None else rows if n == m else Space(range(m))
        for space, size, role in ((rows, n, "secrets"), (columns, m, "observables")):
            if len(space) != size:
                raise InputError(
                    f"the matrix has {size} {'rows' if role == 'secrets' else 'columns'}, "
                    f"but there are {len(space)} {role}.",
                    f"pass the {role} that belong to the matrix.",
                )
        assign(self, weights=readonly(weights), bits=bits, secrets=rows)
        assign(self, observables=columns, matrix=readonly(as_matrix(weights, bits)), guarantees=())

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of observables."""
        n, m = self.weights.shape
        return n, m

    @property
    def stated_guarantees(self) -> tuple[StatedGuarantee, ...]:
        """Its `guarantees`."""
        return self.guarantees

    def recipe(self) -> Row:
        """Return the recipe that draws from the secret's row."""
        return Row(self)

    def supports(self, capability: Capability) -> bool:
        """Return True for a matrix, False for every other capability."""
        return capability is Capability.MATRIX

    def channel(self) -> Mechanism:
        """Return the mechanism itself."""
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        parts = self.weights, self.bits, self.secrets, self.observables, self.guarantees
        return type(self).from_weights, parts

    def __repr__(self) -> str:
        n, m = self.shape
        return f"Mechanism of {n} secrets and {m} observables in {self.bits}-bit integers"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            self.bits == other.bits
            and self.secrets == other.secrets
            and self.observables == other.observables
            and np.array_equal(self.weights, other.weights)
        )

    def __hash__(self) -> int:
        return hash((self.bits, self.shape, self.matrix.tobytes()))

    def promising(self, guarantees: Guarantees) -> Mechanism:
        """Return the same mechanism with stated guarantees, which a file stores and an audit proves.

        ``guarantees`` are of metric or distribution privacy, one or several. Distortion privacy needs a prior:
        pass it to a `MechanismFile` with one. Raises `InputError` if a guarantee is of another kind, or for other
        secrets.

        Example:
            >>> import sfumato as sf
            >>> sf.mechanisms.randomised_response(sf.Space("ab"), 1.0).guarantees
            (MetricPrivacy(epsilon 1, hamming),)
        """
        promises = []
        for guarantee in as_guarantees(guarantees):
            if isinstance(guarantee, CoordinatePrivacy):
                raise InputError(
                    f"{guarantee} is for points, and a mechanism satisfies it by the rows of its vertices.",
                    python("pass sfumato.proofs.VertexPrivacy(guarantee, mechanism.secrets)."),
                )
            if not isinstance(guarantee, StatedGuarantee):
                raise InputError(
                    f"{guarantee} depends on a prior, but a mechanism has none.",
                    python("pass it to MechanismFile together with the prior."),
                )
            guarantee.check_secrets(self.secrets)
            promises.append(guarantee)
        if tuple(promises) == self.guarantees:
            return self
        mechanism = object.__new__(type(self))
        names = ("weights", "bits", "secrets", "observables", "matrix")
        assign(mechanism, **{name: getattr(self, name) for name in names}, guarantees=tuple(promises))
        return mechanism

    @check_arguments
    def joint(self, prior: Prior) -> Floats:
        """Return p(s, o) = prior(s) p(o|s), array (secrets, observables)."""
        if len(prior) != self.shape[0]:
            raise InputError(
                f"the prior has {len(prior)} values, but the mechanism has {self.shape[0]} secrets.",
                "use a prior on the mechanism's secrets.",
            )
        self.secrets.check_order(prior.space, "the prior")
        return prior.probabilities[:, None] * self.matrix

    def marginal(self, prior: Prior) -> Floats:
        """Return p(o), the distribution of the report, array (observables,)."""
        return np.asarray(self.joint(prior).sum(axis=0))

    def lift(self, distribution: ArrayLike) -> Floats:
        """Return the report's distribution for a distribution of secrets, array (secrets,) or (k, secrets).

        Source:
            Kawamoto and Murakami, lifting of an algorithm to distributions (section IV).
        """
        array = numbers(distribution, "the distribution")
        rows = floats(np.atleast_2d(array), "the distribution", shape=(None, self.shape[0]))
        if (rows < 0).any() or (np.abs(rows.sum(axis=1) - 1) > 1e-9).any():
            raise InputError("the distribution is negative somewhere or does not sum to 1.", "pass probabilities.")
        images: Floats = rows @ self.matrix
        return images if array.ndim == 2 else np.asarray(images[0])

    def posterior(self, prior: Prior) -> Floats:
        """Return p(s|o), array (observables, secrets); all zeros for an observable of probability zero."""
        joint = self.joint(prior).T
        total = joint.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))

    def loss_of_secrets(self, loss: AnyLoss) -> Floats:
        """Return the expected loss of each secret, sum over o of p(o|s) l(s, o), array (secrets,)."""
        return np.asarray((self.matrix * as_loss(loss, *self.shape).array).sum(axis=1))

    def expected_loss(self, prior: Prior, loss: AnyLoss) -> float:
        """Return the expected loss, in the loss's unit (Privacy Games, equation 3)."""
        return float((self.joint(prior) * as_loss(loss, *self.shape).array).sum())

    def worst_case_loss(self, loss: AnyLoss) -> float:
        """Return the largest expected loss of any secret (Privacy Games, equation 4)."""
        return float(self.loss_of_secrets(loss).max())

    # Arrays of numpy leave `array @ mechanism` to the mechanism.
    __array_ufunc__ = None

    def __rmatmul__(self, distributions: Prior | ArrayLike) -> Floats:
        """Return ``distributions @ matrix``, the probability of each report: array (..., observables).

        ``distributions`` are a prior, or an array (secrets,) or (k, secrets), whose rows need not sum to one.
        Raises `InputError` if the sizes, or the labels of the prior, do not fit.
        """
        if isinstance(distributions, Prior):
            self.secrets.check_order(distributions.space, "the prior")
            array = distributions.probabilities
        else:
            array = numbers(distributions, "the left side of @")
        if array.ndim not in (1, 2) or array.shape[-1] != len(self.secrets):
            raise InputError(
                f"the left side of @ has shape {' x '.join(map(str, array.shape)) or 'of a number'}, but the "
                f"mechanism has {len(self.secrets)} secrets.",
                "pass one number per secret, or rows of that length.",
            )
        return np.asarray(np.asarray(array, dtype=np.float64) @ self.matrix)

    def then(self, following: Mechanism) -> Mechanism:
        """Return the cascade: this mechanism's report passes through one whose secrets are its observables.

        By post-processing every guarantee of this mechanism holds for the cascade, up to the rounding of the
        product to integers. A deterministic second step is exact; only then the cascade states the guarantees as
        well.
        """
        if following.secrets.labels != self.observables.labels:
            raise InputError(
                f"the second mechanism takes {following.secrets!r}, but the first reports {self.observables!r}.",
                "its secrets must be the first one's observables, in the same order.",
            )
        certain = following.weights != 0  # where a row sends all its mass, if it is deterministic
        if (np.count_nonzero(certain, axis=1) != 1).any():
            return Mechanism(self.matrix @ following.matrix, self.secrets, following.observables)
        weights = np.zeros((self.shape[0], following.shape[1]), dtype=self.weights.dtype)
        for column, goal in enumerate(np.argmax(certain, axis=1)):
            weights[:, goal] += self.weights[:, column]
        return Mechanism.from_weights(weights, self.bits, self.secrets, following.observables, self.guarantees)


@dataclass(frozen=True, slots=True)
class Row(Immutable, Recipe):
    """Draw the position of one observable from the secret's row of a mechanism."""

    rowwise: ClassVar[bool] = True
    mechanism: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.mechanism.weights, self.mechanism.bits))

    @property
    def secrets(self) -> int:
        """The number of secrets."""
        return self.mechanism.shape[0]

    @property
    def row(self) -> Row:
        """This row itself."""
        return self

    def draw(self, rows: Integers, words: Words) -> NDArray[np.intp]:
        """Return positions of observables, array (count,), each of probability weights[s, o] / 2**bits exactly."""
        return self._tables.draw(rows.astype(np.intp, copy=False), words)

    def draw_one(self, row: int, words: Words) -> int:
        """Return the position of one observable, as `draw` does and from the same words, in less time."""
        return self._tables.draw_one(row, words)


def is_known(value: Any) -> bool:
    """Return whether a mechanism and all of its parts are of exactly this package's own classes.

    A subclass, or a part of another class, may draw otherwise than the proof assumes. Labels may be of any class.
    """
    return _foreign(value) is None


def check_known(randomizer: Any) -> None:
    """Refuse a mechanism that is not this package's own (`InputError`), because nothing can be proved of it."""
    foreign = _foreign(randomizer)
    if foreign is not None or not isinstance(randomizer, Randomizer):
        kind = type(randomizer)
        subject = f"the class {randomizer.__name__}" if isinstance(randomizer, type) else f"a value of {kind}"
        part = "" if foreign in (None, kind) else f" with a part of type {foreign.__name__}"
        raise InputError(
            f"{subject}{part} is no kind of mechanism of which anything can be proved.",
            python("pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms."),
        )


def _foreign(value: Any) -> type | None:
    """Return the type of a value, or of the first of its parts, that is not this package's own."""
    kind = type(value)
    module = kind.__module__
    is_internal = module.partition(".")[0] == _PACKAGE
    exact = value is None or getattr(sys.modules.get(module), kind.__name__, None) is kind
    if not (exact and (is_internal or module in _PLAIN)):
        return kind
    parts: Iterable[Any] = ()
    if kind is tuple:
        parts = value if set(map(type, value)) - _NUMBERS_AND_TEXTS else ()
    elif is_internal and is_dataclass(kind):
        names = (part.name for part in fields(kind) if not isinstance(getattr(kind, part.name, None), _COMPUTED))
        parts = (getattr(value, name, None) for name in names if name != "labels")
    return next((part for part in map(_foreign, parts) if part is not None), None)


@runtime_checkable
class MechanismWithPrior(Protocol):
    """A design, or the content of a mechanism file."""

    @property
    def mechanism(self) -> Any:
        """The mechanism that draws the reports."""

    @property
    def prior(self) -> Prior | None:
        """The prior that it was made for."""


def matrix_of(randomizer: Randomizer) -> Mechanism:
    """Return the matrix of a mechanism of any kind; `InputError` if there is none, or it is too large to list."""
    return randomizer.channel()
