"""Learned mechanisms as a paper to reproduce."""

from __future__ import annotations

from typing import Final

from ..reproduction import Equation, Paper
from .claims import claims
from .figures import CAPTIONS, figures
from .parts import parts_of

_ROOM: Final = "sfumato_papers.mipan"

PAPER: Final = Paper(
    name="mipan",
    title="Learned mechanisms (MI-PAN) compared with the optimum",
    source='M. Romanelli, C. Palamidessi and K. Chatzikokolakis, "Optimal Obfuscation Mechanisms via Machine '
    'Learning", CSF 2020, sections II to IV',
    version="Quoted from the abstract of arXiv 1904.01059: sentences that it has under this title and under the "
    'first one, "Generating Optimal Privacy-Protection Mechanisms via Machine Learning". Sections, equations, '
    "figures and numbers are known from summaries.",
    about=(
        "A generator reports places with noise, within a limit of the mean distance, and a classifier guesses who "
        "reports. The Bayes error is the probability that the best guess is wrong; more is better. A learned "
        "mechanism has no guaranteed likelihood ratio: its errors are measured.",
        "Experiments 1 and 2 have four people around a square of 300 m, with data made here. The learned network "
        "reports any place of the plane. It has two heads (the paper's has one), because a single one cannot "
        "split its reports, and is trained in the full size only. The tables report cells of 50 m: the learned "
        "table, made to protect other records too; the annealed table, trained with rising order towards the "
        "optimum for its own records; least information (the paper's target); and the certified optimum, the only "
        "one that is proved optimal, for its training records.",
        "Errors on grids are counted from drawn reports, as in equation 27. These are too low on fine grids with "
        "few reports, so there is a corrected estimate too. Means are over seeds of data, training and "
        "draws, with Student's 95 % intervals.",
        "Users of a city are those with most visits in a region that holds the most visits. They are numbered "
        "by frequency, and are not the users of the paper. Mechanisms are built on equal cells "
        "from a random 80 % of the visits; errors there and on the rest are exact sums over cells. "
        "Check-ins of one user are not independent, so held-out months could be harder.",
    ),
    parts=parts_of,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=(
        Equation("(2) to (5)", "labels, places and reports together", "sf.learning.Pairs"),
        Equation("(6) to (8)", "expected loss within a limit", "sf.learning.hiding", "people.csv"),
        Equation("(9) to (11)", "mutual information", "sf.leakage.joint_information_bits", "square-designs.csv"),
        Equation("(12)", "the game of generator and classifier", "sf.learning.learn_generator", "square.csv"),
        Equation(
            "(13), Propositions 2 to 4", "convexity, bits and errors", f"{_ROOM}.theorem_row", "theorems.csv"
        ),
        Equation(
            "(14)", "least information of report and label", f"{_ROOM}.least_information", "square-designs.csv"
        ),
        Equation("(15) to (17)", "loss of the generator, with softplus", "sf.learning.Softplus"),
        Equation("(18) to (22)", "accuracy, precision, recall, F1", "sfumato.attacks.learned.Confusion"),
        Equation(
            "(23), (24)", "planar Laplace noise and its mean distance", f"{_ROOM}.LaplaceDraws", "square.csv"
        ),
        Equation("(25) to (27)", "Bayes error on a grid, and its bias", "sf.learning.grid_error", "square.csv"),
        Equation("(28) to (30)", "limit and noise of Experiment 1", f"{_ROOM}.EXPERIMENT_1", "square.csv"),
        Equation("Experiment 2", "its limit and noise", f"{_ROOM}.EXPERIMENT_2", "square.csv"),
        Equation("Santhi and Vardy", "error and entropy", f"{_ROOM}.GuessedLabel", "theorems.csv"),
        Equation("Figure 1", "payoffs of Example 1", f"{_ROOM}.payoffs", "payoffs.csv"),
        Equation("Example 1", "the game round by round", f"{_ROOM}.play_swapping", "swapping.csv"),
        Equation("Algorithm 1", "new classifiers, or one that goes on", f"{_ROOM}.alternate", "alternation.csv"),
        Equation("Experiments 1 and 2", "clouds of reports", f"{_ROOM}.square_generator", "clouds.csv"),
        Equation("Experiments 1 and 2", "errors by grid and hits", f"{_ROOM}.generator_errors", "square.csv"),
        Equation("Gowalla", "reports of users of a city", f"{_ROOM}.contest", "people-clouds.csv"),
        Equation("Gowalla", "users of a city hidden", f"{_ROOM}.contest", "people.csv"),
        Equation("Gowalla", "errors by grid and hits", f"{_ROOM}.generator_errors", "people-grids.csv"),
        Equation("Ours", "the certified optimum", "sf.optimal.least_vulnerability", "square-designs.csv"),
        Equation("Ours", "a table annealed to the optimum", f"{_ROOM}.learn_square", "square-designs.csv"),
    ),
    minutes=15,
    extras=("learn",),
)
