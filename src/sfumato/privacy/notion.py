"""Notions of privacy, their findings, and the witnesses that attain the values."""

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
from numpy.typing import ArrayLike

from ..core import Bracket, Mechanism, Metric, Randomizer, Space
from ..core.arguments import check_arguments
from ..core.arrays import Floats, Positions
from ..core.immutable import CompactRepr
from ..core.naming import label_phrase
from ..rounding import Logarithm, at_most, factor_at_most, log_below
from .relation import pair_name
from .rows import AnyMechanism, check_delta, check_epsilon, list_matrix, rows_equal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Witness(CompactRepr):
    """The secrets, reports and priors that attain a value; parts that do not apply are None or empty.

    Attributes:
        pair: Positions of two secrets, or of two distributions of a family.
        outputs: Positions of the observables, one or a set.
        prior: Array (n,).
        event: Positions of the secrets in the event whose probability changes most.
        note: Anything else that is needed to check it.
        names: The names of the pair, where it is not two secrets.
    """

    pair: tuple[int, int] | None = None
    outputs: Positions = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    prior: Floats | None = None
    event: Positions | None = None
    note: str = ""
    names: tuple[str, str] | None = None

    def describe(self, secrets: Space, observables: Space) -> str:
        """Return the witness in words, with the labels of secrets and observables."""
        parts = []
        if self.pair is not None:
            first, second = self.names or tuple(label_phrase(secrets.labels[position]) for position in self.pair)
            parts.append(f"{first} against {second}")
        if self.event is not None:
            parts.append(f"the event {_label_list(secrets, self.event)}")
        if len(self.outputs):
            word = "report" if len(self.outputs) == 1 else "reports"
            parts.append(f"{word} {_label_list(observables, self.outputs)}")
        if self.note:
            parts.append(self.note)
        return ", ".join(parts)


def _label_list(space: Space, positions: Positions, most: int = 6) -> str:
    names = [label_phrase(space.labels[int(position)]) for position in positions[:most]]
    if len(positions) > most:
        names.append(f"... ({len(positions)} in all)")
    return "{" + ", ".join(names) + "}" if len(positions) > 1 else names[0]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Description(CompactRepr):
    """Names and words of a notion, for claims, requirements, audits and the documentation.

    Attributes:
        key: The name in requirements, claims and the atlas, such as ``"differential-privacy"``.
        title: The name within a sentence, such as ``"differential privacy"``.
        numbers: The names of the numbers that a claim states, such as ``("epsilon", "delta")``.
        question: The question that the number answers.
        promise: The guarantee of a claim, in words. Numbers stand in braces, and so do ``{about}`` for the pairs,
            ``{divergence}``, ``{unit}`` and ``{up_to}`` for delta.
        source: Paper and definition.
        context: Other parts of a claim, by name, such as ``("relation",)``.
        essentials: The parts of the context that a claim cannot leave out.
        defaults: Values of the numbers that may be left out.
        audited: When audits measure it, for a notion without a class.
        larger_hides: Whether larger numbers hide more, as for the error of an attack.
    """

    key: str
    title: str
    numbers: tuple[str, ...] = ("epsilon",)
    _: KW_ONLY
    question: str
    promise: str
    source: str
    context: tuple[str, ...] = ()
    essentials: tuple[str, ...] = ()
    defaults: Mapping[str, float] = field(default_factory=dict)
    audited: str = ""
    larger_hides: bool = False

    @property
    def heading(self) -> str:
        """The title with a capital letter."""
        return self.title[0].upper() + self.title[1:]


@check_arguments
class Notion(ABC):
    """A definition of privacy with one open parameter, whose least value is measured. Smaller values hide more.

    The constructor names the parts of the definition as its description does. A ``relation`` is the ordered pairs
    of secrets that are compared (None: all pairs), ``delta`` a probability, ``priors`` the beliefs against which
    the notion must hold, and ``events`` the facts that are protected (None: each single secret).

    Attributes:
        description: Names, numbers and guarantee in words; classes for different numbers of one notion share it.
        parameter: The name of the open parameter.
        on_request: Whether audits measure it only by name, because another notion has the same number or it needs
            a choice.
        limit: The sentence of a finite ``{value}``, e to it as ``{factor}``, and the ``{related}`` secrets.
        certainty: The sentence of an infinite value.
    """

    __slots__ = ()

    description: ClassVar[Description]
    parameter: ClassVar[str] = "epsilon"
    on_request: ClassVar[bool] = False
    limit: ClassVar[str] = ""
    certainty: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check the fixed delta or epsilon."""
        for name, check in (("delta", check_delta), ("epsilon", check_epsilon)):
            if hasattr(self, name):
                check(getattr(self, name))

    @final
    @property
    def key(self) -> str:
        """The key of its description."""
        return self.description.key

    @final
    @property
    def title(self) -> str:
        """The name within a sentence."""
        return self.description.title

    @final
    @property
    def heading(self) -> str:
        """The name with a capital letter."""
        return self.description.heading

    @classmethod
    def maker(cls) -> Callable[..., Self]:
        """Return the callable that makes the notion from parts named as in claims."""
        return cls

    @final
    @classmethod
    def parts(cls) -> tuple[str, ...]:
        """Return the names of the arguments."""
        return tuple(parameter.name for parameter in _parameters(cls))

    @final
    @classmethod
    def needs(cls) -> tuple[str, ...]:
        """Return the names of the arguments without a default."""
        return tuple(
            parameter.name for parameter in _parameters(cls) if parameter.default is inspect.Parameter.empty
        )

    @final
    @classmethod
    def defaults(cls) -> dict[str, object]:
        """Return the defaults of the other arguments, by name."""
        return {
            parameter.name: parameter.default
            for parameter in _parameters(cls)
            if parameter.default is not inspect.Parameter.empty
        }

    @final
    @classmethod
    def supports(cls, context: Mapping[str, object]) -> bool:
        """Return whether a context has all that the notion needs, by name; None counts as absent."""
        return all(context.get(name) is not None for name in cls.needs())

    @final
    @classmethod
    def of(cls, context: Mapping[str, object]) -> Self:
        """Return the notion made from the parts of a context that it `supports`."""
        arguments = {name: context[name] for name in cls.parts() if context.get(name) is not None}
        return cls.maker()(**arguments)

    @final
    @property
    def settings(self) -> dict[str, object]:
        """The fixed numbers and the context, named as in claims; parts left out are absent."""
        names = {*self.description.numbers, *self.description.context}
        parts = {name: getattr(self, name) for name in self.parts() if name in names}
        return {name: value for name, value in parts.items() if value is not None}

    @property
    def unit(self) -> str:
        """The unit that the value counts per, such as ``"km"``; empty for a pure number."""
        return ""

    def as_metric_privacy(self, _secrets: Space) -> Metric | None:
        """Return the metric for which the notion is metric privacy with delta 0, or None.

        Such a value can be proved on the integers of a mechanism.
        """
        return None

    @property
    def far_pairs_note(self) -> str:
        """Sentence on the pairs at an infinite distance, which the value does not cover; "" if there are none."""
        return ""

    @property
    def vacuous(self) -> bool:
        """Whether the value applies to no pair, so that 0 hides nothing."""
        return False

    @property
    def no_claim_reason(self) -> str:
        """The reason why findings make no claim; empty if they do."""
        return ""

    @final
    def measure(self, mechanism: Randomizer | ArrayLike) -> Finding:
        """Return the least value of the parameter that a mechanism or array (secrets, observables) satisfies.

        Equal rows have the value 0 exactly. For a tupling or a family the `channel` is measured. Raises
        `InputError` if the matrix cannot be listed, the array is not a mechanism, sizes do not fit those of the
        notion, or a prior has the mechanism's secrets in another order.
        """
        matrix = list_matrix(mechanism)
        if isinstance(matrix, Mechanism):
            for prior in getattr(getattr(self, "priors", None), "listed", ()):
                matrix.secrets.check_order(prior.space, "a prior")
        finding = self._measure(matrix)
        if self.settings.get("delta") == 1:  # every mechanism satisfies it
            return Finding(self, 0.0, 0.0, finding.witness)
        if math.isfinite(finding.rounding) and rows_equal(matrix):
            return replace(finding, value=0.0, rounding=0.0)
        return finding

    @abstractmethod
    def _measure(self, mechanism: AnyMechanism) -> Finding:
        """Return the finding of `measure`, with a bound of the rounding error; equal rows need no care."""

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in one or two sentences."""
        about = pair_name(getattr(self, "relation", None))
        if math.isinf(value):
            return self.certainty.format(related=about)
        return self.limit.format(value=at_most(value), factor=factor_at_most(value), related=about)

    @final
    def holds(self, mechanism: Randomizer | ArrayLike, value: float) -> bool:
        """Return whether the mechanism certainly satisfies the notion at a value, rounding included."""
        return self.measure(mechanism).upper <= value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finding:
    """The least value of a notion's parameter that a mechanism satisfies.

    Attributes:
        notion: The notion, with its fixed parts.
        value: The least value, in floating point; ``inf`` if none is enough.
        rounding: A bound of the floating-point error.
        witness: The secrets and reports that attain the value.
        factor: e to the least value as a fraction of at least 1, where that is known.
        most: An upper bound of every value.
    """

    notion: Notion
    value: float
    rounding: float
    witness: Witness
    factor: Fraction | None = None
    most: float = math.inf

    @classmethod
    def of_factor(cls, notion: Notion, factor: Fraction, witness: Witness) -> Self:
        """Return the finding of an epsilon with a known exponential."""
        value = Logarithm(factor)
        return cls(notion, float(value), value - log_below(factor), witness, factor)

    @classmethod
    def of_bounds(cls, notion: Notion, bounds: Bracket, witness: Witness) -> Self:
        """Return the finding whose rounding reaches both bounds of its number."""
        if math.isinf(bounds.value):
            return cls(notion, bounds.value, 0.0 if math.isinf(bounds.lower) else math.inf, witness)
        rounding = max(bounds.upper - bounds.value, bounds.value - bounds.lower)
        return cls(notion, bounds.value, rounding, witness)

    @property
    def upper(self) -> float:
        """A value that the mechanism certainly satisfies: rounded up, unless exact."""
        if self.factor is not None:
            return Logarithm(self.factor)
        exact = math.isinf(self.value) or self.rounding == 0
        return self.value if exact else min(math.nextafter(self.value + self.rounding, math.inf), self.most)

    @property
    def lower(self) -> float:
        """A lower bound of the least value, at least 0: rounded down, unless exact."""
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
        """The guarantee at the upper bound, in words."""
        return self.notion.sentence(self.upper)

    def __repr__(self) -> str:
        return f"{self.notion.heading}: {self.notion.parameter} {self.value:.6g}"


def notions_of(*modules: ModuleType) -> tuple[type[Notion], ...]:
    """Return the concrete notions that modules define, in the order of modules and definitions."""
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
