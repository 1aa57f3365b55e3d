"""``sfumato estimate``: the population back from released reports."""

import csv
import html
import json
import re
from hashlib import sha256

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture
def released(run, tmp_path):
    space = sf.Space(["red", "green", "blue"])
    mechanism = sf.mechanisms.randomised_response(space, 2.0)
    sf.save(mechanism, "m.sfm")
    rng = np.random.default_rng(2)
    truth = rng.choice(3, size=4000, p=[0.6, 0.3, 0.1])
    drawn = sf.simulator(mechanism, seed=4).draw(truth)
    (tmp_path / "r.csv").write_text("label\n" + "\n".join(str(space.labels[o]) for o in drawn) + "\n")
    return truth


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--intervals", "profile"),
        ("--method", "inversion", "--intervals", "normal"),
        ("--method", "least-squares"),
        ("--method", "early-stopped"),
    ],
)
def test_the_truth_is_found_again(run, released, options):
    done = run("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "e.csv", *options)
    assert done.code == 0, done.err
    with open("e.csv", newline="", encoding="utf-8") as file:
        rows = {row["secret"]: row for row in csv.DictReader(file)}
    shares = np.bincount(released, minlength=3) / len(released)
    for share, label in zip(shares, ("red", "green", "blue"), strict=True):
        assert float(rows[label]["probability"]) == pytest.approx(share, abs=0.06)
        if "lower" in rows[label]:
            assert float(rows[label]["lower"]) < share < float(rows[label]["upper"])
    assert done.text.index("red") < done.text.index("green") < done.text.index("blue")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.sfm", "r.csv"), "pass --unmarked if you know that this mechanism drew them"),
        (("m.sfm", "r.csv", "--unmarked", "--column", "place"), "no column 'place'"),
        (("m.sfm", "r.csv", "-o", "e.txt"), "does not end in .csv"),
        (("m.sfm", "nowhere.csv"), "there is no file"),
        (("m.sfm", "r.csv", "--unmarked", "--intervals", "normal"), "Hint: use 'profile' or 'bootstrap'"),
        (("nowhere.sfm", "r.csv"), "No such file"),
    ],
)
def test_refusals(run, released, arguments, message):
    done = run("estimate", *arguments)
    assert done.code == 1
    assert message in done.err


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (("home\x1b[2J", "work"), "a control character (U+001B)"),
        (("home\nwork", "work"), "a control character (U+000A)"),
        (("home", "\u202ekrow"), "a character that is not seen (U+202E)"),
        (("1", 1), "are the same text in a table"),
    ],
)
@pytest.mark.parametrize("joint", [False, True])
def test_labels_that_release_refuses_are_not_written(run, tmp_path, labels, reason, joint):
    space = sf.Space(labels)
    secrets = sf.JointSpace({"place": space, "sex": sf.Space("fm")}) if joint else space
    sf.save(
        sf.Mechanism(np.eye(len(secrets)) * 0.5 + 0.5 / len(secrets), secrets, sf.Space(range(len(secrets)))),
        "m.sfm",
    )
    (tmp_path / "r.csv").write_text("label\n" + "0\n1\n" * 20)
    done = run("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "e.csv")
    assert done.code == 1
    assert reason in done.err
    assert "\x1b" not in done.err
    assert not (tmp_path / "e.csv").exists()
    assert run("estimate", "m.sfm", "r.csv", "--unmarked").code in (0, 3)


def test_names_of_columns_that_release_refuses_are_not_written(run, tmp_path):
    secrets = sf.JointSpace({"pla\x07ce": sf.Space("ab"), "sex": sf.Space("fm")})
    sf.save(sf.Mechanism(np.eye(4) * 0.5 + 1 / 8, secrets, sf.Space(range(4))), "m.sfm")
    (tmp_path / "r.csv").write_text("label\n" + "0\n1\n" * 20)
    done = run("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "e.csv")
    assert done.code == 1
    assert "a control character (U+0007)" in done.err


def test_labels_that_a_spreadsheet_would_run_are_written_as_release_writes_them(run, tmp_path):
    labels = ["=1+1", "+x", "-y", "@z", " =2", "\uff1d3"]
    sf.save(sf.mechanisms.randomised_response(sf.Space(labels), 6.0), "m.sfm")
    (tmp_path / "t.csv").write_text("n\n" + "\n".join(labels * 50) + "\n")
    assert run("release", "m.sfm", "t.csv", "r.csv", "--column", "n").code == 0
    done = run("estimate", "m.sfm", "r.csv", "-o", "e.csv")
    assert done.code == 0, done.err
    cells = [
        {row[0] for row in csv.reader((tmp_path / name).read_text(encoding="utf-8").splitlines())}
        for name in ("r.csv", "e.csv")
    ]
    assert cells[0] - {"label"} == cells[1] - {"secret"} == {f"'{label}" for label in labels}


def test_shares_of_vertices_are_called_so(run):
    lattice = sf.Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    assert lattice.kind == "square"
    sf.save(sf.mechanisms.exponential(lattice, lattice.metric("euclidean", "km"), "1/km"), "v.sfm")
    lat, lon = np.full(300, 48.851), np.full(300, 2.352)
    vertices = lattice.projection.forward(*lattice.latlon.T)
    farthest = np.hypot(*(vertices - lattice.projection.forward([48.851], [2.352])).T)
    rounding = lattice.rounding(lat[:1], lon[:1])
    assert farthest[rounding.positions[rounding.shares > 0]].max() <= 2.2 * lattice.spacing_m
    sf.release(sf.load("v.sfm"), sf.Visits(lat, lon), "v.csv")
    done = run("estimate", "v.sfm", "v.csv")
    assert done.code in (0, 3), done.err
    assert "those of the vertices that people are rounded to" in done.text


@pytest.mark.slow
def test_shares_of_places_that_reports_do_not_settle_are_withheld(run, visits_file, tmp_path):
    options = ("--epsilon", "1/km", "--spacing", "1500 m", "--method", "table", "-o", "m.sfm", "--no-picture")
    assert run("design", visits_file, *options).code == 0
    with open(visits_file, encoding="utf-8") as file:
        (tmp_path / "few.csv").write_text("".join(next(file) for _ in range(21)))
    assert run("release", "m.sfm", "few.csv", "out.csv", "--outside", "nearest").code == 0
    done = run("estimate", "m.sfm", "out.csv", "-o", "e.csv")
    assert done.code == 3
    told = " ".join((tmp_path / "m.md").read_text().split())
    assert "If you estimate shares: however many reports there are, they do not settle" in told
    assert re.search(
        r"From 100,000 reports of a population like this prior they settle the shares of \d+ dis", told
    )
    assert done.text.startswith("NOT SETTLED, and withheld:")
    assert "districts are not settled either" in " ".join(done.text.split())
    with open("e.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert all(row["probability"] == "" for row in rows)
    assert all(abs(float(row["latitude"])) <= 90 and abs(float(row["longitude"])) <= 180 for row in rows)
    assert not (tmp_path / "e-districts.csv").exists()
    smooth = run("estimate", "m.sfm", "out.csv", "--method", "early-stopped")
    assert smooth.code == 0
    assert "middle (latitude, longitude)" in smooth.text
    assert run("estimate", "m.sfm", "out.csv", "-o", "e.html").code == 3
    page = (tmp_path / "e.html").read_text()
    assert "They are withheld here." in page
    assert "x02y02" not in page.replace(rows[0]["secret"], "")
    assert "largest share" not in page


def test_a_design_does_not_say_that_districts_are_unsettled_where_they_are_not_looked_for(
    run, visits_file, tmp_path, monkeypatch
):
    for module in ("estimation", "estimation.population"):
        monkeypatch.setattr(f"sfumato.{module}.MOST_PLACES", 3)
    options = ("--epsilon", "1/km", "--spacing", "1500 m", "--method", "table", "-o", "m.sfm", "--no-picture")
    assert run("design", visits_file, *options).code == 0
    words = " ".join((tmp_path / "m.md").read_text().split())
    assert "If you estimate shares:" in words
    assert re.search(r"Districts of more than [\d,]+ places are not computed\.", words)
    assert "not even those of districts" not in words


@pytest.fixture
def crowd(run, tmp_path):
    """Reports of 40,000 people, three quarters of them in the west, through few places of report."""
    lattice = sf.Lattice.covering("5 km x 5 km around 48.85,2.35", "1 km")
    assert lattice.coordinates is not None
    km = np.linalg.norm(lattice.coordinates[:, None] - lattice.coordinates[None, ::3], axis=-1) / 1000
    weights = np.exp(-0.75 * km)
    mechanism = sf.Mechanism(weights / weights.sum(axis=1, keepdims=True), lattice)
    sf.save(mechanism, "w.sfm")
    west = lattice.coordinates[:, 0] < 0
    truth = np.where(west, 0.75 / west.sum(), 0.25 / (~west).sum())
    drawn = np.random.default_rng(5).choice(mechanism.shape[1], 40_000, p=truth @ mechanism.matrix)
    labels = np.array([str(label) for label in mechanism.observables.labels])[drawn]
    (tmp_path / "w.csv").write_text("label\n" + "\n".join(labels) + "\n")
    return lattice, truth


def test_districts_are_estimated_where_single_places_are_not_settled(run, crowd, tmp_path):
    lattice, truth = crowd
    vertices = lattice.coordinates / 1000
    done = run("estimate", "w.sfm", "w.csv", "--unmarked", "-o", "e.csv")
    assert done.code == 0, done.err
    assert re.match(r"SETTLED: the shares of \d+ districts of about \d+ km\.", done.text)
    assert f"NOT SETTLED, and withheld: {len(lattice)} of the {len(lattice)} shares of single places." in done.text
    with open("e-districts.csv", newline="", encoding="utf-8") as file:
        districts = list(csv.DictReader(file))
    with open("e.csv", newline="", encoding="utf-8") as file:
        places = list(csv.DictReader(file))
    assert all(row["probability"] == "" for row in places)
    assert {row["district"] for row in places} <= {row["district"] for row in districts}
    side = float(districts[0]["side_km"])
    west = 0.0
    for row in districts:
        assert float(row["lower"]) <= float(row["probability"]) <= float(row["upper"])
        assert int(row["places"]) == sum(place["district"] == row["district"] for place in places)
        x, y = lattice.projection.forward([float(row["latitude"])], [float(row["longitude"])])[0] / 1000
        west += float(row["probability"]) * (x < 0)
        # The text says how places count, and this is it; beyond the outermost middles nothing falls.
        outermost = side * (np.round(np.ptp(vertices, axis=0) / side) - 1) / 2
        xy = np.clip(vertices, -outermost, outermost)
        share = np.clip(1 - np.abs(xy - (x, y)) / side, 0, None).prod(axis=1) @ truth
        assert float(row["lower"]) <= share <= float(row["upper"])
        assert row["district"] in done.text
    assert sum(float(row["probability"]) for row in districts) == pytest.approx(1)
    assert west > 0.5


def test_tables_of_an_earlier_estimate_do_not_stay_next_to_a_new_one(run, tmp_path):
    joint_reports(
        tmp_path, [[0.4, 0.2, 0.2, 0.2], [0.2, 0.4, 0.2, 0.2], [0.2, 0.2, 0.4, 0.2], [0.2, 0.2, 0.2, 0.4]]
    )
    assert run("estimate", "j.sfm", "j.csv", "--unmarked", "--no-check-fit", "-o", "e.csv").code == 0
    assert (tmp_path / "e-columns.csv").exists()
    sf.save(sf.mechanisms.randomised_response(sf.Space(["x", "y"]), 2.0), "m.sfm")
    (tmp_path / "r.csv").write_text("label\n" + "x\ny\n" * 200)
    (tmp_path / "e-districts.csv").write_text("district,note\nd1,mine\n")
    options = ("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "e.csv")
    before = (tmp_path / "e.csv").read_text()
    done = run(*options)
    assert done.code == 1
    assert "'e-districts.csv' would be replaced or removed" in " ".join(done.err.split())
    assert (tmp_path / "e.csv").read_text() == before
    assert (tmp_path / "e-districts.csv").read_text() == "district,note\nd1,mine\n"
    (tmp_path / "e-districts.csv").write_text(
        "district,probability,lower,upper,latitude,longitude,side_km,places\n"
    )
    done = run(*options)
    assert done.code == 0, done.err
    assert "Removed" in done.err
    assert sorted(path.name for path in tmp_path.glob("e*.csv")) == ["e.csv"]


@pytest.mark.usefixtures("crowd")
def test_weighted_reports_of_places_have_no_districts(run, tmp_path):
    rows = (tmp_path / "w.csv").read_text().split()
    lines = [f"{row},{'weight' if i == 0 else 1 + i % 3}" for i, row in enumerate(rows)]
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n")
    done = run("estimate", "w.sfm", "v.csv", "--unmarked", "--weights", "weight")
    assert done.code == 3
    assert "Districts need reports without weights." in done.text
    assert "profile" not in done.text
    assert "early-stopped" not in done.text


def test_weighted_reports_are_withheld_by_their_effective_number(run, tmp_path):
    grid = sf.Grid.covering("2 km x 1 km around 48.85,2.35", "1 km")
    assert len(grid) == 2
    sf.save(sf.Mechanism([[0.55, 0.45], [0.45, 0.55]], grid, grid), "g.sfm")
    labels = [str(label) for label in grid.labels]
    lines = [f"{labels[i % 2]},{1 if i < 60 else 0.0001}" for i in range(600)]
    (tmp_path / "g.csv").write_text("\n".join(["label,weight", *lines]) + "\n")
    options = ("estimate", "g.sfm", "g.csv", "--unmarked", "--weights", "weight")
    done = run(*options, "-o", "e.html")
    assert done.code == 3
    assert "60 reports are mostly noise" in done.err
    assert "NOT SETTLED, and withheld: 2 of the 2 shares." in done.text
    assert "--intervals profile" not in done.text
    page = html.unescape((tmp_path / "e.html").read_text())
    assert "NOT ENOUGH REPORTS" in page
    assert not any(f'<th scope="row">{label}</th>' in page for label in labels)
    assert "--method inversion --intervals normal gives each an interval." in done.text
    assert run(*options, "--method", "inversion", "--intervals", "normal").code == 0


@pytest.mark.usefixtures("crowd")
def test_the_page_has_districts_and_withholds_single_places(run, tmp_path):
    assert run("estimate", "w.sfm", "w.csv", "--unmarked", "-o", "e.html").code == 0
    page = html.unescape((tmp_path / "e.html").read_text())
    assert re.search(r"The shares of \d+ districts of about \d+ km", page)
    assert re.search(r'<th scope="row">d1</th>', page)
    assert "They are withheld here." in page
    assert not re.search(r'<th scope="row">x\d+y\d+</th>', page)
    assert "<svg" not in page
    assert "Under 0.01 % each" not in page


@pytest.mark.parametrize("kind", ["arrow", "parquet", "csv"])
def test_every_kind_of_table_that_release_writes(run, released, tmp_path, kind):
    (tmp_path / "t.csv").write_text("label\n" + "red\ngreen\nblue\n" * 100)
    assert run("release", "m.sfm", "t.csv", f"p.{kind}", "--column", "label").code == 0
    done = run("estimate", "m.sfm", f"p.{kind}")
    assert done.code == 0, done.err
    other = sf.mechanisms.randomised_response(sf.Space(["red", "green", "blue"]), 1.0)
    sf.save(other, "other.sfm")
    done = run("estimate", "other.sfm", f"p.{kind}")
    assert done.code == 1
    assert "drawn from another mechanism" in done.err


def test_arrow_tables_of_every_make(run, released, tmp_path):
    import pyarrow as pa

    held = pa.table(
        {"other": [1, 2, 3, 4], "label": pa.array(["red", "green", "blue", "red"]).dictionary_encode()}
    )
    with pa.ipc.new_file(tmp_path / "f.feather", held.schema) as writer:
        writer.write(held)
    with pa.ipc.new_stream(tmp_path / "s.ipc", held.schema) as writer:
        writer.write(held)
    (tmp_path / "parts").mkdir()
    for part in "ab":
        with pa.ipc.new_file(tmp_path / "parts" / f"{part}.arrow", held.schema) as writer:
            writer.write(held)
    (tmp_path / "no.arrow").write_text("label\nred\n")
    (tmp_path / "cut.arrow").write_bytes((tmp_path / "f.feather").read_bytes()[:-40])
    for name, rows in (("f.feather", 4), ("s.ipc", 4), ("parts", 8)):
        done = run("estimate", "m.sfm", name, "--unmarked")
        assert done.code == 0, done.err
        assert f"from {rows} reports" in done.text
        assert "has no mark" in run("estimate", "m.sfm", name).err
        assert "has no column 'l'" in run("estimate", "m.sfm", name, "--unmarked", "--column", "l").err
    for name in ("no.arrow", "cut.arrow"):
        done = run("estimate", "m.sfm", name, "--unmarked")
        assert done.code == 1
        assert name in done.err


def test_the_page_of_categories_says_the_largest_share_and_how_sure_it_is(run, released, tmp_path):
    asked = ("estimate", "m.sfm", "r.csv", "--unmarked", "--intervals", "profile", "-o")
    assert run(*asked, "e.html").code == 0
    assert run(*asked, "e.csv").code == 0
    page = html.unescape((tmp_path / "e.html").read_text())
    assert "4,000 private reports were used" in page
    assert "of the value red; its 95 % interval is" in page
    assert page.count("<svg") == 1
    rows = dict(re.findall(r'<tr><th scope="row">(\w+)</th><td[^>]*>([\d.]+) %</td><td[^>]*>[\d.]+ % to', page))
    with open("e.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(rows[row["secret"]]) == pytest.approx(100 * float(row["probability"]), rel=0.05)
    assert sha256((tmp_path / "m.sfm").read_bytes()).hexdigest() in page
    assert sha256((tmp_path / "r.csv").read_bytes()).hexdigest() in page
    assert "sfumato estimate m.sfm r.csv --unmarked" in page
    assert "NOT SETTLED" not in page


def test_the_confidence_of_intervals_is_the_same_everywhere_and_not_rounded_up(run, released, tmp_path):
    asked = ("estimate", "m.sfm", "r.csv", "--unmarked", "--intervals", "profile", "--failure", "0.025")
    done = run(*asked, "-o", "e.html")
    assert done.code == 0
    assert "97.5 % interval" in done.text
    page = html.unescape((tmp_path / "e.html").read_text())
    for text in (done.text, page):
        assert not re.search(r"(?<![\d.])9[78] % (interval|confidence)", text)
    assert "its 97.5 % interval is" in page
    assert "with a probability of 97.5 %" in " ".join(page.split())


@pytest.mark.slow
def test_the_page_of_places_has_a_map_and_the_small_shares_behind_a_fold(run, tmp_path):
    grid = sf.Grid.covering("3 km x 3 km around 48.85,2.35", "500 m")
    sf.save(sf.mechanisms.exponential(grid, grid.metric("euclidean", "km"), "4/km"), "p.sfm")
    crowd = grid.latlon[np.repeat([7, 28], [600, 300])]
    sf.release(sf.load("p.sfm"), sf.Visits(*crowd.T), "p.csv")
    done = run("estimate", "p.sfm", "p.csv", "-o", "e.html")
    assert done.code in (0, 3), done.err
    page = html.unescape((tmp_path / "e.html").read_text())
    lat, lon = grid.latlon[7]
    assert f"of the place {grid.labels[7]} ({lat:.5f}, {lon:.5f})." in page
    assert page.count("<svg") == 1
    seen, fold = page.split("in numbers</h2>")[1].split("<details>")[:2]
    listed = re.findall(r'<th scope="row">(\w+)</th>', seen + fold.split("</details>")[0])
    tiny = re.search(r"Under 0.01 % each: (.*?)\.</p>", fold)
    assert tiny is not None
    assert sorted([*listed, *tiny[1].split(", ")]) == sorted(map(str, grid.labels))
    assert "estimate again with profile intervals" in page
    outline = {"type": "Polygon", "coordinates": [[[2.3, 48.8], [2.4, 48.8], [2.4, 48.9], [2.3, 48.8]]]}
    (tmp_path / "land.geojson").write_text(json.dumps(outline))
    mapped = ("--outline", "land.geojson")
    assert run("estimate", "p.sfm", "p.csv", "--intervals", "profile", "-o", "m.html", *mapped).code in (0, 3)
    page = (tmp_path / "m.html").read_text()
    assert page.count("<svg") == 2
    assert "--land" in page
    assert "only a page has maps" in run("estimate", "p.sfm", "p.csv", *mapped).err


def test_the_page_warns_where_reports_do_not_settle_the_shares(run, tmp_path):
    space = sf.Space(["a", "b", "c"])
    sf.save(sf.Mechanism([[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]], space, sf.Space(["x", "y"])), "m.sfm")
    (tmp_path / "r.csv").write_text("label\n" + "x\ny\n" * 200)
    assert run("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "e.html").code in (0, 3)
    page = (tmp_path / "e.html").read_text()
    assert "NOT SETTLED: the reports alone do not in general settle the shares of" in page
    assert "They are withheld here." in page
    assert not re.search(r'<th scope="row">[ab]</th>', page)
    smooth = ("--method", "early-stopped")
    assert run("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "s.html", *smooth).code == 0
    assert "Do not rely on single ones" in (tmp_path / "s.html").read_text()


def test_least_squares_withholds_what_the_reports_do_not_settle(run, tmp_path):
    space = sf.Space(["a", "b", "c"])
    sf.save(sf.Mechanism([[0.5, 0.5]] * 3, space, sf.Space(["x", "y"])), "m.sfm")
    (tmp_path / "r.csv").write_text("label\n" + "x\ny\n" * 200)
    done = run("estimate", "m.sfm", "r.csv", "--unmarked", "-o", "e.csv", "--method", "least-squares")
    assert done.code == 3
    assert "NOT SETTLED, and withheld: 3 of the 3 shares." in done.text
    with open("e.csv", newline="", encoding="utf-8") as file:
        assert [row["probability"] for row in csv.DictReader(file)] == ["", "", ""]


def joint_reports(tmp_path, rows):
    """Write the mechanism j.sfm on two columns, a and b, whose rows say what reports tell of (a, b)."""
    space = sf.JointSpace({"a": sf.Space(["p", "q"]), "b": sf.Space(["u", "v"])})
    sf.save(sf.Mechanism(rows, space, space), "j.sfm")
    (tmp_path / "j.csv").write_text("a,b\n" + "p,u\np,v\nq,u\nq,u\nq,v\n" * 100)


@pytest.mark.parametrize("method", ["maximum-likelihood", "least-squares"])
def test_shares_of_single_columns_are_withheld_where_they_are_not_settled(run, tmp_path, method):
    # What is reported depends on a alone: the shares of a are settled, and those of b are not.
    joint_reports(tmp_path, [[0.4, 0.4, 0.1, 0.1]] * 2 + [[0.1, 0.1, 0.4, 0.4]] * 2)
    options = ("estimate", "j.sfm", "j.csv", "--unmarked", "--no-check-fit", "--method", method, "-o")
    done = run(*options, "e.csv")
    assert done.code == 0, done.err
    assert "NOT SETTLED, and withheld: 2 of the 2 shares of b." in done.text
    assert "The most frequent values of a" in done.text
    assert "The most frequent values of b" not in done.text
    with open("e-columns.csv", newline="", encoding="utf-8") as file:
        rows = {(row["column"], row["value"]): row["probability"] for row in csv.DictReader(file)}
    assert (rows["b", "u"], rows["b", "v"]) == ("", "")
    assert float(rows["a", "p"]) == pytest.approx((0.4 - 0.2) / 0.6, abs=0.01)  # 0.8 p + 0.2 (1 - p) = 0.4
    assert run(*options, "e.html").code == 0
    page = html.unescape((tmp_path / "e.html").read_text())
    assert "NOT SETTLED, and withheld: 2 of the 2 shares of b." in page
    assert "The shares of a, in numbers" in page
    assert "The shares of b" not in page


def test_columns_without_a_settled_share_lead_to_exit_code_3(run, tmp_path):
    joint_reports(tmp_path, [[0.25] * 4] * 4)
    done = run("estimate", "j.sfm", "j.csv", "--unmarked", "--no-check-fit", "-o", "e.csv")
    assert done.code == 3
    assert "The most frequent values" not in done.text
    with open("e-columns.csv", newline="", encoding="utf-8") as file:
        assert {row["probability"] for row in csv.DictReader(file)} == {""}


def test_a_kind_of_file_that_is_not_read_is_refused_before_its_mark(run, city_folder, tmp_path):
    (tmp_path / "private.gpkg").write_bytes(b"x")
    said = run("estimate", city_folder / "m.sfm", "private.gpkg").err
    assert "neither a CSV nor a Parquet" in said
    assert "unmarked" not in said
    assert "not read from a pipe" in run("estimate", city_folder / "m.sfm", "-").err


def test_survey_weights(run, released, tmp_path):
    rows = (tmp_path / "r.csv").read_text().split()[1:]
    weights = np.where(np.arange(len(rows)) < 2000, 3, 1)
    lines = [f"{label},{weight}" for label, weight in zip(rows, weights, strict=True)]
    (tmp_path / "w.csv").write_text("\n".join(["label,weight", *lines]) + "\n")
    options = ("estimate", "m.sfm", "w.csv", "--unmarked", "--weights", "weight")
    done = run(*options, "-o", "e.csv", "--method", "inversion", "--intervals", "normal")
    assert done.code == 0, done.err
    assert "The 4,000 weighted reports vary as about 3200 of equal weight do." in done.text
    with open("e.csv", newline="", encoding="utf-8") as file:
        table = {row["secret"]: row for row in csv.DictReader(file)}
    shares = np.bincount(released, weights=weights, minlength=3) / weights.sum()
    for share, label in zip(shares, ("red", "green", "blue"), strict=True):
        assert float(table[label]["lower"]) < share < float(table[label]["upper"])
    assert run(*options, "-o", "e.html").code == 0
    assert "profile intervals" not in (tmp_path / "e.html").read_text()
    refused = run(*options, "--intervals", "profile")
    assert refused.code == 1
    assert "use --method inversion with --intervals normal" in refused.err


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ("-1", "cannot be used"),
        ("nan", "1 weight in 'weight' is missing"),
        ("inf", "cannot be used"),
        ("", "1 weight in 'weight' is missing (the first is that of row 2)"),
        ("many", "holds no numbers"),
    ],
)
def test_weights_that_are_none(run, released, tmp_path, weight, says):
    (tmp_path / "w.csv").write_text(f"label,weight\nred,1\nblue,{weight}\nred,2\n")
    done = run("estimate", "m.sfm", "w.csv", "--unmarked", "--weights", "weight")
    assert done.code == 1
    assert says in " ".join(done.err.split())


def test_weights_that_a_release_did_not_keep(run, released):
    done = run("estimate", "m.sfm", "r.csv", "--unmarked", "--weights", "weight")
    assert done.code == 1
    assert "no column 'weight'" in done.err
    assert "holds the reports" in run("estimate", "m.sfm", "r.csv", "--unmarked", "--weights", "label").err


def test_weights_that_are_missing_are_hinted_at_by_their_option(run, tmp_path):
    run("design-column", "--column", "answer", "--labels", "yes,no", "--epsilon", "1", "-o", "m.sfm")
    (tmp_path / "v.csv").write_text("answer,weight\n" + "yes,1\nno,2\n" * 20, encoding="utf-8")
    run("release", "m.sfm", "v.csv", "out.csv", "--column", "answer", "--keep", "weight")
    done = run("estimate", "m.sfm", "out.csv", "--weights", "weights")
    assert done.code == 1
    assert "has no column 'weights'" in done.err
    assert "--weights weight" in done.err
    assert "--column" not in done.err
