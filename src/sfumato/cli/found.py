"""What an audit found, on the terminal and in a file: entries, verdicts, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from .console import PARTIAL, say

if TYPE_CHECKING:
    from ..audits import Audit, Requirement


def print_found(found: Audit) -> None:
    """Print the entries as a table, then in words."""
    from .screen import Screen
    from .tables import print_table

    console = Screen()
    rows = [(entry.title, f"{entry.parameter} {entry.amount()}", entry.side, entry.witness) for entry in found]
    headings = ("notion or measure", "value", "side", "attained by")
    print_table(console, "What was measured", headings, rows, text=(0, 2, 3))
    console.print("In words", style="bold cyan")
    for entry in found:
        if entry.sentence:
            console.print(f"- {entry.title}: {entry.sentence}")
    for note in found.notes:
        console.print(note)


def print_verdicts(found: Audit, asked: list[Requirement]) -> int:
    """Print whether each requirement holds; return the exit code of the worst."""
    from ..audits import Outcome

    codes = {Outcome.HOLDS: 0, Outcome.FAILS: 1, Outcome.UNDECIDED: PARTIAL}
    worst = 0
    for requirement in asked:
        verdict = requirement.hold_against(found)
        word = verdict.outcome.value.upper()
        say(f"{requirement.text}: {word}: {verdict.reason}")
        worst = max(worst, codes[verdict.outcome], key=severity)
    return worst


def severity(code: int) -> int:
    """Return how bad an exit code is: a failure is worse than what is left undecided."""
    return {0: 0, PARTIAL: 1, 1: 2}[code]


def write_found(found: Audit, path: Path) -> None:
    """Write all that was found as JSON, whole or not at all."""
    from ..core.atomic import atomically

    with atomically(path) as temporary:
        Path(temporary).write_text(json.dumps(found.as_dict(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
