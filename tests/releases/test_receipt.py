"""The receipt of a release: its numbers are counted again from source and table, and it names no person."""

import hashlib
import json
import math
import os
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError, InputError
from sfumato.geo import Projection
from sfumato.mechanisms import randomised_response
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import Mark, prepare

NOISE = CoordinateNoise("2/km", "2 m", Projection(48.85, 2.35), "3 km")
# No name is of the letters a to f alone: a fingerprint could spell it by chance.
USERS = ["ulla", "ulla", "ulla", "tom", "ivy", "ivy", "ulla"]
FAR, NOWHERE = 5, 6  # rows


@pytest.fixture
def source(tmp_path):
    lat, lon = 48.85 + np.arange(7) / 1e4, np.full(7, 2.35)
    lat[FAR], lat[NOWHERE] = 48.90, np.nan
    frame = pd.DataFrame({"lat": lat, "lon": lon, "user": USERS, "age": range(30, 37), "phone": ["555-0199"] * 7})
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_its_numbers_are_those_of_source_and_table(source, tmp_path):
    target, path = tmp_path / "private.csv", tmp_path / "receipt.json"
    sf.release(
        NOISE, source, target, outside="drop", allow=0.5, keep=["age"], max_reports_per_person=4, receipt=path
    )
    held = json.loads(path.read_text())
    table = pd.read_csv(target)
    assert held["rows_read"] == len(USERS)
    assert held["rows_released"] == len(table) == 5
    assert (held["rows_dropped"], held["rows_without_position"], held["rows_moved"]) == (2, 1, 0)
    assert held["source"] == {
        "name": "visits.csv", "files": 1, "bytes": source.stat().st_size, "sha256": sha256(source)
    }  # fmt: skip
    assert held["target"]["sha256"] == sha256(target)
    assert held["mechanisms"] == list(Mark.of({"": NOISE}).mechanisms)
    spread = Counter(Counter(USERS).values())
    assert {each["reports"]: each["people"] for each in held["reports_per_person"]} == spread
    assert (held["people"], held["exact"], held["max_reports_per_person"]) == (3, False, 4)
    (bound,) = held["bounds"]
    assert (bound["measure"], bound["unit"], bound["one_report"], bound["one_person"]) == ("epsilon", "km", 2, 8)
    assert bound["added_m"] == NOISE.promise.slack_m
    assert held["columns"] == list(table.columns)
    assert held["columns_carried_over"] == ["age"]
    assert held["columns_left_out"] == ["lat", "lon", "user", "phone"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_it_names_no_person_and_no_place(source, tmp_path):
    path = tmp_path / "receipt.json"
    several = dict.fromkeys(USERS, NOISE)
    sf.release(
        several, source, tmp_path / "p.csv", by="user", outside="drop", allow=0.5, place_column=None, receipt=path
    )
    receipt = json.loads(path.read_text())
    assert receipt.pop("seconds") >= 0  # a duration may have the digits of a position
    text = json.dumps(receipt)
    assert not any(secret in text for secret in (*USERS, "555-0199", "48.8", "2.35"))


def test_moved_rows_and_how_far(source, tmp_path):
    frame = pd.read_csv(source).drop(index=NOWHERE)
    frame.to_csv(source, index=False)
    path = tmp_path / "r.json"
    outcome = sf.release(
        NOISE, source, tmp_path / "p.csv", outside="nearest", within="9 km", allow=0.5, receipt=path
    )
    held = json.loads(path.read_text())
    assert (held["rows_moved"], held["rows_dropped"], held["exact"]) == (1, 0, True)
    assert held["moved_at_most_m"] == math.ceil(outcome.farthest_m) > 2_000


def test_an_interrupted_release_has_the_receipt_of_the_whole(source, tmp_path):
    options: dict[str, Any] = {"outside": "drop", "allow": 0.5, "batch_rows": 2}
    made = prepare(NOISE, source, tmp_path / "p.csv", **options)
    with pytest.raises(KeyboardInterrupt):
        made.run(_interrupt)
    made = prepare(NOISE, source, tmp_path / "p.csv", **options, resume=True)
    outcome = made.run()
    receipt = made.receipt(outcome)
    assert receipt.rows_resumed >= 2
    assert (receipt.rows_read, receipt.rows_dropped, receipt.rows_without_position) == (7, 2, 1)
    assert receipt.target.sha256 == sha256(tmp_path / "p.csv")


def _interrupt(done):
    raise KeyboardInterrupt


def test_a_source_that_changed_meanwhile_has_no_receipt(source, tmp_path):
    made = prepare(NOISE, source, tmp_path / "p.csv", outside="drop", allow=0.5)
    outcome = made.run()
    source.write_text(source.read_text().replace("ulla", "eve"))
    os.utime(source, (1, 1))
    with pytest.raises(FileError, match=r"'visits\.csv' changed while it was released[\s\S]*is complete"):
        made.receipt(outcome)


def test_a_refused_release_leaves_no_receipt(source, tmp_path):
    path = tmp_path / "r.json"
    path.write_text("old")
    with pytest.raises(DataError):
        sf.release(NOISE, source, tmp_path / "p.csv", receipt=path)
    assert path.read_text() == "old"
    assert not (tmp_path / "p.csv").exists()


def test_places_where_no_receipt_can_be(source, tmp_path):
    for path, why in (
        (tmp_path / "r.txt", "does not end in .json"),
        (source.rename(tmp_path / "visits.json"), "would be a part of"),
    ):
        with pytest.raises(InputError, match=why):
            sf.release(NOISE, tmp_path / "visits.json", tmp_path / "p.csv", receipt=path)
    with pytest.raises(FileError):
        sf.release(NOISE, tmp_path / "visits.json", tmp_path / "p.csv", receipt=tmp_path / "none" / "r.json")
    with pytest.raises(InputError, match=r"receipt=.* is for files"):
        sf.release(NOISE, pa.table({"lat": [48.85], "lon": [2.35]}), receipt=tmp_path / "r.json")
    assert not (tmp_path / "p.csv").exists()


def test_folders_have_the_fingerprint_that_sha256sum_gives(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.csv").write_text(f"answer\n{name}\n")
    space = sf.Space(["a", "b"])
    sf.release(
        randomised_response(space, 1.0), folder, tmp_path / "p.csv", column="answer", receipt=tmp_path / "r.json"
    )
    held = json.loads((tmp_path / "r.json").read_text())
    lines = "".join(f"{sha256(folder / name)}  {name}\n" for name in ("a.csv", "b.csv"))
    assert held["source"]["sha256"] == hashlib.sha256(lines.encode()).hexdigest()
    assert (held["source"]["files"], held["people"], held["bounds"][0]["one_person"]) == (2, None, None)


def test_distances_that_only_the_maker_states_are_named(tmp_path):
    space = sf.Space(["a", "b"])
    metric = sf.Metric([[0, 2.0], [2.0, 0]], "h", name="walking")
    mechanism = randomised_response(space, 1.0)
    stated = sf.Mechanism(mechanism.matrix, space, space).promising(sf.MetricPrivacy("1/h", metric))
    (tmp_path / "v.csv").write_text("user,answer\nu,a\nu,b\n")
    options: dict[str, Any] = {"column": "answer", "user": "user"}
    sf.release(stated, tmp_path / "v.csv", tmp_path / "p.csv", **options, receipt=tmp_path / "r.json")
    (bound,) = json.loads((tmp_path / "r.json").read_text())["bounds"]
    assert (bound["distances"], bound["one_person"], bound["unit"]) == ("stated", 2, "h")
