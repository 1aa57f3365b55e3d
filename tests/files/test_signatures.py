"""Signatures of mechanism files: who signed, and that nothing was changed since."""

import subprocess
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

import sfumato as sf
from sfumato.errors import FileError
from sfumato.files import MechanismFile, read_mechanism_file, sign, verify
from sfumato.files.many import read_designs
from sfumato.mechanisms.tupling import Tupling

from ..cli.conftest import runner

PUBLIC, PRIVATE = serialization.PublicFormat, serialization.PrivateFormat
RFC_SECRET = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
RFC_SIGNATURE = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)
"""RFC 8032, section 7.1, test 2: the key, and its signature of the byte 0x72."""


def pair(folder, name="team", key=None, kind="openssh", password=None):
    """Write a private and a public key; return their paths."""
    key = ed25519.Ed25519PrivateKey.generate() if key is None else key
    ssh = kind == "openssh"
    lock = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    shape = (serialization.Encoding.PEM, PRIVATE.OpenSSH if ssh else PRIVATE.PKCS8)
    private, public = folder / name, folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(*shape, lock))
    encoding = serialization.Encoding.OpenSSH if ssh else serialization.Encoding.PEM
    public.write_bytes(
        key.public_key().public_bytes(encoding, PUBLIC.OpenSSH if ssh else PUBLIC.SubjectPublicKeyInfo)
    )
    return private, public


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "answers.sfm"
    sf.save(sf.mechanisms.randomised_response(sf.Space(["yes", "no"]), 1.0), path)
    return path


@pytest.mark.parametrize("kind", ["openssh", "pem"])
def test_a_signed_file_is_read(tmp_path, file, kind):
    private, public = pair(tmp_path, kind=kind)
    assert sign(file, private) == verify(file, public)
    assert sf.load(file, signed_by=public) == sf.load(file)


def test_the_signature_is_that_of_the_rfc(tmp_path):
    private, public = pair(tmp_path, key=ed25519.Ed25519PrivateKey.from_private_bytes(RFC_SECRET))
    (tmp_path / "r").write_bytes(b"\x72")
    sign(tmp_path / "r", private)
    assert (tmp_path / "r.sig").read_bytes() == RFC_SIGNATURE
    verify(tmp_path / "r", public)


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "a bit": lambda content: content[:10] + bytes([content[10] ^ 1]) + content[11:],
    "an appended byte": lambda content: content + b"\0",
    "a cut": lambda content: content[:-1],
    "all": lambda content: b"",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("what", ["answers.sfm", "answers.sfm.sig"])
def test_no_change_passes(tmp_path, file, change, what):
    private, public = pair(tmp_path)
    sign(file, private)
    changed = tmp_path / what
    changed.write_bytes(CHANGES[change](changed.read_bytes()))
    with pytest.raises(FileError, match=r"is not by the key|is not a signature"):
        verify(file, public)
    with pytest.raises(FileError, match=r"is not by the key|is not a signature"):
        sf.load(file, signed_by=public)


def test_another_key_and_no_signature_are_refused(tmp_path, file):
    (private, public), (_, other) = pair(tmp_path), pair(tmp_path, "other")
    with pytest.raises(FileError, match=r"is not signed: there is no answers\.sfm\.sig next to it"):
        sf.load(file, signed_by=public)
    sign(file, private)
    with pytest.raises(FileError, match=r"is not by the key .*other\.pub"):
        sf.load(file, signed_by=other)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a public key"),
        (b"ssh-ed25519 AAAA nobody", "is not a public key"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "is not a public key"),
        (bytes(70_000), "too large to be a key"),
        (None, "cannot be read"),
    ],
    ids=["empty", "cut", "damaged", "large", "missing"],
)
def test_what_is_no_key_is_refused(tmp_path, file, content, said):
    sign(file, pair(tmp_path)[0])
    key = tmp_path / "bad.pub"
    if content is not None:
        key.write_bytes(content)
    with pytest.raises(FileError, match=said):
        verify(file, key)


def test_keys_of_other_kinds_are_refused(tmp_path, file):
    sign(file, pair(tmp_path)[0])
    for name, key in (
        ("rsa", rsa.generate_private_key(65537, 2048)),
        ("ec", ec.generate_private_key(ec.SECP256R1())),
    ):
        private, public = pair(tmp_path, name, key)
        with pytest.raises(FileError, match="is not an Ed25519 key"):
            sign(file, private)
        with pytest.raises(FileError, match="is not an Ed25519 key"):
            verify(file, public)


def test_each_key_is_for_its_own_use(tmp_path, file):
    private, public = pair(tmp_path)
    with pytest.raises(FileError, match="is a private key, which only those who sign should have"):
        verify(file, private)
    with pytest.raises(FileError, match="is not a private key"):
        sign(file, public)
    assert not file.with_suffix(".sfm.sig").exists()


def test_an_encrypted_key_needs_its_password(tmp_path, file):
    private, public = pair(tmp_path, kind="pem", password=b"hush")
    with pytest.raises(FileError, match="is encrypted"):
        sign(file, private)
    with pytest.raises(FileError, match="could not be decrypted"):
        sign(file, private, password=lambda: "loud")
    with pytest.raises(FileError, match="could not be decrypted"):
        sign(file, private, password=lambda: "")
    assert sign(file, private, password=lambda: "hush") == verify(file, public)


def test_an_encrypted_key_of_openssh_is_read(tmp_path, file):
    """As ``ssh-keygen`` writes it where a passphrase is given."""
    private, public = pair(tmp_path, password=b"hush")
    assert sign(file, private, password=lambda: "hush") == verify(file, public)


@pytest.mark.parametrize("content", [b"", b"x", bytes(65), b"-----BEGIN SSH SIGNATURE-----"])
def test_what_is_no_signature_is_called_that(tmp_path, file, content):
    (tmp_path / "answers.sfm.sig").write_bytes(content)
    with pytest.raises(FileError, match=r"answers\.sfm\.sig next to .* is not a signature"):
        verify(file, pair(tmp_path)[1])


def test_every_reader_of_files_can_require_a_signature(tmp_path):
    coin = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    file, (private, public) = tmp_path / "tuples.sfm", pair(tmp_path)
    sf.save(MechanismFile(Tupling(coin, 3, [0.5, 0.5])), file)
    for read in (sf.load, read_mechanism_file):
        with pytest.raises(FileError, match="is not signed"):
            read(file, signed_by=public)
    sign(file, private)
    assert repr(read_mechanism_file(file, signed_by=public).mechanism).startswith("Tupling with 3 dummies")


def test_the_fingerprint_is_that_of_openssh(tmp_path, file):
    private, public = pair(tmp_path)
    try:
        shown = subprocess.run(["ssh-keygen", "-lf", public], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        shown = sign(file, private)  # this machine has no OpenSSH
    assert sign(file, private) in shown


def test_a_folder_of_designs_needs_all_signatures(tmp_path, file):
    private, public = pair(tmp_path)
    (tmp_path / "all").mkdir()
    for name in ("ada.sfm", "bob.sfm"):
        (tmp_path / "all" / name).write_bytes(file.read_bytes())
    sign(tmp_path / "all" / "ada.sfm", private)
    with pytest.raises(FileError, match=r"bob\.sfm.* is not signed"):
        read_designs(tmp_path / "all", signed_by=public)
    sign(tmp_path / "all" / "bob.sfm", private)
    assert set(read_designs(tmp_path / "all", signed_by=public)) == {"ada", "bob"}


def test_the_command_line_signs_verifies_and_requires(tmp_path, file, monkeypatch):
    run = runner(monkeypatch, tmp_path)
    private, public = pair(tmp_path)
    (tmp_path / "table.csv").write_text("answer\nyes\nno\n")
    release = ("release", file, "table.csv", "out.csv", "--column", "answer", "--require-signature", public)
    done = run(*release)
    assert done.code == 1
    assert "is not signed" in done.err
    assert not (tmp_path / "out.csv").exists()
    done = run("sign", file, "--key", private)
    assert done.code == 0, done.err
    assert "Written: " in done.out
    assert "SHA256:" in done.out
    done = run("verify", file, "--key", public)
    assert done.code == 0, done.err
    assert "and unchanged" in done.out
    assert run(*release).code == 0
    assert (tmp_path / "out.csv").exists()
    file.write_bytes(file.read_bytes() + b"\0")
    for command in (("verify", file, "--key", public), (*release[:3], "again.csv", *release[4:])):
        done = run(*command)
        assert done.code == 1
        assert "was changed after it was signed" in done.err
    assert not (tmp_path / "again.csv").exists()


def test_only_mechanism_files_are_signed_at_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "note.txt").write_text("hello")
    done = runner(monkeypatch, tmp_path)("sign", "note.txt", "--key", pair(tmp_path)[0])
    assert done.code == 1
    assert not (tmp_path / "note.txt.sig").exists()
