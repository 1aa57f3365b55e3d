"""Algorithm 1 on Example 1, with a classifier that is trained, from nothing or from where the last one ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sfumato.core.immutable import CompactRepr
from sfumato.learning import MutualInformation

from .swapping import start_of

if TYPE_CHECKING:
    from torch import Tensor

ROUNDS: Final = 40
_STEPS: Final = 20  # of each side in a round
_RATE: Final = 0.1


@dataclass(frozen=True, slots=True, repr=False)
class AlternationRow(CompactRepr):
    """A round of the algorithm.

    Attributes:
        seed: Of the start.
        reset: Whether the classifier of each round begins with no knowledge, as in Algorithm 1.
        round: Its number, from 1.
        classifier_right: How often the trained classifier is right.
        best_right: How often the best guess is right.
    """

    seed: int
    reset: bool
    round: int
    classifier_right: float
    best_right: float


def alternate(seed: int, *, reset: bool) -> list[AlternationRow]:
    """Run Algorithm 1 on Example 1 against a trained classifier: a table of logits, with exact expectations.

    Args:
        seed: Of the start; see `start_of`.
        reset: Whether the classifier starts from scratch in each round.

    Raises:
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, algorithm 1 and example 1.
    """
    import torch

    target = MutualInformation()
    people = torch.full((2, 1), 0.5, dtype=torch.float64)
    generator = torch.log(torch.as_tensor(start_of(seed))).requires_grad_(True)
    improver = torch.optim.Adam([generator], lr=_RATE)

    def shares() -> Tensor:
        return people * torch.softmax(generator, 1)

    rows: list[AlternationRow] = []
    for number in range(1, ROUNDS + 1):
        if reset or number == 1:
            classifier = torch.zeros((2, 2), dtype=torch.float64, requires_grad=True)
            learner = torch.optim.Adam([classifier], lr=_RATE)
        now = shares().detach()
        for _ in range(_STEPS):
            learner.zero_grad()
            torch.autograd.backward(-(now.T * torch.log_softmax(classifier, 1)).sum())
            learner.step()
        beliefs = torch.log_softmax(classifier.detach(), 1)
        right = float(now.T.gather(1, beliefs.argmax(1, keepdim=True)).sum())
        rows.append(AlternationRow(seed, reset, number, right, float(now.max(0).values.sum())))
        for _ in range(_STEPS):
            improver.zero_grad()
            torch.autograd.backward(target(shares(), beliefs))
            improver.step()
    return rows
