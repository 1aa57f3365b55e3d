"""Ledgers at the command line: opened by an address and a file that holds the key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..ledgers import Ledger


def open_ledger(address: str, key_file: Path | None) -> Ledger:
    """Return the ledger at an address.

    Args:
        address: Its path or address.
        key_file: The file of its key; None for none.

    Raises:
        FileError: If there is no ledger, or the key cannot be read.
        InputError: If the key is not the ledger's.
    """
    from ..ledgers import Ledger

    return Ledger(address, key=read_key(key_file))


def read_key(key_file: Path | None) -> bytes | None:
    """Return the key that is written in a file, in hexadecimal digits; None for no file.

    Raises:
        FileError: If the file cannot be read.
        InputError: If it holds something else.
    """
    from ..errors import FileError, InputError

    if key_file is None:
        return None
    try:
        text = key_file.read_text(encoding="ascii").strip()
        return bytes.fromhex(text)
    except OSError as error:
        raise FileError(f"{str(key_file)!r} cannot be read ({error.strerror}).", "check the path.") from error
    except ValueError:
        raise InputError(
            f"{str(key_file)!r} holds no key.", "it must hold the 64 hexadecimal digits that were written there."
        ) from None


def new_key(key_file: Path | None) -> bytes | None:
    """Return a fresh key, and write it to a file that only its owner can read; None for no file.

    Raises:
        FileError: If the file exists, or cannot be written.
    """
    import os

    from ..errors import FileError
    from ..ledgers import new_ledger_key

    if key_file is None:
        return None
    key = new_ledger_key()
    try:
        with os.fdopen(os.open(key_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(key.hex() + "\n")
    except FileExistsError:
        raise FileError(f"{str(key_file)!r} exists already.", "choose another file for the key.") from None
    except OSError as error:
        raise FileError(
            f"{str(key_file)!r} could not be written ({error.strerror}).", "choose another place."
        ) from error
    return key
