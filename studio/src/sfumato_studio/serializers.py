"""Serializers of rows of the store."""

from __future__ import annotations

from typing import Any

from .answers import (
    DataAnswer,
    DesignAnswer,
    DesignBriefAnswer,
    FrontierStateAnswer,
    JobAnswer,
    SectionAnswer,
    SiteAnswer,
    WorkspaceAnswer,
)
from .limits import FRONTIER_DESIGNS
from .state import Studio, bracket
from .store import Row
from .words import StudioWords


def workspace_answer(studio: Studio, row: Row) -> WorkspaceAnswer:
    """Return a workspace with its data, site, frontier, designs and jobs."""
    site, frontier, designs = None, None, []
    # Jobs are read first: the page stops polling when none is open, so the designs must be as recent.
    jobs = studio.jobs.of(row["id"])
    if row["site"] is not None:
        ground = studio.ground(row)
        words = StudioWords(ground)
        site = SiteAnswer.model_validate(ground.answer())
        stored = studio.store.designs(row["id"])
        designs = [brief(words, each) for each in stored]
        job = next((each["id"] for each in reversed(jobs) if each["kind"] == "frontier"), None)
        frontier = FrontierStateAnswer(
            job=job,
            epsilons=sorted(ground.epsilons),
            ready=sum(each["frontier"] for each in stored),
            total=FRONTIER_DESIGNS,
        )
    return WorkspaceAnswer(
        id=row["id"],
        title=row["title"],
        created=row["created"],
        changed=row["changed"],
        data=None if row["data"] is None else data_answer(row["data"]),
        site=site,
        frontier=frontier,
        designs=designs,
        jobs=[job_answer(each) for each in jobs],
        outline=row["outline"] is not None,
        view=row["view"],
    )


def data_answer(data: dict[str, Any]) -> DataAnswer:
    """Return the data of a workspace."""
    return DataAnswer.model_validate({name: data[name] for name in DataAnswer.model_fields})


def job_answer(row: Row) -> JobAnswer:
    """Return a job."""
    return JobAnswer.model_validate({name: row[name] for name in JobAnswer.model_fields})


def brief(words: StudioWords, row: Row) -> DesignBriefAnswer:
    """Return a design in a few numbers."""
    facts = row["facts"]
    return DesignBriefAnswer(
        id=row["id"],
        epsilon=row["epsilon"],
        made=row["made"],
        frontier=row["frontier"],
        finished=facts["finished"],
        loss=words.loss(bracket(facts["loss"])),
        gap=facts["gap"],
    )


def design_answer(words: StudioWords, row: Row) -> DesignAnswer:
    """Return a design with its report in words."""
    facts = row["facts"]
    return DesignAnswer(
        id=row["id"],
        epsilon=row["epsilon"],
        made=row["made"],
        finished=facts["finished"],
        n=facts["n"],
        loss=words.loss(bracket(facts["loss"])),
        error=None if facts["error"] is None else words.error(bracket(facts["error"])),
        found=words.found(bracket(facts["found"])),
        bound=words.bound(facts["bound"]),
        gap=facts["gap"],
        status=facts["status"],
        sections=[SectionAnswer.model_validate(each) for each in facts["sections"]],
    )
