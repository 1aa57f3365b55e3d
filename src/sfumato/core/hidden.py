"""Names of hidden files beside a target, short enough wherever the target's own name is."""

from __future__ import annotations

import hashlib
from typing import Final

_LONGEST: Final = 140  # bytes; encrypted folders take 143, most others 255


def hidden_name(name: str, suffix: str) -> str:
    """Return the name of a hidden file that belongs to another: a dot, the name, the suffix.

    A long name is cut to whole characters, and a hash of all of it tells it from others that begin alike.

    Args:
        name: The name of the other file, without its folder.
        suffix: What the hidden file is, such as ``.part``; at most 60 bytes.
    """
    encoded = name.encode("utf-8", "surrogateescape")
    end = suffix.encode()
    if len(encoded) + len(end) < _LONGEST:
        return f".{name}{suffix}"
    digest = hashlib.blake2b(encoded, digest_size=8).hexdigest()
    room = _LONGEST - len(end) - len(digest) - 2
    return f".{encoded[:room].decode('utf-8', 'ignore')}~{digest}{suffix}"
