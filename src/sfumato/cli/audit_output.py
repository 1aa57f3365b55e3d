"""Output of an audit: table, words, figures, JSON, page and exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import typer

from ..errors import InputError
from .mechanism_files import command_line, exit_code
from .messages import PARTIAL, say
from .outputs import check_drawable, check_folder, theme_of, write_json

if TYPE_CHECKING:
    from ..audits import Audit, AuditPlan, Requirement, Verdict
    from ..reports.document import ProvedPromises

_KINDS: Final = ("png", "svg", "pdf")
_KEYS: Final = {"Guarantee": "Promise"}  # titles of sections whose key in JSON is another
_SEVERITY: Final = (0, PARTIAL, 1)  # exit codes: a failure is worse than what is left undecided


def finish(
    audit: Audit,
    output: Path | None,
    requirements: list[Requirement],
    *,
    file: Path | None = None,
    promises: ProvedPromises | None = None,
    violated: bool = False,
    is_claim: bool = False,
) -> NoReturn:
    """Print and write an audit, and exit with the code of its guarantees and requirements.

    ``violated``: a claim about a function is refuted, or a guarantee of tuples is not proved.
    ``is_claim``: distances are only the file's own.
    """
    from ..reports.sentences import requirement_words

    _print(audit)
    verdicts = [requirement.hold_against(audit, is_stated=is_claim) for requirement in requirements]
    if output is not None:
        _write(audit, verdicts, output, file, promises)
    for verdict in verdicts:
        say(requirement_words(verdict.requirement.text, verdict.outcome, verdict.reason))
    code = 1 if violated else 0 if promises is None else exit_code(promises.worst)
    codes = [code, *(exit_code(verdict.outcome) for verdict in verdicts)]
    raise typer.Exit(max(codes, key=_SEVERITY.index))


def _print(audit: Audit) -> None:
    from ..reports.facts import notions_of
    from ..reports.sentences import notion_rows, notion_words
    from .screen import Screen, print_table

    console, notions = Screen(), notions_of(audit)
    print_table(console, "What was measured", *notion_rows(notions), text=(0, 2))
    console.print("In words", style="bold cyan")
    for notion in notions:
        if notion.sentence:
            console.print(f"- {notion_words(notion)}")
    for note in audit.notes:
        console.print(note)


def _write(
    audit: Audit, verdicts: list[Verdict], path: Path, file: Path | None, promises: ProvedPromises | None
) -> None:
    from ..reports.document import Origin, audit_page, file_facts

    if path.suffix.lower() == ".html":
        facts = file_facts(None, Origin(file, designed=command_line()))
        audit_page(audit, verdicts, promises=promises, file=facts).save(path)
        return
    content: dict[str, object] = {}
    if promises is not None:
        content["promises"] = {
            "outcome": None if promises.outcome is None else promises.outcome.value,
            "constraints": None if promises.limits is None else promises.limits.value,
            "said": {
                _KEYS.get(section.title, section.title): list(section.sentences)
                for section in promises.summary.sections
            },
        }
    content["requirements"] = [
        {"requirement": verdict.requirement.text, "outcome": verdict.outcome.value, "reason": verdict.reason}
        for verdict in verdicts
    ]
    write_json(content | audit.as_dict(), path)


def write_figures(plan: AuditPlan, folder: Path, ending: str, *, dark: bool) -> None:
    """Write the figures of what was measured, and print which are left out, and why."""
    from ..reports import audit_figures

    inputs = plan.inputs
    figures = audit_figures(
        plan.mechanism, prior=inputs.prior, metric=inputs.metric, relation=inputs.relation, events=inputs.events
    )
    for path in figures.save(folder, ending=ending, theme=theme_of(dark=dark)):
        say(f"Written: {path}", err=True)
    for name, why in figures.left_out.items():
        do = "; add --metric or --distances" if inputs.metric is None else ""
        say(f"Left out: {name}{ending}, because {why}{do}.", err=True)


def check_figures(folder: Path | None, kind: str, *, dark: bool) -> str:
    """Return the ending of figures, after a check of their options before the work."""
    known = kind.lower().removeprefix(".")
    if known not in _KINDS:
        raise InputError(f"there are no figures as {kind!r}.", f"use {', '.join(_KINDS[:-1])} or {_KINDS[-1]}.")
    if folder is None:
        if dark or known != _KINDS[0]:
            option = "--dark" if dark else "--figures-as"
            raise InputError(f"{option} was given, but no figures are drawn.", "add --figures FOLDER.")
    else:
        check_folder(folder)
        check_drawable()
    return f".{known}"
