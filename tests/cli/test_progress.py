"""The live line of a design: what is known so far, and nothing that is not."""

import math

import pytest

from sfumato.cli.progress import line_of
from sfumato.optimal import Progress


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (Progress(7, 90, 1.25, 1.0, 0.2, 3.04), "Step 7: value 1.25 km, bound 1 km, gap 20 %, 3.0 s"),
        (Progress(7, 90, 1.25, -math.inf, math.inf, 3.04), "Step 7: value 1.25 km, no bound yet, 3.0 s"),
        (Progress(2, 90, -math.inf, math.inf, math.inf, 0.5), "Step 2: no value and no bound yet, 0.5 s"),
        (
            Progress(5, 90, math.inf, -math.inf, math.inf, 61.0, 1_270),
            "Simpler problem of 1,270 places, to see where to begin: step 5, 61.0 s",
        ),
    ],
    ids=["both", "no bound", "neither", "coarser"],
)
def test_a_line_says_what_is_known(line, words):
    assert line_of(line, "km") == words
