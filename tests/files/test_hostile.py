"""Files that are damaged, foreign, newer, inconsistent or hostile get clear errors."""

import errno
import io
import json
import os
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import MechanismFile, read_mechanism_file, save
from tests.thinned import thinned

from .contents import assert_same, plain_file, rich_file
from .forging import forged, npy, opened


@pytest.fixture
def rich(tmp_path: Path) -> Path:
    save(rich_file(), tmp_path / "rich.sfm")
    return tmp_path / "rich.sfm"


def refused(path: Path, words: str) -> None:
    with pytest.raises(FileError, match=words) as raised:
        read_mechanism_file(path)
    assert raised.value.problem.startswith(f"{str(path)!r}: ")
    assert raised.value.hint


def test_a_forgery_without_a_lie_is_read(rich: Path) -> None:
    forged(rich, *opened(rich))
    assert_same(read_mechanism_file(rich), rich_file())


def test_no_such_file(tmp_path: Path) -> None:
    refused(tmp_path / "none.sfm", "No such file")
    refused(tmp_path, "Is a directory")
    refused(tmp_path / "a\0b", "null byte")


def test_foreign_files(tmp_path: Path, rich: Path) -> None:
    path = tmp_path / "foreign.sfm"
    path.write_bytes(b"")
    refused(path, "it is empty")
    path.write_text("lat,lon\n48.8,2.3\n")
    refused(path, "not a mechanism file")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    refused(path, "no manifest")
    manifest, members = opened(rich)
    forged(path, {**manifest, "format": "sketch"}, members)
    refused(path, "is a 'sketch' file")


def test_a_newer_version_is_told_even_if_all_else_is_strange(tmp_path: Path) -> None:
    path = tmp_path / "newer.sfm"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": "sfumato mechanism", "version": 2}))
        archive.writestr("weights.zarr", b"?")
    refused(path, "newer sfumato .format version 2, this one reads 1.")
    with pytest.raises(FileError, match="upgrade with"):
        read_mechanism_file(path)


def test_every_truncation_is_found(tmp_path: Path) -> None:
    save(plain_file(), tmp_path / "plain.sfm")
    data = (tmp_path / "plain.sfm").read_bytes()
    cut = tmp_path / "cut.sfm"
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        with pytest.raises(FileError):
            read_mechanism_file(cut)
    cut.write_bytes(data[: len(data) // 2])
    refused(cut, "cut off or damaged")


@settings(max_examples=100)
@given(st.data())
def test_changed_bytes_are_found_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.sfm"
    original = rich_file()
    save(original, path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        again = read_mechanism_file(path)
    except FileError:
        return
    assert_same(again, original)


@settings(max_examples=25)
@given(st.data())
def test_spliced_bytes_are_found_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "spliced.sfm"
    original = plain_file(tiny=True)
    save(original, path)
    content = path.read_bytes()
    start, end = sorted(data.draw(st.integers(0, len(content))) for _ in range(2))
    path.write_bytes(content[:start] + data.draw(st.binary(max_size=40)) + content[end:])
    try:
        again = read_mechanism_file(path)
    except FileError:
        return
    assert_same(again, original)


@pytest.mark.parametrize("region", ["manifest", "directory"])
def test_every_changed_byte_of_the_containers_own_records(tmp_path: Path, region: str) -> None:
    original = MechanismFile(sf.Mechanism([[0.5, 0.5]]))
    save(original, tmp_path / "tiny.sfm")
    data = (tmp_path / "tiny.sfm").read_bytes()
    directory = data.index(b"PK\x01\x02")
    span = range(directory, len(data)) if region == "directory" else range(60)
    for place in span:
        for flip in (0x01, 0x80, 0xFF):
            changed = bytearray(data)
            changed[place] ^= flip
            (tmp_path / "tiny.sfm").write_bytes(changed)
            try:
                again = read_mechanism_file(tmp_path / "tiny.sfm")
            except FileError:
                continue
            assert_same(again, original)


def test_members_missing_added_or_doubled(rich: Path) -> None:
    manifest, members = opened(rich)
    with zipfile.ZipFile(rich, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name in sorted(members)[:-1]:
            archive.writestr(name, members[name])
    refused(rich, "'weights_0.npy' is missing")
    with zipfile.ZipFile(rich, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in {**members, "extra_0.npy": b""}.items():
            archive.writestr(name, data)
    refused(rich, "'extra_0.npy', which its manifest does not name")
    with zipfile.ZipFile(rich, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("manifest.json", json.dumps({**manifest, "prior": None}))
    refused(rich, "two members named 'manifest.json'")
    with zipfile.ZipFile(rich, "w") as archive:
        for number in range(1001):
            archive.writestr(f"a_{number}.npy", b"")
    refused(rich, "1,001 members")


def test_a_member_that_does_not_fit_its_checksum(rich: Path) -> None:
    manifest, members = opened(rich)
    members["weights_0.npy"] = members["weights_0.npy"][:-1] + b"\x01"
    with zipfile.ZipFile(rich, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in members.items():
            archive.writestr(name, data)
    refused(rich, "checksum of its member 'weights_0.npy'")


@pytest.mark.parametrize(
    "name", ["/etc/a.npy", "../a.npy", "a/b.npy", "C:\\a.npy", "a.npy.exe", "ä.npy", "a\n.npy"]
)
def test_names_that_lead_elsewhere(rich: Path, name: str) -> None:
    manifest, members = opened(rich)
    forged(rich, manifest, {**members, name: npy(np.ones(1))})
    refused(rich, "unexpected name")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_is_not_unpacked(rich: Path, compression: int) -> None:
    manifest, members = opened(rich)
    forged(rich, manifest, {**members, "bomb_0.npy": b"\0" * 10_000_000}, compression=compression)
    assert rich.stat().st_size < 1_000_000
    refused(rich, "compressed or encrypted")


def _peak(path: Path, words: str) -> float:
    """Return how many megabytes were taken at once until a file was refused."""
    tracemalloc.start()
    try:
        refused(path, words)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _claiming(path: Path, claims: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        text = '{"format":"sfumato mechanism","version":1,"sha256":{},"claims":{"a":[' + claims + "]}}"
        archive.writestr("manifest.json", text)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("value", "many"), [("[]", 10_000_000), ('{"a":1}', 3_700_000), ("1.5", 7_500_000), ('"abcdef"', 3_300_000)]
)
def test_a_manifest_of_thirty_megabytes_is_refused_before_it_is_parsed(
    tmp_path: Path, value: str, many: int
) -> None:
    _claiming(tmp_path / "large.sfm", ",".join([value] * many))
    assert (tmp_path / "large.sfm").stat().st_size > 29e6
    assert _peak(tmp_path / "large.sfm", "'manifest.json' is too large") < 40


@pytest.mark.parametrize(
    ("value", "most"),
    thinned([("[]", 500_000), ('{"a":1}', 500_000), ('"abcdef"', 1_000_000)], 3),
)
def test_no_manifest_takes_much_memory(tmp_path: Path, value: str, most: int) -> None:
    _claiming(tmp_path / "most.sfm", ",".join([value] * most))
    assert _peak(tmp_path / "most.sfm", "no entry 'mechanism'") < 200
    _claiming(tmp_path / "more.sfm", ",".join([value] * (most + 100_000)))
    assert _peak(tmp_path / "more.sfm", "values, more than the") < 40


def test_a_list_of_members_of_thirty_megabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "many.sfm"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"")
    data = path.read_bytes()
    record, end = data[data.index(b"PK\x01\x02") : -22], bytearray(data[-22:])
    many = 30_000_000 // len(record)
    end[8:20] = b"\xff\xff" * 2 + (many * len(record)).to_bytes(4, "little") + bytes(4)
    path.write_bytes(record * many + end)
    assert _peak(path, "list of members takes more than") < 40


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    coin = sf.Mechanism([[0.5, 0.5]])
    for claims in ({"a": "b" * (1 << 24)}, {"a": [0] * (1 << 20)}):
        with pytest.raises(InputError, match="but a mechanism file holds at most"):
            save(MechanismFile(coin, claims=claims), tmp_path / "large.sfm")
        assert not (tmp_path / "large.sfm").exists()
    promise = sf.MetricPrivacy(1, sf.Metric([[0.0]]))
    with pytest.raises(InputError, match="65 guarantees"):
        MechanismFile(coin, guarantees=[promise] * 65)


def test_more_guarantees_than_anyone_gives_are_not_built(rich: Path) -> None:
    manifest, members = opened(rich)
    manifest["guarantees"] *= 10_000
    forged(rich, manifest, members)
    refused(rich, "50,000 guarantees, more than 64")


def test_overlapping_members_are_not_multiplied(rich: Path) -> None:
    content = rich.read_bytes()
    start = content.index(b"PK\x01\x02")
    with zipfile.ZipFile(rich) as archive:
        records, infos = content[start : archive.start_dir + 10**6], archive.infolist()
    # Another record of the directory, of another name, for the bytes of the largest member.
    largest = max(infos, key=lambda info: info.file_size)
    at = records.index(largest.filename.encode()) - 46
    record = records[at : at + 46 + len(largest.filename)]
    many = b"".join(
        record.replace(largest.filename.encode(), largest.filename[:-5].encode() + b"%d.npy" % digit)
        for digit in range(10)
    )
    end = records.index(b"PK\x05\x06")
    tail = bytearray(records[end:])
    count = len(infos) + 9
    tail[8:12] = count.to_bytes(2, "little") * 2
    kept = records[:at] + records[at + len(record) : end]
    tail[12:16] = (len(kept) + len(many)).to_bytes(4, "little")
    rich.write_bytes(content[:start] + kept + many + bytes(tail))
    with pytest.raises(FileError, match=r"claim more bytes|cut off or damaged|[Oo]verlap"):
        read_mechanism_file(rich)


HEADER = b"\x93NUMPY\x01\x00"


def with_header(text: str, data: bytes) -> bytes:
    padded = text.encode() + b" " * 10 + b"\n"
    return HEADER + len(padded).to_bytes(2, "little") + padded + data


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("member", "words"),
    [
        (npy(np.array([[{"a": 1}]], dtype=object), allow_pickle=True), "not an array of 64-bit numbers"),
        (pickle.dumps(np.eye(3)), "not an array"),
        (npy(np.zeros((3, 2), dtype=np.float32)), "not an array of 64-bit"),
        (npy(np.zeros((3, 2), dtype=[("a", "<i8")])), "not an array of 64-bit"),
        (npy(np.zeros((3, 2), dtype=np.int64, order="F")), "not an array of 64-bit"),
        (npy(np.zeros((3, 2, 1), dtype=np.int64)), "not an array"),
        (npy(np.array(3)), "not an array"),
        (b"", "not an array"),
        (HEADER, "not an array"),
        (HEADER + b"\xff\xff", "not an array"),
        (
            with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (100000, 100000), }", b""),
            "more than the",
        ),
        (with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (9999, 9999), }", b""), "holds 0 bytes"),
        (with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }", bytes(47)), "holds 47 bytes"),
        (with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (-3, 2), }", bytes(48)), "not an array"),
        (with_header("{'descr': '<i8', 'fortran_order': False, 'shape': ((" * 500, b""), "not an array"),
        (npy(np.zeros((3, 2))), "2 dimensions of float64, but 2 of int64"),
        (npy(np.zeros(6, dtype=np.int64)), "1 dimensions of int64, but 2 of int64"),
        (npy(np.zeros((3, 2), dtype=np.int64)), "row 0 sum to 0"),
        (npy(np.full((3, 2), 2**62)), "row 0 sum to"),
        (npy(np.array([[2**62, 0], [0, 2**62], [2**62 + 1, -1]])), "negative"),
        (npy(np.array([[2**62, 0], [0, 2**62]])), "2 rows, but there are 3 secrets"),
        (npy(np.array([[2**62], [2**62], [2**62]])), "1 columns, but there are 2 observables"),
        (npy(np.zeros((0, 2), dtype=np.int64)), "shape"),
    ],
)
def test_weights_that_are_none(rich: Path, member: bytes, words: str) -> None:
    manifest, members = opened(rich)
    forged(rich, manifest, {**members, "weights_0.npy": member})
    refused(rich, words)


def test_halves_of_weights_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "two.sfm"
    save(plain_file(tiny=True), path)
    manifest, members = opened(path)
    forged(path, manifest, {**members, "low_0.npy": npy(np.zeros((1, 4), dtype=np.uint64))})
    refused(path, "halves of its weights differ")
    forged(path, manifest, {**members, "high_0.npy": npy(np.full((3, 4), 2**64 - 1, dtype=np.uint64))})
    refused(path, "not to 2..126")


Change = Callable[[dict[str, Any]], object]

CHANGES: list[tuple[Change, str]] = [
    (lambda m: m.pop("mechanism"), "no entry 'mechanism'"),
    (lambda m: m.update(mechanism=[]), "not an object"),
    (lambda m: m.update(version="1"), "'version' that is not an integer"),
    (lambda m: m.update(version=True), "'version' that is not an integer"),
    (lambda m: m.update(version=0), "version 0 does not exist"),
    (lambda m: m["mechanism"].update(bits=63), "63 bits|no entry 'high'"),
    (lambda m: m["mechanism"].update(bits=62.0), "not an integer"),
    (lambda m: m["mechanism"].update(secrets=-1), "no entry -1 among its spaces"),
    (lambda m: m["mechanism"].update(secrets=99), "no entry 99 among its spaces"),
    (lambda m: m["mechanism"].update(weights="prior_0.npy"), "1 dimensions of float64"),
    (lambda m: m["mechanism"].update(weights="other.npy"), "a member 'other.npy' that is not there"),
    (lambda m: m["mechanism"].update(weights=["weights_0.npy"]), "not a text"),
    (lambda m: m["spaces"][0].update(labels=["home", "work"]), "3 labels|2 labels|rows|is needed"),
    (lambda m: m["spaces"][0].update(labels=["home", "work", "home"]), "stands at positions 0 and 2"),
    (lambda m: m["spaces"][0].update(labels=["home", "work", ["shop"]]), "label of an unknown kind"),
    (lambda m: m["spaces"][0].update(labels=["home", "work", {"set": 3}]), "label of an unknown kind"),
    (
        lambda m: m["spaces"][0].update(labels=["home", "work", {"set": [], "tuple": []}]),
        "label of an unknown kind",
    ),
    (lambda m: m["spaces"][0].update(labels=[]), "label"),
    (lambda m: m["spaces"][0].update(labels="abc"), "not a list"),
    (lambda m: m["spaces"][0].update(unit=3), "not a text"),
    (lambda m: m["spaces"][0].update(crs="EPSG:4326", unit=""), ""),
    (lambda m: m["spaces"][0].update(kind="torus"), "places is not valid"),
    (lambda m: m["spaces"].append(3), ""),
    (lambda m: m.update(spaces={}), "not a list"),
    (lambda m: m["prior"].update(space=1), "the prior"),
    (lambda m: m["prior"].update(probabilities="weights_0.npy"), "2 dimensions of int64"),
    (lambda m: m.update(loss=7), "no entry 7 among its losses"),
    (lambda m: m.update(loss="a"), "not an integer"),
    (lambda m: m["losses"][0].pop("name"), "no entry 'name'"),
    (lambda m: m["metrics"][0].update(triangle=1), "not true or false"),
    (lambda m: m["metrics"][0].update(symmetric="no"), "not true or false"),
    (lambda m: m["metrics"][0].update(array="weights_0.npy"), "2 dimensions of int64"),
    (lambda m: m["metrics"][0].update(array=m["losses"][0]["array"]), "not a metric"),
    (lambda m: m.update(guarantees=None), "not a list"),
    (lambda m: m["guarantees"][0].update(kind="absolute"), "unknown kind 'absolute'"),
    (lambda m: m["guarantees"][0].update(epsilon=-1), "positive"),
    (lambda m: m["guarantees"][0].update(epsilon="0.6/km"), "not a number"),
    (lambda m: m["guarantees"][0].update(epsilon=10**400), "not a number"),
    (lambda m: m.update(claims=[]), "not an object"),
    (lambda m: m.pop("claims"), "no entry 'claims'"),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_manifests_that_make_no_sense(rich: Path, change: Change, words: str) -> None:
    manifest, members = opened(rich)
    change(manifest)
    forged(rich, manifest, members)
    if words:
        refused(rich, words)
    else:
        read_mechanism_file(rich)  # odd, but sound


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b'"text"',
        b"\xff\xfe",
        b'{"format": NaN}',
        b'{"format": "a", "format": "b"}',
        b"[" * 100_000,
        b'{"format":' * 50_000,
        b'{"version": ' + b"9" * 10_000 + b"}",
    ],
)
def test_manifests_that_are_no_json(tmp_path: Path, text: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "a.sfm", "w") as archive:
        archive.writestr("manifest.json", text)
    with pytest.raises(FileError):
        read_mechanism_file(tmp_path / "a.sfm")


def test_labels_nested_deeply(rich: Path) -> None:
    manifest, members = opened(rich)
    label: Any = "home"
    for _ in range(300):
        label = {"tuple": [label]}
    manifest["spaces"][0]["labels"][0] = label
    forged(rich, manifest, members)
    try:
        read_mechanism_file(rich)
    except FileError as error:
        assert "deep" in str(error) or "prior" in str(error)  # noqa: PT017


def test_a_broken_triangle_that_claims_to_hold(rich: Path) -> None:
    manifest, members = opened(rich)
    far = np.array([[0, 1, 9], [1, 0, 1], [9, 1, 0.0]])
    members[manifest["metrics"][0]["array"]] = npy(far)
    forged(rich, manifest, members)
    refused(rich, "breaks the triangle inequality")


def test_asymmetric_distances_must_be_closed_where_the_file_says_so(rich: Path) -> None:
    manifest, members = opened(rich)
    manifest["metrics"][0]["symmetric"] = False
    for array, says in (
        ([[0, 1, 1], [1, 0, 1], [9, 1, 0.0]], "breaks the triangle inequality"),
        ([[0, 0, 1], [1, 0, 1], [1, 1, 0.0]], "not a metric"),  # 0 from the first to the second, but 1 back
    ):
        members[manifest["metrics"][0]["array"]] = npy(np.array(array))
        forged(rich, manifest, members)
        refused(rich, says)


def test_nan_is_refused_everywhere(rich: Path) -> None:
    manifest, members = opened(rich)
    for name, data in members.items():
        if b"<f8" in data[:128]:
            forged(rich, manifest, {**members, name: data[:-8] + np.array([np.nan]).tobytes()})
            refused(rich, "nan|not a metric")


class FullDisk:
    """A disk that takes a number of bytes and is then full."""

    def __init__(self, room: int) -> None:
        self.room = room

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        disk, opened_by_name = self, io.open

        class Limited(io.FileIO):
            def write(self, data: Any) -> int:
                disk.room -= len(bytes(data))
                if disk.room < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return super().write(data)

        def limited(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
            if "w" in mode and "b" in mode:
                return Limited(file, "w+")
            return opened_by_name(file, mode, *rest, **options)

        monkeypatch.setattr(zipfile.io, "open", limited)  # type: ignore[attr-defined]


@pytest.mark.parametrize("room", [0, 10, 100, 1000, 3000])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    path = tmp_path / "a.sfm"
    save(plain_file(), path)
    before = path.read_bytes()
    FullDisk(room).install(monkeypatch)
    for target in (path, tmp_path / "new.sfm"):
        with pytest.raises(FileError, match="free some space"):
            save(rich_file(), target)
    assert os.listdir(tmp_path) == ["a.sfm"]
    assert path.read_bytes() == before


def test_the_simulated_disk_holds_what_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FullDisk(10**6).install(monkeypatch)
    save(rich_file(), tmp_path / "a.sfm")
    monkeypatch.undo()
    assert_same(read_mechanism_file(tmp_path / "a.sfm"), rich_file())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_device_that_is_really_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Any, mode: str = "r", *_: Any, **__: Any) -> Any:
        return io.FileIO("/dev/full", "w")

    monkeypatch.setattr(zipfile.io, "open", full)  # type: ignore[attr-defined]
    with pytest.raises(FileError, match="free some space"):
        save(rich_file(), tmp_path / "a.sfm")
    assert not os.listdir(tmp_path)


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    def fails(path: Path) -> NoReturn:
        save(plain_file(), path)
        pytest.fail("it was written")

    with pytest.raises(FileError, match="create it first"):
        fails(tmp_path / "none" / "a.sfm")
    with pytest.raises(FileError, match="it is a folder"):
        fails(tmp_path)
    assert not os.listdir(tmp_path)
