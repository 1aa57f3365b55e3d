"""Designs as jobs: one, or the dozen of a frontier."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sfumato.core import Bracket
from sfumato.errors import InfeasibleError, SolverError
from sfumato.files import MechanismFile, save
from sfumato.optimal import Auto, Design, EpsilonTrial, LossGoal, Point, design, find_epsilon

from ..grounds import StudioGround
from .orders import Work, number

ROUGH_GAP: Final = 5e-3
"""The gap of the designs of a frontier, and of those that were not asked to be thorough."""

FINE_GAP: Final = 1e-4


def make_frontier(work: Work) -> dict[str, Any]:
    """Design a frontier, but for what is there already."""
    ground = work.ground()
    epsilons = ground.epsilons
    left = [each for each in epsilons if each not in work.orders["done"]]
    work.tell({"event": "total", "done": len(epsilons) - len(left), "total": len(epsilons), "epsilons": epsilons})
    limit = work.request.get("time_limit_s") or math.inf
    reasons = []

    def each(point: Point) -> None:
        if point.design is not None and point.design.has_program and point.epsilon is not None:
            identity, facts = keep_design(work, ground, point.design, point.epsilon)
            work.tell({"event": "design", "id": identity, "frontier": True, "facts": facts})
        elif point.reason:
            reasons.append(point.reason)

    if left:
        ground.swept(left, ROUGH_GAP, limit, work.stop, each)
    if len(reasons) == len(epsilons):
        raise SolverError(reasons[0], "choose fewer places, or allow more time.")
    return {"designs": len(epsilons) - len(reasons)}


def make_design(work: Work) -> dict[str, Any]:
    """Design for an epsilon or an outcome, and keep the better of this and what was there before.

    What was solved before the job was stopped is not solved again.
    """
    ground, asked = work.ground(), work.request
    gap = FINE_GAP if asked.get("thorough") else ROUGH_GAP
    limit = asked.get("time_limit_s") or math.inf
    solver = Auto(folder=work.orders.get("states"))
    loss_at_most, found_at_most = asked.get("loss_at_most"), asked.get("found_at_most")
    if loss_at_most is not None or found_at_most is not None:
        goal = (
            LossGoal(float(loss_at_most or 0.0)) if found_at_most is None else ground.goal_for_found(found_at_most)
        )
        if goal is None:
            raise InfeasibleError("a chance cannot be searched for here.", "choose an epsilon.")

        def tried(trial: EpsilonTrial) -> None:
            work.tell({"event": "trial", "epsilon": trial.epsilon})

        found = find_epsilon(
            ground.prior,
            loss=ground.loss,
            goal=goal,
            promise=ground.promise,  # type: ignore[arg-type]  # the ground's own promise
            solver=solver,
            gap=gap,
            time_limit=limit,
            stop=work.stop,
            progress=tried,
            method="table",
        )
        made, epsilon, sentences = found.design, found.epsilon, list(found.sentences)
    else:
        epsilon, sentences = asked["epsilon"], []
        guarantees = [ground.promise(epsilon)]
        if asked.get("distortion") is not None:
            guarantees.append(ground.errs(asked["distortion"]))
        made = design(
            ground.prior,
            loss=ground.loss,
            guarantees=guarantees,
            method="table",
            solver=solver,
            gap=gap,
            tie_break=False,
            time_limit=limit,
            stop=work.stop,
            progress=work.step,
        )
    if not made.has_program:
        raise SolverError("the answer is noise without a table.", "choose an epsilon.")
    before = work.orders.get("before")
    if before is not None and _no_worse(before["facts"], made):
        return {"design": before["id"], "sentences": ["What was there before is no worse, and was kept."]}
    identity, facts = keep_design(work, ground, made, epsilon)
    work.tell({"event": "design", "id": identity, "frontier": False, "facts": facts})
    return {"design": identity, "sentences": sentences}


def _no_worse(before: Mapping[str, Any], made: Design) -> bool:
    """Return whether a kept design loses less than a new one, or as much with as small a gap."""
    gap = math.inf if before["gap"] is None else before["gap"]
    return (before["loss"][2], gap) <= (made.certificate.loss, made.certificate.gap)


def keep_design(work: Work, ground: StudioGround, found: Design, epsilon: float) -> tuple[str, dict[str, Any]]:
    """Write the files of a design; return its id and what was proved of it."""
    identity = secrets.token_hex(8)
    certificate = found.certificate
    measures = ground.measures(found.mechanism)
    file = MechanismFile.of_design(found)
    designs = work.folder / "designs"
    save(file, designs / f"{identity}.sfm")
    np.save(designs / f"{identity}.npy", found.matrix.astype(np.float32), allow_pickle=False)
    loss = Bracket(min(certificate.bound, certificate.loss), certificate.loss, certificate.loss)
    facts = {
        "epsilon": epsilon,
        "n": len(found.mechanism.secrets),
        "finished": found.finished,
        "status": found.status.value,
        "gap": number(certificate.gap),
        "wanted_gap": found.enough,
        "distortion": work.request.get("distortion"),
        "bound": number(certificate.bound),
        "loss": _ends(Bracket.exact(certificate.loss)) if loss.upper == loss.lower else _ends(loss),
        "error": None if measures.error is None else _ends(measures.error),
        "found": _ends(measures.found),
        "seconds": round(found.seconds, 2),
        "sections": [{"title": title, "sentences": said} for title, said in ground.described(found)],
    }
    return identity, facts


def _ends(found: Bracket) -> list[float | None]:
    return [number(found.lower), number(found.value), number(found.upper)]
