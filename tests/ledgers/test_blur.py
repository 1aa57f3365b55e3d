"""Reports for an app: what is charged, places that are remembered, and the answer when nothing is left."""

import hashlib
import math
import threading
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import sfumato as sf
from sfumato.errors import FileError, InputError, PlaceWarning, UnitError
from sfumato.geo import Lattice, Projection
from sfumato.ledgers import Blur, BudgetError, Ledger, new_ledger_key
from sfumato.ledgers.fingerprints import fingerprint
from sfumato.proofs import VertexPrivacy
from sfumato.releases import prepare

from .altered import alter, rows, stop_clock

LATTICE = Lattice.covering("3 km x 3 km around 48.85,2.35", "1 km")
PROMISE = sf.CoordinatePrivacy("1/km")
MECHANISM = sf.design(
    sf.Prior.uniform(LATTICE), loss=LATTICE.metric("euclidean", unit="km"), guarantees=PROMISE, method="table"
).mechanism
HOME = 48.851, 2.3512
SHARP = sf.design(
    sf.Prior.uniform(LATTICE),
    loss=LATTICE.metric("euclidean", unit="km"),
    guarantees=sf.CoordinatePrivacy("9/km"),
    method="table",
).mechanism
GRID = sf.Grid.covering("3 km x 3 km around 48.85,2.35", cell="1 km")


def opened(address, limit="3/km"):
    """Open the ledger at an address; make it the first time."""
    try:
        return Ledger(address)
    except FileError:
        return Ledger.create(address, limit)


def metered(address, limit="3/km", **policy):
    return Blur(MECHANISM, opened(address, limit), PROMISE, **policy)


def test_a_place_is_charged_once_and_repeated_by_later_runs(address):
    source = metered(address)
    first = source.report("ada", *HOME, place="home")
    for run in range(3):
        again = metered(address)
        np.testing.assert_array_equal(again.report("ada", HOME[0] + 1e-4 * run, HOME[1], place="home"), first)
        assert again.ledger.balance("ada").spent == 1
    assert source.ledger.balance("ada").reports == 1
    # Also from where the mechanism serves nothing: the place is known, the point no longer matters.
    with pytest.warns(PlaceWarning, match="move=True") as warned:
        np.testing.assert_array_equal(source.report("ada", 0.0, 0.0, place="home"), first)
    assert warned[0].filename == __file__


def test_a_place_that_moved_is_charged_and_drawn_once_more(address):
    source = metered(address, "2/km")
    users = ["ada", "bob"]
    first = [source.draw(user, 0, place="home") for user in users]
    source.draw("ada", 0, place="work", move=True)  # a place without a report
    head = source.ledger.head
    with pytest.raises(BudgetError):
        source.draw("ada", 8, place="home", move=True)
    with pytest.raises(BudgetError):  # a move is never answered with an earlier report
        metered(address, fallback="repeat").report("ada", *HOME, place="home", move=True)
    for place in (None, ""):
        with pytest.raises(InputError, match="without a place"):
            source.report("bob", *HOME, place=place, move=True)
        with pytest.raises(InputError, match="without a place"):
            source.draw("bob", 0, place=place, move=True)
    assert source.ledger.head == head
    moved = source.draw("bob", 8, place="home", move=True)
    assert metered(address).draw("bob", 0, place="home") == moved
    assert source.draw("ada", 8, place="home") == first[0]  # another's home stays
    assert [source.ledger.balance(user).spent for user in users] == [2, 2]
    check = source.ledger.check(head=head)
    assert (check.sound, check.places) == (True, 4)
    kept = [row for row in rows(address, "places") if row["charge"] in (2, 4)]
    assert len({row["key"] for row in kept}) == 1
    assert sorted(row["report"] for row in kept) == sorted([str(first[1]), str(moved)])


@pytest.mark.slow
def test_reports_after_a_move_are_as_fresh_ones(tmp_path):
    """Whether a place moves or is new, its report is one of the new secret's row."""
    source = metered(tmp_path / "l.db", "1000/km")
    moved = []
    for place in range(300):
        source.draw("ada", 0, place=f"p{place}")
        moved.append(source.draw("ada", 8, place=f"p{place}", move=True))
    row = MECHANISM.matrix[8]
    common = row > 0.01
    counts = np.bincount(moved, minlength=len(row))
    found = np.append(counts[common], counts[~common].sum())
    assert chisquare(found, np.append(row[common], row[~common].sum()) * 300).pvalue > 1e-9


def planted(report, visits):
    return [report] * len(visits)


def warned(source, *at):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        source.report("ada", *at, place="home")
    return [each.category for each in found] == [PlaceWarning]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("step", [4, 1])
def test_a_far_position_is_warned_of_by_the_share_of_reports_that_are_as_far(tmp_path, step):
    """The share is summed over the matrix, point by point."""
    source = Blur(SHARP, Ledger.create(tmp_path / "l.db", "1000/km"), sf.CoordinatePrivacy("9/km"))
    found = set()
    for report in range(0, len(LATTICE), step):
        source.reports(["ada"], [f"p{report}"], partial(planted, report))
        for secret, at in enumerate(LATTICE.latlon):
            away = np.hypot(*(Projection(*at).forward(*LATTICE.latlon.T).T))
            share = SHARP.matrix[secret][away >= away[report] - 1e-3].sum()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                source.report("ada", *at, place=f"p{report}", outside="nearest")
            assert bool(caught) == (share < 0.01)
            found.add(bool(caught))
    assert found == {True, False}


def test_of_noise_the_law_of_planar_noise_decides(tmp_path):
    """A report is farther than r with probability (1 + epsilon r) exp(-epsilon r): 1 % at 6.64 km."""
    source = Blur(
        sf.mechanisms.planar.CoordinateNoise("1/km", "2 m", Projection(*HOME)), opened(tmp_path / "l.db")
    )
    source.reports(["ada"], ["home"], lambda visits: [HOME])
    plane = Projection(*HOME)
    for away_m, far in ((0, False), (5_900, False), (6_200, False), (7_200, True), (40_000, True)):
        assert warned(source, *plane.inverse_one(away_m * 0.6, away_m * 0.8)) == far
    assert source.ledger.balance("ada").spent == 1


def test_without_a_name_nothing_is_remembered(address):
    source = metered(address)
    for place in (None, "", None):
        source.report("ada", *HOME, place=place)
    assert source.ledger.balance("ada").spent == 3
    with pytest.raises(BudgetError, match="0/km is left"):
        source.report("ada", *HOME)
    with pytest.raises(BudgetError):
        source.report("ada", *HOME, place="home")
    assert source.ledger.check().places == 0
    assert source.report("bob", *HOME, place="home").shape == (2,)


def test_places_users_and_mechanisms_have_reports_of_their_own(tmp_path):
    """Twenty places, fifteen users: their reports are as independent draws of one row."""
    source = metered(tmp_path / "l.db", "1000/km")
    reports = np.array(
        [source.report(f"u{user}", *HOME, place=f"p{place}") for user in range(15) for place in range(20)]
    )
    rounding = LATTICE.rounding(*HOME)
    shares = (rounding.shares[0][:, None] * MECHANISM.matrix[rounding.positions[0]]).sum(axis=0)
    found = np.array([np.count_nonzero(np.abs(reports - at).max(axis=1) < 1e-7) for at in LATTICE.latlon])
    common = shares > 0.01
    counts = np.append(found[common], found[~common].sum())
    wanted = np.append(shares[common], shares[~common].sum()) * len(reports)
    assert chisquare(counts, wanted * counts.sum() / wanted.sum()).pvalue > 1e-9
    # Names that run together are not mixed up, and another mechanism reports and charges anew.
    ledger = Ledger.create(tmp_path / "m.db", "9/km")
    one = Blur(MECHANISM, ledger, PROMISE)
    one.report("ab", *HOME, place="c")
    one.report("a", *HOME, place="bc")
    assert ledger.check().places == 2
    keep = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
    Blur(keep, ledger, PROMISE).report("ab", *HOME, place="c")
    assert ledger.balance("ab").spent == 2


def test_places_of_the_same_names_elsewhere_have_reports_of_their_own(tmp_path):
    """Two grids with the labels, the shape and the integers of each other."""
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    for count, around in enumerate(("48.85,2.35", "48.86,2.35", "48.85,2.35"), 1):
        cells = sf.Grid.covering(f"3 km x 3 km around {around}", cell="1 km")
        even = sf.Mechanism(np.full((9, 9), 1 / 9), cells)
        app = Blur(even, ledger, sf.MetricPrivacy("1/km", cells.metric("euclidean", unit="km")))
        at = app.report("ada", *HOME, place="home")
        assert np.abs(at - np.array(around.split(","), float)).max() < 0.03
        assert ledger.balance("ada").spent == min(count, 2)


def test_many_visits_at_once_are_all_charged_or_none(address):
    source = metered(address, "2/km")
    positions = np.array([4, 5, 6, 7, 4], dtype=np.intp)
    users = ["ada", "ada", "bob", "ada", "bob"]
    places = ["home", "home", "home", None, "home"]
    reports = source.draw_all(users, positions, places)
    assert reports[0] == reports[1]
    assert reports[2] == reports[4]
    assert [source.ledger.balance(user).spent for user in ("ada", "bob")] == [2, 1]
    before = source.ledger.head
    with pytest.raises(BudgetError, match="a user has spent 2/km of 2/km") as refused:
        source.draw_all(["bob", "ada"], positions[:2], ["new", "new"])
    assert "'ada' has spent 2/km of 2/km" in refused.value.render(values=True)
    assert source.ledger.head == before
    assert source.draw_all(users[:3], positions[:3], places[:3]) == reports[:3]
    assert source.draw("ada", 3, place="home") == reports[0]
    assert source.ledger.head == before
    assert source.draw_all([], np.array([], dtype=np.intp), []) == []


def test_the_ledger_holds_reports_and_neither_places_nor_points(tmp_path, address):
    source = metered(address)
    for place in ("home", "clinic"):
        source.report("ada", *HOME, place=place)
    held = " ".join(str(rows(address, table)) for table in ("ledger", "accounts", "charges", "places", "batches"))
    for private in ("home", "clinic", "48.8", "2.35"):
        assert private not in held
    keys = {row["key"] for row in rows(address, "places")}
    other = metered(tmp_path / "m.db")
    other.report("ada", *HOME, place="home")
    assert not keys & {row["key"] for row in rows(f"sqlite:///{tmp_path / 'm.db'}", "places")}  # salted


def test_without_the_key_a_place_cannot_be_tested_for(tmp_path):
    """The hash of a place, as one with the salt and without the key would make it."""
    key = new_ledger_key()
    for name, own in (("plain", None), ("keyed", key)):
        ledger = Ledger.create(tmp_path / f"{name}.db", "3/km", key=own)
        Blur(MECHANISM, ledger, PROMISE).report("ada", *HOME, place="home")
        address = f"sqlite:///{tmp_path / name}.db"
        (salt,) = (row["salt"] for row in rows(address, "ledger"))
        parts = (fingerprint(MECHANISM), b"ada", b"home")
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        guess = hashlib.blake2b(message, key=bytes.fromhex(str(salt)), digest_size=32).hexdigest()
        found = rows(address, "places")[0]["key"] == guess
        assert found == (own is None)


def test_threads_agree_on_one_report(address):
    opened(address)
    found = []

    def work():
        found.append(tuple(metered(address).report("ada", *HOME, place="home")))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
    assert Ledger(address).balance("ada").spent == 1


def test_what_cannot_be_kept_is_not_given_out(tmp_path, address):
    """A charge whose row cannot be written: its number is taken behind the ledger's back."""
    source = metered(address)
    source.report("ada", *HOME)
    alter(address, "INSERT INTO sfumato_places VALUES ('x', 1, '1')", "UPDATE sfumato_ledger SET number = 0")
    drawn = []

    def draw(visits):
        drawn.extend(visits)
        return [1] * len(visits)

    with pytest.raises(FileError, match="cannot be used"):
        source.ledger.reports(["bob"], ["home"], 1, draw, b"m")
    assert drawn == [0]
    assert source.ledger.balance("bob").spent == 0
    assert len(rows(address, "places")) == 1


def test_a_draw_that_fails_costs_nothing(address):
    ledger = opened(address)

    def fail(visits):
        raise RuntimeError(f"{visits}")

    for place in (None, "home"):
        with pytest.raises(RuntimeError):
            ledger.reports(["bob"], [place], 1, fail, b"m")
    assert not ledger.users


def test_points_outside_are_not_charged(tmp_path):
    source = metered(tmp_path / "l.db")
    for point in ((0.0, 0.0), (math.nan, 2.35), (91.0, 0.0)):
        with pytest.raises(InputError, match="not served"):
            source.report("ada", *point)
    with pytest.raises(InputError, match="unknown"):
        source.report("ada", *HOME, outside="drop")
    assert not source.ledger.users
    assert source.report("ada", 0.0, 0.0, outside="nearest").shape == (2,)
    assert source.ledger.balance("ada").spent == 1


def test_names_are_those_that_a_ledger_accepts(tmp_path):
    source = metered(tmp_path / "l.db", "100/km")
    first = source.report("é", *HOME, place="cafe\u0301")
    np.testing.assert_array_equal(source.report("e\u0301", *HOME, place="café"), first)
    for user, place in (
        ("", None),
        ("\ud800", None),
        ("ada", "\ud800"),
        ("ada", " "),
        ("ada", "a\0"),
        ("ada", "b" * 300),
    ):
        with pytest.raises(InputError, match="the name of the"):
            source.report(user, *HOME, place=place)
    for bad in (5, b"x", math.nan):
        with pytest.raises(InputError, match="place= is of type"):
            source.report("ada", *HOME, place=bad)
    for outside in ("error", "nearest"):
        with pytest.raises(InputError):
            source.report("ada", 10**400, 2.35, outside=outside)
    assert source.ledger.balance("ada").spent == 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("report", ["x", "-1", "true", "1.5", '"1"', str(2**70), "[]", "null", "[48.8, 2.3]", "9"])
def test_a_report_that_the_mechanism_cannot_make_is_refused(address, report):
    source = metered(address)
    source.report("ada", *HOME, place="home")
    alter(address, f"UPDATE sfumato_places SET report = '{report if report != '9' else len(LATTICE)}'")
    with pytest.raises(FileError, match=r"not one of the mechanism's|is damaged"):
        source.report("ada", *HOME, place="home")


class TestNothingLeft:
    def test_a_call_is_refused(self, address):
        source = metered(address, ["2/km per day", "9/km"])
        stop_clock(address)  # no midnight comes between the reports
        source.report("ada", *HOME)
        first = source.report("ada", *HOME, place="home")
        for place in (None, "work"):
            with pytest.raises(BudgetError, match=r"spent 2/km of 2/km today \(UTC\)"):
                source.report("ada", *HOME, place=place)
        np.testing.assert_array_equal(source.report("ada", *HOME, place="home"), first)

    @pytest.mark.thinned(2)
    def test_or_it_repeats_the_last_report_that_was_drawn(self, address):
        source = metered(address, "2/km", fallback="repeat")
        source.report("ada", *HOME, place="home")
        last = source.report("ada", *HOME)
        head = source.ledger.head
        for place in (None, "work"):
            for _ in range(20):
                np.testing.assert_array_equal(source.report("ada", 48.856, 2.36, place=place), last)
        assert source.ledger.head == head
        assert source.ledger.check().sound
        position = source.draw("ada", 3)  # also for those who count vertices
        np.testing.assert_allclose(np.asarray(LATTICE.latlon)[position], last, atol=1e-7)
        with pytest.raises(BudgetError):  # many at once are all new, or none
            source.report_all(["ada", "bob"], [HOME[0]] * 2, [HOME[1]] * 2, [None, None])

    def test_who_has_no_report_of_this_mechanism_is_refused(self, address):
        metered(address, "1/km").report("ada", *HOME)  # does not keep it to be repeated
        keep = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
        Blur(keep, opened(address), PROMISE, fallback="repeat").report("bob", *HOME)
        for user in ("ada", "bob"):
            with pytest.raises(BudgetError, match="There is no stored report of this mechanism to repeat"):
                metered(address, fallback="repeat").report(user, *HOME)

    def test_each_mechanism_repeats_its_own(self, address):
        """Two apps on one ledger: the report of the one is not the last of the other."""
        one = metered(address, "3/km", fallback="repeat")
        even = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
        other = Blur(even, one.ledger, PROMISE, fallback="repeat")
        one.report("ada", *HOME)
        first, second = one.report("ada", *HOME), other.report("ada", *HOME)
        for app, last in ((one, first), (other, second), (metered(address, fallback="repeat"), first)):
            np.testing.assert_array_equal(app.report("ada", 48.856, 2.36), last)
        assert one.ledger.check().sound

    def test_what_was_drawn_before_anything_was_kept_is_not_claimed_away(self, address):
        metered(address, "1/km").report("ada", *HOME)
        with pytest.raises(BudgetError) as caught:
            metered(address, fallback="repeat").report("ada", *HOME)
        assert "was drawn" not in str(caught.value)
        assert "repeat an earlier" not in str(caught.value)

    def test_calls_for_many_visits_are_never_repeated(self, tmp_path):
        source = metered(tmp_path / "l.db", "1/km", fallback="repeat")
        first = source.report("ada", *HOME, place="home")
        with pytest.raises(BudgetError):
            source.report_all(["ada"], [HOME[0]], [HOME[1]], ["work"])
        with pytest.raises(BudgetError):
            source.draw_all(["ada"], np.array([3]), ["work"])
        with pytest.raises(BudgetError):
            source.reports(["ada"], ["work"], lambda visits: [0 for _ in visits])
        np.testing.assert_array_equal(source.report("ada", *HOME, place="work"), first)

    @pytest.mark.parametrize("outside", ["error", "drop"])
    def test_a_release_gives_no_place_the_report_of_another(self, tmp_path, outside):
        source = metered(tmp_path / "l.db", "2/km", fallback="repeat")
        table = pa.table(
            {"user": ["ada"] * 4, "lat": [HOME[0]] * 4, "lon": [HOME[1]] * 4, "venue": ["a", "b", "c", "d"]}
        )
        with pytest.raises(BudgetError):
            prepare(
                source, table, tmp_path / "p.parquet", place_column="venue", batch_rows=1, outside=outside
            ).run()
        assert not (tmp_path / "p.parquet").exists()

    @pytest.mark.thinned(2)
    @pytest.mark.parametrize("report", ["x", "-1", "9999", "[48.8, 2.3]"])
    def test_a_damaged_report_is_not_repeated(self, address, report):
        source = metered(address, "2/km", fallback="repeat")
        source.report("ada", *HOME)
        source.report("ada", *HOME)
        alter(address, f"UPDATE sfumato_charges SET report = '{report}'")
        with pytest.raises(FileError, match=r"is damaged|not one of the mechanism's"):
            source.report("ada", *HOME)
        with pytest.raises(FileError, match=r"is damaged|not one of the mechanism's"):
            source.draw("ada", 3)

    def test_other_answers_are_unknown(self, tmp_path):
        with pytest.raises(InputError, match="unknown"):
            metered(tmp_path / "l.db", fallback="ignore")


def test_the_promise_is_the_mechanisms_own(tmp_path):
    ledger = opened(tmp_path / "l.db")
    own = Blur(MECHANISM, ledger)
    assert isinstance(own.promise, sf.CoordinatePrivacy)
    own.report("ada", *HOME)
    assert ledger.balance("ada").spent == 1
    assert "3/km per user" in repr(own)
    with pytest.raises(InputError, match="has no guarantee that could be charged"):
        Blur(sf.Mechanism(np.full((9, 9), 1 / 9), GRID), ledger)


def test_only_what_is_proved_can_be_charged(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "3/km")
    with pytest.raises(InputError, match="is claimed, but"):
        Blur(MECHANISM, ledger, sf.CoordinatePrivacy("0.9/km"))
    with pytest.raises(InputError, match="not the vertices of a lattice"):
        Blur(sf.Mechanism(np.full((9, 9), 1 / 9), GRID), ledger, PROMISE)
    with pytest.raises(InputError, match="counts amounts per km, but the mechanism's guarantee is per m"):
        Blur(MECHANISM, ledger, sf.CoordinatePrivacy(0.001, "m"))
    with pytest.raises((InputError, UnitError)):
        Blur(MECHANISM, Ledger.create(tmp_path / "x.db", 3.0), PROMISE)
    by_rows = Blur(MECHANISM, ledger, VertexPrivacy(PROMISE, LATTICE))
    assert by_rows.promise == PROMISE
    by_rows.report("ada", *HOME)
    assert ledger.balance("ada").spent == Fraction(1)
    cells = Blur(
        sf.Mechanism(np.full((9, 9), 1 / 9), GRID),
        ledger,
        sf.MetricPrivacy("1/km", GRID.metric("euclidean", unit="km")),
    )
    assert cells.report("ada", *HOME, place="home").shape == (2,)
    plain = sf.Mechanism(np.full((2, 2), 0.5))
    labels = Blur(plain, Ledger.create(tmp_path / "y", 5.0), sf.MetricPrivacy(1.0, sf.Metric([[0, 1], [1, 0]])))
    with pytest.raises(InputError, match="not places on the ground"):
        labels.report("ada", *HOME)
