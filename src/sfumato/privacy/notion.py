"""Notions of privacy: what a definition is and what it finds, with the witness that attains the value."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket, Mechanism, Metric, Randomizer, Space
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..core.naming import label_phrase
from ..rounding import Logarithm, log_below
from .rows import AnyMechanism, listed, rows_equal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Witness(CompactRepr):
    """The secrets, reports and priors that attain a value; parts that do not apply are None or empty.

    Attributes:
        pair: Positions of two secrets, or of two distributions of a family.
        outputs: Positions of the observables, one or a set.
        prior: The prior, array (n,).
        event: Positions of the secrets in the event whose probability changes most.
        note: Anything else that is needed to check it, in words.
        names: The names of the two of the pair, where they are not secrets.
    """

    pair: tuple[int, int] | None = None
    outputs: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    prior: Floats | None = None
    event: NDArray[np.intp] | None = None
    note: str = ""
    names: tuple[str, str] | None = None

    def describe(self, secrets: Space, observables: Space) -> str:
        """Return the witness in words, with the labels of secrets and observables."""
        parts = []
        if self.pair is not None:
            first, second = self.names or tuple(label_phrase(secrets.labels[each]) for each in self.pair)
            parts.append(f"{first} against {second}")
        if self.event is not None:
            parts.append(f"the event {_listed(secrets, self.event)}")
        if len(self.outputs):
            word = "report" if len(self.outputs) == 1 else "reports"
            parts.append(f"{word} {_listed(observables, self.outputs)}")
        if self.note:
            parts.append(self.note)
        return ", ".join(parts)


def _listed(space: Space, positions: NDArray[np.intp], most: int = 6) -> str:
    names = [label_phrase(space.labels[int(position)]) for position in positions[:most]]
    if len(positions) > most:
        names.append(f"... ({len(positions)} in all)")
    return "{" + ", ".join(names) + "}" if len(positions) > 1 else names[0]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Description(CompactRepr):
    """Description of a notion in names and words, apart from how it is measured.

    Claims, requirements, audits and the documentation take all names and words from here.

    Attributes:
        key: The name in requirements, in claims and in the atlas, such as ``"differential-privacy"``.
        title: The name within a sentence, such as ``"differential privacy"``.
        numbers: The names of the numbers that a claim states, such as ``("epsilon", "delta")``.
        question: The plain question that the number answers.
        promise: What a claim promises, in plain words. Numbers stand in braces, and so do
            ``{about}`` for the pairs, ``{divergence}``, ``{unit}`` and ``{up_to}`` for delta.
        source: Paper and definition.
        context: What else a claim is about, by name, such as ``("relation",)``.
        required: The parts of the context that a claim cannot leave out.
        defaults: The numbers that may be left out, with what they are then.
        audited: When audits measure it, where no class of notions does.
        larger_hides: Whether larger numbers hide more, as the error of an attack does.
    """

    key: str
    title: str
    numbers: tuple[str, ...] = ("epsilon",)
    _: KW_ONLY
    question: str
    promise: str
    source: str
    context: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    defaults: Mapping[str, float] = field(default_factory=dict)
    audited: str = ""
    larger_hides: bool = False

    @property
    def heading(self) -> str:
        """The title as it begins a line."""
        return self.title[0].upper() + self.title[1:]


class Notion(ABC):
    """A definition of privacy with one parameter left open, of which the least value is sought.

    A notion holds what else its definition needs (a relation on secrets, priors, a
    metric, an allowed delta) and measures any mechanism by it. Smaller values hide more.
    Its constructor names these parts as its description does; that is all that audits
    and claims need in order to make one.

    Attributes:
        description: Its names, its numbers and its promise in words; two classes that find
            different numbers of one notion share it.
        parameter: What the open parameter is called.
        on_request: Whether audits measure it only where it is named, because its number is
            that of another notion, or because it needs a choice.
    """

    __slots__ = ()

    description: ClassVar[Description]
    parameter: ClassVar[str] = "epsilon"
    on_request: ClassVar[bool] = False

    @final
    @property
    def key(self) -> str:
        """The key of its description."""
        return self.description.key

    @final
    @property
    def title(self) -> str:
        """Its name within a sentence."""
        return self.description.title

    @final
    @property
    def heading(self) -> str:
        """Its name as it begins a line."""
        return self.description.heading

    @classmethod
    def maker(cls) -> Callable[..., Self]:
        """Return what makes the notion of parts that are named as in claims."""
        return cls

    @final
    @classmethod
    def parts(cls) -> tuple[str, ...]:
        """Return the names of what the notion can be made of."""
        return tuple(each.name for each in _parameters(cls))

    @final
    @classmethod
    def needs(cls) -> tuple[str, ...]:
        """Return the names of the parts that cannot be left out."""
        return tuple(each.name for each in _parameters(cls) if each.default is inspect.Parameter.empty)

    @final
    @classmethod
    def defaults(cls) -> dict[str, object]:
        """Return what the parts that can be left out are then, by name."""
        return {
            each.name: each.default for each in _parameters(cls) if each.default is not inspect.Parameter.empty
        }

    @final
    @classmethod
    def supports(cls, context: Mapping[str, object]) -> bool:
        """Return whether all that the notion needs is in a context, by name; None counts as absent."""
        return all(context.get(name) is not None for name in cls.needs())

    @final
    @classmethod
    def of(cls, context: Mapping[str, object]) -> Self:
        """Return the notion made of what it needs and can use of a context that it `supports`."""
        found = {name: context[name] for name in cls.parts() if context.get(name) is not None}
        return cls.maker()(**found)

    @final
    @property
    def stated(self) -> dict[str, object]:
        """The numbers that are held fixed and the context, named as in claims; what was left out is absent."""
        named = {*self.description.numbers, *self.description.context}
        held = {name: getattr(self, name) for name in self.parts() if name in named}
        return {name: value for name, value in held.items() if value is not None}

    @property
    def unit(self) -> str:
        """The unit that the value counts per, such as ``"km"``; empty if it is a pure number."""
        return ""

    def as_metric_privacy(self, _secrets: Space) -> Metric | None:
        """Return the metric of which the notion is metric privacy with delta 0, if it is that of some.

        Such a value can be proved on the integers of a mechanism.
        """
        return None

    @property
    def unprotected(self) -> str:
        """Sentence on the pairs that its value says nothing of, at an infinite distance; "" if there are none."""
        return ""

    @property
    def vacuous(self) -> bool:
        """Whether its value says nothing of any pair, so that 0 hides nothing."""
        return False

    @property
    def unclaimed(self) -> str:
        """The reason why its findings make no claim, such as single reports alone; empty if they do."""
        return ""

    @final
    def measure(self, mechanism: Randomizer | ArrayLike) -> Finding:
        """Return the least value of the parameter that a mechanism or array (secrets, observables) satisfies.

        Where the rows are equal, reports tell nothing and the value is 0, whatever floats make of it. Of a tupling
        or a family its `channel` is measured.

        Raises:
            InputError: If its matrix cannot be listed, the array is not a mechanism, sizes do not fit those of the
                notion, or a prior has the mechanism's secrets in another order.
        """
        matrix = listed(mechanism)
        if isinstance(matrix, Mechanism):
            for prior in getattr(getattr(self, "priors", None), "listed", ()):
                matrix.secrets.check_order(prior.space, "a prior")
        found = self._measured(matrix)
        if self.stated.get("delta") == 1:  # which allows all that can be reported
            return Finding(self, 0.0, 0.0, found.witness)
        if math.isfinite(found.rounding) and rows_equal(matrix):
            return replace(found, value=0.0, rounding=0.0)
        return found

    @abstractmethod
    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return what `measure` does, with a bound of the rounding error; equal rows need no care."""

    @abstractmethod
    def sentence(self, value: float) -> str:
        """Return what a mechanism of this value promises, in one or two plain sentences."""

    @final
    def holds(self, mechanism: Randomizer | ArrayLike, value: float) -> bool:
        """Return whether the mechanism satisfies the notion at a value for certain, rounding included."""
        return self.measure(mechanism).upper <= value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finding:
    """The least value of a notion's parameter that a mechanism satisfies.

    Attributes:
        notion: The notion, with its relation, priors and fixed parameters.
        value: The least value, as floating point computed it; ``inf`` if none is enough.
        rounding: A bound of what floating point may have got wrong.
        witness: What attains the value.
        factor: e to the least value, where that is known as a fraction, of at least 1.
        most: No value is larger, whatever rounding adds.
    """

    notion: Notion
    value: float
    rounding: float
    witness: Witness
    factor: Fraction | None = None
    most: float = math.inf

    @classmethod
    def of_factor(cls, notion: Notion, factor: Fraction, witness: Witness) -> Self:
        """Return the finding of an epsilon whose exponential is known."""
        value = Logarithm(factor)
        return cls(notion, float(value), value - log_below(factor), witness, factor)

    @classmethod
    def between(cls, notion: Notion, bounds: Bracket, witness: Witness) -> Self:
        """Return the finding whose rounding reaches both bounds of its number."""
        if math.isinf(bounds.value):
            return cls(notion, bounds.value, 0.0 if math.isinf(bounds.lower) else math.inf, witness)
        rounding = max(bounds.upper - bounds.value, bounds.value - bounds.lower)
        return cls(notion, bounds.value, rounding, witness)

    @property
    def upper(self) -> float:
        """A value that the mechanism satisfies for certain: rounded up, unless it is exact."""
        if self.factor is not None:
            return Logarithm(self.factor)
        exact = math.isinf(self.value) or self.rounding == 0
        return self.value if exact else min(math.nextafter(self.value + self.rounding, math.inf), self.most)

    @property
    def lower(self) -> float:
        """A value below which it fails for certain: rounded down, at least 0."""
        if self.factor is not None:
            return log_below(self.factor)
        if self.rounding == 0:
            return self.value
        if math.isinf(self.value):
            return 0.0 if math.isinf(self.rounding) else self.value
        return max(0.0, math.nextafter(self.value - self.rounding, -math.inf))

    @property
    def bracket(self) -> Bracket:
        """The value between its bounds."""
        return Bracket(self.lower, self.value, self.upper)

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        return self.notion.sentence(self.upper)

    def __repr__(self) -> str:
        return f"{self.notion.heading}: {self.notion.parameter} {self.value:.6g}"


def notions_of(*modules: ModuleType) -> tuple[type[Notion], ...]:
    """Return the notions that modules define, in the order of the modules and of their definitions."""
    return tuple(
        kind
        for module in modules
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, Notion) and kind.__module__ == module.__name__
        if not inspect.isabstract(kind)
    )


@cache
def _parameters(kind: type[Notion]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(kind.maker()).parameters.values())
