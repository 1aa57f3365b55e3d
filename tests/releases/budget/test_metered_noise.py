"""Reports of noise for coordinates on a budget: what is charged, its slack, and places that are remembered."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ks_2samp

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import NoiseFile, read_any
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases.budget import BudgetError, Ledger, MeteredSampler

PLANE = Projection(48.86, 2.34)
NOISE = CoordinateNoise("1/km", "2 m", PLANE, "30 km")
HOME = 48.851, 2.3512


def metered(path, limit="3/km", noise=NOISE):
    return MeteredSampler(noise, noise.promise, Ledger(path, limit, unit="km"))


def test_a_place_is_charged_once_and_its_very_report_repeated(tmp_path):
    first = metered(tmp_path / "l.json").blur("ada", *HOME, place="home")
    for point in (HOME, (48.9, 2.3), (0.0, 0.0)):  # the point matters the first time only
        again = metered(tmp_path / "l.json")
        assert again.blur("ada", *point, place="home").tolist() == first.tolist()
        assert again.ledger.balance("ada").spent == 1
    assert metered(tmp_path / "l.json").blur("bob", *HOME, place="home").tolist() != first.tolist()
    text = (tmp_path / "l.json").read_text(encoding="utf-8")
    assert "home" not in text
    assert str(HOME[0]) not in text


def test_without_a_name_each_report_is_charged_and_fresh(tmp_path):
    source = metered(tmp_path / "l.json")
    reports = {tuple(source.blur("ada", *HOME)) for _ in range(3)}
    assert len(reports) == 3
    assert source.ledger.balance("ada") == sf.releases.budget.Balance(Fraction(3), Fraction(0), 3)
    with pytest.raises(BudgetError, match="0/km is left"):
        source.blur("ada", *HOME)


def test_metered_reports_are_distributed_as_those_of_the_sampler(tmp_path):
    n = 4000
    source = metered(tmp_path / "l.json", "5000/km")
    lat, lon = np.full(n, HOME[0]), np.full(n, HOME[1])
    away = [
        np.hypot(*(PLANE.forward(*reports.T) - PLANE.forward([HOME[0]], [HOME[1]])).T)
        for reports in (source.blur_all(["ada"] * n, lat, lon, [None] * n), sf.sampler(NOISE).blur(lat, lon))
    ]
    assert ks_2samp(*away).pvalue > 1e-6
    assert source.ledger.balance("ada").spent == n


def test_many_visits_at_once_are_all_charged_or_none(tmp_path):
    source = metered(tmp_path / "l.json", "2/km")
    lat, lon = [48.85, 48.86, 48.87, 48.88], [2.34, 2.35, 2.36, 2.37]
    reports = source.blur_all(list("aaba"), lat, lon, ["home", "home", "home", None])
    assert reports.shape == (4, 2)
    assert reports[0].tolist() == reports[1].tolist() != reports[2].tolist()
    assert [source.ledger.balance(user).spent for user in "ab"] == [2, 1]
    before = (tmp_path / "l.json").read_bytes()
    with pytest.raises(BudgetError):
        source.blur_all(["b", "a"], lat[:2], lon[:2], [None, "work"])
    with pytest.raises(InputError, match="one of each"):
        source.blur_all(["b"], lat, lon, [None])
    assert source.blur_all([], [], [], []).shape == (0, 2)
    assert (tmp_path / "l.json").read_bytes() == before


def test_points_that_are_refused_are_not_charged(tmp_path):
    source = metered(tmp_path / "l.json")
    for point in ((0.0, 0.0), (math.nan, 2.35), (91.0, 0.0), (10**400, 0.0)):
        with pytest.raises(InputError):
            source.blur("ada", *point)
    with pytest.raises(InputError, match="unknown"):
        source.blur("ada", *HOME, outside="drop")
    with pytest.raises(InputError, match="no numbered secrets"):
        source.draw("ada", 0)
    with pytest.raises(InputError, match="no numbered secrets"):
        source.draw_all(["ada"], np.array([0]), [None])
    plane = CoordinateNoise("1/km")
    with pytest.raises(InputError, match="points of a plane"):
        metered(tmp_path / "l.json", noise=plane).blur("ada", *HOME)
    assert source.ledger.users == ()
    assert source.blur("ada", 0.0, 0.0, outside="nearest").shape == (2,)


def test_only_what_is_proved_with_its_slack_can_be_charged(tmp_path):
    ledger = Ledger(tmp_path / "l.json", "3/km", unit="km")
    for claim in (sf.CoordinatePrivacy("1/km"), sf.CoordinatePrivacy("0.9/km", slack_m=3.0)):
        with pytest.raises(
            InputError, match=r"is claimed, but the noise.s epsilon is up to .* slack up to 2\.83 m"
        ):
            MeteredSampler(NOISE, claim, ledger)
    with pytest.raises(InputError, match="not a promise of noise"):
        MeteredSampler(NOISE, sf.MetricPrivacy(1.0, sf.Metric([[0, 1], [1, 0]])), ledger)
    with pytest.raises(InputError, match="unit"):
        MeteredSampler(NOISE, NOISE.promise, Ledger(tmp_path / "x.json", 3.0))
    more = MeteredSampler(NOISE, sf.CoordinatePrivacy("1.5/km", slack_m=10), ledger)
    more.blur("ada", *HOME)
    assert ledger.balance("ada").spent == Fraction(3, 2)
    assert "charged 1.5/km, and its slack of 10 m counts each time" in more.sentence


def test_noise_and_its_file_remember_the_same_places_and_other_noise_does_not(tmp_path):
    visits = sf.Visits(np.linspace(48.84, 48.88, 30), np.linspace(2.3, 2.38, 30))
    noise = CoordinateNoise.for_visits(visits, "1/km")
    sf.save(noise, tmp_path / "n.sfm")
    read = read_any(tmp_path / "n.sfm")
    assert isinstance(read, NoiseFile)
    ledger = Ledger(tmp_path / "l.json", "9/km", unit="km")
    reports = [
        MeteredSampler(each, each.promise, ledger).blur("ada", *HOME, place="home").tolist()
        for each in (noise, read.noise)
    ]
    assert reports[0] == reports[1]
    assert ledger.balance("ada").spent == 1
    others = (
        CoordinateNoise("1/km", noise.step_m, noise.projection, f"{noise.reach_m} m"),
        CoordinateNoise("1/km", "3 m", PLANE, "30 km"),
        CoordinateNoise("1/km", "2 m", PLANE, "40 km"),
        CoordinateNoise("1/km", "2 m", Projection(48.86, 2.35), "30 km"),
        NOISE,
    )
    for count, other in enumerate(others, 2):
        MeteredSampler(other, other.promise, ledger).blur("ada", *HOME, place="home")
        assert ledger.balance("ada").spent == count


@pytest.mark.parametrize("report", [3, [48.8], [48.8, 2.3, 1.0], [48, 2], [True, 2.3], [math.nan, 2.3], "x", None])
def test_a_damaged_report_is_refused(tmp_path, report):
    metered(tmp_path / "l.json").blur("ada", *HOME, place="home")
    content = json.loads((tmp_path / "l.json").read_text())
    (key,) = content["places"]["reports"]
    content["places"]["reports"][key] = report
    (tmp_path / "l.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FileError):
        metered(tmp_path / "l.json").blur("ada", *HOME, place="home")
