"""``sfumato accuracy``: how well private answers determine shares or numbers, before a survey."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from ...errors import InputError
from ..messages import check_failure, say
from ..options import Failure

_MARGIN: Final = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(points?|%)\s*")


def command(
    categories: Annotated[int | None, typer.Option(help="The number of possible answers.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The epsilon of each answer, a pure number.")] = None,
    answers: Annotated[int | None, typer.Option(help="The number of people who answer, each once.")] = None,
    margin: Annotated[
        str | None, typer.Option(help="How far an estimated share may be off: '1.2 points'.")
    ] = None,
    sensitivity: Annotated[
        int | None,
        typer.Option(help="For noise on whole numbers: the largest difference of two that is hidden by epsilon."),
    ] = None,
    off_by: Annotated[
        int | None, typer.Option(help="With --sensitivity: how far a noisy number may be off, a whole number.")
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="With --categories: randomised-response (GRR), optimised-unary (OUE) or symmetric-unary (SUE). "
            "[default: randomised-response]"
        ),
    ] = None,
    failure: Failure = 0.05,
) -> None:
    """Compute how accurate private answers are, before a survey.

    With --categories give two of --epsilon, --answers and --margin: the third is computed.
    The margin is proved for any true shares, and for all of them at once.
    With --sensitivity give --epsilon or --off-by: the error of a whole number with discrete Laplace noise,
    or the least epsilon for it. Both are exact.
    """
    check_failure(failure)
    if (categories is None) == (sensitivity is None):
        raise InputError(
            f"{'neither' if categories is None else 'both'} --categories {'nor' if categories is None else 'and'} "
            f"--sensitivity {'was' if categories is None else 'were'} given.",
            "use --categories 8 for shares of categories, or --sensitivity 1 for noise on whole numbers.",
        )
    if sensitivity is not None:
        for name, value in (("--answers", answers), ("--margin", margin), ("--mechanism", mechanism)):
            if value is not None:
                raise InputError(f"{name} was given with --sensitivity, but it is about shares.", "leave it out.")
        sentences = _of_noise(epsilon, off_by, sensitivity, failure)
    else:
        if off_by is not None:
            raise InputError("--off-by was given without --sensitivity.", "add --sensitivity 1.")
        sentences = _of_shares(
            categories or 0, epsilon, answers, margin, failure, mechanism or "randomised-response"
        )
    for sentence in sentences:
        say(sentence)


def _of_shares(
    categories: int, epsilon: float | None, answers: int | None, margin: str | None, failure: float, mechanism: str
) -> tuple[str, ...]:
    from ...estimation import accuracy

    share = None if margin is None else _share(margin)
    return accuracy(
        categories, epsilon=epsilon, answers=answers, margin=share, failure=failure, by=mechanism
    ).sentences


def _of_noise(epsilon: float | None, off_by: int | None, sensitivity: int, failure: float) -> tuple[str, ...]:
    from ...mechanisms import noise_accuracy

    if (epsilon is None) == (off_by is None):
        raise InputError(
            f"{'neither' if epsilon is None else 'both'} --epsilon {'nor' if epsilon is None else 'and'} --off-by "
            f"{'was' if epsilon is None else 'were'} given.",
            "give one, and the other is answer.",
        )
    written = None if epsilon is None else str(epsilon)  # the decimal number, not the nearest float
    answer = noise_accuracy(epsilon=written, off_by=off_by, sensitivity=sensitivity, failure=failure)
    least = () if off_by is None else ("A smaller epsilon would not do.",)
    return (answer.sentences[0], *least, *answer.sentences[1:])


def _share(text: str) -> float:
    match = _MARGIN.fullmatch(text)
    value = float(match[1]) / 100 if match else 0.0
    if not 0 < value < 1:
        number = float(text) if re.fullmatch(r"\d{1,2}(?:\.\d+)?", text) else 1.2
        points = f"{100 * number if 0 < number < 1 else number:g} points"
        raise InputError(
            f"--margin {text} is not a number of points from 0 to 100.", f"write '{points}' or '1.2%'."
        )
    return value
