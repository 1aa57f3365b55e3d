"""A study for the tests: it counts, slowly, and can be killed at any moment."""

import os
import sys
import time
from pathlib import Path

from sfumato.reports.theme import blank
from sfumato_papers.reproduction import Equation, Paper, Setting, StudyPart, judge, run

PARTS = 12


def counted(number, pause):
    """Return the rows of a part after a while."""
    time.sleep(pause)
    return {
        "counts": [{"number": number, "third": number / 3, "even": number % 2 == 0}],
        "counts-seconds": [{"number": number, "seconds": time.perf_counter(), "process": os.getpid()}],
    }


def failing(number, pause):
    """Fail, as a part that meets an error does."""
    raise ValueError(number)


def paper(pause=0.0, make=counted):
    """Return the study."""

    def figures(tables):
        figure = blank(3, 2)
        figure.subplots().plot([float(row["third"]) for row in tables.texts("counts")])
        return {"thirds": figure}

    def claims(tables):
        last = tables.texts("counts")[-1]
        return [
            judge(
                "Table 1", "All are counted.", int(last["number"]) == PARTS - 1, f"The last is {last['number']}."
            )
        ]

    return Paper(
        name="toy",
        title="Counting",
        source="Anonymous, Counting, 2020",
        version="Quoted from its second edition.",
        about=("Numbers are counted.",),
        parts=lambda setting: [StudyPart(f"Number {each}", make, (each, pause)) for each in range(PARTS)],
        claims=claims,
        figures=figures,
        captions={"thirds": "Thirds of the numbers."},
        equations=(Equation("(1)", "a count", "sf.design", "counts.csv"),),
        minutes=1,
    )


if __name__ == "__main__":
    run(paper(pause=0.03), Setting(True, {}, False), Path(sys.argv[1]), processes=int(sys.argv[2]))
