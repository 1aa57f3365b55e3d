"""Check of arguments against a function's annotations."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

from ..errors import InputError, python

P = ParamSpec("P")
T = TypeVar("T")

# What a number may be instead of Python's own.
_ALSO: Final[dict[type, tuple[type, ...]]] = {
    int: (int, np.integer),
    float: (float, int, np.integer, np.floating),
    bool: (bool, np.bool_),
}
_NAMES: Final[Mapping[str, str]] = {
    "float": "number",
    "int": "integer",
    "str": "text",
    "bool": "truth value",
    "Randomizer": "mechanism",
    "PathLike": "path",
    "ArrowStream": "table",
    "ArrowBatch": "table",
    "LazyTable": "table",
    "Iterable": "list",
    "Sequence": "list",
    "Collection": "list",
    "Mapping": "mapping",
    "Callable": "function",
    "Hashable": "label",
    "NoneType": "None",
}
_ADVICE: Final[Mapping[str, str]] = {
    "table": (
        "pass a path, or a table with Arrow's PyCapsule interface: a data frame of pandas 2.2 or Polars "
        "(collect a lazy one), a pyarrow Table, a DuckDB relation."
    ),
    "Space": "make one with sf.Space(labels), or sf.Grid.covering for places.",
    "Places": "make one with sf.Grid.covering.",
    "Prior": "make one with sf.Prior(space, probabilities), or sf.Prior.uniform(space).",
    "Metric": "make one with sf.Metric(array, unit), or space.metric('euclidean').",
    "Mechanism": (
        "make one with sf.Mechanism(matrix), or of noise with .clamped(low, high).mechanism(); "
        "sf.load reads one from a file, and what sf.design returns has its .mechanism."
    ),
    "mechanism": "pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms.",
    "MetricPrivacy": "make one with sf.MetricPrivacy(epsilon, metric).",
    "Ledger": "make one with sf.Ledger.create(path, '5/km'), and open it with sf.Ledger(path).",
    "Visits": "make them with sf.read_visits or sf.Visits(lat, lon).",
    "path": "pass the path of a file.",
    "number": "pass a single number.",
    "integer": "pass an integer.",
    "text": "pass a text.",
    "truth value": "pass True or False.",
    "list": "pass a list.",
    "mapping": "pass a mapping from names to values.",
    "function": "pass a function.",
    "label": "pass a text or a number.",
}


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function, which refuses arguments of any but its annotated kinds (`InputError`).

    Only kinds are checked (a `Space` is not a list), not contents. Arrays and arguments annotated as anything are
    left to the function. Numpy's numbers count as Python's.

    Example:
        >>> from sfumato.core.arguments import checked
        >>> @checked
        ... def half(value: float) -> float:
        ...     return value / 2
        >>> half("3")
        Traceback (most recent call last):
        sfumato.errors.InputError: value= is of type str, but a number is needed.
        Hint: pass a single number.
    """
    verify = _verify

    def call(*arguments: P.args, **named: P.kwargs) -> T:
        verify(function, arguments, named)
        return function(*arguments, **named)

    # In the function's own namespace, or its doctests would be taken for another module's.
    wrapped = types.FunctionType(
        call.__code__, function.__globals__, function.__name__, call.__defaults__, call.__closure__
    )
    return update_wrapper(wrapped, function)


def _verify(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    signature, kinds = _described(function)
    try:
        bound = signature.bind(*arguments, **named)
    except TypeError:
        return  # a missing or unknown argument: Python says so itself
    for name, value in bound.arguments.items():
        wanted = kinds.get(name)
        if wanted is None:
            continue
        number = not {bool, object}.intersection(wanted) and not {int, float}.isdisjoint(wanted)
        if not isinstance(value, wanted) or (number and isinstance(value, bool)):
            raise wrong_kind(name, value, wanted)


def wrong_kind(name: str, value: object, wanted: tuple[type, ...]) -> InputError:
    """Return the error of an argument that is of none of the wanted kinds."""
    names = list(dict.fromkeys(_name(kind) for kind in wanted))
    if "number" in names and "integer" in names:
        names.remove("integer")
    needed = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    kind = f"the class {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"
    advice = next((text for noun, text in _ADVICE.items() if noun in names), "see its documentation.")
    article = "an" if needed[:1] in "AEIOUaeiou" else "a"
    return InputError(f"{name}= is {kind}, but {article} {needed} is needed.", python(advice))


def _name(kind: type) -> str:
    if kind.__module__ == "numpy":
        kind = next(plain for plain, also in _ALSO.items() if kind in also)
    return _NAMES.get(kind.__name__, kind.__name__)


@cache
def _described(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, tuple[type, ...]]]:
    signature = inspect.signature(function)
    space = getattr(function, "__globals__", {})
    kinds = {}
    for name, parameter in signature.parameters.items():
        many = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if many or parameter.annotation is parameter.empty:
            continue
        classes = _kinds(_resolved(parameter.annotation, space))
        if classes is not None:
            kinds[name] = classes
    return signature, kinds


def _resolved(annotation: Any, space: dict[str, Any]) -> Any:
    """Return the type of an annotation; Any where its names are known to type checkers only."""
    holder = types.SimpleNamespace(__annotations__={"argument": annotation})
    try:
        return typing.get_type_hints(holder, globalns=space)["argument"]
    except (NameError, TypeError):
        return Any


def _kinds(annotation: Any) -> tuple[type, ...] | None:
    """Return the classes that an annotation allows, or None if they are not known."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        parts = [_kinds(part) for part in typing.get_args(annotation)]
        known = [part for part in parts if part is not None]
        return tuple(kind for part in known for kind in part) if len(known) == len(parts) else None
    if origin is typing.Literal:
        return tuple({type(value) for value in typing.get_args(annotation)})
    kind = origin or annotation
    if not isinstance(kind, type) or kind in (Any, object, np.ndarray):
        return None
    if kind.__module__.startswith("numpy._typing"):  # an array, or what becomes one
        return None
    if getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False):
        return None
    return _ALSO.get(kind, (kind,))
