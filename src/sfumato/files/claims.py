"""Claims of a file's writer: what JSON can hold, as it will be read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import InputError


def json_of(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims as they will be read back.

    Raises:
        InputError: If JSON cannot hold them.
    """
    try:
        again: dict[str, Any] = json.loads(json.dumps(dict(claims), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the claims are not what JSON can hold ({error}).",
            "use texts, finite numbers, true, false, None, lists and mappings.",
        ) from None
    return again
