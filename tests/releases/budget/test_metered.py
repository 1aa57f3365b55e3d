"""Reports on a budget: what is charged, and places that are remembered."""

import json
import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

import sfumato as sf
from sfumato.errors import FileError, InputError, UnitError
from sfumato.evidence import VertexPrivacy
from sfumato.geo import Lattice
from sfumato.releases.budget import BudgetError, Ledger, MeteredSampler

LATTICE = Lattice.covering("3 km x 3 km around 48.85,2.35", "1 km")
PROMISE = sf.CoordinatePrivacy("1/km")
MECHANISM = sf.design(
    sf.Prior.uniform(LATTICE), loss=LATTICE.metric("euclidean", unit="km"), guarantees=PROMISE, keep="program"
).mechanism
HOME = 48.851, 2.3512
GRID = sf.Grid.covering("3 km x 3 km around 48.85,2.35", cell="1 km")


def metered(path, limit="3/km"):
    return MeteredSampler(MECHANISM, PROMISE, Ledger(path, limit, unit="km"))


def test_a_place_is_charged_once_and_repeated_by_later_runs(tmp_path):
    source = metered(tmp_path / "l.json")
    first = source.blur("ada", *HOME, place="home")
    for run in range(3):
        again = metered(tmp_path / "l.json")
        np.testing.assert_array_equal(again.blur("ada", HOME[0] + 1e-4 * run, HOME[1], place="home"), first)
        assert again.ledger.balance("ada").spent == 1
    assert source.ledger.balance("ada").reports == 1
    # Also from where the mechanism serves nothing: the place is known, the point no longer matters.
    np.testing.assert_array_equal(source.blur("ada", 0.0, 0.0, place="home"), first)


def test_without_a_name_nothing_is_remembered(tmp_path):
    source = metered(tmp_path / "l.json")
    for place in (None, "", None):
        source.blur("ada", *HOME, place=place)
    assert source.ledger.balance("ada").spent == 3
    with pytest.raises(BudgetError, match="0/km is left"):
        source.blur("ada", *HOME)
    with pytest.raises(BudgetError):
        source.blur("ada", *HOME, place="home")
    assert "places" not in json.loads((tmp_path / "l.json").read_text())
    assert source.blur("bob", *HOME, place="home").shape == (2,)


def test_places_users_and_mechanisms_have_reports_of_their_own(tmp_path):
    """Twenty places, fifteen users: their reports are as independent draws of one row."""
    source = metered(tmp_path / "l.json", "1000/km")
    reports = np.array(
        [source.blur(f"u{user}", *HOME, place=f"p{place}") for user in range(15) for place in range(20)]
    )
    rounding = LATTICE.rounding(*HOME)
    shares = (rounding.shares[0][:, None] * MECHANISM.matrix[rounding.positions[0]]).sum(axis=0)
    found = np.array([np.count_nonzero(np.abs(reports - at).max(axis=1) < 1e-7) for at in LATTICE.latlon])
    common = shares > 0.01
    counts = np.append(found[common], found[~common].sum())
    wanted = np.append(shares[common], shares[~common].sum()) * len(reports)
    assert chisquare(counts, wanted * counts.sum() / wanted.sum()).pvalue > 1e-9
    # Names that run together are not mixed up, and another mechanism reports and charges anew.
    ledger = Ledger(tmp_path / "m.json", "9/km", unit="km")
    one = MeteredSampler(MECHANISM, PROMISE, ledger)
    one.blur("ab", *HOME, place="c")
    one.blur("a", *HOME, place="bc")
    assert len(json.loads((tmp_path / "m.json").read_text())["places"]["reports"]) == 2
    keep = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
    MeteredSampler(keep, PROMISE, ledger).blur("ab", *HOME, place="c")
    assert ledger.balance("ab").spent == 2


def test_many_visits_at_once_are_all_charged_or_none(tmp_path):
    source = metered(tmp_path / "l.json", "2/km")
    positions = np.array([4, 5, 6, 7, 4], dtype=np.intp)
    users = ["ada", "ada", "bob", "ada", "bob"]
    places = ["home", "home", "home", None, "home"]
    reports = source.draw_all(users, positions, places)
    assert reports[0] == reports[1]
    assert reports[2] == reports[4]
    assert [source.ledger.balance(user).spent for user in ("ada", "bob")] == [2, 1]
    before = (tmp_path / "l.json").read_bytes()
    with pytest.raises(BudgetError, match="'ada' has spent 2/km of 2/km"):
        source.draw_all(["bob", "ada"], positions[:2], ["new", "new"])
    assert (tmp_path / "l.json").read_bytes() == before
    assert source.draw_all(users[:3], positions[:3], places[:3]) == reports[:3]
    assert source.draw("ada", 3, place="home") == reports[0]
    assert (tmp_path / "l.json").read_bytes() == before
    assert source.draw_all([], np.array([], dtype=np.intp), []) == []


def test_the_ledger_holds_reports_and_neither_places_nor_points(tmp_path):
    source = metered(tmp_path / "l.json")
    for place in ("home", "clinic"):
        source.blur("ada", *HOME, place=place)
    text = (tmp_path / "l.json").read_text(encoding="utf-8")
    for private in ("home", "clinic", "48.8", "2.35"):
        assert private not in text
    entries = json.loads(text)["places"]["reports"]
    assert list(entries) == sorted(entries)
    other = metered(tmp_path / "m.json")
    other.blur("ada", *HOME, place="home")
    assert not set(entries) & set(json.loads((tmp_path / "m.json").read_text())["places"]["reports"])  # salted


def test_threads_agree_on_one_report(tmp_path):
    found = []

    def work():
        found.append(tuple(metered(tmp_path / "l.json").blur("ada", *HOME, place="home")))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
    assert Ledger(tmp_path / "l.json", "3/km", unit="km").balance("ada").spent == 1


def test_what_cannot_be_kept_is_not_given_out(tmp_path, monkeypatch):
    source = metered(tmp_path / "l.json")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileError):
        source.blur("ada", *HOME, place="home")
    monkeypatch.undo()
    assert source.ledger.balance("ada").spent == 0


def test_points_outside_are_not_charged(tmp_path):
    source = metered(tmp_path / "l.json")
    for point in ((0.0, 0.0), (math.nan, 2.35), (91.0, 0.0)):
        with pytest.raises(InputError, match="not served"):
            source.blur("ada", *point)
    with pytest.raises(InputError, match="unknown"):
        source.blur("ada", *HOME, outside="drop")
    assert source.ledger.users == ()
    assert source.blur("ada", 0.0, 0.0, outside="nearest").shape == (2,)
    assert source.ledger.balance("ada").spent == 1


def test_names_of_any_text_are_kept_and_others_refused(tmp_path):
    source = metered(tmp_path / "l.json", "100/km")
    for user, place in (("a" * 5000, "b" * 50_000), ("a\0", "\n"), ("é", "\ud800")):
        first = source.blur(user, *HOME, place=place)
        np.testing.assert_array_equal(source.blur(user, *HOME, place=place), first)
    for user in ("", "\ud800"):
        with pytest.raises(InputError, match="the name of the user"):
            source.blur(user, *HOME)
    for bad in (5, b"x", math.nan):
        with pytest.raises(InputError, match="place= is of type"):
            source.blur("ada", *HOME, place=bad)
    for outside in ("error", "nearest"):
        with pytest.raises(InputError):
            source.blur("ada", 10**400, 2.35, outside=outside)


DIGEST = "a" * 64


@pytest.mark.parametrize(
    "places",
    [
        [],
        "x",
        {},
        {"salt": "00", "reports": {}},
        {"salt": "g" * 32, "reports": {}},
        {"salt": "0" * 32, "reports": []},
        {"salt": "0" * 32, "reports": {"home": 1}},
        {"salt": "0" * 32, "reports": {DIGEST: -1}},
        {"salt": "0" * 32, "reports": {DIGEST: True}},
        {"salt": "0" * 32, "reports": {DIGEST: 1.5}},
        {"salt": "0" * 32, "reports": {DIGEST: "1"}},
        {"salt": "0" * 32, "reports": {DIGEST: 2**70}},
        {"salt": "0" * 32, "reports": {DIGEST + "\n": 1}},
        {"salt": 5, "reports": {DIGEST: 1}},
    ],
)
def test_damaged_places_are_refused(tmp_path, places):
    content = {"format": "sfumato ledger", "version": 1, "limit": "3", "unit": "km", "users": {}, "places": places}
    (tmp_path / "l.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FileError, match="is not a ledger"):
        Ledger(tmp_path / "l.json", "3/km", unit="km")


def test_a_report_that_the_mechanism_cannot_make_is_refused(tmp_path):
    source = metered(tmp_path / "l.json")
    source.blur("ada", *HOME, place="home")
    content = json.loads((tmp_path / "l.json").read_text())
    (key,) = content["places"]["reports"]
    content["places"]["reports"][key] = len(LATTICE)
    (tmp_path / "l.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FileError, match="not one of the mechanism's"):
        source.blur("ada", *HOME, place="home")


def test_only_what_is_proved_can_be_charged(tmp_path):
    ledger = Ledger(tmp_path / "l.json", "3/km", unit="km")
    with pytest.raises(InputError, match="is claimed, but"):
        MeteredSampler(MECHANISM, sf.CoordinatePrivacy("0.9/km"), ledger)
    with pytest.raises(InputError, match="not the vertices of a lattice"):
        MeteredSampler(sf.Mechanism(np.full((9, 9), 1 / 9), GRID), PROMISE, ledger)
    with pytest.raises(InputError, match="the unit of the guarantee is 'm'"):
        MeteredSampler(MECHANISM, sf.CoordinatePrivacy(0.001, "m"), ledger)
    with pytest.raises((InputError, UnitError)):
        MeteredSampler(MECHANISM, PROMISE, Ledger(tmp_path / "x.json", 3.0))
    rows = MeteredSampler(MECHANISM, VertexPrivacy(PROMISE, LATTICE), ledger)
    assert rows.guarantee is not None
    rows.blur("ada", *HOME)
    assert ledger.balance("ada").spent == Fraction(1)
    cells = MeteredSampler(
        sf.Mechanism(np.full((9, 9), 1 / 9), GRID),
        sf.MetricPrivacy("1/km", GRID.metric("euclidean", unit="km")),
        ledger,
    )
    assert cells.blur("ada", *HOME, place="home").shape == (2,)
    plain = sf.Mechanism(np.full((2, 2), 0.5))
    labels = MeteredSampler(plain, sf.MetricPrivacy(1.0, sf.Metric([[0, 1], [1, 0]])), Ledger(tmp_path / "y", 5.0))
    with pytest.raises(InputError, match="not places on the ground"):
        labels.blur("ada", *HOME)
