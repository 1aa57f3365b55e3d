"""Every public function called with slightly wrong arguments: an answer, or an error that explains itself."""

import itertools
import os
import pathlib
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import ledgers, privacy, sequences, tracks
from sfumato.core.arguments import check_arguments
from sfumato.errors import InputError, SfumatoError
from sfumato.ledgers import Charge
from sfumato.mechanisms import Tupling

SPACE = sf.Space.numbers(range(3))
D = SPACE.metric("absolute")
PRIOR = sf.Prior(SPACE, [0.5, 0.3, 0.2])
GUARANTEE = sf.MetricPrivacy(1.0, D)
MECHANISM = sf.mechanisms.geometric(SPACE, 1.0)
CITY = sf.Grid.covering("2 km x 2 km around 48.85,2.35", shape=(2, 2))
VISITS = sf.Visits([48.85, 48.851], [2.35, 2.351], user=["a", "b"])
TABLE = pa.table({"lat": [48.85], "lon": [2.35], "label": [0]})
FOLDER = tempfile.TemporaryDirectory()
LEDGER = sf.Ledger.create(f"{FOLDER.name}/l.db", 1e9)
NUMBERS = itertools.count()
NOISE = sf.mechanisms.planar.CoordinateNoise.for_visits(VISITS, "1/km")
BLUR = sf.Blur(MECHANISM, LEDGER, GUARANTEE)
FRESH = ledgers.Scheme.fresh(MECHANISM)
CHAIN = sequences.MarkovChain.constant(PRIOR)
TIMED = sf.Visits([48.85, 48.851], [2.35, 2.351], ["a", "b"], np.array(["2024-05-01T05:00"] * 2, "M8[m]"))
MOVEMENT = sequences.MovementModel.of_visits(TIMED, CITY.latlon, [540, 720], "Europe/Paris")
PLAIN = sf.mechanisms.planar.CoordinateNoise("1/km", projection=CITY.projection)
DAY = sequences.SparseVector(NOISE, "1 km", 2, "1/km", "1/km")
ZONES = tracks.Zones(LEDGER)
ZONES.add("home", -33.9, 18.42)

WRONG: dict[str, Any] = {
    "None": None,
    "integer": 3,
    "negative": -1,
    "float": 2.5,
    "nan": float("nan"),
    "true": True,
    "text": "x",
    "bytes": b"ab",
    "numpy integer": np.int64(2),
    "numpy float": np.float64(0.5),
    "list": [1, 2],
    "ragged list": [[1], [1, 2]],
    "list of texts": ["a", "b", "c"],
    "tuple": (1, 2),
    "set": {1, 2},
    "mapping": {"a": 1},
    "array": np.array([0.2, 0.3, 0.5]),
    "matrix": np.ones((3, 3)),
    "table": TABLE,
    "path": pathlib.Path("nowhere.sfm"),
    "object": object(),
    "class": sf.Space,
    "space": SPACE,
    "metric": D,
    "prior": PRIOR,
    "mechanism": MECHANISM,
    "guarantee": GUARANTEE,
}


class Call(NamedTuple):
    function: Callable[..., Any]
    good: dict[str, Any]


def make_ledger(**given: Any) -> sf.Ledger:
    """Make a ledger where none is yet."""
    return sf.Ledger.create(f"{FOLDER.name}/{next(NUMBERS)}.db", **given)


FOLLOWER = sequences.Follower(MOVEMENT, PLAIN)


def update_afresh(**given: Any) -> Any:
    """Return the belief of a follower after one report."""
    return sequences.Follower(MOVEMENT, PLAIN).update(**given)


CALLS: dict[str, Call] = {
    "Space": Call(sf.Space, {"labels": ["a", "b"], "coordinates": [[0.0], [1.0]], "unit": "km"}),
    "Space.numbers": Call(sf.Space.numbers, {"values": range(3), "unit": "km"}),
    "Space.metric": Call(SPACE.metric, {"kind": "absolute"}),
    "Space.position": Call(SPACE.position, {"label": 1}),
    "Prior": Call(sf.Prior, {"space": SPACE, "probabilities": [0.5, 0.3, 0.2]}),
    "Prior.uniform": Call(sf.Prior.uniform, {"space": SPACE}),
    "Prior.from_visits": Call(sf.Prior.from_visits, {"space": SPACE, "visits": [0, 1, 1]}),
    "Metric": Call(sf.Metric, {"array": D.array, "unit": "km", "name": "m"}),
    "Metric.to": Call(D.to, {"unit": ""}),
    "Loss": Call(sf.Loss, {"array": D.array, "unit": "km", "name": "m"}),
    "loss": Call(sf.loss, {"secrets": SPACE, "observables": SPACE, "kind": "absolute", "unit": ""}),
    "hamming": Call(sf.hamming, {"space": SPACE}),
    "MetricPrivacy": Call(sf.MetricPrivacy, {"epsilon": 1.0, "metric": D}),
    "ThresholdPrivacy": Call(sf.ThresholdPrivacy, {"epsilon": 1.0, "distance": D, "within": 1.0}),
    "DistortionPrivacy": Call(sf.DistortionPrivacy, {"minimum": 0.1, "distance": D}),
    "Mechanism": Call(sf.Mechanism, {"matrix": MECHANISM.matrix, "secrets": SPACE, "observables": SPACE}),
    "Mechanism.promising": Call(MECHANISM.promising, {"guarantees": GUARANTEE}),
    "MechanismFile": Call(
        sf.MechanismFile,
        {"mechanism": MECHANISM, "prior": PRIOR, "loss": D, "guarantees": GUARANTEE, "claims": {}},
    ),
    "save": Call(sf.save, {"content": MECHANISM, "path": "o.sfm"}),
    "load": Call(sf.load, {"path": "f.sfm"}),
    "read_mechanism_file": Call(sf.read_mechanism_file, {"path": "f.sfm"}),
    "read_matrix": Call(sf.read_matrix, {"path": "m.npy"}),
    "export_table": Call(sf.export_table, {"mechanism": MECHANISM, "path": "o.parquet"}),
    "read_visits": Call(sf.read_visits, {"path": TABLE, "lat": "lat", "lon": "lon", "attributes": None}),
    "Visits": Call(sf.Visits, {"lat": [48.85], "lon": [2.35], "user": ["a"], "time": None}),
    "Visits.of_user": Call(VISITS.of_user, {"user": "a"}),
    "Region": Call(sf.Region, {"south": 48.0, "west": 2.0, "north": 48.1, "east": 2.1}),
    "Region.parse": Call(sf.Region.parse, {"text": "2 km x 2 km around 48.85,2.35"}),
    "Grid.covering": Call(sf.Grid.covering, {"places": "2 km x 2 km around 48.85,2.35", "cell": "1 km"}),
    "Grid.covering, by number": Call(
        sf.Grid.covering, {"places": "2 km x 2 km around 48.85,2.35", "shape": (2, 2)}
    ),
    "Grid.locate": Call(CITY.locate, {"lat": 48.85, "lon": 2.35}),
    "design": Call(
        sf.design,
        {"data": PRIOR, "loss": D, "guarantees": GUARANTEE, "objective": "expected", "gap": 1e-4},
    ),
    "design, limits": Call(sf.design, {"data": PRIOR, "loss": D, "guarantees": GUARANTEE, "time_limit": 10.0}),
    "maximise_distortion": Call(
        sf.maximise_distortion,
        {"prior": PRIOR, "loss": D, "distance": D, "max_loss": 0.5, "guarantees": GUARANTEE},
    ),
    "sweep": Call(sf.sweep, {"priors": {"a": PRIOR}, "loss": D, "metric": D, "epsilons": [1.0]}),
    "repair_to_private": Call(sf.repair_to_private, {"matrix": MECHANISM.matrix, "exponents": D.array}),
    "sampler": Call(sf.sampler, {"drawable": MECHANISM}),
    "sampler.draw": Call(sf.sampler(MECHANISM).draw, {"indices": [0, 1]}),
    "simulator": Call(sf.simulator, {"drawable": MECHANISM, "seed": 3}),
    "release": Call(
        sf.release,
        {"mechanism": MECHANISM, "source": TABLE, "target": "o.csv", "column": "label", "keep": ("lat",)},
    ),
    "audit": Call(sf.audit, {"subject": MECHANISM, "prior": PRIOR, "metric": D}),
    "compare": Call(sf.compare, {"data": PRIOR, "metric": D, "epsilon": 1.0}),
    "compare_priors": Call(
        sf.comparison.compare_priors, {"prior": PRIOR, "metric": D, "epsilon": 1.0, "remap": False}
    ),
    "synthetic_city": Call(sf.synthetic_city, {"users": 2}),
    "Ledger": Call(sf.Ledger, {"address": LEDGER.address}),
    "Ledger.create": Call(make_ledger, {"limit": 5.0, "unit": "km", "key": bytes(32)}),
    "Ledger.charge": Call(LEDGER.charge, {"user": "a", "epsilon": 1.0, "reports": 2}),
    "Ledger.check": Call(LEDGER.check, {"head": LEDGER.head}),
    "Blur": Call(sf.Blur, {"mechanism": MECHANISM, "ledger": LEDGER, "promise": GUARANTEE, "fallback": "repeat"}),
    "Blur.draw": Call(sf.Blur(MECHANISM, LEDGER, GUARANTEE).draw, {"user": "a", "position": 1}),
    "Blur.draw_all": Call(BLUR.draw_all, {"users": ["a"], "positions": [1], "places": [None]}),
    "Blur.report_all": Call(
        sf.Blur(NOISE, sf.Ledger.create(f"{FOLDER.name}/km.db", "1e9/km")).report_all,
        {"users": ["a"], "lat": [48.85], "lon": [2.35], "places": ["home"]},
    ),
    "Blur.remembers": Call(BLUR.remembers, {"users": ["a"], "places": ["home"]}),
    "Blur.charge_for": Call(BLUR.charge_for, {"user": "a", "reports": 2}),
    "Ledger.charge_many": Call(LEDGER.charge_many, {"charges": [Charge("a", 1)], "run": "", "batch": 0}),
    "Ledger.afford": Call(LEDGER.afford, {"charges": [Charge("a", 1)]}),
    "Ledger.reports": Call(
        LEDGER.reports,
        {
            "users": ["a"],
            "places": [None],
            "epsilon": 1,
            "draw": lambda visits: [1 for _ in visits],
            "mechanism": b"m",
            "run": "",
            "batch": 0,
            "repeatable": True,
        },
    ),
    "Ledger.remembers": Call(LEDGER.remembers, {"users": ["a"], "places": ["home"], "mechanism": b"m"}),
    "Ledger.last_report": Call(LEDGER.last_report, {"user": "a", "mechanism": b"m"}),
    "Ledger.balance": Call(LEDGER.balance, {"user": "a"}),
    "compose": Call(ledgers.compose, {"mechanisms": [MECHANISM], "metric": D}),
    "amount_text": Call(ledgers.amount_text, {"value": Fraction(1, 10), "unit": "km"}),
    "Scheme": Call(ledgers.Scheme, {"permanent": MECHANISM, "instantaneous": MECHANISM}),
    "Scheme.fresh": Call(ledgers.Scheme.fresh, {"mechanism": MECHANISM}),
    "Scheme.memo": Call(ledgers.Scheme.memo, {"mechanism": MECHANISM}),
    "Scheme.log_likelihood": Call(FRESH.log_likelihood, {"counts": [1, 0, 0]}),
    "Scheme.posterior": Call(FRESH.posterior, {"prior": PRIOR, "counts": [1, 0, 0]}),
    "Scheme.epsilon_upper": Call(FRESH.epsilon_upper, {"metric": D, "reports": 2}),
    "errors_after": Call(
        ledgers.errors_after,
        {"scheme": FRESH, "prior": PRIOR, "distance": D, "reports": [1], "trials": 2, "seed": 1, "failure": 0.1},
    ),
    "averaging_errors": Call(
        ledgers.averaging_errors,
        {"scheme": FRESH, "prior": PRIOR, "reports": [1], "trials": 2, "seed": 1, "failure": 0.1},
    ),
    "MarkovChain": Call(sequences.MarkovChain, {"initial": PRIOR, "transition": MECHANISM}),
    "MarkovChain.constant": Call(sequences.MarkovChain.constant, {"prior": PRIOR}),
    "MarkovChain.of_traces": Call(
        sequences.MarkovChain.of_traces, {"space": SPACE, "traces": [[0, 1]], "smoothing": 1.0}
    ),
    "MarkovChain.filter": Call(CHAIN.filter, {"released": [(MECHANISM, 1)]}),
    "MarkovChain.next_prior": Call(CHAIN.next_prior, {"released": [(MECHANISM, 1)]}),
    "MarkovChain.smooth": Call(CHAIN.smooth, {"released": [(MECHANISM, 1)]}),
    "MarkovChain.most_likely_path": Call(CHAIN.most_likely_path, {"released": [(MECHANISM, 1)]}),
    "MovementModel": Call(
        sequences.MovementModel,
        {"places": [[48.85, 2.35]], "slots": [540], "marginals": [[1]], "kernels": [[[[1]]]], "zone": "UTC"},
    ),
    "MovementModel.of_visits": Call(
        sequences.MovementModel.of_visits,
        {"visits_of_others": TIMED, "places": CITY.latlon, "slots": [540, 720], "zone": "Europe/Paris"},
    ),
    "MovementModel.of_reports": Call(
        sequences.MovementModel.of_reports,
        {"reports": [[[48.85, 2.35]] * 2], "mechanism": PLAIN, "population": MOVEMENT},
    ),
    "PrivateMovementModel.of_days": Call(
        sequences.PrivateMovementModel.of_days,
        {"visits": TIMED.of_user("a"), "places": CITY.latlon, "slots": [540, 720], "zone": "Europe/Paris"},
    ),
    "MovementModel.move": Call(MOVEMENT.move, {"belief": [1, 0, 0, 0], "slot": 0, "minute": 600}),
    "MovementModel.minute": Call(MOVEMENT.minute, {"time": datetime(2024, 5, 1, tzinfo=UTC)}),
    "day_positions": Call(sequences.day_positions, {"visits": TIMED, "slots": [540, 720], "zone": "Europe/Paris"}),
    "Follower": Call(sequences.Follower, {"model": MOVEMENT, "mechanism": PLAIN}),
    "Follower.update": Call(update_afresh, {"minute": 540, "lat": 48.85, "lon": 2.35}),
    "Follower.belief": Call(FOLLOWER.belief, {"minute": 600}),
    "Follower.estimate": Call(FOLLOWER.estimate, {"minute": 600, "share": 0.9}),
    "sequence_errors": Call(
        sequences.sequence_errors,
        {
            "positions": [[[48.85, 2.35]] * 2],
            "reports": [[[48.85, 2.35]] * 2],
            "model": MOVEMENT,
            "mechanism": PLAIN,
        },
    ),
    "home_error": Call(
        sequences.home_error, {"mechanism": PLAIN, "reports_per_day": 1, "days": 2, "homes": 3, "seed": 1}
    ),
    "temporal_leakage": Call(
        sequences.temporal_leakage,
        {"prior": PRIOR, "kernels": MECHANISM, "distances": D, "epsilons": [1.0, 2.0], "slacks": 0.1},
    ),
    "SparseVector": Call(
        sequences.SparseVector,
        {"noise": NOISE, "threshold": "1 km", "triggers": 2, "threshold_epsilon": "1/km", "test_epsilon": 1.0},
    ),
    "SparseVector.start": Call(DAY.start, {"lat": 48.85, "lon": 2.35}),
    "SparseVector.step": Call(DAY.step, {"state": DAY.start(48.85, 2.35), "lat": 48.85, "lon": 2.35}),
    "SparseVector.exponent": Call(DAY.exponent, {"distance_km": 1.0, "ticks": 1}),
    "attacks.optimal": Call(sf.attacks.optimal, {"mechanism": MECHANISM, "prior": PRIOR, "distance": D}),
    "mutual_information_bits": Call(sf.leakage.mutual_information_bits, {"mechanism": MECHANISM, "prior": PRIOR}),
    "randomised_response": Call(sf.mechanisms.randomised_response, {"space": SPACE, "epsilon": 1.0}),
    "geometric": Call(sf.mechanisms.geometric, {"space": SPACE, "epsilon": 1.0}),
    "exponential": Call(sf.mechanisms.exponential, {"space": SPACE, "metric": D, "epsilon": 1.0}),
    "planar_geometric": Call(sf.mechanisms.planar_geometric, {"space": CITY, "epsilon": "1/km"}),
    "Region.shape_of": Call(sf.Region(48.0, 2.0, 48.1, 2.1).shape_of, {"cells": 4}),
    "Lattice.covering": Call(
        sf.Lattice.covering, {"places": "2 km x 2 km around 48.85,2.35", "spacing": "1 km", "kind": "square"}
    ),
    "Hexagons.covering": Call(
        sf.Hexagons.covering, {"places": "2 km x 2 km around 48.85,2.35", "cell": "1 km", "resolution": None}
    ),
    "noise_accuracy": Call(sf.noise_accuracy, {"epsilon": 1.0, "failure": 0.1}),
    "Sample": Call(sf.Sample, {"counts": [[3, 1], [1, 3]], "secrets": None}),
    "estimate": Call(sf.estimate, {"mechanism": MECHANISM, "reports": [0, 1, 2, 2], "failure": 0.1, "seed": 1}),
    "Reports": Call(sf.estimation.Reports, {"mechanism": MECHANISM, "counts": [3, 2, 1]}),
    "Relation": Call(privacy.Relation, {"array": np.eye(3) == 0, "name": "others"}),
    "Relation.of_radius": Call(privacy.Relation.of_radius, {"metric": D, "limit": 1.0}),
    "Relation.of_pairs": Call(privacy.Relation.of_pairs, {"space": SPACE, "pairs": [(0, 1)]}),
    "Family": Call(
        privacy.Family,
        {"distributions": {"a": [0.5, 0.5, 0], "b": [0, 0.5, 0.5]}, "pairs": [("a", "b")]},
    ),
    "DifferentialPrivacy": Call(privacy.DifferentialPrivacy, {"relation": privacy.Relation.all(3), "delta": 0.0}),
    "Notion.measure": Call(privacy.DifferentialPrivacy().measure, {"mechanism": MECHANISM}),
    "MetricDifferentialPrivacy": Call(privacy.MetricDifferentialPrivacy, {"metric": D}),
    "GaussianPrivacy": Call(privacy.GaussianPrivacy, {"relation": privacy.Relation.all(3)}),
    "InformationPrivacy": Call(privacy.InformationPrivacy, {"priors": privacy.Priors.of(PRIOR)}),
    "Events": Call(privacy.Events, {"masks": np.eye(3) == 1}),
    "Rivals": Call(privacy.Rivals, {"facts": np.eye(3) == 1, "pairs": np.eye(3) == 0}),
    "convert": Call(privacy.convert, {"claim": GUARANTEE, "to": "differential-privacy"}),
    "wasserstein": Call(sf.transport.wasserstein, {"first": [1, 0, 0], "second": [0, 0, 1], "distances": D}),
    "hockey_stick": Call(sf.divergences.hockey_stick, {"p": [0.5, 0.5], "q": [0.1, 0.9], "epsilons": [1.0]}),
    "Laplace": Call(sf.mechanisms.Laplace, {"epsilon": 1.0, "sensitivity": 1.0}),
    "DiscreteLaplace": Call(sf.mechanisms.DiscreteLaplace, {"epsilon": 1.0, "sensitivity": 1}),
    "UnaryEncoding": Call(sf.mechanisms.UnaryEncoding, {"space": SPACE, "epsilon": 1.0, "kind": "optimised"}),
    "UtilityTable": Call(sf.mechanisms.UtilityTable, {"values": [[3, 1], [2, 2]], "neighbours": None}),
    "merge_close_secrets": Call(sf.mechanisms.merge_close_secrets, {"allowed": D.array, "below": 1e-10}),
    "Zones": Call(tracks.Zones, {"ledger": LEDGER, "radius_m": 500, "allow_small": False}),
    "Zones.add": Call(ZONES.add, {"name": "home", "lat": 48.86, "lon": 2.35, "move": True}),
    "Track": Call(tracks.Track, {"latlon": [[48.86, 2.35]], "elevation": [3.0], "time": None, "part": [0]}),
    "release_tracks": Call(
        tracks.release_tracks,
        {"source": "r.geojson", "target": "s.gpx", "zones": ZONES, "times": "keep", "loop_only": False},
    ),
    "simulate_zone_attack": Call(tracks.simulate_zone_attack, {"tracks": 1, "ways": 1, "cut": True, "homes": 1}),
    "Ledger.remember": Call(
        LEDGER.remember, {"user": "ada", "place": "home", "draw": lambda *_: 3, "mechanism": b"m"}
    ),
    "Tupling": Call(Tupling, {"inner": MECHANISM, "dummies": 2, "distribution": [0.3, 0.3, 0.4]}),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sf.save(MECHANISM, "f.sfm")
    sf.save(Tupling(MECHANISM, 2, [0.3, 0.3, 0.4]), "t.sfm")
    np.save("m.npy", MECHANISM.matrix)
    pathlib.Path("r.geojson").write_text('{"type": "LineString", "coordinates": [[2.3, 48.8], [2.4, 48.8]]}')


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_explained(name: str) -> None:
    call = CALLS[name]
    call.function(**call.good)
    crashes = []
    for argument in call.good:
        for kind, value in WRONG.items():
            try:
                call.function(**{**call.good, argument: value})
            except SfumatoError as error:
                if not (error.problem and error.hint):
                    crashes.append(f"{argument}={kind}: {error!r} without a hint")
            except Exception as error:  # noqa: BLE001 (whatever else is what is looked for)
                crashes.append(f"{argument}={kind}: {error!r}")
    assert not crashes


def test_the_error_names_argument_and_kind() -> None:
    with pytest.raises(InputError, match="space= is of type list, but a Space is needed") as raised:
        sf.hamming([1, 2])  # type: ignore[arg-type]
    assert "sf.Space(labels)" in raised.value.hint
    with pytest.raises(InputError, match="space= is the class Space, but a Space is needed"):
        sf.hamming(sf.Space)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="path= is of type int, but a text or path is needed"):
        sf.load(3)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers_and_truth_values_are_not() -> None:
    @check_arguments
    def half(value: float, times: int = 1, *, exact: bool = False, text: str | None = None) -> float:
        """Return the half."""
        return value / 2 * times

    given: list[Any] = [np.float32(3.0), np.int64(2), np.bool_(True)]
    assert half(given[0], given[1]) == 3.0
    assert half(3, exact=given[2], text=None) == 1.5
    for arguments, named in (((True,), {}), ((1.0, 2.5), {}), ((1.0,), {"exact": 1}), ((1.0,), {"text": 3})):
        with pytest.raises(InputError, match="is needed"):
            half(*arguments, **named)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        half()  # type: ignore[call-arg]
    assert half.__doc__ == "Return the half."
    assert half.__module__ == __name__


def test_paths_are_texts_or_paths() -> None:
    assert sf.load(pathlib.Path("f.sfm")) == sf.load("f.sfm")
    assert isinstance(pathlib.Path("f.sfm"), os.PathLike)
