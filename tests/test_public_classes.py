"""Public classes: a repr is one short line, and what is printed is readable."""

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import attacks, audits, leakage, mechanisms
from sfumato.core import Bracket, Side
from sfumato.mechanisms.tupling import FamilyAccountant, PairAccountant, TuplePrivacy, Tupling, plan_dummies
from sfumato.proofs import prove_metric_privacy
from sfumato.statistics import (
    FineBits,
    Halvings,
    IntervalBins,
    RectangleBins,
    Sample,
    decide,
    delta_lower,
    dependence_test,
    epsilon_lower,
    estimate_guessing,
    estimate_information,
    repetition,
)

LONGEST = 200
_LISTS = re.compile(r"\.\.\.|\b(Floats|Ints|Positions|Counts|Integers|NDArray|dict|Mapping|list|Iterable)\b")

LINE = sf.Space.numbers(range(40), unit="km")
METRIC = LINE.metric("absolute")
PRIOR = sf.Prior.uniform(LINE)
MECHANISM = mechanisms.geometric(LINE, "1/km")
INNER = sf.Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
TUPLED = Tupling(INNER, 20, [0.25] * 4)
FAMILY = FamilyAccountant.of_points(TUPLED)
SAMPLE = Sample([[900, 100], [100, 900]])
POINTS = np.random.default_rng(1).normal(size=(400, 2))


def _objects() -> Iterator[tuple[str, Any]]:
    few = sf.Space.numbers(range(5), unit="km")
    ground = few.metric("absolute")
    design = sf.design(sf.Prior.uniform(few), loss=ground, guarantees=sf.MetricPrivacy("1/km", ground))
    audited = sf.audit(MECHANISM, prior=PRIOR, metric=METRIC)
    yield from {
        "space": LINE,
        "metric": METRIC,
        "prior": PRIOR,
        "loss": sf.loss(LINE, LINE, "absolute"),
        "mechanism": MECHANISM,
        "metric privacy": sf.MetricPrivacy("1/km", METRIC),
        "distortion privacy": sf.DistortionPrivacy("1 km", METRIC),
        "bracket": Bracket(0.1, 0.2, 0.3),
        "side": Side.AT_MOST,
        "audit": audited,
        "entry": audited.entries[0],
        "plan of an audit": audits.plan_audit(MECHANISM, audits.AuditInputs(prior=PRIOR, metric=METRIC), []),
        "inputs of an audit": audits.AuditInputs(prior=PRIOR, metric=METRIC),
        "verdict": audits.Requirement.parse("epsilon <= 9").hold_against(audited),
        "black box": audits.audit_black_box(lambda s: s, ["a", "b"], 1.0, limit=2000),
        "decision": decide(lambda s: s, ["a", "b"], epsilon=1.0),
        "repetition": repetition(lambda s: s, ["a", "b"], epsilon=1.0),
        "sample": SAMPLE,
        "epsilon of a sample": epsilon_lower(SAMPLE, seed=1),
        "delta of a sample": delta_lower(SAMPLE, 0.5, seed=1),
        "guessing": estimate_guessing(SAMPLE, seed=1),
        "information": estimate_information(SAMPLE),
        "dependence": dependence_test(["a", "b", "c"] * 40, seed=1),
        "intervals": IntervalBins(np.arange(50.0)),
        "rectangles": RectangleBins(np.arange(50.0), np.arange(50.0)),
        "halvings": Halvings(POINTS, 6),
        "fine bits": FineBits(2.0**-45, 1.0),
        "proof": prove_metric_privacy(MECHANISM, sf.MetricPrivacy("1/km", METRIC)),
        "capacity": leakage.shannon_capacity(INNER),
        "design": design,
        "certificate": design.certificate,
        "attack": attacks.optimal(MECHANISM, PRIOR, METRIC),
        "tupling": TUPLED,
        "pair of a tuple": PairAccountant.of(TUPLED, [1, 0], [0, 1]),
        "family of a tuple": FAMILY,
        "worst pair": FAMILY.epsilon(1e-3),
        "proof of a tuple": TuplePrivacy(1.0, 1e-2).prove(TUPLED),
        "plan of dummies": plan_dummies(FAMILY, 0.5, 1e-2),
        "basis": mechanisms.LatticeBasis([[1, 0], [0, 1]]),
        "median": mechanisms.geometric_median(POINTS, np.ones(400)),
        "table of utilities": mechanisms.UtilityTable(POINTS),
        "queries": mechanisms.JointQueries(range(1, 90), range(1, 90)),
        "noise": mechanisms.DiscreteLaplace(Fraction(1, 7)),
        "sampler": sf.sampler(MECHANISM),
        "simulator": sf.simulator(MECHANISM, 7),
    }.items()


def test_a_repr_is_one_short_line() -> None:
    wrong = {}
    for name, thing in _objects():
        text = repr(thing)
        if "\n" in text or not 0 < len(text) <= LONGEST or " object at 0x" in text:
            wrong[name] = text
        if max(map(len, str(thing).splitlines())) > 400:
            wrong[name] = str(thing)
    assert not wrong


def _public() -> list[type]:
    rooms = ["sfumato", *(room.name for room in pkgutil.walk_packages(sf.__path__, "sfumato.") if room.ispkg)]
    found: dict[type, None] = {}
    for room in rooms:
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) and thing.__module__.startswith("sfumato"):
                found[thing] = None
    return list(found)


def _unread(kind: type) -> bool:
    """Return whether a class writes out all its fields, and one of them has no short text."""
    if not dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum) or inspect.isabstract(kind):
        return False
    own = "__repr__" in kind.__dict__ and hasattr(kind.__dict__["__repr__"], "__wrapped__")
    shown = [field for field in dataclasses.fields(kind) if field.repr]
    return own and (len(shown) > 8 or any(_LISTS.search(str(field.type)) for field in shown))


def test_no_public_dataclass_writes_out_arrays_or_lists() -> None:
    wrong = sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in _public() if _unread(kind))
    assert not wrong, f"{wrong}: derive them from core.immutable.CompactRepr, with repr=False"
