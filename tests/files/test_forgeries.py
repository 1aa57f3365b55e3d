"""Files whose checksums fit and whose content lies: each is refused, or said not to be proved.

Beside the files that are damaged (`test_hostile`): here every byte is what its writer meant.
"""

import re
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import FileError, InputError
from sfumato.files import read_mechanism_file, save
from sfumato.ledgers import Ledger
from sfumato.releases import prepare

from ..cli.conftest import COMMANDS
from .forging import Forger, forged, opened
from .honest import KINDS, POINTS, honest

Change = Callable[[Forger], object]


class Forgery(NamedTuple):
    """A lie, and how it is met.

    Attributes:
        lie: What the file says that is not so.
        base: The honest file that was changed.
        change: How.
        says: Words of the refusal or, where the file can be read, of the audit.
        code: None where reading is refused, else the exit code of ``sfumato audit``.
    """

    lie: str
    base: str
    change: Change
    says: str
    code: int | None = None


def scaled(factor: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: array * factor


def at(place: tuple[int, ...], value: float) -> Callable[[np.ndarray], np.ndarray]:
    """Change one entry, and its mirror image where there is one."""

    def changed(array):
        array[place] = value
        if array.ndim == 2 and array.shape[0] == array.shape[1]:
            array[place[::-1]] = value
        return array

    return changed


def both(*changes: Change) -> Change:
    return lambda forger: [change(forger) for change in changes]


def metric(by: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda forger: forger.change(forger.metric, "array", by)


def loss(by: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda forger: forger.change(forger.loss, "array", by)


def distance(by: Callable[[np.ndarray], np.ndarray], guarantee: int = 0) -> Change:
    """Change the attacker's distance of a guarantee."""

    def change(forger: Forger) -> None:
        number = forger.manifest["guarantees"][guarantee]["distance"]
        entry = dict(forger.manifest["losses"][number])
        forger.change(entry, "array", by)
        forger.manifest["losses"].append(entry)
        forger.manifest["guarantees"][guarantee]["distance"] = len(forger.manifest["losses"]) - 1

    return change


def prices(key: str, by: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda forger: forger.change(forger.prices, key, by)


def space(**entries: object) -> Change:
    return lambda forger: forger.manifest["spaces"][0].update(entries)


def own_name(entry: str) -> Change:
    return lambda forger: getattr(forger, entry).update(name="walk")


def moved(forger: Forger) -> None:
    """Centre the plane at the antipode; the places themselves stay where they are."""
    entry = forger.manifest["spaces"][0]
    entry["crs"] = "+proj=aeqd +lat_0=-48.85 +lon_0=-177.65 +datum=WGS84 +units=m +no_defs"


def aside(forger: Forger) -> None:
    """Centre the plane 1,200 km aside, where distances are less than 1 % off but others."""
    entry = forger.manifest["spaces"][0]
    entry["crs"] = "+proj=aeqd +lat_0=48.85 +lon_0=18.5 +datum=WGS84 +units=m +no_defs"


def repeated(forger: Forger) -> None:
    rows, local = forger.array(forger.prices, "rows"), forger.array(forger.prices, "prices")
    forger.put(forger.prices, "rows", np.repeat(rows, 3000))
    forger.put(forger.prices, "prices", np.repeat(local / 3000, 3000))


def other_coordinates(forger: Forger) -> None:
    entry = dict(forger.manifest["spaces"][0])
    forger.change(entry, "coordinates", scaled(10))
    forger.manifest["spaces"].append(entry)
    forger.manifest["prior"]["space"] = len(forger.manifest["spaces"]) - 1


def negative_with_minimum(forger: Forger) -> None:
    distance(lambda array: array - 1.0)(forger)
    forger.manifest["guarantees"][0]["minimum"] = 0.0


def far_guesses(forger: Forger) -> None:
    """Let reports lie 1,000 km aside, and the attacker guess only there."""
    place = dict(forger.manifest["spaces"][0])
    forger.change(place, "coordinates", lambda array: array + np.array([0.0, 1000.0]))
    place["labels"] = [{"tuple": [x, y + 1000.0]} for x, y in POINTS]
    forger.manifest["spaces"].append(place)
    forger.manifest["mechanism"]["observables"] = len(forger.manifest["spaces"]) - 1
    distance(lambda array: np.hypot(array, 1000.0))(forger)
    forger.guarantee.update(minimum=1000.0)
    forger.manifest.update(optimality=None, loss=None)


def limit(**changes: Any) -> Change:
    """Change entries of the first linear constraint."""
    return lambda forger: forger.manifest["constraints"][0].update(changes)


def no_guess(forger: Forger) -> None:
    forger.manifest.update(optimality=None)
    distance(lambda array: array[:0])(forger)


def one_guess(forger: Forger) -> None:
    forger.manifest.update(optimality=None)
    distance(lambda array: array[:1] + 50.0)(forger)
    forger.guarantee.update(minimum=50.0)


def other_labels(forger: Forger) -> None:
    place = forger.manifest["spaces"][0]
    forger.manifest["spaces"].append({**place, "labels": place["labels"][::-1]})
    forger.manifest["mechanism"]["observables"] = len(forger.manifest["spaces"]) - 1


NAMED = "the distances are called"
STATED = "Distances (called 'walk') as the file states them, not checked."

FORGERIES = [
    # Distances under the name of others
    Forgery(
        "neighbours are far apart, for one is farther still",
        "far",
        both(metric(at((0, 1), 5.1)), lambda f: f.metric.update(triangle=False)),
        NAMED,
    ),
    Forgery("all distances are ten times as long", "expected", metric(scaled(10)), NAMED),
    Forgery(
        "epsilon a tenth of the true one",
        "expected",
        both(metric(scaled(10)), lambda f: f.guarantee.update(epsilon=0.08)),
        NAMED,
    ),
    Forgery("one pair is far apart", "expected", metric(at((0, 4), 6.0)), "breaks the triangle inequality"),
    Forgery(
        "one pair needs no protection",
        "own",
        both(metric(at((0, 4), np.inf)), lambda f: f.metric.update(name="euclidean", triangle=False)),
        NAMED,
    ),
    Forgery("kilometres are called metres", "expected", lambda f: f.metric.update(unit="m"), NAMED),
    Forgery("kilometres are called hours", "expected", lambda f: f.metric.update(unit="h"), "unit"),
    Forgery("great circles twice as long", "great-circle", metric(scaled(2)), NAMED),
    Forgery("Euclid is called Manhattan", "grid", lambda f: f.metric.update(name="manhattan"), NAMED),
    Forgery("Hamming is called Manhattan", "hamming", lambda f: f.metric.update(name="manhattan"), "unit|called"),
    Forgery("values twice as different", "hamming", metric(scaled(2)), NAMED),
    Forgery("years twice as long", "absolute", metric(scaled(2)), NAMED),
    Forgery("sets twice as different", "jaccard", metric(scaled(2)), NAMED),
    Forgery(
        "coordinates ten times as close",
        "manhattan",
        lambda f: f.change(f.manifest["spaces"][0], "coordinates", scaled(0.1)),
        NAMED,
    ),
    Forgery("cells of another size", "grid", space(cell_m=[100.0, 100.0]), NAMED),
    Forgery("a plane centred at the antipode", "hexagons", moved, "more than 1 % off"),
    Forgery("a plane centred 1,200 km aside", "hexagons", aside, NAMED),
    Forgery("a grid that lies at the antipode", "grid", space(origin_m=[2e7, 0.0]), "more than 1 % off"),
    Forgery("hexagons of another resolution", "hexagons", space(resolution=3), "contradicts itself"),
    Forgery("places with labels of their own", "grid", space(labels=["home"] * 6), "contradicts itself"),
    Forgery("near means 16 km", "threshold", lambda f: f.guarantee.update(within=0.5), "no two distinct values"),
    Forgery("near means 16 km and is counted so", "threshold", metric(scaled(0.1)), NAMED),
    Forgery("a triangle inequality that fails", "own", metric(at((0, 4), 50.0)), "breaks the triangle inequality"),
    # Costs
    Forgery("a loss a tenth of the true one", "expected", loss(scaled(0.1)), NAMED),
    Forgery("the loss in other units", "expected", lambda f: f.loss.update(unit="m"), NAMED),
    Forgery("one report costs nothing", "joint", loss(at((0, 4), 0.0)), NAMED),
    # The attacker
    Forgery("errors ten times as long", "distortion", distance(scaled(10)), NAMED),
    Forgery("an error below 0", "distortion", negative_with_minimum, "is negative"),
    Forgery("an error of less than nothing", "distortion", lambda f: f.guarantee.update(minimum=-1.0), "negative"),
    Forgery("no prior", "distortion", lambda f: f.manifest.update(prior=None), "without a prior"),
    Forgery("a prior on other places", "expected", other_coordinates, "the prior is on"),
    # The optimum
    Forgery(
        "worst-case prices for the mean",
        "worst",
        lambda f: f.prices.update(objective="expected"),
        "another objective",
    ),
    Forgery(
        "prices of the mean for the worst case",
        "expected",
        lambda f: f.prices.update(objective="worst-case"),
        "another objective",
    ),
    Forgery(
        "prices of the mean for the dual game",
        "expected",
        lambda f: f.prices.update(objective="distortion"),
        "another objective",
    ),
    Forgery(
        "prices of the dual game for the mean",
        "dual",
        lambda f: f.prices.update(objective="expected"),
        "another objective",
    ),
    Forgery("an objective of its own", "expected", lambda f: f.prices.update(objective="best"), "unknown"),
    Forgery(
        "a bound on the loss that was exceeded", "dual", lambda f: f.prices.update(max_loss=0.1), "loses up to"
    ),
    Forgery("no bound on the loss", "dual", lambda f: f.prices.update(max_loss=None), "bound on the loss"),
    Forgery("no attacker's distance", "dual", lambda f: f.prices.update(distance=None), "attacker's distance"),
    Forgery(
        "the bound on a loss in the mean", "expected", lambda f: f.prices.update(max_loss=1.0), "another objective"
    ),
    Forgery(
        "a price of the loss in the mean",
        "expected",
        lambda f: f.prices.update(loss_price=1.0),
        "price of the loss",
    ),
    Forgery("prices without a loss", "expected", lambda f: f.manifest.update(loss=None), "without a loss"),
    Forgery("prices without a prior", "expected", lambda f: f.manifest.update(prior=None), "without a prior"),
    Forgery("the same prices 3,000 times", "expected", repeated, "names? a row twice"),
    Forgery(
        "prices of pairs that nothing protects",
        "joint",
        lambda f: f.manifest["guarantees"].pop(0),
        "no guarantee is about",
    ),
    Forgery(
        "prices of guesses without a promise about them",
        "joint",
        lambda f: f.manifest["guarantees"].pop(1),
        "guesses do not fit",
    ),
    Forgery(
        "prices of guesses that do not exist",
        "joint",
        prices("guesses", lambda array: array[:-1]),
        "guesses do not fit",
    ),
    Forgery(
        "prices of secrets that do not exist", "worst", prices("worst", lambda array: array[:-1]), "do not fit"
    ),
    Forgery("infinite prices", "expected", prices("prices", lambda array: array * np.inf), "nan|not finite"),
    Forgery(
        "losses below 0 in the worst case",
        "worst",
        both(own_name("loss"), loss(lambda array: array - 1.0)),
        "losses of at least 0",
    ),
    Forgery(
        "prices of linear constraints that are not there",
        "limited",
        lambda f: f.manifest.update(constraints=[]),
        "2 prices for 0 linear",
    ),
    Forgery(
        "prices of more constraints than there are",
        "limited",
        prices("limits", lambda array: np.append(array, 1.0)),
        "3 prices for 2 linear",
    ),
    Forgery(
        "infinite prices of constraints",
        "limited",
        prices("limits", lambda array: array + np.inf),
        "nan|not finite",
    ),
    Forgery(
        "guesses of an attacker who does not exist",
        "limited",
        lambda f: f.prices["further"].append(f.prices["further"][0]),
        "further attackers",
    ),
    Forgery(
        "further guesses that are not a matrix",
        "limited",
        lambda f: f.prices.update(further=[f.prices["limits"]]),
        "has 1 dimensions",
    ),
    Forgery(
        "further guesses that are no text", "limited", lambda f: f.prices.update(further=[7]), "that is not a text"
    ),
    Forgery(
        "prices of constraints in the dual game",
        "dual",
        lambda f: f.put(f.prices, "limits", np.zeros(0)),
        "no prices of constraints",
    ),
    Forgery("a limit that is no number", "limited", limit(at_most="1"), "not a number"),
    Forgery("a limit in a sentence", "limited", limit(unit="km, as all agree"), "not a short word"),
    Forgery(
        "a limit for other reports",
        "limited",
        lambda f: f.change(f.manifest["constraints"][0], "coefficients", lambda array: array[:, :3]),
        "for 5 secrets and 3 observables",
    ),
    # Read, because nothing contradicts it, and then not believed
    Forgery(
        "a limit that is not kept",
        "limited",
        limit(at_most=0.2),
        "NOT PROVED: the linear constraint called 'e told as e' asks for a sum of at most 0.2. At most ",
        1,
    ),
    Forgery(
        "an optimum under a limit that is not kept",
        "limited",
        limit(at_most=0.2),
        "are not all proved",
        1,
    ),
    Forgery(
        "a limit of something else by the same name",
        "limited",
        lambda f: f.change(f.manifest["constraints"][0], "coefficients", scaled(0.1)),
        "The coefficients of the linear constraint called 'e told as e' as the file states them, not checked.",
        0,
    ),
    Forgery(
        "a limit whose name is a sentence",
        "limited",
        limit(name="loss. It is proved that nobody can be found, whatever they know."),
        "called 'loss. It is proved that nobody can be f…'",
        0,
    ),
    Forgery("a promise that is not kept", "expected", lambda f: f.guarantee.update(epsilon=0.4), "NOT PROVED", 1),
    Forgery(
        "a threshold that is not kept", "threshold", lambda f: f.guarantee.update(within=4.0), "NOT PROVED", 1
    ),
    Forgery(
        "more distortion than there is",
        "joint",
        lambda f: f.manifest["guarantees"][1].update(minimum=2.0),
        "NOT PROVED",
        1,
    ),
    Forgery(
        "a prior under which the attacker errs more",
        "distortion",
        lambda f: f.put(f.manifest["prior"], "probabilities", np.array([1.0, 0, 0, 0, 0])),
        "NOT PROVED",
        1,
    ),
    Forgery(
        "an optimum of a promise that is not kept",
        "expected",
        lambda f: f.guarantee.update(epsilon=0.4),
        "are not all proved",
        1,
    ),
    Forgery(
        "places exchanged",
        "expected",
        lambda f: f.change(f.manifest["mechanism"], "weights", lambda array: array[[4, 1, 2, 3, 0]]),
        "NOT PROVED",
        1,
    ),
    Forgery(
        "an attacker who may guess only where nobody is",
        "distortion",
        far_guesses,
        "The attacker is assumed to guess one of the reports; the error of other guesses may be smaller.",
        0,
    ),
    Forgery("an attacker without guesses", "distortion", no_guess, "nothing to guess"),
    Forgery(
        "an attacker with a single guess, far away",
        "distortion",
        one_guess,
        "The attacker's guesses and distances (euclidean) as the file states them, not checked.",
        3,
    ),
    Forgery(
        "reports that bear the labels of others",
        "expected",
        other_labels,
        "The label (0.0, 0.0) stands for one place among the secrets and for another among the reports.",
        0,
    ),
    Forgery(
        "a promise about no pair",
        "own",
        metric(lambda array: np.where(array > 0, np.inf, 0.0)),
        "so no pair has a guarantee",
        1,
    ),
    Forgery(
        "an optimum of a promise too weak to bind anything",
        "expected",
        lambda f: f.guarantee.update(epsilon=1e308),
        "an average loss below 0 m",
        0,
    ),
    Forgery(
        "an optimum of a promise too weak for floats",
        "expected",
        both(own_name("metric"), metric(scaled(100)), lambda f: f.guarantee.update(epsilon=1e308)),
        "an average loss below 0 m",
        3,
    ),
    Forgery(
        "losses of which no float holds the sum",
        "joint",
        both(own_name("loss"), loss(scaled(1.7e308))),
        "The loss (called 'walk') as the file states it, not checked.",
        0,
    ),
    Forgery("own distances, ten times as long", "own", metric(scaled(10)), STATED, 3),
    Forgery(
        "own distances under the package's", "expected", both(own_name("metric"), metric(scaled(10))), STATED, 3
    ),
    Forgery(
        "a loss of one's own",
        "expected",
        both(own_name("loss"), loss(scaled(0.1))),
        "The loss (called 'walk') as the file states it, not checked.",
        0,
    ),
    Forgery(
        "an attacker's distance of one's own",
        "distortion",
        both(lambda f: f.manifest["losses"][f.guarantee["distance"]].update(name="walk"), distance(scaled(10))),
        "The attacker's distances (called 'walk') as the file states them, not checked.",
        3,
    ),
    Forgery(
        "a certificate",
        "expected",
        lambda f: both(
            lambda f: f.manifest.update(claims={"certificate": {"epsilon_upper": 0.01, "gap": 0}}),
            lambda f: f.guarantee.update(epsilon=0.01),
        )(f),
        "NOT PROVED",
        1,
    ),
    Forgery(
        "a tuple that hides more than it does",
        "tuples",
        lambda f: f.guarantee.update(epsilon=0.1),
        "from a tuple. The least delta there is",
        1,
    ),
    Forgery(
        "a tuple of rarer failures",
        "tuples",
        lambda f: f.guarantee.update(delta=1e-9),
        "from a tuple. The least delta there is",
        1,
    ),
    Forgery(
        "a tuple without dummies",
        "tuples",
        lambda f: f.manifest["tupling"].update(dummies=0),
        "from a tuple. The least delta there is",
        1,
    ),
    Forgery(
        "a tuple that hides more than it does by a hair",
        "tuples",
        lambda f: f.guarantee.update(epsilon=0.8000004),
        "Proved: epsilon 0.8000004 with delta 0.01",
        0,
    ),
    Forgery("a tuple that is none", "tuples", lambda f: f.manifest.update(tupling=None), "sends no dummies"),
    Forgery(
        "dummies that give the secret away",
        "tuples",
        lambda f: f.change(f.manifest["tupling"]["source"], "weights", lambda array: array * [[0, 2]]),
        "never drawn as dummies",
    ),
]


@pytest.fixture
def forge(tmp_path):
    """Write a forgery and return its path."""

    def write(forgery: Forgery):
        path = tmp_path / "forged.sfm"
        save(honest(forgery.base), path)
        forger = Forger(*opened(path))
        forgery.change(forger)
        forged(path, forger.manifest, forger.members)
        return path

    return write


@pytest.fixture
def audited(monkeypatch, capsys):
    """Audit a file's promises; return the exit code and what was printed."""

    def run(path):
        monkeypatch.setenv("COLUMNS", "10000")
        monkeypatch.setattr("typer.main.get_command", COMMANDS)
        monkeypatch.setattr(sys, "argv", ["sfumato", "audit", str(path), "--promises"])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        found = capsys.readouterr()
        return code, " ".join((found.out + found.err).split())

    return run


@pytest.mark.thinned(3)
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.lie)
def test_no_lie_is_believed(forgery, forge, audited):
    path = forge(forgery)
    if forgery.code is None:
        with pytest.raises(FileError, match=forgery.says) as refused:
            read_mechanism_file(path)
        assert refused.value.hint
        code, printed = audited(path)
        assert code == 1
        assert "Proved" not in printed
    else:
        code, printed = audited(path)
        assert code == forgery.code, printed
        assert forgery.says in printed


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "forgery", [each for each in FORGERIES if each.code is not None], ids=lambda forgery: forgery.lie
)
def test_release_and_a_ledger_say_nothing_that_is_not_so(forgery, forge, tmp_path):
    """They refuse a forgery, promise nothing, or an epsilon that brute force finds for the honest distances."""
    held = read_mechanism_file(forge(forgery))
    table = pa.table({"secret": [str(held.report_channel.secrets.labels[0])]})
    believed: list[float] = []
    with suppress(InputError):
        said = prepare(held.mechanism, table, tmp_path / "out.csv", column="secret").promises[0]
        if not said.endswith("its reports have none."):
            stated = re.fullmatch(
                r"Proved from the integers: epsilon (\S+)/km, euclidean, for numbers in km\.", said
            )
            assert stated, said
            believed.append(float(stated[1]))
    with suppress(InputError), closing(Ledger.create(tmp_path / "budget.db", "1e308/km")) as ledger:
        believed.append(float(sf.Blur(held.mechanism, ledger).charge))
    if believed:
        matrix = held.report_channel.matrix
        logs = np.log(
            matrix[:, matrix.any(axis=0)]
        )  # of reports that are made; by metric privacy from all secrets
        apart = next(
            each.distances for each in honest(forgery.base).guarantees if isinstance(each, sf.MetricPrivacy)
        )
        ratios = np.abs(logs[:, None] - logs[None]).max(axis=2)
        far = ~np.eye(len(logs), dtype=bool)
        assert min(believed) >= (ratios[far] / apart.array[far]).max() * (1 - 1e-9)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("base", KINDS)
def test_an_honest_file_is_believed(base, forge, audited):
    code, printed = audited(forge(Forgery("nothing", base, lambda forger: None, "")))
    assert code == (3 if base == "own" else 0), printed  # walks that nothing confirms
    assert "NOT PROVED" not in printed
    assert ("that the file states and nothing confirms" in printed) == (base == "own")
    assert ("not checked" in printed) == (base in ("own", "limited"))
    assert (
        read_mechanism_file(forge(Forgery("nothing", base, lambda forger: None, ""))).stated == honest(base).stated
    )


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "base", ["expected", "grid", "great-circle", "manhattan", "hamming", "absolute", "jaccard"]
)
def test_every_single_distance_of_a_named_metric_counts(base, forge):
    size = len(honest(base).report_channel.secrets)
    for i, j in zip(*np.triu_indices(size, 1), strict=True):
        for factor in (1 - 1e-6, 1 + 1e-6):
            lie = Forgery("one distance", base, metric(grown(int(i), int(j), factor)), "")
            with pytest.raises(FileError, match=r"the distances are called|triangle"):
                read_mechanism_file(forge(lie))


def grown(i: int, j: int, factor: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: at((i, j), array[i, j] * factor)(array)
