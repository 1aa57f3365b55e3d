"""Reading of mechanism files."""

from __future__ import annotations

import os

from ..core import Randomizer
from ..core.arguments import checked
from ..errors import FileError, InputError
from .archive import read_archive
from .decoding import Contents
from .manifest import DAMAGED
from .mechanism_file import MechanismFile


@checked
def read_mechanism_file(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> MechanismFile:
    """Return all that a mechanism file holds, whatever the kind of its mechanism.

    Nothing in the file is run or unpickled, and nothing is unpacked to disk; sizes are
    checked before memory is taken, checksums before anything is used. The checksums
    find accidents, not forgeries: anyone who can change the file can change them as well.
    A signature finds those, too.

    Distances that the secrets do not confirm are marked (`Metric.stated`), and a promise by them is refused where
    reports are drawn or charged.

    Args:
        path: The file.
        trust_distances: Whether to take the file's word for its distances: leave them unmarked.
        signed_by: The file of the public key by which it has to be signed (`verify`).

    Raises:
        FileError: If the file does not exist; or it is not one of a mechanism, is cut off,
            damaged, inconsistent, written by a newer version or not signed by the key.
        MissingExtraError: If a signature is needed and cryptography is not installed (extra ``sign``).
    """
    try:
        held = Contents(*read_archive(path, signed_by))
        if held.noisy:
            noise, prior, source = held.noise()
            return MechanismFile(noise, prior, claims=held.claims(), source=source)
        mechanism = held.mechanism()
        return MechanismFile(
            held.tupling(mechanism) or mechanism,
            held.prior(),
            held.loss(),
            held.guarantees(mechanism.secrets, trusted=trust_distances),
            held.claims(),
            held.optimality(mechanism.shape),
            held.constraints(),
        )
    except FileError as error:
        raise FileError(f"{os.fspath(path)!r}: {error.problem}", error.hint) from error
    except InputError as error:
        raise FileError(
            f"{os.fspath(path)!r}: its content is inconsistent: {error.problem}",
            "the file is damaged or was made by another program: write it again with sfumato.",
        ) from error
    except RecursionError as error:
        raise FileError(f"{os.fspath(path)!r}: its content is nested too deeply.", DAMAGED) from error


@checked
def load(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> Randomizer:
    """Return the mechanism of a mechanism file: a `Mechanism`, a `Tupling` or a `CoordinateNoise`.

    `read_mechanism_file` gives all that the file holds.

    Args:
        path: The file.
        trust_distances: Whether to take the file's word for distances that its secrets do not confirm, such as
            travel times. Without it, a promise by such distances is refused where reports are drawn or charged.
        signed_by: The file of the public key by which it has to be signed (`sfumato.files.verify`).

    Raises:
        FileError: As `read_mechanism_file`.
    """
    return read_mechanism_file(path, trust_distances=trust_distances, signed_by=signed_by).mechanism
