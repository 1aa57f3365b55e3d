"""The choice of notions that an audit measures: those supported by what is given, and those asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, final

from numpy.typing import ArrayLike

from ..core import Metric, Prior
from ..core.immutable import CompactRepr
from ..divergences import CHI_SQUARED, HELLINGER, TOTAL_VARIATION, Divergence, named
from ..errors import InputError, argument
from ..privacy import (
    KINDS,
    VOCABULARY,
    Curve,
    Events,
    Family,
    Notion,
    Priors,
    Relation,
    Rivals,
)
from ..privacy.vocabulary import NAMES
from .request import EVERY, OF, PLAIN, PRIOR, Request, divergence_key, named_with, request_name

DELTAS: Final = (1e-6,)
DELTA_AT: Final = (0.0, 1.0)
ORDERS: Final = (2.0,)
DIVERGENCES: Final = (TOTAL_VARIATION, CHI_SQUARED, HELLINGER)


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AuditInputs(CompactRepr):
    """Inputs of an audit besides the mechanism; None where nothing was given.

    Attributes:
        prior: What the attacker believes before the report.
        metric: The distance that epsilon counts per.
        relation: The pairs of secrets that must look alike.
        events: The facts that must stay hidden.
        rivals: Pairs of facts that must look alike.
        family: Distributions of secrets that must look alike.
        interventions: For each record, array (values, secrets) of positions.
        curve: The trade-off curve that tests are held against.
        deltas: Where epsilon is also wanted for a delta above zero.
        delta_at: The epsilons at which delta is wanted.
        orders: The orders of Rényi privacy.
        divergences: The divergences by which reports are compared.

    Raises:
        InputError: If a delta is not between 0 and 1, or an epsilon is negative or NaN.
    """

    prior: Prior | None = None
    metric: Metric | None = None
    relation: Relation | None = None
    events: Events | None = None
    rivals: Rivals | None = None
    family: Family | None = None
    interventions: tuple[ArrayLike, ...] | None = None
    curve: Curve | None = None
    deltas: tuple[float, ...] = DELTAS
    delta_at: tuple[float, ...] = DELTA_AT
    orders: tuple[float, ...] = ORDERS
    divergences: tuple[Divergence, ...] = DIVERGENCES

    def __post_init__(self) -> None:
        _check_within(self.deltas, 1.0, "a delta")
        _check_within(self.delta_at, math.inf, "an epsilon at which delta is wanted")

    @property
    def context(self) -> dict[str, object]:
        """The parts that notions can be made of, by name."""
        return {
            "priors": Priors.all() if self.prior is None else Priors.of(self.prior),
            "metric": self.metric,
            "relation": self.relation,
            "events": self.events,
            "rivals": self.rivals if self.rivals is not None else self.events,
            "family": self.family,
            "interventions": self.interventions,
            "curve": self.curve,
        }


def _check_within(numbers: Iterable[float], most: float, what: str) -> None:
    for number in numbers:
        if not 0 <= number <= most:
            least = "of at least 0" if math.isinf(most) else f"from 0 to {most:g}"
            raise InputError(f"{number:g} was given as {what}.", f"use a number {least}.")


def chosen(inputs: AuditInputs) -> Iterator[Notion]:
    """Yield the notions that the inputs support.

    Those that are measured only on request are left out, unless nothing else uses an
    input.
    """
    usual = [kind for kind in KINDS if not kind.on_request and kind.supports({**_SETTLED, **inputs.context})]
    unused = {*_named(inputs)} - {name for kind in usual for name in kind.parts()}
    for kind in KINDS:
        if kind in usual or unused & {*kind.parts()}:
            yield from _each(kind, inputs)


def asked(request: Request, inputs: AuditInputs) -> Notion | None:
    """Return the notion that a request names; None if it names none, but perhaps a measure.

    Raises:
        InputError: If something that the notion needs is not known, or the request is
            ambiguous, or fixes what the notion does not have.
    """
    kinds = _candidates(request)
    if not kinds:
        return None
    fixed = {name: value for name, value in request.given.items() if name not in (OF, PRIOR)}
    context = {**inputs.context, **fixed}
    if OF in request.given:
        context["divergence"] = named(str(request.given[OF]))
    if request.given.get(PRIOR) == EVERY:
        context["priors"] = Priors.all()
    said = {*fixed, *("divergence" for name in request.given if name == OF), *_prior_of(request)}
    fitting = [kind for kind in kinds if said <= {*kind.parts()}]
    if not fitting:
        known = {name for kind in kinds for name in (*kind.parts(), *kind.needs())}
        alien = [OF if name == "divergence" else PRIOR if name == "priors" else name for name in said - known]
        without = " and no ".join(sorted(alien)) or "such form"
        raise InputError(
            f"{str(request)!r} cannot be measured: {request.name} has no {without}.",
            f"choose one of: {', '.join(_choices(kinds, inputs))}.",
        )
    open_ = {kind: [name for name in kind.needs() if name in _OPTIONS and name not in said] for kind in fitting}
    settled = [kind for kind in fitting if not open_[kind]]
    if len(settled) != 1:
        raise InputError(
            f"{str(request)!r} is ambiguous.",
            f"choose one of: {', '.join(_choices(fitting, inputs))}.",
        )
    (kind,) = settled
    if not kind.supports(context):
        missing = [name for name in kind.needs() if context.get(name) is None]
        raise InputError(
            f"{request} cannot be measured without {' and '.join(NAMES[name] for name in missing)}.",
            f"give {' and '.join(map(argument, missing))}.",
        )
    return kind.of(context)


_OPTIONS: Final = ("delta", "epsilon", "order", "divergence")
_SETTLED: Final = dict.fromkeys(_OPTIONS, 1.0)  # stands for any value


def fixed(notion: Notion) -> dict[str, float | str]:
    """Return what distinguishes a notion from others of its key, as requests write it."""
    found: dict[str, float | str] = {}
    defaults = notion.defaults()
    for name, value in notion.stated.items():
        if isinstance(value, Divergence):
            found[OF] = divergence_key(value)
        elif isinstance(value, Priors):
            if not value.listed:
                found[PRIOR] = EVERY
        elif isinstance(value, int | float) and value != defaults.get(name):
            found[name] = float(value)
    return found


def _candidates(request: Request) -> list[type[Notion]]:
    """Return the classes whose key, or whose parameter, a request names."""
    if request.name in VOCABULARY:
        return [kind for kind in KINDS if kind.description.key == request.name]
    named = [kind for kind in KINDS if kind.parameter == request.name]
    plain = [kind for kind in named if kind.description.key == PLAIN.get(request.name)]
    return plain or named


def _prior_of(request: Request) -> Iterable[str]:
    return ("priors",) if PRIOR in request.given else ()


def _choices(kinds: Iterable[type[Notion]], inputs: AuditInputs) -> list[str]:
    """Return requests that are not ambiguous."""
    found = []
    for kind in kinds:
        axes = [(name, _usual(name, inputs)) for name in kind.needs() if name in _OPTIONS]
        for values in product(*(each for _, each in axes)):
            given = {
                OF if name == "divergence" else name: value for (name, _), value in zip(axes, values, strict=True)
            }
            found.append(named_with(request_name(kind.description.key, kind.parameter), given))
    return list(dict.fromkeys(found))


def _usual(name: str, inputs: AuditInputs) -> tuple[float | str, ...]:
    if name == "divergence":
        return tuple(divergence_key(each) for each in inputs.divergences or DIVERGENCES)
    given = {"delta": inputs.deltas, "epsilon": inputs.delta_at, "order": inputs.orders}[name]
    return given or {"delta": (1e-6,), "epsilon": (1.0,), "order": (2.0,)}[name]


def _each(kind: type[Notion], inputs: AuditInputs) -> Iterator[Notion]:
    """Yield the notions of a class, one for each way to fix its numbers and its divergence."""
    needs = kind.needs()
    deltas = tuple(delta for delta in inputs.deltas if delta > 0)
    axes: dict[str, tuple[object, ...]] = {
        "delta": deltas if "delta" in needs else (None, *deltas),
        "epsilon": inputs.delta_at,
        "divergence": inputs.divergences,
    }
    if "order" in needs:
        axes["order"] = inputs.orders
    names = [name for name in kind.parts() if name in axes]
    for values in product(*(axes[name] for name in names)):
        context: Mapping[str, object] = {**inputs.context, **dict(zip(names, values, strict=True))}
        if kind.supports(context):
            yield kind.of(context)


def _named(inputs: AuditInputs) -> Iterator[str]:
    """Yield the names of what was given, besides the prior."""
    for name, value in inputs.context.items():
        if value is not None and name != "priors" and (name != "rivals" or inputs.rivals is not None):
            yield name
