"""Signatures of mechanism files: Ed25519 over the bytes of a file, in a file next to it."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .._system import atomically
from ..errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SUFFIX: Final = ".sig"
"""What the name of a signature ends in: ``mine.sfm.sig`` belongs to ``mine.sfm``."""

_BYTES: Final = 64
_LONGEST_KEY: Final = 1 << 16
_MAKE: Final = "make a pair with: ssh-keygen -t ed25519 -f team"


def sign(
    path: str | os.PathLike[str], key: str | os.PathLike[str], *, password: Callable[[], str] | None = None
) -> str:
    """Write the signature of a file next to it, under the same name with ``.sig``; return the key's fingerprint.

    ``key`` is the file of an Ed25519 private key, as PEM (PKCS 8) or of OpenSSH; ``password`` is called for the
    password of an encrypted one. The fingerprint is that of ``ssh-keygen -l``. A signature identifies the signer
    of the file, and shows that it is unchanged. It does not prove its guarantees: `sfumato.audit` proves them from
    the numbers. Raises `FileError` if the file or the key cannot be read, or the signature not be written. Raises
    `MissingExtraError` if cryptography is not installed (extra ``sign``).

    Source:
        RFC 8032 (Ed25519). The signature file holds the 64 bytes of the signature of the whole file.
    """
    private = _private_key(Path(key), password)
    signature = private.sign(_content(Path(path)))
    with atomically(f"{os.fspath(path)}{SUFFIX}") as temporary:
        temporary.write_bytes(signature)
    return _fingerprint(private.public_key())


def verify(path: str | os.PathLike[str], key: str | os.PathLike[str]) -> str:
    """Check that a file is signed by a key and unchanged, and return the fingerprint of the key.

    ``key`` is the file of an Ed25519 public key, as PEM or of OpenSSH. The fingerprint is that of ``ssh-keygen
    -l``. The signature is read from the file next to it. Raises `FileError` if the file or the key cannot be read,
    there is no signature, or it is not by this key or not of this content. Raises `MissingExtraError` if
    cryptography is not installed (extra ``sign``).
    """
    return check_signature(_content(Path(path)), Path(path), Path(key))


def check_signature(content: bytes, path: Path, key: Path) -> str:
    """Check that content read from a path is signed by a public key, and return its fingerprint; see `verify`."""
    public = _public_key(key)
    from cryptography.exceptions import InvalidSignature

    try:
        with Path(f"{path}{SUFFIX}").open("rb") as file:
            signature = file.read(_BYTES + 1)
    except FileNotFoundError:
        raise FileError(
            f"{str(path)!r} is not signed: there is no {path.name}{SUFFIX} next to it.",
            f"ask for the signature, or sign the file: sfumato sign {path.name} --key KEY",
        ) from None
    except OSError as error:
        raise FileError(
            f"the signature of {str(path)!r} cannot be read ({error.strerror}).", "check its rights."
        ) from None
    if len(signature) != _BYTES:
        raise FileError(
            f"{path.name}{SUFFIX} next to {str(path)!r} is not a signature: it does not hold {_BYTES} bytes.",
            "get it again from those who signed the file.",
        )
    try:
        public.verify(signature, content)
    except InvalidSignature:
        raise FileError(
            f"the signature of {str(path)!r} is not by the key {str(key)!r} ({_fingerprint(public)}), or the file "
            "was changed after it was signed.",
            "do not use the file; get it again from those who signed it.",
        ) from None
    return _fingerprint(public)


def _private_key(path: Path, password: Callable[[], str] | None) -> Ed25519PrivateKey:
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = _key_content(path)
    read = serialization.load_ssh_private_key if b"OPENSSH" in content else serialization.load_pem_private_key
    try:
        key: Any = _key(path, lambda: read(content, None), "private", f"give the private key, or {_MAKE}")
    except TypeError:  # an encrypted one
        if password is None:
            raise FileError(f"the key {str(path)!r} is encrypted.", "pass its password.") from None
        try:
            key = read(content, password().encode())
        except (TypeError, ValueError) as error:  # TypeError: an empty password
            raise FileError(
                f"the key {str(path)!r} could not be decrypted ({error}).", "check the password."
            ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _other_kind(path)
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = _key_content(path)
    if b"PRIVATE KEY" in content:
        raise FileError(
            f"{str(path)!r} is a private key, which only those who sign should have.", "give the public key."
        )
    read = serialization.load_pem_public_key if b"-----BEGIN" in content else serialization.load_ssh_public_key
    hint = "give the public key of those who sign, such as team.pub."
    key: Any = _key(path, lambda: read(content), "public", hint)
    if not isinstance(key, Ed25519PublicKey):
        raise _other_kind(path)
    return key


def _key(path: Path, read: Callable[[], Any], kind: str, hint: str) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return read()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise FileError(f"{str(path)!r} is not a {kind} key that can be read ({error}).", hint) from None


def _other_kind(path: Path) -> FileError:
    return FileError(f"the key {str(path)!r} is not an Ed25519 key.", _MAKE)


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise MissingExtraError("Signatures", "sign") from None
    return serialization


def _key_content(path: Path) -> bytes:
    content = _content(path, _LONGEST_KEY + 1)
    if len(content) > _LONGEST_KEY:
        raise FileError(f"{str(path)!r} is too large to be a key.", "check the path.")
    return content


def _content(path: Path, most: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:
        raise FileError(
            f"{str(path)!r} cannot be read ({getattr(error, 'strerror', None) or error}).", "check the path."
        ) from None


def _fingerprint(key: Ed25519PublicKey) -> str:
    """Return the fingerprint of a key as ``ssh-keygen -l`` shows it."""
    serialization = _serialization()
    text = key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    digest = hashlib.sha256(base64.b64decode(text.split()[1])).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"
