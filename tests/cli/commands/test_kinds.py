"""``--kinds``: attackers who guess the kind of a place, against brute force and linear programs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import sfumato as sf

CENTRES = {"bar": (48.86, 2.36), "home": (48.85, 2.33), "hospital": (48.852, 2.345)}
CELLS = ("--cells", "3x2", "--no-picture")


@pytest.fixture
def city(tmp_path):
    """Visits of a kind, and a map of places as a table and as GeoJSON: rows of latitude, longitude and kind."""
    random = np.random.default_rng(3)
    visits = [(*random.normal(CENTRES[kind], 0.006), kind) for kind in random.choice([*CENTRES], 200).tolist()]
    places = [(*random.normal(CENTRES[kind], 0.009), kind) for kind in random.choice([*CENTRES], 60).tolist()]
    for name, rows in (("visits.csv", visits), ("places.csv", places)):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("lat", "lon", "category"), *rows])
    features = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [lon, lat]}, "properties": {"is": kind}}
        for lat, lon, kind in places
    ]
    content = {"type": "FeatureCollection", "features": features}
    (tmp_path / "places.geojson").write_text(json.dumps(content), encoding="utf-8")
    return visits, places


def cells_of(grid, rows):
    return grid.locate([lat for lat, _, _ in rows], [lon for _, lon, _ in rows])


def by_counting(grid, visits, places):
    """P(kind, cell) by counting: the visits of a cell, times the kinds of its places; no place is a kind."""
    kinds, size = [*CENTRES, ""], len(grid)
    prior, table = np.zeros(size), np.zeros((4, size))
    for cell in cells_of(grid, visits):
        prior[cell] += 1 / len(visits)
    for cell, (_, _, kind) in zip(cells_of(grid, places), places, strict=True):
        if cell >= 0:
            table[kinds.index(kind), cell] += 1
    table[3] = table.sum(axis=0) == 0
    return table / table.sum(axis=0) * prior


def losses_of(channel, visits):
    """The mean distance from the visits of each cell to each report, kilometres."""
    grid = channel.secrets
    centres, cells = grid.projection.forward(*channel.observables.latlon.T), cells_of(grid, visits)
    points = grid.projection.forward([lat for lat, _, _ in visits], [lon for _, lon, _ in visits])
    distances = np.linalg.norm(points[:, None] - centres, axis=2) / 1000
    return np.array(
        [
            distances[cells == cell].mean(axis=0) if (cells == cell).any() else 0 * distances[0]
            for cell in range(len(grid))
        ]
    )


def game(joint, loss, limit=None, hit=None):
    """The least success of the best guess within a loss, or the least loss within a success."""
    k, n = joint.shape
    m, prior = loss.shape[1], joint.sum(axis=0)
    success = np.concatenate([np.zeros(n * m), np.ones(m)])
    cost = np.concatenate([(prior[:, None] * loss).ravel(), np.zeros(m)])
    guesses = np.zeros((k * m, n * m + m))
    for x in range(k):
        for o in range(m):
            guesses[x * m + o, o : n * m : m] = joint[x]
            guesses[x * m + o, n * m + o] = -1
    rows = np.hstack([np.kron(np.eye(n), np.ones(m)), np.zeros((n, m))])
    goal, bound, right = (success, cost, limit) if hit is None else (cost, success, hit)
    answer = linprog(
        goal, np.vstack([guesses, bound]), [*np.zeros(k * m), right], rows, np.ones(n), method="highs"
    )
    assert answer.status == 0
    return float(answer.fun)


def success_of(joint, matrix):
    return float((joint @ matrix).max(axis=0).sum())


@pytest.mark.parametrize("name", ["places.csv", "places.geojson"])
def test_the_least_success_within_a_loss_is_that_of_a_linear_program(run, city, name):
    column = ("--kind-column", "is") if name.endswith("json") else ()
    goal = ("--max-loss", "1 km", "--kinds", name, *column)
    done = run("design", "visits.csv", *CELLS, *goal, "-o", "m.sfm")
    assert done.code == 0, done.err
    assert "with this loss and reports anywhere on the plane" in " ".join(done.text.split())
    channel = sf.read_mechanism_file("m.sfm").report_channel
    joint, loss = by_counting(channel.secrets, *city), losses_of(channel, city[0])
    hit = success_of(joint, channel.matrix)
    assert hit == pytest.approx(game(joint, loss, limit=1.0), abs=2e-3)
    limit = sf.rounding.percent_at_most(hit * (1 + 1e-12))
    assert f"guesses it right at most {limit} of the time" in done.text
    assert ((joint.sum(axis=0)[:, None] * channel.matrix) * loss).sum() <= 1.0 + 1e-9


def test_the_least_loss_within_a_success_is_that_of_a_linear_program(run, city):
    done = run("design", "visits.csv", *CELLS, "--distortion", "0.45", "--kinds", "places.csv", "-o", "m.sfm")
    assert done.code == 0, done.err
    channel = sf.read_mechanism_file("m.sfm").report_channel
    joint, loss = by_counting(channel.secrets, *city), losses_of(channel, city[0])
    assert success_of(joint, channel.matrix) <= 0.55 + 1e-12
    mean = ((joint.sum(axis=0)[:, None] * channel.matrix) * loss).sum()
    assert mean == pytest.approx(game(joint, loss, hit=0.55), rel=2e-3)
    # With an epsilon too, both guarantees of the file are proved.
    done = run(
        "design", "visits.csv", *CELLS, "--distortion", "0.45", "--kinds", "places.csv", "--epsilon", "2/km"
    )
    assert done.code == 0, done.err
    file = sf.read_mechanism_file("visits.sfm")
    assert success_of(joint, file.report_channel.matrix) <= 0.55 + 1e-12
    proofs = sf.proofs.prove_guarantees(file.report_channel, file.prior, file.guarantees)
    assert all(proof.holds for kind in proofs for proof in kind)


DESIGN = ("design", "visits.csv", *CELLS, "--distortion", "0.45", "--kinds", "places.csv", "-o", "m.sfm")


def test_a_guarantee_about_kinds_is_decided_by_the_map_and_undecided_without(run, city):
    done = run(*DESIGN, "--epsilon", "2/km")
    assert done.code == 0, done.err
    assert "Next: sfumato audit m.sfm --kinds places.csv." in done.text
    done = run("audit", "m.sfm", "--promises", "--kind-column", "category")
    assert "--kind-column was given without --kinds" in done.err
    for promises in ((), ("--promises",)):
        done = run("audit", "m.sfm", *promises)
        assert done.code == 3
        assert "by the map of kinds that the file states and nothing confirms" in done.text
        assert "'sfumato audit' decides with the map, --kinds FILE" in done.text
        done = run("audit", "m.sfm", "--kinds", "places.csv", *promises)
        assert done.code == 0, done.err
        assert "wrong with probability at least 0.45, by the map of kinds used here" in done.text
        assert "nothing confirms" not in done.text
        assert "within" in done.text  # the optimum, of the same map


@pytest.mark.parametrize("bound", ["0.3", "0.45"])
def test_the_audit_proves_or_refutes_the_guarantee_for_another_map(run, city, tmp_path, bound):
    assert run(*DESIGN).code == 0
    rows = (tmp_path / "places.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "other.csv").write_text("\n".join([*rows[:20], ""]), encoding="utf-8")
    channel = sf.read_mechanism_file("m.sfm").report_channel
    held = sf.read_mechanism_file("m.sfm")
    (promise,) = held.guarantees
    changed = sf.MechanismFile(channel, held.prior, held.loss, sf.DistortionPrivacy(bound, promise.distance))
    sf.save(changed, "changed.sfm")
    joint = by_counting(channel.secrets, city[0], city[1][:19])
    error = 1 - success_of(joint, channel.matrix)
    done = run("audit", "changed.sfm", "--promises", "--kinds", "other.csv")
    assert done.code == (0 if error >= float(bound) else 1)
    shown = sf.rounding.amount_at_least(error * (1 - 1e-9), "")
    assert f"(proved: at least {shown})" in done.text or f"At least {shown} is proved" in done.text
    assert "No mechanism" not in done.text  # the prices are those of the other map


def test_a_map_for_a_file_that_guarantees_nothing_of_kinds_is_refused_with_promises(run, city):
    assert run("design", "visits.csv", *CELLS, "--epsilon", "2/km", "-o", "m.sfm").code == 0
    done = run("audit", "m.sfm", "--promises", "--kinds", "places.csv")
    assert done.code == 1
    assert "the file guarantees nothing about guesses of the kind" in done.err


def test_an_audit_measures_the_best_guess_of_the_kind_on_cells_and_visits(run, city):
    assert run("design", "visits.csv", *CELLS, "--epsilon", "2/km", "-o", "m.sfm").code == 0
    channel = sf.read_mechanism_file("m.sfm").report_channel
    matrix, joint = channel.matrix, by_counting(channel.secrets, *city)
    done = run("audit", "m.sfm", "--kinds", "places.csv", "--require", "kind-vulnerability <= 60%", "-o", "a.json")
    entry = entry_of("a.json")
    assert entry["value"] == pytest.approx(success_of(joint, matrix), rel=1e-12)
    assert done.code == (0 if entry["value"] <= 0.6 else 1)
    before = sf.rounding.about_percent(joint.sum(axis=1).max())
    assert "guesses the kind of the place, one of 3, at most" in done.text
    assert f"({before} without the report)" in done.text
    rows = Path("places.csv").read_text(encoding="utf-8").splitlines()
    Path("few.csv").write_text("\n".join([*rows[:7], ""]), encoding="utf-8")
    count = len({kind for _, _, kind in city[1][:6]})  # without the kind of cells that have no place
    assert by_counting(channel.secrets, city[0], city[1][:6])[3].any()
    done = run("audit", "m.sfm", "--kinds", "few.csv")
    assert f"guesses the kind of the place, one of {count} or no listed place, at most" in done.text
    # With visits as the map, it is how often the kind of a visit is guessed from its report.
    assert run("audit", "m.sfm", "--kinds", "visits.csv", "-o", "a.json").code == 0
    cells, kinds = cells_of(channel.secrets, city[0]), np.array([kind for _, _, kind in city[0]])
    right = np.array([matrix[cells[kinds == kind]].sum(axis=0) for kind in CENTRES]).max(axis=0)
    assert entry_of("a.json")["value"] == pytest.approx(right.sum() / len(cells), rel=1e-12)


def entry_of(name):
    with open(name, encoding="utf-8") as file:
        entries = json.load(file)["entries"]
    return next(entry for entry in entries if entry["key"] == "kind-vulnerability")


@pytest.mark.slow
def test_noise_is_measured_on_cells_as_an_estimate(run, city):
    options = ("--method", "noise", "--epsilon", "2/km", "--no-picture", "-o", "m.sfm")
    assert run("design", "visits.csv", *options).code == 0
    done = run("audit", "m.sfm", "--kinds", "places.csv", "--require", "kind-vulnerability <= 0.99")
    assert done.code == 3
    assert "Estimate on cells: The best attacker guesses the kind of the place" in done.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--kinds places.csv", "--kinds was given without a goal about the attacker"),
        ("--kind-column category --distortion 1km", "--kind-column was given without --kinds"),
        ("--kinds places.csv --distortion 500m", "'500m' is not a number: with --kinds it is the chance"),
        ("--kinds places.csv --distortion 40%", "'40%' is not a number: with --kinds it is the chance"),
        ("--kinds places.csv --distortion 0.99", "a distortion of 0.99 is out of reach"),
        ("--kinds places.csv --kind-column nope --distortion 0.3", "--kinds: there is no column 'nope'"),
        ("--kinds places.geojson --distortion 0.3", "places.geojson has no column kind or category"),
        ("--kinds far.csv --distortion 0.3", "no place of the map is in the region"),
        ("--kinds empty.csv --distortion 0.3", "no place of empty.csv has a kind"),
        ("--kinds one.csv --distortion 0.3", "in the region is of one kind"),
        ("--kinds places.csv --distortion 0.3 --priors category", "--distortion was given with --priors"),
    ],
)
def test_wrong_maps_and_options_are_refused(run, city, tmp_path, options, words):
    (tmp_path / "far.csv").write_text("lat,lon,kind\n10,10,bar\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("lat,lon,kind\n48.85,2.33,\n", encoding="utf-8")
    grid = [f"{lat / 1000},{lon / 1000},bar" for lat in range(48830, 48890, 2) for lon in range(2290, 2400, 2)]
    (tmp_path / "one.csv").write_text("\n".join(["lat,lon,kind", *grid, ""]), encoding="utf-8")
    done = run("design", "visits.csv", *CELLS, *options.split(), "-o", "m.sfm")
    assert done.code == 1
    assert words in done.err
    assert not (tmp_path / "m.sfm").exists()


def test_a_map_is_not_replaced_by_a_result(run, city, tmp_path):
    assert run("design", "visits.csv", *CELLS, "--epsilon", "2/km", "-o", "m.sfm").code == 0
    (tmp_path / "places.geojson").rename(tmp_path / "places.json")
    before = (tmp_path / "places.json").read_bytes()
    done = run("audit", "m.sfm", "--kinds", "places.json", "--kind-column", "is", "-o", "places.json")
    assert done.code == 1
    assert (tmp_path / "places.json").read_bytes() == before


def test_secrets_that_are_no_places_have_attributes_instead(run, city, tmp_path):
    labels = (
        "--column",
        "diagnosis",
        "--labels",
        "flu,cold,none",
        "--epsilon",
        "1",
        "--no-picture",
        "-o",
        "d.sfm",
    )
    assert run("design-column", *labels).code == 0
    done = run("audit", "d.sfm", "--kinds", "places.csv")
    assert done.code == 1
    assert "the secrets are not places" in done.err
    (tmp_path / "ill.csv").write_text("secret,value\nflu,ill\ncold,ill\nnone,well\n", encoding="utf-8")
    done = run("audit", "d.sfm", "--events", "ill.csv", "-o", "a.json")
    assert done.code == 0, done.err
    channel = sf.read_mechanism_file("d.sfm").report_channel
    masses = np.array([channel.matrix[:2].sum(axis=0), channel.matrix[2]]) / 3
    assert entry_of("a.json")["value"] == pytest.approx(masses.max(axis=0).sum(), rel=1e-12)
    assert "guesses the value of the attribute, one of 2" in done.text
