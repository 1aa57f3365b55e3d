"""Audits: every notion and measure that applies to a mechanism, samples of one, or a black box."""

from .audit import audit
from .black_box import BlackBoxAudit, audit_black_box
from .choice import AuditInputs
from .findings import Audit, Entry
from .plan import AuditPlan, planned
from .request import Request
from .requirement import Outcome, Requirement, Verdict
from .samples import audit_sample

__all__ = [
    "Audit",
    "AuditInputs",
    "AuditPlan",
    "BlackBoxAudit",
    "Entry",
    "Outcome",
    "Request",
    "Requirement",
    "Verdict",
    "audit",
    "audit_black_box",
    "audit_sample",
    "planned",
]
