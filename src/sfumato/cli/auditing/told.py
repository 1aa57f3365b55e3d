"""The findings of an audit: printed, written as JSON or as a page, and turned into an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from ..messages import PARTIAL, say
from ..promises import exit_code

if TYPE_CHECKING:
    from ...audits import Audit, Requirement, Verdict
    from ...reports.document import ProvedPromises


def finish(
    found: Audit,
    output: Path | None,
    asked: list[Requirement],
    *,
    file: Path | None = None,
    proved: ProvedPromises | None = None,
    violated: bool = False,
    stated: bool = False,
) -> NoReturn:
    """Print and write what was found, and exit as the promises and the requirements say.

    Args:
        found: What was measured.
        output: Where it is written (.json or .html); None for nowhere.
        asked: The requirements.
        file: The file that was audited.
        proved: What became of the file's promises.
        violated: Whether a claim about a function is refuted.
        stated: Whether distances are only the file's own.
    """
    _print(found)
    verdicts = [requirement.hold_against(found, stated=stated) for requirement in asked]
    if output is not None:
        _write(found, verdicts, output, file, proved)
    promised = 1 if violated else 0 if proved is None else exit_code(proved.worst)
    raise typer.Exit(max(_print_verdicts(verdicts), promised, key=_severity))


def _print(found: Audit) -> None:
    """Print the entries as a table, then in words."""
    from ..screen import Screen, print_table

    console = Screen()
    rows = [(entry.title, f"{entry.parameter} {entry.amount()}", entry.standing, entry.witness) for entry in found]
    headings = ("notion or measure", "value", "side", "attained by")
    print_table(console, "What was measured", headings, rows, text=(0, 2, 3))
    console.print("In words", style="bold cyan")
    for entry in found:
        if entry.sentence:
            console.print(f"- {entry.title}: {entry.sentence}")
    for note in found.notes:
        console.print(note)


def _print_verdicts(verdicts: list[Verdict]) -> int:
    """Print whether each requirement holds; return the exit code of the worst."""
    from ...audits import Outcome

    codes = {Outcome.HOLDS: 0, Outcome.FAILS: 1, Outcome.UNDECIDED: PARTIAL}
    worst = 0
    for verdict in verdicts:
        say(f"{verdict.requirement.text}: {verdict.outcome.value.upper()}: {verdict.reason}")
        worst = max(worst, codes[verdict.outcome], key=_severity)
    return worst


def _severity(code: int) -> int:
    """Return how bad an exit code is: a failure is worse than what is left undecided."""
    return {0: 0, PARTIAL: 1, 1: 2}[code]


def _write(
    found: Audit, verdicts: list[Verdict], path: Path, file: Path | None, proved: ProvedPromises | None
) -> None:
    """Write all that was found as JSON or as a page, whole or not at all."""
    from ..._system import atomically
    from ...reports.document import Origin, audit_page, file_facts
    from ..reported import typed

    if path.suffix.lower() == ".html":
        facts = file_facts(None, Origin(file, designed=typed()))
        audit_page(found, verdicts, promises=proved, file=facts).save(path)
        return
    content: dict[str, object] = {}
    if proved is not None:
        content["promises"] = {
            "outcome": None if proved.outcome is None else proved.outcome.value,
            "constraints": None if proved.limits is None else proved.limits.value,
            "said": {each.title: list(each.sentences) for each in proved.summary.sections},
        }
    content["requirements"] = [
        {"requirement": each.requirement.text, "outcome": each.outcome.value, "reason": each.reason}
        for each in verdicts
    ]
    content |= found.as_dict()
    with atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
