"""The page of a run: claims, findings, figures, and how to repeat it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sfumato.reports.document import Page, PageFigure, PageSection, PageTable
from sfumato.reports.theme import as_svg, inline_svg

from .claim import Judgement, counts
from .paper import SECONDS, Paper
from .tables import RunTables

_SHOWN: Final = "claims"


def run_page(paper: Paper, folder: Path, figures: Sequence[str], command: str) -> Page:
    """Return the page of a run, whose numbers are those of the files in its folder.

    Args:
        paper: What was reproduced.
        folder: The folder of the run, with its tables, ``run.json`` and ``environment.json``.
        figures: The names of the figures' SVG files in the folder, without ending.
        command: The command line; "" leaves it out.
    """
    tables = RunTables(folder)
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    quick = about["size"] == "quick"
    narrow = {} if paper.narrow is None else paper.narrow(tables)
    drawn = [
        PageFigure(
            inline_svg((folder / f"{name}.svg").read_bytes(), **_texts(name, paper)),
            f"{paper.captions[name]} ({name}.svg)",
            wide=True,
            narrow=as_svg(narrow[name], **_texts(name, paper)) if name in narrow else "",
        )
        for name in figures
        if not name.endswith(SECONDS)  # or two pages of the same study would differ
    ]
    return Page(
        paper.title,
        ((paper.quick_says,) if quick else ()) + paper.about,
        (
            PageSection("What is claimed, and what was found", _counted(tables), tables=(_claims(paper, tables),)),
            PageSection("Figures", figures=tuple(drawn)),
            PageSection("Where each equation is", tables=(_equations(paper),)),
            PageSection(
                "How this was made",
                (f"Source: {paper.source}. {paper.version}",),
                tables=(_run(paper, tables, folder, about, command),),
            ),
        ),
        warning=quick,
    )


def _texts(name: str, paper: Paper) -> dict[str, str]:
    return {"title": name, "description": paper.captions[name]}


def _counted(tables: RunTables) -> tuple[str, ...]:
    rows = tables.texts(_SHOWN)
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
        for row in tables.texts(_SHOWN)
    )
    return PageTable(
        f"The claims of {paper.called} (claims.csv).",
        ("where", "claim", "verdict", "what was found"),
        rows,
        stacked=True,
    )


def _equations(paper: Paper) -> PageTable:
    rows = tuple((each.number, each.what, each.call, each.file) for each in paper.equations)
    return PageTable(
        f"Equations, tables and figures of {paper.called}.", ("number", "what it is", "call", "file"), rows
    )


def _run(paper: Paper, tables: RunTables, folder: Path, about: Mapping[str, object], command: str) -> PageTable:
    made = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    data = about["data"]
    rows = [
        ("Command", command) if command else None,
        ("Size", str(about["size"])),
        *((f"Data: {name}", f"SHA-256 of its columns {digest}") for name, digest in dict(data).items()),  # type: ignore[call-overload]
        ("Made with", f"sfumato {made['sfumato']}, Python {made['python']}, {made['system']}"),
        ("Libraries", ", ".join(f"{name} {version}" for name, version in made["libraries"].items())),
        ("Tables", ", ".join(f"{name}.csv" for name in tables.names if not name.endswith(SECONDS))),
        (
            "Times, which differ from run to run",
            ", ".join(
                [f"{name}.csv" for name in tables.names if name.endswith(SECONDS)]
                + [f"{name}.svg" for name in paper.captions if name.endswith(SECONDS)]
            ),
        ),
    ]
    return PageTable("The run (run.json, environment.json).", (), tuple(row for row in rows if row))
