"""Serializers of stored workspaces, jobs and designs."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.reports.sentences import progress_words

from .answers import JobAnswer, LevelAnswer, LevelsAnswer, LevelStatus, WorkspaceAnswer
from .domains import Domain
from .jobs import seconds_left
from .levels import OPTIMIZED, best_rows, bracket, is_optimized, measures_of
from .limits import PEOPLE
from .measures import headline, level_sentences, loss_answer, shares_answer, success_answers
from .state import Studio
from .store import Row


def workspace_answer(studio: Studio, identity: str) -> WorkspaceAnswer:
    """Return a workspace as it is now, with its data, site and jobs."""
    row = studio.store.workspace(identity)
    site: Row | None = None
    if row["site"] is not None:
        domain = studio.domain(row)
        fields = {name: getattr(domain, name) for name in ("kind", "goal", "optimizable", "loss_unit")}
        site = {"n": len(domain.prior), **fields, **domain.answer()}
    jobs = [job_answer(job) for job in studio.jobs.of(row["id"])]
    return WorkspaceAnswer.model_validate(
        {**row, "site": site, "jobs": jobs, "outline": row["outline"] is not None}
    )


def job_answer(row: Row) -> JobAnswer:
    """Return a job, with an estimate of the time left and the best so far."""
    return JobAnswer.model_validate({**row, "seconds_left": seconds_left(row), "best": _best(row)})


def _best(row: Row) -> str:
    """Return the loss of the best mechanism of a job so far, in a sentence."""
    value = row["progress"][-1]["value"] if row["progress"] else None
    if value is None:
        return ""
    return progress_words(value, row["unit"], levels=row["kind"] == "levels")


def levels_answer(studio: Studio, workspace: Row) -> LevelsAnswer:
    """Return the levels that are there, and other designs, the least private first."""
    # Jobs are read first: the page stops polling when none is open, so the designs must be as recent.
    jobs = studio.jobs.of(workspace["id"], "levels")
    domain, rows = studio.domain(workspace), studio.store.designs(workspace["id"])
    stops = [*best_rows(domain, rows), *(row for row in rows if not row["frontier"])]
    stops.sort(key=lambda row: -row["facts"]["proved"])
    return LevelsAnswer(
        levels=[_level(domain, row, rows, jobs) for row in stops],
        start=domain.start,
        total=len(domain.epsilons),
        progress=job_answer(jobs[-1]) if jobs else None,
    )


def level_answer(studio: Studio, workspace: Row, row: Row) -> LevelAnswer:
    """Return one design, as a level or on its own."""
    domain, rows = studio.domain(workspace), studio.store.designs(workspace["id"])
    return _level(domain, row, rows, studio.jobs.of(workspace["id"], "levels"))


def _level(domain: Domain, row: Row, rows: Sequence[Row], jobs: Sequence[Row]) -> LevelAnswer:
    facts, loss = row["facts"], bracket(row["facts"]["loss"])
    error, chance = success_answers(domain, measures_of(facts))
    known = row["frontier"] and row["epsilon"] in domain.epsilons
    level = domain.epsilons.index(row["epsilon"]) if known else None
    running = bool(jobs) and jobs[-1]["status"] in ("queued", "running")
    waits = level is not None and running and not is_optimized(domain, level, rows)
    status: LevelStatus = "optimized" if facts["name"] == OPTIMIZED else "running" if waits else "closed form"
    return LevelAnswer(
        level=level,
        design=row["id"],
        epsilon=facts["proved"],
        status=status,
        useful=domain.is_useful(loss.value),
        headline=headline(domain, facts["proved"]),
        sentences=level_sentences(domain, facts),
        loss=loss_answer(domain, loss),
        error=error,
        found=chance,
        shares=shares_answer(domain, row, PEOPLE),
        **{name: facts[name] for name in ("name", "finished", "gap")},
    )
