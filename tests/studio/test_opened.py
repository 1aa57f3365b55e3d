"""Mechanism files that a visitor opens: what is shown of them is proved here, and not what they say."""

import json
import zipfile

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import DesignGuarantee
from sfumato.files import MechanismFile
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.privacy import DistributionPrivacy, Family
from sfumato.proofs import FamilyPrivacy, prove_metric_privacy

CITY = sf.synthetic_city(users=20, days=7)


@pytest.fixture(scope="module")
def visitor(cities):
    return cities()


def opened(visitor, file, folder):
    """Open a file, and return its level."""
    sf.save(file, folder / "m.sfm")
    visitor.upload("m.sfm", (folder / "m.sfm").read_bytes())
    (level,) = visitor.get("/levels")["levels"]
    return level


def test_a_table_is_shown_with_the_epsilon_that_its_integers_have(visitor, tmp_path):
    colours = sf.Space(["red", "green", "blue"])
    matrix = [[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    mechanism, prior = sf.Mechanism(matrix, colours, colours), sf.Prior.from_counts(colours, [5, 3, 2])
    lies = {"certificate": {"metric_privacy": [{"upper": 0.01, "holds": True}]}}
    level = opened(visitor, MechanismFile(mechanism, prior, claims=lies), tmp_path)
    assert level["epsilon"] == pytest.approx(np.log(6), rel=1e-9)
    assert (level["name"], level["status"]) == ("opened", "closed form")
    p = prior.probabilities
    assert level["loss"]["value"] == pytest.approx(1 - (p * np.diagonal(mechanism.matrix)).sum())
    assert level["found"]["value"] == pytest.approx((p[:, None] * mechanism.matrix).max(axis=0).sum())
    assert visitor.get()["data"]["source"] == "mechanism"
    assert visitor.download("mechanism.sfm", level=0).content == (tmp_path / "m.sfm").read_bytes()
    assert visitor.get("/preview", level=0, at=1)["here"]["reports"] == pytest.approx([0.2, 0.6, 0.2])
    visitor.get("/script.py", 404, level=0)
    visitor.post("/optimize", {}, 409)
    visitor.post("/compare", {"level": 0}, 409)
    visitor.put("/site", {"kind": "values"}, 409)


def test_guarantees_that_are_no_epsilon_between_secrets_are_named_and_not_called_proved(visitor, tmp_path):
    """A family, an error, and a mechanism without epsilon."""
    colours = sf.Space(["red", "green", "blue"])
    prior, family = sf.Prior.uniform(colours), Family({"a": [0.5, 0.5, 0], "b": [0, 0.5, 0.5]})
    family_promise = FamilyPrivacy(2, DistributionPrivacy(family))
    promises: list[DesignGuarantee] = [family_promise, sf.DistortionPrivacy(0.2, sf.hamming(colours))]
    rows = [[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    opened(visitor, MechanismFile(sf.Mechanism(rows, colours, colours), prior, None, promises), tmp_path)
    sentences = " ".join(visitor.get()["site"]["sentences"])
    assert "Its epsilon was proved when it was opened" in sentences
    for promise in promises:
        assert f"The studio does not check this guarantee: {promise}. 'sfumato audit' does." in sentences
    sf.save(
        MechanismFile(sf.Mechanism(np.eye(3), colours, colours), prior, None, promises[:1]), tmp_path / "n.sfm"
    )
    answer = visitor.upload("n.sfm", (tmp_path / "n.sfm").read_bytes(), 422)
    assert "here some report rules out a secret" in json.dumps(answer)


@pytest.mark.slow
def test_numbers_keep_their_guarantee_per_unit(visitor, tmp_path):
    ages = sf.NumberBins(18, 1, 12)
    mechanism = sf.mechanisms.geometric(ages, 0.3)
    level = opened(visitor, MechanismFile(mechanism, sf.Prior.uniform(ages)), tmp_path)
    (guarantee,) = mechanism.stated_guarantees
    assert isinstance(guarantee, sf.MetricPrivacy)
    assert level["epsilon"] == prove_metric_privacy(mechanism, guarantee).upper
    assert "thought two values 1 apart equally likely is at most" in level["headline"]


@pytest.mark.slow
def test_noise_and_designs_for_places_are_drawn_on_the_map(visitor, tmp_path):
    noise = CoordinateNoise.for_visits(CITY, "1/km", fineness=0.5)
    level = opened(visitor, MechanismFile.for_visits(noise, CITY), tmp_path)
    assert level["epsilon"] == pytest.approx(1.0)
    assert level["epsilon"] <= 1.0
    assert "thought two points 1 km apart equally likely is at most" in level["headline"]
    cells = visitor.get("/map")["cells"]["features"]
    assert sum(cell["properties"]["share"] for cell in cells) == pytest.approx(1)
    here = visitor.get("/preview", level=0, at=3)["here"]
    assert sum(here["reports"]) == pytest.approx(1, abs=1e-4)
    lattice = sf.Lattice.covering(CITY, "2 km", region=CITY.region(trim=0.05))
    prior, loss = sf.Prior.from_visits(lattice, CITY), lattice.loss(CITY)
    design = sf.design(prior, loss=loss, guarantees=sf.CoordinatePrivacy("1/km"), method="table")
    level = opened(visitor, MechanismFile.of_design(design), tmp_path)
    assert level["epsilon"] == pytest.approx(design.certificate.epsilon_upper, rel=1e-9)
    point = lattice.latlon.mean(axis=0)
    assert visitor.get("/preview", level=0, lat=point[0], lon=point[1])["here"]["reports"]


def test_files_that_guarantee_nothing_or_are_damaged_are_refused(visitor, tmp_path):
    colours = sf.Space(["red", "green"])
    sf.save(MechanismFile(sf.Mechanism(np.eye(2), colours, colours)), tmp_path / "m.sfm")
    content = (tmp_path / "m.sfm").read_bytes()
    assert "rules out a secret" in visitor.upload("m.sfm", content, 422)["message"]
    assert visitor.upload("m.sfm", content[:-30], 422)["message"]
    with zipfile.ZipFile(tmp_path / "other.sfm", "w") as file:
        file.writestr("manifest.json", json.dumps({"a": 1}))
    assert visitor.upload("other.sfm", (tmp_path / "other.sfm").read_bytes(), 422)["message"]
