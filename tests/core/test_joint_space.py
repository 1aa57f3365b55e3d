"""Several columns as one space: positions and margins against plain products, and files that hold them."""

import copy
import json
import pickle
import zipfile
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.releases import positions_in

PARTS: dict[str, sf.Space] = {
    "diagnosis": sf.Space(["flu", "cold"]),
    "age": sf.NumberBins(18, 40, 2),
    "n": sf.Space.numbers([1, 2, 3]),
}


def test_labels_are_the_product_in_order():
    joint = sf.JointSpace(PARTS)
    assert joint.labels == tuple(product(["flu", "cold"], ["18-57", "58-97"], [1, 2, 3]))
    for place, name in enumerate(PARTS):
        values = [joint.parts[place].labels[position] for position in joint.of_part(name)]
        assert values == [label[place] for label in product(*(part.labels for part in PARTS.values()))]


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.data())
def test_positions_and_margins_against_a_plain_table(sizes, data):
    joint = sf.JointSpace({f"c{i}": sf.Space(range(size)) for i, size in enumerate(sizes)})
    row = [data.draw(st.integers(-1, size - 1)) for size in sizes]
    found = joint.combine([np.array([each]) for each in row])[0]
    assert found == (-1 if -1 in row else joint.labels.index(tuple(row)))
    shares = np.random.default_rng(1).dirichlet(np.ones(len(joint)))
    table = shares.reshape(sizes)
    for place in range(len(sizes)):
        others = tuple(axis for axis in range(len(sizes)) if axis != place)
        assert joint.margin(f"c{place}") @ shares == pytest.approx(table.sum(axis=others))


def test_columns_of_a_table():
    joint = sf.JointSpace(PARTS)
    columns = [
        pa.array(["cold", "flu", "pox", None]),
        pa.array(["58", " 19 ", "20", "21"]),
        pa.array([3, 1, 1, 1]),
    ]
    assert positions_in(joint, *columns).tolist() == [11, 0, -1, -1]
    with pytest.raises(InputError, match="2 columns were given for secrets of 3"):
        positions_in(joint, *columns[:2])


def test_copies_comparisons_and_a_file(tmp_path):
    joint = sf.JointSpace(PARTS)
    assert pickle.loads(pickle.dumps(joint)) == copy.deepcopy(joint) == joint
    assert hash(joint) == hash(sf.JointSpace(PARTS))
    assert joint != sf.JointSpace({"x": PARTS["diagnosis"], **dict(list(PARTS.items())[1:])})
    assert joint != sf.Space(joint.labels)
    mechanism = sf.mechanisms.randomised_response(joint, 1)
    sf.save(mechanism, tmp_path / "m.sfm")
    held = sf.read_mechanism_file(tmp_path / "m.sfm").mechanism
    assert held == mechanism
    assert held.secrets == joint
    assert isinstance(held.secrets, sf.JointSpace)
    assert held.secrets.parts[1] == PARTS["age"]


@pytest.mark.parametrize(
    "change",
    [
        {"parts": [9, 9, 9]},
        {"parts": [0, 0]},
        {"names": ["a", "a", "b"]},
        {"names": [1, 2, 3]},
        {"parts": [True, True, True]},
        {"kind": "joint", "parts": [3, 3, 3]},
    ],
)
def test_a_forged_file_is_refused(tmp_path, change):
    path = tmp_path / "m.sfm"
    sf.save(sf.mechanisms.randomised_response(sf.JointSpace(PARTS), 1), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    place = next(i for i, each in enumerate(manifest["spaces"]) if each["kind"] == "joint")
    assert place == 3
    manifest["spaces"][place] |= change
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(FileError):
        sf.load(path)


@pytest.mark.parametrize(
    "parts",
    [
        {"a": sf.Space("xy")},
        {"a": sf.Space(range(200)), "b": sf.Space(range(200))},
        {"a": sf.Space("xy"), "b": sf.JointSpace(PARTS)},
        {1: sf.Space("xy"), "b": sf.Space("xy")},
    ],
)
def test_what_is_no_joint_space(parts):
    with pytest.raises(InputError):
        sf.JointSpace(parts)


def test_a_column_that_is_not_there():
    with pytest.raises(InputError, match="no column 'sex'"):
        sf.JointSpace(PARTS).margin("sex")
