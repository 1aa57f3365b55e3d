"""Requests to an audit: notions and measures by name, and those that its inputs support."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from typing import Any, Final

from numpy.typing import ArrayLike

from ..core import Metric, Prior, Space, units
from ..core.immutable import CompactRepr
from ..divergences import CHI_SQUARED, F_DIVERGENCES, HELLINGER, TOTAL_VARIATION, Divergence, find_divergence
from ..errors import InputError, argument
from ..privacy import KINDS, NAMES, VOCABULARY, Curve, Events, Family, Notion, Priors, Relation, Rivals, kinds
from ..rounding import exactly

_FORM: Final = re.compile(r"^\s*(?P<name>[A-Za-z][\w -]*?)\s*(?:\((?P<given>[^()]*)\))?\s*$")
_HINT: Final = 'write it as "gaussian", "renyi-privacy(order=8)" or "divergence-privacy(of=total-variation)".'

# Names that the literature uses for what has another name here.
_OTHER_NAMES: Final = {
    other: key
    for aliases, key in (
        ("dp ldp pure-dp local-differential-privacy approximate-dp", "differential-privacy"),
        ("geo-indistinguishability geoind d-privacy metric-dp metric-differential-privacy mdp", "metric-privacy"),
        ("rdp renyi rényi-privacy", "renyi-privacy"),
        ("zcdp cdp zero-concentrated", "concentrated-privacy"),
        ("gdp mu-gdp", "gaussian"),
        ("f-dp fdp", "trade-off"),
        ("mi information-leakage", "mutual-information"),
        ("min-entropy leakage", "min-entropy-leakage"),
        ("adversarial-error expected-error", "distortion"),
    )
    for other in aliases.split()
}
OF, PRIOR, EVERY, NUMBERS = "of", "prior", "every", ("delta", "epsilon", "order")

PLAIN: Final = {"epsilon": "differential-privacy", "delta": "differential-privacy"}
"""The notion that a bare parameter stands for, where several notions have it."""

DELTAS: Final = (1e-6,)
DELTA_AT: Final = (0.0, 1.0)
ORDERS: Final = (2.0,)
DIVERGENCES: Final = (TOTAL_VARIATION, CHI_SQUARED, HELLINGER)
_OPTIONS: Final = ("delta", "epsilon", "order", "divergence")
_PLACEHOLDERS: Final = dict.fromkeys(_OPTIONS, 1.0)  # stands for any value


@dataclass(frozen=True, slots=True, repr=False)
class Request(CompactRepr):
    """A notion or measure by name.

    Attributes:
        name: A key, or a parameter such as ``"epsilon"`` that stands for one.
        options: The fixed options: numbers such as ``{"order": 8.0}``, ``{"of": ...}`` for the divergence, and
            ``{"prior": "every"}`` for a guarantee against every prior. With ``identity`` or ``sampling:0.25``
            the priors are `Priors.of_identity` or `Priors.of_sampling`, and the facts who is in the data.
    """

    name: str
    options: Mapping[str, float | str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Request:
        """Return the request in a text; refuse another form, or options that do not exist."""
        match = _FORM.match(text)
        if match is None:
            raise InputError(f"{text.strip()!r} names no notion or measure.", _HINT)
        options: dict[str, float | str] = {}
        for part in filter(str.strip, (match["given"] or "").split(",")):
            name, equals, value = (token.strip() for token in part.partition("="))
            if not equals or not value:
                raise InputError(f"{part.strip()!r} in {text.strip()!r} gives no value.", _HINT)
            if name in options:
                raise InputError(f"{name} is given twice in {text.strip()!r}.", "give it once.")
            options[name] = _value(name, value, text)
        return cls(match["name"].strip().replace("_", "-").replace(" ", "-").lower(), options)

    def notion(self, inputs: AuditInputs, secrets: Space | None = None) -> Notion | None:
        """Return the notion that the request names, for some secrets; None for a measure or an unknown name.

        It refuses missing inputs, ambiguous requests, and options that the notion does not have.
        """
        if self.name in VOCABULARY:
            candidates = [kind for kind in KINDS if kind.description.key == self.name]
        else:
            candidates = [kind for kind in KINDS if kind.parameter == self.name]
            plain = [kind for kind in candidates if kind.description.key == PLAIN.get(self.name)]
            candidates = plain or candidates
        if not candidates:
            return None
        numbers = {name: value for name, value in self.options.items() if name not in (OF, PRIOR)}
        context = {**inputs.context, **numbers}
        if OF in self.options:
            context["divergence"] = find_divergence(str(self.options[OF]))
        renamed = {OF: "divergence", PRIOR: "priors"}
        names = {renamed.get(name, name) for name in self.options}
        fitting = [kind for kind in candidates if names <= {*kind.parts()}]
        if not fitting:
            known = {name for kind in candidates for name in (*kind.parts(), *kind.needs())}
            alien = [OF if name == "divergence" else PRIOR if name == "priors" else name for name in names - known]
            without = " and no ".join(sorted(alien)) or "such form"
            raise InputError(
                f"{str(self)!r} cannot be measured: {self.name} has no {without}.",
                f"choose one of: {', '.join(_choices(candidates, inputs))}.",
            )
        matches = [kind for kind in fitting if names.issuperset(name for name in kind.needs() if name in _OPTIONS)]
        if len(matches) != 1:
            raise InputError(
                f"{str(self)!r} is ambiguous.", f"choose one of: {', '.join(_choices(fitting, inputs))}."
            )
        if PRIOR in self.options:
            context |= self._attackers(secrets)
        (kind,) = matches
        if not kind.supports(context):
            missing = [name for name in kind.needs() if context.get(name) is None]
            raise InputError(
                f"{self} cannot be measured without {' and '.join(NAMES[name] for name in missing)}.",
                f"give {' and '.join(map(argument, missing))}.",
            )
        return kind.of(context)

    def _attackers(self, secrets: Space | None) -> dict[str, object]:
        """Return the priors of the option, and the facts of people where secrets are data sets."""
        family, _, share = str(self.options[PRIOR]).partition(":")
        if family == EVERY:
            return {"priors": Priors.all()}
        if secrets is None:
            raise InputError(
                f"{self} is about data sets, which conversions do not take.", "measure it: 'sfumato audit'."
            )
        priors = Priors.of_sampling(secrets, float(share)) if share else Priors.of_identity(secrets)
        members = Events.of_members(secrets)
        return {"priors": priors, "events": members, "rivals": members}

    def name_error(self, measures: Iterable[str] = ()) -> InputError:
        """Return the error for a name of no notion and none of the measures, with names that may be meant."""
        known = tuple(dict.fromkeys((*VOCABULARY, *measures)))
        other = _OTHER_NAMES.get(self.name.lower())
        near = [other] if other in known else get_close_matches(self.name, known, 3)
        return InputError(
            f"no notion{' or measure' if measures else ''} is called {self.name!r}.",
            f"{'did you mean' if near else 'the names are'} {', '.join(near or known)}{'?' if near else '.'}",
        )

    def __str__(self) -> str:
        return named_with(self.name, self.options)


def request_name(key: str, parameter: str) -> str:
    """Return the name of one number of a notion: its key, or the parameter's name where two share all else."""
    same_key = kinds(key)
    parts = [kind.parts() for kind in same_key if kind.parameter == parameter]
    twins = [kind for kind in same_key if kind.parameter != parameter and kind.parts() in parts]
    return parameter if twins else key


def named_with(name: str, terms: Mapping[str, float | str]) -> str:
    """Return a name with its fixed options, as requests are written."""
    text = ", ".join(f"{key}={term if isinstance(term, str) else exactly(term)}" for key, term in terms.items())
    return f"{name}({text})" if text else name


def divergence_key(divergence: Divergence) -> str:
    """Return the name of a divergence in requests."""
    known = (key for key, candidate in F_DIVERGENCES.items() if candidate is divergence)
    return next(known, slug(divergence.name))


def slug(name: str) -> str:
    """Return a name as requests spell it: ``total-variation``."""
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def _value(name: str, value: str, text: str) -> float | str:
    if name in NUMBERS:
        return units.parse(value, unit="", subject=name) if value != "inf" else float("inf")
    if name == OF:
        return divergence_key(find_divergence(value))
    if name == PRIOR:
        if value in (EVERY, "identity"):
            return value
        family, colon, share = (part.strip() for part in value.partition(":"))
        if family != "sampling" or not colon:
            raise InputError(
                f"prior={value} in {text.strip()!r} is unknown.",
                "write prior=every, prior=identity, prior=sampling:0.25, or nothing.",
            )
        return f"{family}:{exactly(units.parse(share, unit='', subject='the sampling probability'))}"
    raise InputError(
        f"{name!r} in {text.strip()!r} is not an option.",
        f"the options are {', '.join((*NUMBERS, f'{OF} (a divergence)', f'{PRIOR}={EVERY}'))}.",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AuditInputs(CompactRepr):
    """Inputs of `audit` other than the mechanism; None where nothing was given.

    Raises `InputError` if a delta is not between 0 and 1, or an epsilon is negative or NaN.
    """

    prior: Prior | None = None
    metric: Metric | None = None
    relation: Relation | None = None
    events: Events | None = None
    rivals: Rivals | None = None
    family: Family | None = None
    interventions: tuple[ArrayLike, ...] | Mapping[Any, Mapping[Any, ArrayLike]] | None = None
    curve: Curve | None = None
    kinds: Mapping[str, ArrayLike] | None = None
    deltas: tuple[float, ...] = DELTAS
    delta_at: tuple[float, ...] = DELTA_AT
    orders: tuple[float, ...] = ORDERS
    divergences: tuple[Divergence, ...] = DIVERGENCES

    def __post_init__(self) -> None:
        _check_within(self.deltas, 1.0, "a delta")
        _check_within(self.delta_at, math.inf, "an epsilon at which delta is wanted")

    def check_kinds(self) -> None:
        """Refuse kinds without a prior (`InputError`)."""
        if self.kinds is not None and self.prior is None:
            raise InputError("kinds were given without a prior.", f"give {argument('prior')}.")

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


def _check_within(numbers: Iterable[float], most: float, subject: str) -> None:
    for number in numbers:
        if not 0 <= number <= most:
            least = "of at least 0" if math.isinf(most) else f"from 0 to {most:g}"
            raise InputError(f"{number:g} was given as {subject}.", f"use a number {least}.")


def supported_notions(inputs: AuditInputs) -> Iterator[Notion]:
    """Yield the notions that the inputs support.

    Those that are measured only on request are left out, unless nothing else uses an input.
    """
    usual = [kind for kind in KINDS if not kind.on_request and kind.supports({**_PLACEHOLDERS, **inputs.context})]
    names = {name for name, value in inputs.context.items() if value is not None and name != "priors"}
    if inputs.rivals is None:
        names.discard("rivals")
    unused = names - {name for kind in usual for name in kind.parts()}
    for kind in KINDS:
        if kind in usual or unused & {*kind.parts()}:
            yield from _variants(kind, inputs)


def fixed_options(notion: Notion) -> dict[str, float | str]:
    """Return the options that distinguish a notion from others of its key, as requests write them."""
    options: dict[str, float | str] = {}
    defaults = notion.defaults()
    for name, value in notion.settings.items():
        if isinstance(value, Divergence):
            options[OF] = divergence_key(value)
        elif isinstance(value, Priors):
            if value.key or not value.listed:
                options[PRIOR] = value.key or EVERY
        elif isinstance(value, int | float) and value != defaults.get(name):
            options[name] = float(value)
    return options


def _choices(kinds: Iterable[type[Notion]], inputs: AuditInputs) -> list[str]:
    usual: dict[str, tuple[float | str, ...]] = {
        "delta": inputs.deltas or (1e-6,),
        "epsilon": inputs.delta_at or (1.0,),
        "order": inputs.orders or (2.0,),
        "divergence": tuple(map(divergence_key, inputs.divergences or DIVERGENCES)),
    }
    names: dict[str, None] = {}
    for kind in kinds:
        axes = {OF if name == "divergence" else name: usual[name] for name in kind.needs() if name in usual}
        for values in product(*axes.values()):
            options = dict(zip(axes, values, strict=True))
            names[named_with(request_name(kind.description.key, kind.parameter), options)] = None
    return list(names)


def _variants(kind: type[Notion], inputs: AuditInputs) -> Iterator[Notion]:
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
