"""Reports of noise for coordinates on a budget: what is charged, its slack, and places that are remembered."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ks_2samp

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.geo import Projection
from sfumato.ledgers import Blur, BudgetError, Ledger
from sfumato.mechanisms.planar import CoordinateNoise

from .altered import alter, rows

PLANE = Projection(48.86, 2.34)
NOISE = CoordinateNoise("1/km", "2 m", PLANE, "30 km")
HOME = 48.8512341, 2.3512341  # as fine as reports are kept: none agrees in six decimals by chance


def metered(path, limit="3/km", noise=NOISE):
    try:
        ledger = Ledger(path)
    except FileError:
        ledger = Ledger.create(path, limit)
    return Blur(noise, ledger)


def test_a_place_is_charged_once_and_its_very_report_repeated(tmp_path):
    first = metered(tmp_path / "l.db").report("ada", *HOME, place="home")
    for point in (HOME, (48.9, 2.3), (0.0, 0.0)):  # the point matters the first time only
        again = metered(tmp_path / "l.db")
        assert again.report("ada", *point, place="home").tolist() == first.tolist()
        assert again.ledger.balance("ada").spent == 1
    others = [metered(tmp_path / "l.db").report(f"bob {k}", *HOME, place="home").tolist() for k in range(5)]
    assert any(other != first.tolist() for other in others)  # each by chance: less than 1e-4
    held = str(
        rows(f"sqlite:///{tmp_path / 'l.db'}", "places") + rows(f"sqlite:///{tmp_path / 'l.db'}", "charges")
    )
    assert "home" not in held
    for private in ("48.851234", "2.351234"):
        assert private not in held


def test_without_a_name_each_report_is_charged_and_fresh(tmp_path):
    source = metered(tmp_path / "l.db")
    reports = {tuple(source.report("ada", *HOME)) for _ in range(3)}
    assert len(reports) >= 2  # two reports are one with a probability of less than 1e-6: not three
    balance = source.ledger.balance("ada")
    assert (balance.spent, balance.left, balance.reports) == (3, 0, 3)
    with pytest.raises(BudgetError, match="0/km is left"):
        source.report("ada", *HOME)


def test_metered_reports_are_distributed_as_those_of_the_sampler(tmp_path):
    n = 4000
    source = metered(tmp_path / "l.db", "5000/km")
    lat, lon = np.full(n, HOME[0]), np.full(n, HOME[1])
    away = [
        np.hypot(*(PLANE.forward(*reports.T) - PLANE.forward([HOME[0]], [HOME[1]])).T)
        for reports in (source.report_all(["ada"] * n, lat, lon, [None] * n), sf.sampler(NOISE).blur(lat, lon))
    ]
    assert ks_2samp(*away).pvalue > 1e-6
    assert source.ledger.balance("ada").spent == n


def test_many_visits_at_once_are_all_charged_or_none(tmp_path):
    source = metered(tmp_path / "l.db", "2/km")
    lat, lon = [48.85, 48.86, 48.87, 48.88], [2.34, 2.35, 2.36, 2.37]
    reports = source.report_all(list("aaba"), lat, lon, ["home", "home", "home", None])
    assert reports.shape == (4, 2)
    assert reports[0].tolist() == reports[1].tolist() != reports[2].tolist()
    assert [source.ledger.balance(user).spent for user in "ab"] == [2, 1]
    before = source.ledger.head
    with pytest.raises(BudgetError):
        source.report_all(["b", "a"], lat[:2], lon[:2], [None, "work"])
    with pytest.raises(InputError, match="one of each"):
        source.report_all(["b"], lat, lon, [None])
    assert source.report_all([], [], [], []).shape == (0, 2)
    assert source.ledger.head == before


def test_points_that_are_refused_are_not_charged(tmp_path):
    source = metered(tmp_path / "l.db")
    for point in ((0.0, 0.0), (math.nan, 2.35), (91.0, 0.0), (10**400, 0.0)):
        with pytest.raises(InputError):
            source.report("ada", *point)
    with pytest.raises(InputError, match="unknown"):
        source.report("ada", *HOME, outside="drop")
    with pytest.raises(InputError, match="no numbered secrets"):
        source.draw("ada", 0)
    with pytest.raises(InputError, match="no numbered secrets"):
        source.draw_all(["ada"], np.array([0]), [None])
    plane = CoordinateNoise("1/km")
    with pytest.raises(InputError, match="points of a plane"):
        metered(tmp_path / "l.db", noise=plane).report("ada", *HOME)
    assert not source.ledger.users
    assert source.report("ada", 0.0, 0.0, outside="nearest").shape == (2,)


def test_only_what_is_proved_with_its_slack_can_be_charged(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "3/km")
    for claim in (sf.CoordinatePrivacy("1/km"), sf.CoordinatePrivacy("0.9/km", slack_m=3.0)):
        with pytest.raises(
            InputError, match=r"is claimed, but the noise.s epsilon is up to .* slack up to 2\.83 m"
        ):
            Blur(NOISE, ledger, claim)
    with pytest.raises(InputError, match="no guarantee of noise"):
        Blur(NOISE, ledger, sf.MetricPrivacy(1.0, sf.Metric([[0, 1], [1, 0]])))
    with pytest.raises(InputError, match="counts pure numbers"):
        Blur(NOISE, Ledger.create(tmp_path / "x.db", 3.0), NOISE.promise)
    more = Blur(NOISE, ledger, sf.CoordinatePrivacy("1.5/km", slack_m=10))
    more.report("ada", *HOME)
    assert ledger.balance("ada").spent == Fraction(3, 2)
    assert "charged 1.5/km, and its slack of 10 m counts each time" in more.sentence


def test_noise_and_its_file_remember_the_same_places_and_other_noise_does_not(tmp_path):
    visits = sf.Visits(np.linspace(48.84, 48.88, 30), np.linspace(2.3, 2.38, 30))
    noise = CoordinateNoise.for_visits(visits, "1/km")
    sf.save(noise, tmp_path / "n.sfm")
    read = sf.load(tmp_path / "n.sfm")
    assert isinstance(read, CoordinateNoise)
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    reports = [
        Blur(each, ledger, each.promise).report("ada", *HOME, place="home").tolist() for each in (noise, read)
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
        Blur(other, ledger, other.promise).report("ada", *HOME, place="home")
        assert ledger.balance("ada").spent == count


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "report", ["3", "[48.8]", "[48.8, 2.3, 1.0]", "[48, 2]", "[true, 2.3]", "[NaN, 2.3]", '"x"', "null", "{", ""]
)
def test_a_damaged_report_is_refused(tmp_path, report):
    metered(tmp_path / "l.db").report("ada", *HOME, place="home")
    alter(f"sqlite:///{tmp_path / 'l.db'}", f"UPDATE sfumato_places SET report = '{report}'")
    with pytest.raises(FileError):
        metered(tmp_path / "l.db").report("ada", *HOME, place="home")
    assert not Ledger(tmp_path / "l.db").check().sound
