"""Files that a reader must refuse, each made of a good one by one change."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from ..forging import Members, npy

Manifest = dict[str, Any]
MANIFEST: Final = "manifest.json"
HALF, ONE = 1 << 61, 1 << 62


class RefusedVector(NamedTuple):
    """A file to be refused.

    Attributes:
        why: What is wrong with it.
        says: Words of the refusal.
        made: From the folder of good files to the bytes.
        alone: Whether a reader that believes the file's distances refuses it, too.
    """

    why: str
    says: str
    made: Callable[[Path], bytes]
    alone: bool = True


def zipped(entries: list[tuple[str, bytes]]) -> bytes:
    """Return a container of members in their order, each of the first day that ZIP knows."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def parts(folder: Path, base: str) -> tuple[Manifest, Members]:
    """Return the manifest and the members of a good file."""
    with zipfile.ZipFile(folder / f"{base}.sfm") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop(MANIFEST)), members


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], bytes]:
    return lambda folder: change((folder / "coin.sfm").read_bytes())


def _text(change: Callable[[str], str], base: str = "coin") -> Callable[[Path], bytes]:
    """Change the text of the manifest."""

    def made(folder: Path) -> bytes:
        manifest, members = parts(folder, base)
        return zipped([(MANIFEST, change(json.dumps(manifest)).encode()), *members.items()])

    return made


def _content(change: Callable[[Manifest, Members], object], base: str = "coin") -> Callable[[Path], bytes]:
    """Change the manifest and the members, with checksums that fit."""

    def made(folder: Path) -> bytes:
        manifest, members = parts(folder, base)
        change(manifest, members)
        manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
        return zipped([(MANIFEST, json.dumps(manifest).encode()), *members.items()])

    return made


def _weights(rows: list[list[int]] | np.ndarray) -> Callable[[Path], bytes]:
    return _content(lambda _, members: members.update({"weights_0.npy": npy(np.array(rows))}))


def _of_prior(*values: float) -> Callable[[Path], bytes]:
    return _content(
        lambda m, members: members.update({m["prior"]["probabilities"]: npy(np.array(values))}), "places"
    )


def _unhashed(folder: Path) -> bytes:
    """Change a member, whose checksum in the container then fits and whose hash does not."""
    manifest, members = parts(folder, "coin")
    other = members["weights_0.npy"][:128] + members["weights_0.npy"][144:] + members["weights_0.npy"][128:144]
    return zipped([(MANIFEST, json.dumps(manifest).encode()), ("weights_0.npy", other)])


def _listed(extra: list[tuple[str, bytes]]) -> Callable[[Path], bytes]:
    def made(folder: Path) -> bytes:
        manifest, members = parts(folder, "coin")
        return zipped([(MANIFEST, json.dumps(manifest).encode()), *members.items(), *extra])

    return made


def _compressed(data: bytes) -> bytes:
    """Say of the last member that it is compressed, in its own header and in the list of members."""
    changed = bytearray(data)
    changed[data.rindex(b"PK\x03\x04") + 8] = changed[data.rindex(b"PK\x01\x02") + 10] = 8
    return bytes(changed)


def _flipped(data: bytes) -> bytes:
    """Change the last bit before the list of members, which is one of the last weight."""
    end = data.index(b"PK\x01\x02")
    return data[: end - 1] + bytes([data[end - 1] ^ 1]) + data[end:]


def _wrapped(manifest: Manifest, members: Members) -> None:
    """Let a row sum to 2**64 + 2**62."""
    most = (1 << 63) - 1
    members["weights_0.npy"] = npy(np.array([[HALF, HALF, 0, 0, 0], [most, most, ONE, 1, 1]]))
    manifest["spaces"].append({**manifest["spaces"][0], "labels": list(range(5))})
    manifest["mechanism"]["observables"] = 1


def _asymmetric(manifest: Manifest, members: Members) -> None:
    entry = manifest["metrics"][0]
    members[entry["array"]] = npy(np.array([[0.0, 1.0], [2.0, 0.0]]))


def _longer(manifest: Manifest, members: Members) -> None:
    """Let distances of the package's own name be ten times as long, so that epsilon looks ten times as small."""
    manifest["guarantees"] = [{"kind": "metric", "epsilon": 0.11, "metric": 0}]
    members[manifest["metrics"][0]["array"]] = npy(np.array([[0.0, 10.0], [10.0, 0.0]]))


def _faster(manifest: Manifest, _: Members) -> None:
    manifest["noise"]["rate"][0] *= 2


def _of_limit(array: np.ndarray) -> Callable[[Path], bytes]:
    return _content(
        lambda m, members: members.update({m["constraints"][0]["coefficients"]: npy(array)}), "constrained"
    )


EARLIER = '"version": 1'
REFUSED: Final[dict[str, RefusedVector]] = {
    "empty": RefusedVector("it has no bytes", "it is empty", _bytes(lambda _: b"")),
    "not-zip": RefusedVector("it is a table", "not a mechanism file", _bytes(lambda _: b"lat,lon\n48.8,2.3\n")),
    "truncated": RefusedVector(
        "its last 30 bytes are missing", "cut off or damaged", _bytes(lambda data: data[:-30])
    ),
    "half": RefusedVector(
        "half of it is missing", "cut off or damaged", _bytes(lambda data: data[: len(data) // 2])
    ),
    "bit": RefusedVector(
        "a bit of a weight was flipped",
        "cut off or damaged",
        _bytes(_flipped),
    ),
    "checksum": RefusedVector("the SHA-256 of a member does not fit", "checksum of its member", _unhashed),
    "compressed": RefusedVector("a member is compressed", "compressed or encrypted", _bytes(_compressed)),
    "no-manifest": RefusedVector("there is no manifest", "no manifest", lambda _: zipped([("a_0.npy", b"")])),
    "unlisted": RefusedVector(
        "a member has no checksum", "does not name", _listed([("b_0.npy", npy(np.ones(1)))])
    ),
    "missing": RefusedVector(
        "a member is missing",
        "is missing",
        lambda folder: zipped([(MANIFEST, json.dumps(parts(folder, "coin")[0]).encode())]),
    ),
    "path": RefusedVector(
        "a member is named like a path elsewhere",
        "unexpected name",
        _content(lambda _, members: members.update({"../a.npy": npy(np.ones(1))})),
    ),
    "format": RefusedVector(
        "it is of another format",
        "a 'sketch' file",
        _text(lambda t: t.replace("sfumato mech", "sketch", 1).replace("sketchanism", "sketch")),
    ),
    "newer": RefusedVector(
        "its version is 2", "newer sfumato", _text(lambda t: t.replace(EARLIER, '"version": 2'))
    ),
    "version-0": RefusedVector(
        "its version is 0", "does not exist", _text(lambda t: t.replace(EARLIER, '"version": 0'))
    ),
    "version-text": RefusedVector(
        "its version is a text", "not an integer", _text(lambda t: t.replace(EARLIER, '"version": "1"'))
    ),
    "nan": RefusedVector(
        "an epsilon is NaN", "holds NaN", _text(lambda t: t.replace("1.0986122886681098", "NaN"), "response")
    ),
    "infinity": RefusedVector(
        "an epsilon is infinite",
        "holds Infinity",
        _text(lambda t: t.replace("1.0986122886681098", "Infinity"), "response"),
    ),
    "overflow": RefusedVector(
        "a label is a number beyond all floats",
        "beyond all floats",
        _text(lambda t: t.replace("[0, 1]", "[0, 1e999]")),
    ),
    "twice": RefusedVector(
        "the manifest names an entry twice",
        "an entry twice",
        _text(lambda t: t.replace("{", '{"version": 1, ', 1)),
    ),
    "utf-8": RefusedVector(
        "the manifest is not ASCII", "damaged", _text(lambda t: t.replace("[0, 1]", '["é", 1]'))
    ),
    "rows": RefusedVector(
        "a row does not sum to 2**62", "row 1 sum to", _weights([[HALF, HALF], [HALF, HALF - 1]])
    ),
    "wrapped": RefusedVector(
        "a row sums to 2**62 only if 64 bits overflow",
        "negative|sum to",
        _content(_wrapped),
    ),
    "negative": RefusedVector("a weight is negative", "is negative", _weights([[ONE, 0], [ONE + 1, -1]])),
    "bits": RefusedVector(
        "weights of 63 bits", "'high'|63 bits", _content(lambda m, _: m["mechanism"].update(bits=63))
    ),
    "float-weights": RefusedVector("weights are floats", "float64", _weights(np.array([[0.5, 0.5], [0.5, 0.5]]))),
    "narrow": RefusedVector("numbers of 32 bits", "64-bit", _weights(np.zeros((2, 2), dtype=np.int32))),
    "columns-first": RefusedVector(
        "an array goes column by column", "64-bit", _weights(np.asfortranarray(np.array([[ONE, 0], [HALF, HALF]])))
    ),
    "few-labels": RefusedVector(
        "there are three secrets for two rows",
        "3 secrets",
        _content(
            lambda m, _: (
                m["spaces"].append({**m["spaces"][0], "labels": [0, 1, 2]}) or m["mechanism"].update(secrets=1)
            )
        ),
    ),
    "labels-twice": RefusedVector(
        "a label occurs twice", "stands at positions", _content(lambda m, _: m["spaces"][0].update(labels=[0, 0]))
    ),
    "one-and-true": RefusedVector(
        "two labels are equal, though not of one type",
        "stands at positions",
        _content(lambda m, _: m["spaces"][0].update(labels=[1, True])),
    ),
    "no-space": RefusedVector(
        "a space is missing", "no entry 7", _content(lambda m, _: m["mechanism"].update(secrets=7))
    ),
    "kind": RefusedVector(
        "a guarantee is of an unknown kind",
        "unknown kind",
        _content(lambda m, _: m["guarantees"][0].update(kind="absolute"), "response"),
    ),
    "prior-nan": RefusedVector("a probability is NaN", "nan", _of_prior(0.5, np.nan, 0.5)),
    "prior-sum": RefusedVector("the prior does not sum to 1", "sums to", _of_prior(0.5, 0.25, 0.125)),
    "asymmetric": RefusedVector("distances are not symmetric", "not a metric", _content(_asymmetric, "response")),
    "coefficients": RefusedVector(
        "a linear constraint is for three reports",
        "2 secrets and 3 observables",
        _of_limit(np.zeros((2, 3))),
    ),
    "coefficient-nan": RefusedVector("a coefficient is NaN", "nan", _of_limit(np.full((2, 2), np.nan))),
    "longer": RefusedVector(
        "Hamming distances that are ten times too long",
        "are called 'hamming'",
        _content(_longer, "response"),
        alone=False,
    ),
    "faster": RefusedVector(
        "noise of twice the rate that its promise allows",
        "rate of its noise",
        _content(_faster, "noise"),
        alone=False,
    ),
}
"""A file for each thing that a reader must check."""
