"""The document that a privacy officer signs: facts, words, a page that opens offline, and JSON."""

from ..facts import Known, Quantity, ReportFacts, Required, as_json, notions_of, read_requirements
from .data_pages import Learned, budget_page, learn_page, receipt_page
from .estimate_page import estimate_page
from .layout import ProvedPromises, audit_page, notion_sections
from .notebook import notebook_html, tables_html
from .other_designs import SECONDS, OtherDesigns
from .page import Page, PageFigure, PageSection, PageTable, check_pages
from .report import Origin, Report, file_facts, report, report_file

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
    "budget_page",
    "check_pages",
    "estimate_page",
    "file_facts",
    "learn_page",
    "notebook_html",
    "notion_sections",
    "notions_of",
    "read_requirements",
    "receipt_page",
    "report",
    "report_file",
    "tables_html",
]
