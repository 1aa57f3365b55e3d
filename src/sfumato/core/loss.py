"""Quality losses l(s, o): the cost of a report to its user."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, python
from ..escaping import plain
from . import units
from .arrays import Floats, floats, freeze, readonly
from .distances import KINDS, distance_matrix
from .immutable import CompactRepr, Immutable, assign
from .metric import Metric
from .naming import KIND_ERROR, TRUE_POINT
from .space import Space

_RELATIVE = 1e-9  # of each distance: another machine or projection library may round otherwise
_ABSOLUTE = 1e-12  # of the largest: what the rounding of coordinates leaves of a small distance,
_MOST = 1e-6  # but no more of any: one far place must not loosen the check of the near ones
_OF_LABELS = frozenset({"hamming", "jaccard", "member"})
_OTHER_NAMES = {"l1": "manhattan", "cityblock": "manhattan", "taxicab": "manhattan", "l2": "euclidean"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LossPoints(Immutable, CompactRepr):
    """The true points over which a loss is an average.

    Distinct points ``xy`` are on the plane of the secrets, metres, array (k, 2). Each occurs ``weights`` times,
    array (k,), and ``masses``, array (n,), is how often a point is taken for each secret.
    """

    xy: Floats
    weights: Floats
    masses: Floats

    def __post_init__(self) -> None:
        for name in ("xy", "weights", "masses"):
            object.__setattr__(self, name, freeze(getattr(self, name)))


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Loss(Immutable):
    """The loss l(s, o) of reporting observable o when the secret is s, array (secrets, observables), finite.

    The unit is empty for a pure number or a rate of misreports. ``true_point`` is the distance of which it is the
    mean from true points, empty for every other loss, and ``points`` are these, which files do not store.
    """

    array: Floats
    unit: str
    name: str
    points: LossPoints | None
    true_point: str

    def __init__(
        self,
        array: ArrayLike,
        unit: str = "",
        *,
        name: str = "loss",
        points: LossPoints | None = None,
        true_point: str = "",
    ) -> None:
        name = f"{true_point}{TRUE_POINT}" if true_point else name
        assign(self, array=floats(array, f"the {name}", shape=(None, None)), unit=units.canonical(unit))
        assign(self, name=name, points=points, true_point=true_point)

    def of_columns(self, columns: NDArray[np.intp]) -> Loss:
        """Return the loss of the observables at some positions."""
        return replace(self, array=readonly(np.ascontiguousarray(self.array[:, columns])))

    def __repr__(self) -> str:
        n, m = self.array.shape
        unit = f" in {plain(self.unit)}" if self.unit else ""
        return f"Loss {self.name!r} of {n} secrets and {m} observables{unit}"


class KindErrors(Loss):
    """The chance that a guess of a secret's kind is wrong, array (kinds, secrets), by a map that the caller has.

    A file stores it as a `Loss`, and then nothing confirms the map.
    """

    __slots__ = ()

    @classmethod
    def of_shares(cls, shares: ArrayLike) -> Self:
        """Return the errors by the probability of each kind in each secret, array (kinds, secrets)."""
        return cls(np.maximum(1.0 - np.asarray(shares), 0.0), name=KIND_ERROR)

    @staticmethod
    def matches(errors: Loss) -> bool:
        """Return whether errors are those of guesses of the kind, by their name and unit."""
        return errors.name == KIND_ERROR and not errors.unit


AnyLoss = Loss | Metric | ArrayLike


def hamming(space: Space) -> Metric:
    """Return the Hamming metric: 0 for the same value, 1 for others; as a loss the probability of a misreport."""
    return space.metric("hamming")


def is_hamming(distances: Metric | Loss, rows: Space, columns: Space) -> bool:
    """Return whether distances are pure numbers: 0 for equal labels of two spaces, and 1 for others."""
    if distances.unit or distances.array.shape != (len(rows), len(columns)):
        return False
    return np.array_equal(distances.array, distance_matrix(rows, columns, "hamming")[0])


def loss(
    secrets: Space,
    observables: Space,
    kind: str | Callable[[Any, Any], float] = "euclidean",
    unit: str | None = None,
    *,
    categories: Mapping[Any, Hashable] | Sequence[Hashable] | None = None,
) -> Loss:
    """Return a loss between n secrets and m observables, which may differ.

    The kind is a distance of `Space.metric`, ``member``, or a function of two labels, which returns the unit. A
    generalised observable (a frozenset of secrets) costs nothing under ``hamming`` only if it equals the label,
    and under ``member`` if it contains the secret; under ``euclidean`` it costs the distance to the middle of the
    set. For ``semantic``, ``categories`` has the category of each label of both spaces. Raises `InputError` if the
    kind is unknown, or a function returns NaN or infinity. Raises `UnitError` if the unit does not fit.
    """
    if callable(kind):
        values = [[float(kind(s, o)) for o in observables.labels] for s in secrets.labels]
        return Loss(values, unit or "", name=getattr(kind, "__name__", "loss"))
    if kind == "member":
        return Loss(member(secrets, observables), name="member")
    array, natural_unit = distance_matrix(secrets, observables, kind, categories=categories)
    return Loss(array * units.factor(natural_unit, unit) if unit else array, unit or natural_unit, name=kind)


def member(secrets: Space, observables: Space) -> Floats:
    """Return array (secrets, observables): 0 where the observable is the secret or a set with it, else 1."""
    inside = [[s in o if isinstance(o, frozenset) else s == o for o in observables.labels] for s in secrets.labels]
    return np.asarray(1.0 - np.array(inside, dtype=float))


def as_loss(values: AnyLoss, secrets: int, observables: int) -> Loss:
    """Return any form of loss as a finite `Loss` of this shape, or raise `InputError`."""
    loss = to_loss(values)
    if loss.array.shape != (secrets, observables):
        n, m = loss.array.shape
        raise InputError(
            f"the {loss.name} is for {n} secrets and {m} observables, but there are {secrets} and {observables}.",
            "pass rows for the secrets and columns for the observables, in their order.",
            python("for a design whose reports are not its secrets, pass observables=.") if n == secrets else "",
        )
    return loss


def to_loss(loss: AnyLoss, name: str = "loss") -> Loss:
    """Return any form of loss or distance as a `Loss`, an array under this name."""
    if isinstance(loss, Metric):
        return Loss(loss.array, loss.unit, name=loss.name)
    return loss if isinstance(loss, Loss) else Loss(loss, name=name)


def as_named(table: Metric | Loss, rows: Space, columns: Space) -> bool:
    """Return whether distances are those of their name and unit; False where nothing can be compared.

    That is where the name, in any case, is no distance of the package (`Space.metric`, ``member``), or the spaces
    lack what it needs. Raises `InputError` if the name determines other distances, or distances in another unit.
    """
    expected = _rebuilt(table.name, table.unit, rows, columns)
    if expected is None:
        return False
    if expected.shape != table.array.shape:
        n, m = table.array.shape
        raise InputError(
            f"the {table.name} distances are for {n} x {m} values, but there are {len(rows)} x {len(columns)}.",
            "use distances between the mechanism's own secrets and observables.",
        )
    slack = _RELATIVE * expected + np.minimum(_ABSOLUTE * expected.max(initial=0.0), _MOST * expected)
    near = np.abs(table.array - expected) <= slack
    if near.all():
        return True
    i, j = np.argwhere(~near)[0]
    unit = f" {table.unit}" if table.unit else ""
    raise InputError(
        f"the distances are called {table.name!r}, but between {rows.labels[i]!r} and {columns.labels[j]!r} they "
        f"give {table.array[i, j]:.6g}{unit} where the coordinates and labels give {expected[i, j]:.6g}{unit}.",
        "give your own distances another name.",
    )


def follows(distances: Metric | Loss, rows: Space, columns: Space, secrets: Space) -> bool:
    """Return whether distances follow from the values of two spaces and their match with the secrets.

    They do not where their name is not the package's or stands for other distances, or where nothing confirms the
    coordinates (`Space.confirms_coordinates`).
    """
    try:
        is_standard = as_named(distances, rows, columns)
    except InputError:  # its name stands for others
        return False
    if not is_standard or _kind(distances.name) in _OF_LABELS:
        return is_standard
    return rows.confirms_coordinates(secrets) and columns.confirms_coordinates(secrets)


def _rebuilt(name: str, unit: str, rows: Space, columns: Space) -> Floats | None:
    kind = _kind(name)
    if kind == "member":
        return member(rows, columns) * units.factor("", unit)
    if kind not in KINDS:
        return None
    try:
        array, natural_unit = distance_matrix(rows, columns, kind)
    except InputError:  # no coordinates, labels that are not sets, or categories that files do not store
        return None
    return array * units.factor(natural_unit, unit)


def _kind(name: str) -> str:
    """Return the kind that a name stands for, in any spelling: ``Euclidean`` is no other distance."""
    words = unicodedata.normalize("NFKC", name).casefold().replace("-", " ").replace("_", " ").split()
    if words and words[-1] in ("distance", "distances", "metric"):
        words.pop()
    term = "-".join(words)
    return _OTHER_NAMES.get(term.replace("-", ""), term)
