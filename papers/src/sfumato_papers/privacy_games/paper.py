"""The games as a paper to reproduce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..reproduction import Paper, Setting, StudyPart, equations
from .claims import claims
from .figures import CAPTIONS, figures
from .games import (
    APART,
    GAMES,
    INFORMED,
    LINE,
    PRICES,
    SLOPES,
    Person,
    choose,
    compare_prices,
    design_distortion,
    design_joint,
    five_points,
    play_scenarios,
    repeat_designs,
)
from .pruning import ATTACKS, PAIRS, TIMES, far_guesses, far_pairs

_SEED: Final = 1  # of the draw of users
_GAP: Final = 1e-4
_TIGHT: Final = 1e-6
_SHARPER: Final = (0.0, 0.2, 0.4, 0.6, 0.8)  # the shares of section 9.2
_STEP: Final = 0.5  # of d_m in scenario 3, km
_PRUNED: Final = 0.75  # d_m over the most that can be forced, where guesses are left out
_MIDDLE: Final = 0.6  # epsilon per km of the other parts
_THRESHOLDS: Final = (0.54, 0.76, 0.93, 1.5, 2.0, 3.0, 5.0)  # km, of Figure 8


def _parts(setting: Setting) -> Sequence[StudyPart]:
    width, height = setting.size((6.0, 4.0), (15.0, 8.0))  # km
    people = choose(
        list(setting.data.items()),
        setting.size(2, 10),
        shape=setting.size((6, 4), (20, 15)),
        size_m=(1000 * width, 1000 * height),
        least=setting.size(40, 200) if setting.has_files else 40,  # visits of a user on their map
        seed=_SEED,
    )
    parts = [StudyPart("five points", five_points)]
    return parts + [part for person in people for part in _of_one(person, setting)]


def _of_one(person: Person, setting: Setting) -> Iterator[StudyPart]:
    """Yield the parts of one user; the first users have more of them. Lengths in km, epsilons per km."""
    pick, user = setting.size, f"user {person.number}"
    epsilons = pick((0.3, 0.9), (0.15, 0.3, 0.45, 0.6, 0.75, 0.9))
    largest = epsilons[-1]
    for epsilon in epsilons:
        yield StudyPart(f"{user}, epsilon {epsilon}", play_scenarios, (person, epsilon, _GAP, _SHARPER))
    for epsilon in pick((0.2, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0)):
        yield StudyPart(f"{user}, apart, epsilon {epsilon}", design_joint, (person, epsilon, _STEP, _GAP))
    yield StudyPart(f"{user}, apart, distortion", design_distortion, (person, _STEP, _GAP))
    if person.number <= pick(1, 3):
        yield StudyPart(f"{user}, repeated, epsilon {largest}", repeat_designs, (person, largest, _TIGHT))
    if person.number <= pick(1, 4):
        yield StudyPart(f"{user}, prices", compare_prices, (person, largest, _TIGHT))
    if person.number == 1 or not setting.quick:
        for km in (None, *pick((1.0, 1.5, 2.3), _THRESHOLDS)):
            yield StudyPart(f"{user}, pairs within {km or 'any'} km", far_pairs, (person, _MIDDLE, km, _GAP))
        for km in (None, *pick((1.0, 2.3), _THRESHOLDS)):
            name = f"{user}, guesses within {km or 'any'} km"
            yield StudyPart(name, far_guesses, (person, _PRUNED, km, _GAP))


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
    equations=equations(
        ("(1), (2)", "prior and mechanism", "sf.core.Mechanism"),
        ("(3), (4)", "expected cost, and that of the worst secret", "sf.core.Mechanism", GAMES),
        ("(5) to (7)", "an attack, and its error", "sf.attacks.evaluate"),
        ("(7), (21)", "distortion privacy", "sf.core.DistortionPrivacy", GAMES),
        ("(9), (23)", "near secrets alone", "sf.core.ThresholdPrivacy"),
        ("(10), (22)", "metric privacy", "sf.core.MetricPrivacy", GAMES),
        ("(12)", "least worst-case cost: objective=", "sf.optimal.design"),
        ("(19), (33) to (35)", "the best attack", "sf.attacks.optimal", GAMES),
        ("(21), (22), (24)", "the optimal mechanisms", "sf.optimal.design", GAMES),
        ("(25)", "the Bayesian attack", "sf.attacks.bayes", GAMES),
        ("(27)", "the attack without weights", "sf.attacks.unweighted_attack"),
        ("(28)", "the attack without a prior", "sf.attacks.prior_free"),
        ("(29)", "the same for each guess separately", "sf.attacks.per_guess"),
        ("Section 9.2", "the best attack with a sharper prior", "sf.attacks.optimal", INFORMED),
        ("Ours, on section 9.2", "an attack on the design's prior", "sf.attacks.misinformed_attack", INFORMED),
        ("Dual of (21), (24)", "equilibrium and prices", "sf.optimal.equilibrium", PRICES),
        ("Dual of (21), (24)", "prices and slopes", "sf.optimal.equilibrium", SLOPES),
        ("Figures 2 to 5", "scenarios 1 and 2", "sf.optimal.design", GAMES),
        ("Figure 6", "attackers who know more", "sf.attacks.optimal", INFORMED),
        ("Figure 7", "scenario 3", "sf.optimal.design", APART),
        ("Ours, on Figure 7", "both cost more than either", "sf.optimal.design", LINE),
        ("Figure 8", "near pairs and their dilation", "sf.core.neighbours", PAIRS),
        ("Figure 8", "near guesses", "sf.optimal.Highs", ATTACKS),
        ("Figure 8", "times of these designs", "sf.optimal.design", TIMES),
    ),
    minutes=45,
)
