"""Printed reports: one sheet to sign, four more at most, then the appendix."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from sfumato.reports.document import Page
from sfumato.reports.document.layout import report_page

from ...reports.document.conftest import KINDS, report_of, slowly

MANY = 30


def sheets(browser: Browser, page: Page) -> int:
    """The number of sheets of A4 that a page prints on."""
    with browser.new_page() as opened:
        opened.set_content(page.html())
        return len(re.findall(rb"/Type\s*/Page\b", opened.pdf(prefer_css_page_size=True)))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("kind", slowly(KINDS))
def test_a_report_has_one_sheet_to_sign_and_four_more(browser, kind):
    found = report_of(kind, visits=kind in ("points", "cells", "noise"))
    body = tuple(each for each in found.page.sections if not each.appendix)
    assert sheets(browser, replace(found.page, sections=())) == 1
    assert 2 <= sheets(browser, replace(found.page, sections=body)) <= 5


def test_many_guarantees_and_limits_still_fit_on_one_sheet(browser):
    facts = report_of("cells", visits=True).facts
    risk = next(each for each in facts.risks if each.text)
    page = report_page(replace(facts, promises=facts.promises * MANY, risks=(risk,) * MANY), ())
    assert sheets(browser, replace(page, sections=())) == 1
