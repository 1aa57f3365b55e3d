"""Labels as JSON: each comes back with the type it had."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import Any

from ..errors import FileError, InputError


def encoded(label: Hashable) -> Any:
    """Return a label as JSON: plain where JSON has its type, tagged otherwise.

    Raises:
        InputError: If the label is of another type than text, number, truth value,
            None, tuple or frozenset.
    """
    if label is None or type(label) in (str, bool, int):
        return label
    if isinstance(label, float) and type(label) is float:
        return label if math.isfinite(label) else {"float": str(label)}
    if isinstance(label, tuple) and type(label) is tuple:
        return {"tuple": [encoded(part) for part in label]}
    if isinstance(label, frozenset):
        # A set has no order of its own; the file needs one, to be the same each time.
        return {
            "set": sorted((encoded(part) for part in label), key=lambda part: json.dumps(part, sort_keys=True))
        }
    raise InputError(
        f"the label {label!r} is a {type(label).__name__}, which a mechanism file cannot hold.",
        "use texts, numbers, tuples or frozensets as labels.",
    )


def decoded(value: Any) -> Hashable:
    """Return the label that was encoded.

    Raises:
        FileError: If the value is not an encoded label.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((tag, content),) = value.items()
        if tag == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if tag == "tuple" and isinstance(content, list):
            return tuple(decoded(part) for part in content)
        if tag == "set" and isinstance(content, list):
            return frozenset(decoded(part) for part in content)
    raise FileError("it holds a label of an unknown kind.", "the file is damaged: write it again.")
