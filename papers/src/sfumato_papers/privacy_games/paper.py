"""The games as a paper to reproduce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..reproduction import Equation, Paper, Setting, StudyPart
from .claims import claims
from .figures import CAPTIONS, figures
from .games import (
    APART,
    GAMES,
    INFORMED,
    LINE,
    PRICES,
    Person,
    alone,
    choose,
    five_points,
    played,
    repeated,
    together,
)
from .pruning import ATTACKS, PAIRS, far_guesses, far_pairs
from .slopes import SLOPES, priced

_SEED: Final = 1  # of the draw of users
_GAP: Final = 1e-4
_TIGHT: Final = 1e-6
_SHARPER: Final = (0.0, 0.2, 0.4, 0.6, 0.8)  # the shares of section 9.2
_STEP: Final = 0.5  # of d_m in scenario 3, km
_PRUNED: Final = 0.75  # d_m over the most that can be forced, where guesses are left out
_MIDDLE: Final = 0.6  # epsilon per km of the other parts


@dataclass(frozen=True, slots=True)
class _Size:
    """The amounts of a run, by default of the full size; lengths in km, epsilons per km."""

    users: int = 10
    least: int = 200  # visits of a user on their map
    shape: tuple[int, int] = (20, 15)
    size_km: tuple[float, float] = (15.0, 8.0)
    epsilons: tuple[float, ...] = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
    apart: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)  # epsilons of scenario 3
    tight: int = 3  # users whose designs are repeated with a smaller gap
    priced: int = 4  # users whose prices are compared with slopes
    pruned: int = 2  # users for whom rows are left out
    thresholds: tuple[float, ...] = (0.54, 0.76, 0.93, 1.5, 2.0, 3.0, 5.0)
    guessed: tuple[float, ...] = (0.54, 0.93, 1.5, 2.0, 3.0)  # thresholds of guesses


_QUICK: Final = _Size(
    users=2,
    least=40,
    shape=(6, 4),
    size_km=(6.0, 4.0),
    epsilons=(0.3, 0.9),
    apart=(0.2, 1.0),
    tight=1,
    priced=1,
    pruned=1,
    thresholds=(1.0, 1.5, 2.3),
    guessed=(1.0, 2.3),
)


def _parts(setting: Setting) -> Sequence[StudyPart]:
    size = _QUICK if setting.quick else _Size()
    people = choose(
        list(setting.data.items()),
        size.users,
        shape=size.shape,
        size_m=(1000 * size.size_km[0], 1000 * size.size_km[1]),
        least=size.least if setting.given else _QUICK.least,
        seed=_SEED,
    )
    return [StudyPart("five points", five_points), *(part for person in people for part in _of_one(person, size))]


def _of_one(person: Person, size: _Size) -> Iterator[StudyPart]:
    """Yield the parts of one user."""
    who, largest = f"user {person.number}", size.epsilons[-1]
    for epsilon in size.epsilons:
        yield StudyPart(f"{who}, epsilon {epsilon}", played, (person, epsilon, _GAP, _SHARPER))
    for epsilon in size.apart:
        yield StudyPart(f"{who}, apart, epsilon {epsilon}", together, (person, epsilon, _STEP, _GAP))
    yield StudyPart(f"{who}, apart, distortion", alone, (person, _STEP, _GAP))
    if person.number <= size.tight:
        yield StudyPart(f"{who}, repeated, epsilon {largest}", repeated, (person, largest, _TIGHT))
    if person.number <= size.priced:
        yield StudyPart(f"{who}, prices", priced, (person, largest, _TIGHT))
    if person.number <= size.pruned:
        for each in (None, *size.thresholds):
            yield StudyPart(f"{who}, pairs within {each or 'any'} km", far_pairs, (person, _MIDDLE, each, _GAP))
        for each in (None, *size.guessed):
            yield StudyPart(
                f"{who}, guesses within {each or 'any'} km", far_guesses, (person, _PRUNED, each, _GAP)
            )


PAPER: Final = Paper(
    name="privacy-games",
    title="Privacy games: the cost of optimal privacy, and the error of attackers",
    source='R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, sections 6 to 9 and '
    "appendix C",
    version="Quoted from the abstract of arXiv 1402.3426v3; that of PoPETs 2015 (2), pages 299 to 315, has the "
    "three sentences too. Sections, equations and figures are known from summaries.",
    about=(
        "Users are drawn at random among those with enough visits on one map. They are not the paper's, whose "
        "data are not public. Each has a map around most of their visits. The "
        "prior is the share of visits of each cell, the cost is the share of reports that are not the true cell, "
        "and the error of attackers is a distance in km.",
        "Metric has least cost with metric privacy for all pairs of cells, distortion has least cost with an "
        "error of the best attacker of at least d_m, and joint has least cost with both. Every guarantee is "
        "proved on the sampled integers, and each cost lies within a proved relative gap of the least one: "
        "0.0001, and 0.000001 where designs are repeated or priced. Ties between mechanisms of equal cost are "
        "not broken, and other optima can leave attackers other errors.",
        "In scenario 1, d_m is the error of the best attacker against metric; in scenario 2 it lies halfway "
        "between that and the largest possible error; in scenario 3 epsilon and d_m are chosen separately. Near "
        "the largest possible error the programs have almost no interior, so d_m is limited to 99.9 % of it.",
    ),
    parts=_parts,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=(
        Equation("(1), (2)", "prior and mechanism", "sf.core.Mechanism"),
        Equation("(3), (4)", "expected cost, and that of the worst secret", "sf.core.Mechanism", f"{GAMES}.csv"),
        Equation("(5) to (7)", "an attack, and its error", "sf.attacks.evaluate"),
        Equation("(7), (21)", "distortion privacy", "sf.core.DistortionPrivacy", f"{GAMES}.csv"),
        Equation("(9), (23)", "near secrets alone", "sf.core.ThresholdPrivacy"),
        Equation("(10), (22)", "metric privacy", "sf.core.MetricPrivacy", f"{GAMES}.csv"),
        Equation("(12)", "least worst-case cost: objective=", "sf.optimal.design"),
        Equation("(19), (33) to (35)", "the best attack", "sf.attacks.optimal", f"{GAMES}.csv"),
        Equation("(21), (22), (24)", "the optimal mechanisms", "sf.optimal.design", f"{GAMES}.csv"),
        Equation("(25)", "the Bayesian attack", "sf.attacks.bayes", f"{GAMES}.csv"),
        Equation("(27)", "the attack without weights", "sf.attacks.unweighted"),
        Equation("(28)", "the attack without a prior", "sf.attacks.prior_free"),
        Equation("(29)", "the same for each guess separately", "sf.attacks.per_guess"),
        Equation("Section 9.2", "the best attack with a sharper prior", "sf.attacks.optimal", f"{INFORMED}.csv"),
        Equation(
            "Ours, on section 9.2", "an attack on the design's prior", "sf.attacks.misinformed", f"{INFORMED}.csv"
        ),
        Equation("Dual of (21), (24)", "equilibrium and prices", "sf.optimal.equilibrium", f"{PRICES}.csv"),
        Equation("Dual of (21), (24)", "prices and slopes", "sf.optimal.equilibrium", f"{SLOPES}.csv"),
        Equation("Figures 2 to 5", "scenarios 1 and 2", "sf.optimal.design", f"{GAMES}.csv"),
        Equation("Figure 6", "attackers who know more", "sf.attacks.optimal", f"{INFORMED}.csv"),
        Equation("Figure 7", "scenario 3", "sf.optimal.design", f"{APART}.csv"),
        Equation("Ours, on Figure 7", "both cost more than either", "sf.optimal.design", f"{LINE}.csv"),
        Equation("Figure 8", "near pairs and their dilation", "sf.core.neighbours", f"{PAIRS}.csv"),
        Equation("Figure 8", "near guesses", "sf.optimal.Highs", f"{ATTACKS}.csv"),
    ),
    minutes=35,
)
