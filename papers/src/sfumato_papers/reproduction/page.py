"""The page of a run, and papers and claims as Markdown for the docs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sfumato.reports.document import Page, PageFigure, PageSection, PageTable
from sfumato.reports.theme import inline_svg

from ..results import RunTables, markdown_table
from .paper import NAMES, SECONDS, Judgement, Paper, counts, paper_of

_CONTRADICTED: Final = (Judgement.REFUTED, Judgement.UNCONFIRMED)


def run_page(paper: Paper, folder: Path, figures: Sequence[str], command: str) -> Page:
    """Return the page of a run, whose numbers are those of the files in its folder; "" leaves the command out."""
    tables = RunTables(folder)
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    quick = about["size"] == "quick"
    pictures = [
        PageFigure(
            inline_svg((folder / f"{name}.svg").read_bytes(), title=name, description=paper.captions[name]),
            f"{paper.captions[name]} ({name}.svg)",
            wide=True,
        )
        for name in figures
    ]
    return Page(
        paper.title,
        ((paper.quick_says,) if quick else ()) + paper.about,
        (
            PageSection("What is claimed, and what was found", _summary(tables), tables=(_claims(paper, tables),)),
            PageSection("Figures", figures=tuple(pictures)),
            PageSection("Where each equation is", tables=(_equations(paper),)),
            PageSection(
                "How this was made",
                (f"Source: {paper.source}. {paper.version}",),
                tables=(_run(tables, folder, about, command),),
            ),
        ),
        warning=quick,
    )


def _summary(tables: RunTables) -> tuple[str, ...]:
    rows = tables.texts("claims")
    return (
        counts([(_is_ours(row), Judgement(row["verdict"])) for row in rows]),
        'Only quoted words are "refuted", on their own subject. A claim known from a summary or tried '
        'on other data, and a statement of ours, are "not confirmed" if the run contradicts them.',
    )


def _is_ours(row: Mapping[str, str]) -> bool:
    return row["ours"] == str(True)


def _claims(paper: Paper, tables: RunTables) -> PageTable:
    rows = tuple(
        (
            f"{row['where']} (ours)" if _is_ours(row) else row["where"],
            f"{row['says']} In its words: \u201c{row['quote']}\u201d" if row["quote"] else row["says"],
            row["verdict"],
            row["found"],
        )
        for row in tables.texts("claims")
    )
    head = ("where", "claim", "verdict", "what was found")
    return PageTable(f"The claims of {paper.called} (claims.csv).", head, rows, stacked=True)


def _equations(paper: Paper) -> PageTable:
    rows = tuple((equation.number, equation.topic, equation.call, equation.file) for equation in paper.equations)
    head = ("number", "what it is", "call", "file")
    return PageTable(f"Equations, tables and figures of {paper.called}.", head, rows)


def _run(tables: RunTables, folder: Path, about: Mapping[str, object], command: str) -> PageTable:
    setup = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    data = about["data"]
    rows = [
        ("Command", command) if command else None,
        ("Size", str(about["size"])),
        *((f"Data: {name}", f"SHA-256 of its columns {digest}") for name, digest in dict(data).items()),  # type: ignore[call-overload]
        ("Made with", f"sfumato {setup['sfumato']}, Python {setup['python']}, {setup['system']}"),
        ("Libraries", ", ".join(f"{name} {version}" for name, version in setup["libraries"].items())),
        ("Tables", ", ".join(f"{name}.csv" for name in tables.names if not name.endswith(SECONDS))),
        (
            "Times, which differ from run to run",
            ", ".join(sorted(path.name for path in folder.glob("*.*") if path.stem.endswith(SECONDS))),
        ),
    ]
    return PageTable("The run (run.json, environment.json).", (), tuple(row for row in rows if row))


def paper_words() -> str:
    """Return a section for each paper: its source, its command, and a table from equations to calls and files."""
    return "\n".join(_words(paper_of(name)) for name in NAMES)


def claim_words(rows: Sequence[Mapping[str, str]], *, brief: bool = False) -> str:
    """Return rows of ``claims.csv`` in Markdown; brief: quotations and evidence for contradicted claims only."""
    return "".join(_claim(row, brief and row["verdict"] not in _CONTRADICTED) for row in rows)


def _claim(row: Mapping[str, str], brief: bool) -> str:
    where = f"{row['where']}, ours" if _is_ours(row) else row["where"]
    quote = f" In its words: \u201c{row['quote']}\u201d" if row["quote"] and not brief else ""
    evidence = "" if brief else f" {row['found']}"
    return f"- **{where}.** {row['says']}{quote} *{row['verdict'].capitalize()}.*{evidence}\n"


def _words(paper: Paper) -> str:
    files = " city.csv" if paper.visits else ""
    needs = f", with the extra {' and '.join(paper.extras)}" if paper.extras else ""
    minutes = "a minute" if paper.minutes <= 1 else f"{paper.minutes:g} minutes"
    equations = [
        (equation.number, equation.topic, f"`{equation.call}`", f"`{equation.file}`" if equation.file else "")
        for equation in paper.equations
    ]
    figures = [(f"`{name}.svg`", text) for name, text in paper.captions.items()]
    return "\n".join(
        [
            f"### {paper.name}\n",
            f"{paper.title}. {paper.source}. {paper.version}\n",
            f"    sfumato reproduce {paper.name}{files} -o {paper.name}\n",
            f"About {minutes} on two cores{needs}; `--quick` takes less than one.\n",
            markdown_table("| number | what it is | call | file of a run |", "|---|---|---|---|", equations),
            markdown_table("| figure | what it shows |", "|---|---|", figures),
        ]
    )
