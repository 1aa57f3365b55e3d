"""Every number on the whole page of a report, in sentences, tables and formulas, is one of the JSON."""

import json
import math
import re

import pytest

from .conftest import KINDS, report_of, slowly

NUMBER = re.compile(
    r"(?<![\w.^-])(\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?)(?![\w°])(?: (%|(?:mm|m|km|year|ft)(?=s?\b)))?"
)
METRES = {"mm": 1e-3, "m": 1.0, "km": 1e3}
# 50 %: a prior belief. 99.9 %: from here a limit of belief is useless. 1,750 and 1,850: radii of laws. 32: the
# notions of the atlas. 60 and 600: seconds to ask for.
# 800: NIST SP 800-226.
CONSTANTS = {
    "%": {50.0, 99.9, 99.0, 100.0},
    "ft": {1750.0, 1850.0},
    "": {0.0, 1.0, 1750.0, 32.0, 60.0, 600.0, 800.0},
}
# Texts that stand in the JSON as they are; those of audits and proofs have tests of their own.
TEXTS = ("sentence", "formal", "notes", "stated", "remarks")
NAMES = (
    "text",
    "shown",
    "witness",
    "source",
    "title",
    "first",
    "last",
    "name",
    "label",
    "solver",
    "why",
    "version",
    "sha256",
    "mark",
    "written",
    "command",
    "script",
)


def page_text(page):
    """All texts of the page that say something of the mechanism; not how the file was made."""
    parts = [*page.lead]
    parts += [
        each for heading, sentences in page.cover if heading not in ("Verified", "File") for each in sentences
    ]
    for section in page.sections:
        if section.title == "How this was made":
            continue
        parts += [*section.sentences, *section.items, *section.formal, section.fold]
        parts += [figure.caption for figure in section.figures]
        for table in (*section.tables, *section.folded):
            parts += [table.caption, *table.headings, *(cell for row in table.rows for cell in row)]
    return " \n".join(parts)


def collected(found, names, quantities, numbers):
    """Sort the JSON into names, numbers with a unit, and plain numbers."""
    if isinstance(found, dict):
        if "known" in found:
            bounds = [float(found[side]) for side in ("lower", "value", "upper") if found[side] is not None]
            quantities += [(each, found["unit"]) for each in bounds]
            if "confidence" in found:
                numbers.append(found["confidence"])
            return
        names += [found[key] for key in (*NAMES, *TEXTS) if isinstance(found.get(key), str)]
        names += [each for key in TEXTS if isinstance(found.get(key), list) for each in found[key]]
        found = list(found.values())
    if isinstance(found, list):
        for each in found:
            collected(each, names, quantities, numbers)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        numbers.append(float(found))


class Known:
    """The numbers of a report's JSON, and what follows from them."""

    def __init__(self, facts):
        self.names: list[str] = []
        self.quantities: list[tuple[float, str]] = []
        self.numbers: list[float] = []
        collected(facts, self.names, self.quantities, self.numbers)
        n = facts["subject"]["secrets"]
        self.numbers += [n * (n - 1), len(facts["promises"]), len(facts["frontier"]) - 1]
        self.numbers += range(len(facts["notions"]) + 1)  # how many of them are finite
        best, reached = facts["cost"]["best"], facts["cost"]["reached"]
        if best is not None and best["value"]:
            self.numbers.append(abs(reached["value"] / best["value"] - 1))  # how far from the best

    def explains(self, text, unit):
        """Whether a number of the page is one of the JSON, within a unit of its last digit but one."""
        shown = float(text.replace(",", ""))
        if unit == "%":
            wanted = [
                100 * number for number in (*self.numbers, *(value for value, of in self.quantities if not of))
            ]
        elif unit in METRES:
            shown *= METRES[unit]
            wanted = [value * METRES[of] for value, of in self.quantities if of in METRES]
            wanted += [each for each in self.numbers if each > 1]  # the size of the region
        else:
            wanted = [*self.numbers, *(value for value, _ in self.quantities)]
            rates = [value for value, of in self.quantities if of.startswith("/") or not of]
            wanted += [math.exp(min(rate, 700.0)) for rate in rates]  # how many times likelier
        if shown in CONSTANTS.get(unit, set()):
            return True
        digits = len(re.sub(r"e.*|\D", "", text).lstrip("0")) or 1
        off = 1.01 * 10.0 ** (1 - digits) * abs(shown)
        return any(abs(shown - each) <= off + 1e-9 for each in wanted)


@pytest.fixture(params=[*slowly(KINDS, False), *slowly(["points", "cells", "noise"], True)])
def told(request):
    kind, visits = request.param
    return report_of(kind, visits=visits)


def test_every_number_of_the_page_is_in_the_json(told):
    known = Known(json.loads(told.json()))
    text = page_text(told.page)
    for name in sorted(known.names, key=len, reverse=True):
        if len(name) > 1:
            text = re.sub(rf"(?<!\d){re.escape(name)}(?!\d)", "", text)
    seen = NUMBER.findall(text)
    strange = [each for each in seen if not known.explains(*each)]
    assert not strange, strange
    assert seen


def test_numbers_that_are_not_in_the_json_are_found():
    known = Known(json.loads(report_of("cells", visits=True).json()))
    for text, unit in (("4,711.3", ""), ("43.217", "%"), ("7.7213", "km"), ("12.3", "year")):
        assert not known.explains(text, unit)
