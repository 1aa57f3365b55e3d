"""Papers as text of pages in Markdown: where equations and figures are, and the claims of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .claim import Judgement
from .paper import Paper
from .papers import NAMES, paper_of

_CONTRADICTED: Final = (Judgement.REFUTED, Judgement.UNCONFIRMED)


def paper_words() -> str:
    """Return a section for each paper: its source, its command, and a table from equations to calls and files."""
    return "\n".join(_words(paper_of(name)) for name in NAMES)


def claim_words(rows: Sequence[Mapping[str, str]], *, brief: bool = False) -> str:
    """Return all claims in Markdown, with their verdicts and the evidence.

    Args:
        rows: Rows of ``claims.csv``.
        brief: Whether to give quotations and evidence only for contradicted claims.
    """
    return "".join(_claim(row, brief and row["verdict"] not in _CONTRADICTED) for row in rows)


def _claim(row: Mapping[str, str], brief: bool) -> str:
    where = f"{row['where']}, ours" if row["ours"] == str(True) else row["where"]
    quote = f" In its words: \u201c{row['quote']}\u201d" if row["quote"] and not brief else ""
    found = "" if brief else f" {row['found']}"
    return f"- **{where}.** {row['says']}{quote} *{row['verdict'].capitalize()}.*{found}\n"


def _words(paper: Paper) -> str:
    files = " city.csv" if paper.visits else ""
    needs = f", with the extra {' and '.join(paper.extras)}" if paper.extras else ""
    lines = [
        f"### {paper.name}",
        "",
        f"{paper.title}. {paper.source}. {paper.version}",
        "",
        f"    sfumato reproduce {paper.name}{files} -o {paper.name}",
        "",
        f"About {_minutes(paper.minutes)} on two cores{needs}; `--quick` takes less than one.",
        "",
        "| number | what it is | call | file of a run |",
        "|---|---|---|---|",
    ]
    for each in paper.equations:
        cells = (each.number, each.what, f"`{each.call}`", f"`{each.file}`" if each.file else "")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "| figure | what it shows |", "|---|---|"]
    lines += [f"| `{name}.svg` | {text} |" for name, text in paper.captions.items()]
    return "\n".join(lines) + "\n"


def _minutes(minutes: float) -> str:
    return "a minute" if minutes <= 1 else f"{minutes:g} minutes"
