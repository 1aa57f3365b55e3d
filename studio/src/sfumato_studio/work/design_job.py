"""Designs as jobs: those of the levels, or one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sfumato import optimal
from sfumato.core import DesignGuarantee
from sfumato.errors import InfeasibleError, SolverError
from sfumato.optimal import sweep

from ..domains import Domain, PlacesDomain
from ..levels import ROUGH_GAP, keep_design
from . import Work


def make_levels(work: Work) -> dict[str, Any]:
    """Design for each level, but for those that are there already."""
    domain = work.domain()
    epsilons = [domain.epsilons[level] for level in domain.order]
    left = [epsilon for epsilon in epsilons if epsilon not in work.orders["done"]]
    work.send({"event": "total", "done": len(epsilons) - len(left), "total": len(epsilons)})
    limit = work.request.get("time_limit_s") or math.inf
    reasons: list[str] = []

    def keep(point: optimal.Point) -> None:
        if point.design is not None and point.design.has_program and point.epsilon is not None:
            identity, facts = keep_design(work.folder, domain, point.design, point.epsilon)
            proof = point.design.certificate
            work.send({"event": "design", "id": identity, "frontier": True, "facts": facts})
            work.line(proof.loss, proof.bound, proof.gap, 0, domain.epsilons.index(point.epsilon))
        elif point.reason:
            reasons.append(point.reason)

    if left:
        sweep(
            {"everyone": domain.prior},
            loss=domain.loss,
            epsilons=left,
            gap=ROUGH_GAP,
            tie_break=False,
            time_limit=limit,
            method="table",
            stop=work.stop,
            progress=keep,
            **domain.epsilon_counts,
        )
    if len(reasons) == len(epsilons):
        raise SolverError(reasons[0], "choose fewer places, or allow more time.")
    return {"designs": len(epsilons) - len(reasons)}


def make_design(work: Work) -> dict[str, Any]:
    """Design for an epsilon or an outcome, and keep the better of this and what was there before."""
    domain, request = work.domain(), work.request
    common: dict[str, Any] = {
        "loss": domain.loss,
        "method": "table",
        "solver": optimal.Auto(folder=work.orders.get("states")),
        "gap": request["gap"],
        "time_limit": request.get("time_limit_s") or math.inf,
        "stop": work.stop,
    }
    epsilon, sentences = request.get("epsilon"), []
    if epsilon is None:
        goal = _goal(domain, request)
        search = optimal.find_epsilon(
            domain.prior, goal=goal, promise=domain.guarantee, progress=work.trial, **common
        )
        design, epsilon, sentences = search.design, search.epsilon, list(search.sentences)
    else:
        guarantees: list[DesignGuarantee] = [domain.guarantee(epsilon)]
        if request.get("distortion") is not None:
            guarantees.append(domain.error_guarantee(request["distortion"]))
        design = optimal.design(domain.prior, guarantees=guarantees, tie_break=False, progress=work.step, **common)
    if not design.has_program:
        raise SolverError("the answer is noise without a table.", "choose an epsilon.")
    before = work.orders.get("before")
    if before is not None and _is_no_worse(before["facts"], design):
        return {"design": before["id"], "sentences": ["What was there before is no worse, and was kept."]}
    identity, facts = keep_design(work.folder, domain, design, epsilon, request.get("distortion"))
    work.send({"event": "design", "id": identity, "frontier": False, "facts": facts})
    return {"design": identity, "sentences": sentences}


def _goal(domain: Domain, request: Mapping[str, Any]) -> optimal.DesignGoal:
    """Return the outcome for which an epsilon is searched for."""
    if "loss_at_most" in request:
        return optimal.LossGoal(float(request["loss_at_most"]))
    if not isinstance(domain, PlacesDomain):
        raise InfeasibleError("a chance cannot be searched for here.", "choose an epsilon.")
    return optimal.AttackerGoal(request["found_at_most"], domain.radius_m, domain.visits)


def _is_no_worse(before: Mapping[str, Any], design: optimal.Design) -> bool:
    """Return whether a kept design loses less than a new one, or as much with as small a gap."""
    gap = math.inf if before["gap"] is None else before["gap"]
    return (before["loss"][2], gap) <= (design.certificate.loss, design.certificate.gap)
