"""The function of ``sfumato audit --function``: found by name, and held to what an audit needs of it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from ..errors import InputError

_FORM = "write module:function, such as noise:blur."
_NEED = "name a function that takes one secret and returns one report."


def function_from(name: str, *, numbers: bool) -> Callable[[Any], Hashable]:
    """Return the function that ``module:function`` names; modules in the present folder are found.

    Whatever goes wrong while it runs is said in one sentence.

    Args:
        name: The module and the function.
        numbers: Whether it must report numbers, or tuples of them.

    Raises:
        InputError: If there is none.
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
        InputError: If it is none.
    """
    from ..evidence.observed.sample import as_label

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
