"""The extra sign: a mechanism file is signed, and read only where the signature is right."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf

key = Ed25519PrivateKey.generate()
unlocked = serialization.NoEncryption()
pem, kinds = serialization.Encoding.PEM, (serialization.PrivateFormat.PKCS8, serialization.PublicFormat)
Path("team").write_bytes(key.private_bytes(pem, kinds[0], unlocked))
Path("team.pub").write_bytes(key.public_key().public_bytes(pem, kinds[1].SubjectPublicKeyInfo))
sf.save(sf.mechanisms.randomised_response(sf.Space("abc"), 1.0), "m.sfm")
sf.files.sign("m.sfm", "team")
sf.load("m.sfm", signed_by="team.pub")
Path("m.sfm").write_bytes(Path("m.sfm").read_bytes() + b"x")
try:
    sf.load("m.sfm", signed_by="team.pub")
except sf.errors.FileError:
    pass
else:
    raise SystemExit("a changed file was read")
