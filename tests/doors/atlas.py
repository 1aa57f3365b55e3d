"""The implications of the atlas as data: their words, and what they compute on a grid of claims and goals."""

import math
from typing import Any, Final

import numpy as np

import sfumato as sf
from sfumato.privacy.atlas import ATLAS, Claim, Edge, Goal, Refusal

SIZE: Final = 4
SPACE: Final = sf.Space([f"s{i}" for i in range(SIZE)])
STEPS: Final = np.abs(np.subtract.outer(np.arange(SIZE), np.arange(SIZE)))
NEAR: Final = sf.privacy.Relation(STEPS == 1, "neighbours")
ONE_WAY: Final = sf.privacy.Relation(np.eye(SIZE, k=1, dtype=bool), "one step up")
EVERY: Final = sf.privacy.Relation.all(SIZE)
LINE: Final = sf.Metric(STEPS.astype(float))
FAR: Final = sf.Metric(np.where(STEPS % 2, math.inf, STEPS * 1.5))
FULL: Final = sf.privacy.Priors.of(sf.Prior(SPACE, [0.4, 0.3, 0.2, 0.1]))
SKEWED: Final = sf.privacy.Priors.of(sf.Prior(SPACE, [0.5, 0.2, 0.3, 0.0]))
BETWEEN: Final = sf.privacy.Priors.of_range(0.3, 0.6)
HALVES: Final = sf.privacy.Events.partition(SPACE, {f"s{i}": i < 2 for i in range(SIZE)})
RIVALS: Final = sf.privacy.Rivals.of_pairs(SPACE, [(["s0"], ["s2", "s3"])])
FAMILY: Final = sf.privacy.Family({"a": [1.0, 0, 0, 0], "b": [0, 0.5, 0.5, 0]}, [("a", "b")])
LIFTED: Final = sf.privacy.Family.lift({"a": [1.0, 0, 0, 0], "b": [0, 1.0, 0, 0]}, NEAR)
MAPS: Final = (np.zeros((1, SIZE), dtype=int), np.array([[1, 0, 3, 2]]), np.array([[1, 2, 3, -1]]))
SETTING: Final = (np.array([[0, 0, 2, 2], [1, 1, 3, 3]]),)
CURVES: Final = (
    sf.privacy.GaussianTradeOff(1.0),
    sf.privacy.LaplaceTradeOff(1.5),
    sf.privacy.TradeOff([0.5, 0.3, 0.2], [0.3, 0.2, 0.5]),
)
DIVERGENCES: Final = (
    *("KL divergence", "total variation", "chi-square divergence", "squared Hellinger distance"),
    *("reverse KL divergence", "max divergence", "unheard-of divergence"),
)
VALUES: Final = (0.3, 1.5, 0.0, 6.0, 0.9)

CONTEXTS: Final[dict[str, tuple[Any, ...]]] = {
    "relation": (None, NEAR, ONE_WAY, EVERY),
    "metric": (LINE, FAR),
    "priors": (None, FULL, SKEWED, BETWEEN),
    "events": (None, HALVES),
    "rivals": (None, HALVES, RIVALS),
    "family": (None, FAMILY, LIFTED),
    "maps": (None, *MAPS),
    "possible": (True, None),
    "interventions": (SETTING,),
    "curve": CURVES,
    "divergence": DIVERGENCES,
    "distance": (LINE,),
    "delta": (0.0, 0.05),
    "order": (1.0, 2.5, math.inf),
}
"""The values that parts of claims and goals take, by name; other numbers take turns among `VALUES`."""


def _product(names: list[str], part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the choices of the values of some names, added to a part that is chosen already."""
    if not names:
        return [part]
    return [each for value in CONTEXTS[names[0]] for each in _product(names[1:], {**part, names[0]: value})]


def claims(notion: str) -> list[Claim]:
    """Return claims of a notion in all contexts, with numbers that take turns."""
    names = Claim.names(notion)
    free = [name for name in names if name not in CONTEXTS]
    few = len(names) == 1 or names[1:] == ("relation",)
    choices = _product([name for name in names if name in CONTEXTS], {})
    made = []
    for turn, choice in enumerate(choices * 3 if few and free else choices):
        value = VALUES[turn % len(VALUES)]
        made.append(Claim(notion, **{name: value + k / 8 for k, name in enumerate(free)}, **choice))
    return made


def goals(notion: str) -> list[Goal]:
    """Return what may be asked of a notion: nothing, one number, or one or two parts of the context."""
    names = Claim.names(notion)
    parts = [name for name in names if name in CONTEXTS and name != "delta"]
    asked: list[dict[str, Any]] = [{}, *({name: value} for name in parts for value in CONTEXTS[name])]
    if {"epsilon", "delta"} <= set(names):
        asked += [{"epsilon": 0.2}, {"epsilon": 2.0}, {"delta": 0.1}, {"epsilon": 2.0, parts[0]: None}]
        asked += [{"delta": 0.1, parts[0]: CONTEXTS[parts[0]][1]}]
    if "interventions" in names or "distance" in names:
        asked += [{parts[0]: CONTEXTS[parts[0]][-1], parts[1]: CONTEXTS[parts[1]][-1]}]
        asked += [{"distance": LINE, "priors": each} for each in (FULL, SKEWED) if "distance" in names]
    said = [{name: value for name, value in each.items() if value is not None} for each in asked]
    return [Goal(notion, each) for each in {text(each): each for each in said}.values()]


def words(value: Any) -> str:
    """Return a value as text that does not hang on how it is printed elsewhere."""
    match value:
        case sf.privacy.Relation():
            known = {id(NEAR): "near", id(ONE_WAY): "one way", id(EVERY): "every"}
            return known.get(id(value)) or f"{value.name} {[[int(i), int(j)] for i, j in value.pairs]}"
        case sf.privacy.Priors():
            listed = [prior.probabilities.tolist() for prior in value.listed]
            return f"priors {listed} in {value.interval}"
        case sf.privacy.TradeOff():
            return f"curve {value.null.tolist()} {value.alternative.tolist()}"
        case sf.privacy.GaussianTradeOff():
            return f"normal {value.mu!r}"
        case sf.privacy.LaplaceTradeOff():
            return f"Laplace {value.epsilon!r}"
        case np.ndarray() | tuple() | list():
            return str([np.asarray(each).tolist() for each in value])
    names = {"line": LINE, "far": FAR, "halves": HALVES, "rivals": RIVALS, "family": FAMILY, "lifted": LIFTED}
    name = next((name for name, each in names.items() if each is value), "")
    return name or (repr(value) if isinstance(value, float | bool) else str(value))


def text(parts: dict[str, Any]) -> str:
    """Return the parts of a claim or a goal that are there, as text."""
    return ", ".join(f"{name} {words(value)}" for name, value in parts.items() if value is not None)


def outcome(edge: Edge, claim: Claim, goal: Goal) -> str:
    """Return what an implication gives: a claim, or what it says is missing."""
    implied = edge.follow(claim, goal)
    if isinstance(implied, Refusal):
        return f"refused: {implied.missing}"
    assert implied.notion == edge.end
    return text({**implied.numbers, **implied.context})


def facts(edge: Edge) -> dict[str, Any]:
    """Return all that an implication says of itself, and what it gives of each claim.

    Goals that change nothing are left out, as are those with the outcome of no goal.
    """
    grid = {}
    for claim in claims(edge.start):
        plain, *others = [(text(dict(goal.terms)), outcome(edge, claim, goal)) for goal in goals(edge.end)]
        changed = {asked: gives for asked, gives in others if gives != plain[1]}
        key = text({**claim.numbers, **claim.context})
        grid[key] = {"": plain[1], **changed} if changed else plain[1]
    return {
        "start": edge.start,
        "end": edge.end,
        "rule": edge.rule,
        "needs": edge.needs,
        "tightness": edge.tightness.name,
        "witness": edge.witness,
        "source": edge.source,
        "basis": edge.basis.name,
        "proof": edge.proof,
        "sentence": edge.sentence,
        "gives": grid,
    }


def atlas() -> dict[str, Any]:
    """Return the facts of all implications by name, in their order."""
    return {edge.name: facts(edge) for edge in ATLAS}
