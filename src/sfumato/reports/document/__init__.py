"""The document that a privacy officer signs: facts, words, a page that opens offline, and JSON."""

from .again import report_file
from .audit_page import ProvedPromises, audit_page
from .estimate_page import estimate_page
from .facts import ReportFacts, as_json
from .layout import notion_sections
from .learn_page import Learned, learn_page
from .making import Origin, file_facts
from .measured import notions_of
from .others import SECONDS, OtherDesigns
from .page import Page, PageFigure, PageSection, PageTable, check_pages
from .quantity import Known, Quantity
from .receipt_page import receipt_page
from .report import Report, report
from .required import Required, read_requirements

__all__ = [
    "SECONDS",
    "Known",
    "Learned",
    "Origin",
    "OtherDesigns",
    "Page",
    "PageFigure",
    "PageSection",
    "PageTable",
    "ProvedPromises",
    "Quantity",
    "Report",
    "ReportFacts",
    "Required",
    "as_json",
    "audit_page",
    "check_pages",
    "estimate_page",
    "file_facts",
    "learn_page",
    "notion_sections",
    "notions_of",
    "read_requirements",
    "receipt_page",
    "report",
    "report_file",
]
