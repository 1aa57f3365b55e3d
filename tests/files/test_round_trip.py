"""Everything saved comes back, to the last bit, and in the same bytes."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, MetricWarning
from sfumato.files import MechanismFile, load, read_mechanism_file, save
from sfumato.files.archive import decoded_label, encoded_label
from tests.sampling.mechanisms import random_mechanism

from .contents import assert_same, plain_file, rich_file


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_everything_comes_back(tmp_path: Path) -> None:
    file = rich_file()
    save(file, tmp_path / "rich.sfm")
    again = read_mechanism_file(tmp_path / "rich.sfm")
    assert_same(file, again)
    assert load(tmp_path / "rich.sfm") == file.mechanism
    assert repr(again) == repr(file)


@pytest.mark.parametrize("tiny", [False, True])
def test_a_mechanism_alone_comes_back(tmp_path: Path, tiny: bool) -> None:
    mechanism = plain_file(tiny=tiny).report_channel
    assert mechanism.bits == (126 if tiny else 62)
    save(mechanism, tmp_path / "plain.sfm")
    again = read_mechanism_file(tmp_path / "plain.sfm").report_channel
    assert again == mechanism
    assert again.weights.dtype == mechanism.weights.dtype
    assert not again.weights.flags.writeable
    assert_same(read_mechanism_file(tmp_path / "plain.sfm"), MechanismFile(mechanism))


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 6), st.booleans())
def test_any_mechanism_comes_back(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n: int, m: int, tiny: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.sfm"
    mechanism = random_mechanism(seed, n, m, tiny=tiny)
    save(mechanism, path)
    assert load(path) == mechanism


def test_the_bytes_are_reproducible(tmp_path: Path) -> None:
    save(rich_file(), tmp_path / "one.sfm")
    save(read_mechanism_file(tmp_path / "one.sfm"), tmp_path / "two.sfm")
    save(rich_file(), tmp_path / "three.sfm")
    one = (tmp_path / "one.sfm").read_bytes()
    assert one == (tmp_path / "two.sfm").read_bytes() == (tmp_path / "three.sfm").read_bytes()


def test_equal_things_are_stored_once(tmp_path: Path) -> None:
    space = sf.Space("abc", [[0.0], [1.0], [2.0]], unit="km")
    d = space.metric("euclidean")
    file = MechanismFile(
        sf.Mechanism(np.eye(3), space, space),
        sf.Prior.uniform(space),
        d,
        [sf.MetricPrivacy(1.0, d), sf.MetricPrivacy(2.0, d), sf.DistortionPrivacy(0.5, d)],
    )
    save(file, tmp_path / "once.sfm")
    held = members(tmp_path / "once.sfm")
    assert sorted(held) == ["coordinates_0.npy", "loss_0.npy", "manifest.json", "prior_0.npy", "weights_0.npy"]
    manifest = json.loads(held["manifest.json"])
    assert [len(manifest[group]) for group in ("spaces", "metrics", "losses")] == [1, 1, 1]
    again = read_mechanism_file(tmp_path / "once.sfm")
    assert again.mechanism.secrets is again.mechanism.observables
    assert again.prior is not None
    assert again.prior.space is again.mechanism.secrets
    first, second, third = again.guarantees
    assert isinstance(first, sf.MetricPrivacy)
    assert isinstance(second, sf.MetricPrivacy)
    assert isinstance(third, sf.DistortionPrivacy)
    assert first.metric is second.metric
    assert third.distance is again.loss


def test_other_programs_can_read_the_members(tmp_path: Path) -> None:
    file = rich_file()
    save(file, tmp_path / "rich.sfm")
    held = members(tmp_path / "rich.sfm")
    weights = np.load(io.BytesIO(held["weights_0.npy"]), allow_pickle=False)
    assert np.array_equal(weights, file.report_channel.weights)
    assert all(
        info.date_time == (1980, 1, 1, 0, 0, 0) for info in zipfile.ZipFile(tmp_path / "rich.sfm").infolist()
    )


def test_a_metric_without_the_triangle_comes_back_without_a_second_warning(tmp_path: Path) -> None:
    with pytest.warns(MetricWarning):
        broken = sf.Metric([[0, 1, 9], [1, 0, 1], [9, 1, 0]], unit="km", name="drive")
    apart = sf.Metric([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    file = MechanismFile(
        sf.Mechanism(np.eye(3)), guarantees=[sf.MetricPrivacy(1, broken), sf.MetricPrivacy(1, apart)]
    )
    save(file, tmp_path / "broken.sfm")
    again = read_mechanism_file(tmp_path / "broken.sfm")
    assert_same(file, again)


def test_distances_that_depend_on_the_direction_come_back(tmp_path: Path) -> None:
    streets = sf.Metric(
        np.array([[0, 1, 3], [2, 0, 2], [np.inf, np.inf, 0]]), "km", name="streets", symmetric=False
    )
    with pytest.warns(MetricWarning):
        zero = sf.Metric([[0, 0, 3], [2, 0, 2], [5, 4, 0]], "km", name="zero", symmetric=False)
    promises = [sf.MetricPrivacy(1, streets), sf.MetricPrivacy(1, zero), sf.ThresholdPrivacy(1.0, streets, 2)]
    file = MechanismFile(sf.Mechanism(np.full((3, 2), 0.5)), guarantees=promises)
    save(file, tmp_path / "streets.sfm")
    again = read_mechanism_file(tmp_path / "streets.sfm")
    assert_same(file, again)
    for before, after in zip(promises, again.guarantees, strict=True):
        assert isinstance(after, sf.MetricPrivacy)
        assert not after.metric.symmetric
        np.testing.assert_array_equal(after.metric.array, before.metric.array)


def test_great_circles_around_the_earth_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    points = np.column_stack([rng.uniform(-90, 90, 40), rng.uniform(-180, 180, 40)])
    points = np.vstack([points, np.column_stack([-points[:, 0], (points[:, 1] % 360) - 180])])
    earth = sf.Space(range(80), points, crs="EPSG:4326")
    file = MechanismFile(
        sf.Mechanism(np.eye(80), earth), guarantees=[sf.MetricPrivacy(1, earth.metric("great-circle"))]
    )
    save(file, tmp_path / "earth.sfm")
    assert_same(file, read_mechanism_file(tmp_path / "earth.sfm"))


LABELS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)


def typed(label: Any) -> Any:
    """The label with its types, since 1 == True == 1.0."""
    if isinstance(label, tuple):
        return ("tuple", *map(typed, label))
    if isinstance(label, frozenset):
        return frozenset(map(typed, label))
    return (type(label), repr(label))


@given(LABELS)
def test_labels_come_back_with_their_types(label: Any) -> None:
    text = json.dumps(encoded_label(label), allow_nan=False)
    assert typed(decoded_label(json.loads(text))) == typed(label)


def test_labels_that_only_look_alike_stay_apart(tmp_path: Path) -> None:
    rows, columns = sf.Space([1, 0]), sf.Space([True, False])
    save(sf.Mechanism(np.eye(2), rows, columns), tmp_path / "alike.sfm")
    again = read_mechanism_file(tmp_path / "alike.sfm").report_channel
    assert [type(label) for label in again.secrets.labels] == [int, int]
    assert [type(label) for label in again.observables.labels] == [bool, bool]


@pytest.mark.parametrize("label", [b"bytes", 1j, object, range(3)])
def test_other_labels_are_refused(tmp_path: Path, label: Any) -> None:
    with pytest.raises(InputError, match="cannot hold"):
        save(sf.Mechanism([[1.0]], sf.Space([label])), tmp_path / "label.sfm")
    assert not list(tmp_path.iterdir())


def test_other_spaces_are_refused(tmp_path: Path) -> None:
    class Shelf(sf.Space):
        pass

    with pytest.raises(InputError, match="type Shelf"):
        save(sf.Mechanism([[1.0]], Shelf(["a"])), tmp_path / "shelf.sfm")


@pytest.mark.parametrize("claims", [{"bound": float("nan")}, {"what": {1, 2}}, {"array": np.ones(2)}, {1j: 2}])
def test_claims_that_json_cannot_hold(claims: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="JSON"):
        MechanismFile(sf.Mechanism([[1.0]]), claims=claims)


def test_parts_must_belong_to_the_mechanism() -> None:
    mechanism = sf.Mechanism(np.eye(3), sf.Space("abc"))
    with pytest.raises(InputError, match="the prior is on"):
        MechanismFile(mechanism, prior=sf.Prior.uniform(sf.Space("acb")))
    with pytest.raises(InputError, match="2 secrets"):
        MechanismFile(mechanism, loss=np.ones((2, 3)))
    with pytest.raises(InputError, match="for 2 secrets"):
        MechanismFile(mechanism, guarantees=[sf.MetricPrivacy(1, sf.hamming(sf.Space("ab")))])
    with pytest.raises(InputError, match="for 4 secrets"):
        MechanismFile(mechanism, guarantees=[sf.DistortionPrivacy(0, np.ones((3, 4)))])
    with pytest.raises(InputError, match=r"a MetricPrivacy, .* is needed"):
        MechanismFile(mechanism, guarantees=["private"])  # type: ignore[list-item]


def test_a_name_of_another_format_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"another kind of file[\s\S]*\.sfm"):
        sf.save(sf.Mechanism([[0.5, 0.5], [0.5, 0.5]]), tmp_path / "x.mat")
    assert not list(tmp_path.iterdir())
