"""Check of arguments against a function's annotations."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache, update_wrapper
from itertools import chain, repeat
from typing import Any, Final, NamedTuple, TypeVar, cast

import lazy_loader  # type: ignore[import-untyped]
import numpy as np

from ..errors import InputError, argument, python
from .arrays import any_array

Target = TypeVar("Target", bound=Callable[..., Any])


class _Kind(NamedTuple):
    """A class, with the kinds of its items and their number where they are known."""

    type: type
    items: tuple[_Kind, ...] | None = None
    length: int | None = None


# What may be passed for a class.
_ALSO: Final[dict[type, tuple[type, ...]]] = {
    int: (int, np.integer),
    float: (float, int, np.integer, np.floating),
    bool: (bool, np.bool_),
    tuple: (tuple, list),
    np.ndarray: (np.ndarray, list, tuple),
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
    "ndarray": "array",
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
        "make one with sf.Mechanism(matrix), or of noise with .clamp(low, high).mechanism(); "
        "sf.load reads one from a file, and what sf.design returns has its .mechanism."
    ),
    "mechanism": "pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms.",
    "Reports": "read a table with sf.estimation.read_reports(mechanism, table).",
    "MetricPrivacy": "make one with sf.MetricPrivacy(epsilon, metric).",
    "Ledger": "make one with sf.Ledger.create(path, '5/km'), and open it with sf.Ledger(path).",
    "Visits": "make them with sf.read_visits or sf.Visits(lat, lon).",
    "path": "pass the path of a file.",
    "number": "pass a single number.",
    "integer": "pass an integer.",
    "text": "pass a text.",
    "truth value": "pass True or False.",
    "array": "pass a NumPy array of numbers.",
    "list": "pass a list.",
    "tuple": "pass a tuple.",
    "mapping": "pass a mapping from names to values.",
    "function": "pass a function.",
    "label": "pass a text or a number.",
}


def check_arguments(target: Target) -> Target:
    """Return the function, which refuses arguments of any but its annotated kinds (`InputError`).

    Of a class, the constructor and the public methods are checked. Only kinds are checked (a `Space` is not a
    list), also of items. Arrays, labels and arguments annotated as anything are left to the function. NumPy's
    numbers count as Python's, and a list as a tuple or array: the function gets the latter.

    Example:
        >>> from sfumato.core.arguments import check_arguments
        >>> @check_arguments
        ... def half(value: float) -> float:
        ...     return value / 2
        >>> half("3")
        Traceback (most recent call last):
        sfumato.errors.InputError: value= is of type str, but a number is needed.
        Hint: pass a single number.
    """
    if not inspect.isclass(target):
        return cast("Target", _checking(target))
    for name, member in list(vars(target).items()):
        if name in ("__init__", "__call__") or not name.startswith("_"):
            _check_member(target, name, member)
    return target


def _check_member(kind: type, name: str, member: object) -> None:
    function = member.__func__ if type(member) is classmethod else member
    if inspect.isfunction(function) and not hasattr(function, "__wrapped__"):
        checking = _checking(function)
        setattr(kind, name, checking if function is member else classmethod(checking))


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return what `lazy_loader.attach_stub` does, with checked functions, constructors and class methods.

    Other methods are left as they are, because random draws call some often: use `check_arguments` for these.
    """
    load, names, public = lazy_loader.attach_stub(package, file)

    def load_checked(name: str) -> Any:
        value = load(name)
        if inspect.isfunction(value) and not hasattr(value, "__wrapped__"):
            module, value = f"{value.__module__}.", _checking(value)
            while (module := module.rpartition(".")[0]).startswith(package):
                if name in vars(sys.modules[module]):
                    setattr(sys.modules[module], name, value)  # pickles look for it there
        if inspect.isclass(value) and not getattr(value, "_is_protocol", False):
            for kind in [kind for kind in value.__mro__ if kind.__module__.startswith("sfumato")]:
                for attribute, member in list(vars(kind).items()):
                    if attribute == "__init__" or (type(member) is classmethod and not attribute.startswith("_")):
                        _check_member(kind, attribute, member)
        return value

    return load_checked, names, public


def random_generator(seed: int | None) -> np.random.Generator:
    """Return NumPy's generator of a seed, by default a fresh one; `InputError` if the seed is negative."""
    if seed is not None and seed < 0:
        raise InputError(f"{argument('seed', seed)} is negative.", f"use {argument('seed', 1)}.")
    return np.random.default_rng(seed)


def _checking(function: Callable[..., Any]) -> Callable[..., Any]:
    verified = _verify_arguments

    def call(*arguments: Any, **keywords: Any) -> Any:
        arguments, keywords = verified(function, arguments, keywords)
        return function(*arguments, **keywords)

    # In the function's own namespace, or its doctests would be taken for another module's.
    wrapped = types.FunctionType(
        call.__code__, function.__globals__, function.__name__, call.__defaults__, call.__closure__
    )
    return update_wrapper(wrapped, function)


def _verify_arguments(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    names, kinds = _parameter_kinds(function)
    places = zip(chain(names, repeat(names[-1])), arguments, strict=False)
    return (
        tuple([_verify(name, value, kinds[name]) if name in kinds else value for name, value in places]),
        {name: _verify(name, value, kinds[name]) if name in kinds else value for name, value in keywords.items()},
    )


def _verify(name: str, value: Any, kinds: tuple[_Kind, ...], *, item: bool = False) -> Any:
    """Return the value of an argument, or of an item in it; a number of NumPy becomes Python's."""
    rows = item and type(value) is np.ndarray  # of an array, for lists of lists
    fitting = [kind for kind in kinds if _fits(value, kind) or (rows and kind.type in (Sequence, tuple))]
    kind = next((kind for kind in fitting if isinstance(value, kind.type)), next(iter(fitting), None))
    if kind is None:
        raise wrong_kind(name, value, tuple(kind.type for kind in kinds), item=item)
    if kind.type is np.ndarray:
        array = any_array(value, f"{name}=")
        if array.dtype.kind in ("cSUV" if array is value else "cSUVO"):
            raise InputError(f"{name}= is not an array of numbers.", "pass numbers only.")
        return array
    if isinstance(value, np.number | np.bool_) and kind.type is not Hashable:
        return value.item()
    if not isinstance(value, Collection):
        return value
    if kind.length is not None and len(value) != kind.length:
        raise InputError(f"{name}= has {len(value)} items, but {kind.length} are needed.", python("pass a tuple."))
    if kind.items is None:
        return value
    items: Any = value
    if issubclass(kind.type, Mapping):
        items = items.values()
    elif getattr(value, "dtype", object) not in (object,):
        items = items[:1]  # the others are of the same kind
    for entry in items:
        _verify(name, entry, kind.items, item=True)
    return value


def _fits(value: object, kind: _Kind) -> bool:
    if type(value) is bool and kind.type in (int, float):
        return False
    if kind.items is not None and type(value) in (str, bytes):
        return False  # a text is no list of texts
    if kind.type is not np.ndarray and isinstance(value, np.ndarray) and value.ndim == 0:
        return False
    return isinstance(value, _ALSO.get(kind.type, kind.type))


def wrong_kind(name: str, value: object, kinds: tuple[type, ...], *, item: bool = False) -> InputError:
    """Return the error of an argument, or of an item in it, that is of none of the wanted kinds."""
    names = list(dict.fromkeys(_NAMES.get(kind.__name__, kind.__name__) for kind in kinds))
    if "number" in names and "integer" in names:
        names.remove("integer")
    phrase = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    kind = f"the class {value.__name__}" if inspect.isclass(value) else f"of type {type(value).__name__}"
    advice = next((text for noun, text in _ADVICE.items() if noun in names), "see its documentation.")
    if isinstance(value, str) and names == ["list"] and not item:
        advice = f"pass a list: {name}=[{value!r}]."
    article = "an" if phrase[:1] in "AEIOUaeiou" else "a"
    problem = f"an item of {name}=" if item else f"{name}="
    return InputError(f"{problem} is {kind}, but {article} {phrase} is needed.", python(advice))


@cache
def _parameter_kinds(function: Callable[..., Any]) -> tuple[list[str], dict[str, tuple[_Kind, ...]]]:
    """Return the names of positional parameters, the last of which takes all others, and what they may be."""
    positional, kinds = [], {}
    rest = ""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = name
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(name)
        annotated = parameter.annotation is not parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        allowed = _kinds(_resolve_annotation(parameter.annotation, function.__globals__)) if annotated else None
        if allowed is not None:
            kinds[name] = allowed
    return [*positional, rest], kinds


def _resolve_annotation(annotation: Any, space: dict[str, Any]) -> Any:
    """Return the type of an annotation; Any where its names are known to type checkers only."""
    holder = types.SimpleNamespace(__annotations__={"argument": annotation})
    try:
        return typing.get_type_hints(holder, globalns=space)["argument"]
    except (NameError, TypeError):
        return Any


def _kinds(annotation: Any) -> tuple[_Kind, ...] | None:
    """Return the kinds that an annotation allows, or None if they are not known."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _union(parts)
    if origin is typing.Literal:
        return tuple(_Kind(kind) for kind in dict.fromkeys(map(type, parts)))
    kind = origin or annotation
    if not inspect.isclass(kind) or kind in (Any, object):
        return None
    if kind is np.ndarray:
        dtype = typing.get_args(parts[-1])[:1] if parts else ()
        numeric = dtype and inspect.isclass(dtype[0]) and issubclass(dtype[0], np.number | np.bool_)
        return (_Kind(kind),) if numeric else None
    if kind.__module__.startswith("numpy._typing"):  # an array, or what becomes one
        return None
    if getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False):
        return None
    if not parts or not issubclass(kind, Iterable):
        return (_Kind(kind),)
    if origin is not tuple or parts[-1] is Ellipsis:
        items, length = _union(parts[:1] if origin is tuple else parts[-1:]), None
    else:
        items, length = _union(parts), len(parts)
    # Labels are any values, and where None is allowed, data frames have NaN.
    loose = items is not None and not {Hashable, types.NoneType}.isdisjoint(item.type for item in items)
    return (_Kind(kind, None if loose else items, length),)


def _union(annotations: Iterable[Any]) -> tuple[_Kind, ...] | None:
    known = [_kinds(annotation) for annotation in annotations]
    return None if None in known else tuple(kind for kinds in known for kind in kinds or ())
