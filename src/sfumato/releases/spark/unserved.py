"""Arguments of a release that Spark does not serve, refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...errors import InputError, argument, python
from ..budget import Blur
from ..gate import EPSILON, REPORTS

SERVED: Final = ("column", "lat", "lon", "user", "time", "by", "within", "people", "also")
"""The arguments of `sfumato.release` that are passed on as they are."""

_UNSERVED: Final = {
    "resume": "a release on Spark that was stopped leaves nothing to go on with: it begins anew",
    "again": "a release on Spark keeps no record of the sources that were released",
    "place_column": "places are remembered in a database, which tasks of Spark do not ask",
    "skip_damaged": "Spark reads tables alone",
    "receipt": "a release on Spark writes no receipt",
    "progress": "Spark shows its own progress",
}


def refuse_unserved(mechanism: Any, options: Mapping[str, Any]) -> None:
    """Refuse a ledger, and arguments that `sfumato.release` has and a release on Spark has not.

    Args:
        mechanism: The mechanism, or several by name.
        options: Arguments by name.

    Raises:
        InputError: If there is one.
    """
    mechanisms = mechanism.values() if isinstance(mechanism, Mapping) else (mechanism,)
    if any(isinstance(each, Blur) for each in mechanisms):
        raise InputError(
            "tasks of Spark charge no ledger, so a Blur cannot be released from there.",
            python("release the file with sfumato.release, which charges it"),
            python("pass blur.mechanism, and see to the budget yourself."),
        )
    for name, value in options.items():
        if name in SERVED:
            continue
        if name not in _UNSERVED:
            raise InputError(
                f"a release has no argument {name!r}.",
                f"use {', '.join(SERVED)}, keep, outside, allow, {REPORTS}, {EPSILON} and key.",
            )
        if value:
            raise InputError(f"{_UNSERVED[name]}.", f"leave out {argument(name)}.")
