"""An audit of a function: found by name, called, and checked to return reports."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError

if TYPE_CHECKING:
    from ...audits import Audit, Request
    from .given import Given

_FORM = "write module:function, such as noise:blur."
_NEED = "name a function that takes one secret and returns one report."


def audit_function(
    name: str,
    secrets: str | None,
    epsilon: str | None,
    given: Given,
    also: Iterable[Request],
    *,
    bins: int | None,
    failure: float,
    limit: int,
) -> tuple[Audit, bool]:
    """Return what calls of a function show, and whether its claim stands.

    Args:
        name: The module and the function.
        secrets: The secrets to call it with.
        epsilon: The epsilon that it claims.
        given: The options beside the function.
        also: What the user requires.
        bins: How many bins to count reports in that are numbers; None for labels.
        failure: The probability that a bound is wrong.
        limit: The most calls.
    """
    from ...audits import audit_black_box
    from ...core import Space

    for request in also:
        if request.name not in ("epsilon", "differential-privacy", "metric-privacy"):
            raise InputError(f"calls of a function cannot show {request}.", "they can show epsilon.")
    if secrets is None or epsilon is None:
        raise InputError("--function needs --secrets and --epsilon.", "say which secrets to try, and the claim.")
    if len(given.delta) > 1:
        raise InputError("--delta was given more than once for a function.", "give the one delta that it claims.")
    labels = _labels(secrets)
    found = audit_black_box(
        _function(name, numbers=bins is not None),
        labels,
        epsilon,
        metric=given.metric_on(Space(labels)),
        delta=given.delta[0] if given.delta else 0.0,
        failure=failure,
        limit=limit,
        bins=bins,
    )
    return found.audit, not found.refuted


def _labels(text: str) -> list[str | int]:
    """Return the secrets of ``--secrets``: names between commas, or numbers such as ``0-9``."""
    first, dash, last = text.partition("-")
    if dash and first.strip().isdigit() and last.strip().isdigit():
        if int(last) <= int(first):
            raise InputError(f"{text!r} names fewer than two secrets.", "write a range upwards, such as 0-9.")
        return list(range(int(first), int(last) + 1))
    parts = [part.strip() for part in text.split(",") if part.strip()]
    labels: list[str | int] = [int(part) if part.lstrip("-").isdigit() else part for part in parts]
    if len(labels) < 2:
        raise InputError(f"{text!r} names {len(labels)} secrets.", "name at least two, such as home,work or 0-9.")
    return labels


def _function(name: str, *, numbers: bool) -> Callable[[Any], Hashable]:
    """Return the function that ``module:function`` names; modules in the present folder are found.

    Whatever goes wrong while it runs is said in one sentence.

    Args:
        name: The module and the function.
        numbers: Whether it must report numbers, or tuples of them.

    Raises:
        InputError: If the module or the function does not exist.
    """
    module, colon, function = (part.strip() for part in name.partition(":"))
    if not colon or not module or not function:
        raise InputError(f"{name!r} does not name a function.", _FORM)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    found = _attribute(_module(module), module, function)
    if not callable(found):
        raise InputError(f"{name!r} is not a function, but {_kind(found)}.", _NEED)

    def guarded(secret: Any) -> Hashable:
        try:
            report = found(secret)
        except (Exception, SystemExit) as error:
            raise InputError(f"{name} failed for the secret {secret!r} ({_told(error)}).", _NEED) from error
        return _report(report, name, secret, numbers=numbers)

    return guarded


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"the module {name!r} cannot be imported ({error}).",
            "check its name, and run the command in its folder.",
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"the module {name!r} cannot be imported ({_told(error)}).", "make it importable in Python first."
        ) from error


def _attribute(found: Any, module: str, path: str) -> Any:
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"the module {module!r} has no {path!r}.", "check the function's name.")
        found = getattr(found, part)
    return found


def _report(report: Any, name: str, secret: Any, *, numbers: bool) -> Hashable:
    """Return a report as an audit can count it.

    Raises:
        InputError: If it is not a report.
    """
    from ...statistics.sample import as_label

    returned = f"{name} returned {_kind(report)} for the secret {secret!r}"
    try:
        label = as_label(report)
        hash(label)
    except (TypeError, ValueError):
        raise InputError(
            f"{returned}, which is not a report.", "let it return text, a number or a tuple."
        ) from None
    parts = label if isinstance(label, tuple) else (label,)
    if numbers and not all(isinstance(part, int | float) for part in parts):
        raise InputError(
            f"{returned}, but --bins counts numbers.",
            "leave --bins out, or let it return a number or a tuple of them.",
        )
    return label


def _kind(found: Any) -> str:
    shown = repr(found)
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} ({type(found).__name__})"


def _told(error: BaseException) -> str:
    said = str(error).splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
