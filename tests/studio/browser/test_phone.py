"""A phone's width: everything is below each other, and nothing is cut or has to be moved sideways."""

import pytest

from .visitor import LONGEST, Visitor

ACTIONS = {
    "city": ("Be here", "Report 100 times", "Walk", "Attack", "Compare"),
    "ages": ("One value", "Report 100 times", "Answer again", "Attack", "Compare"),
}
OPEN = '() => document.querySelectorAll("details").forEach(one => { one.open = true; })'
FILLED = """() => [...document.querySelectorAll("figure")].every(one => {
    const drawn = one.querySelector("svg")?.getAttribute("width");
    return one.clientWidth === 0 || Number(drawn) === Math.min(one.clientWidth, 640);
})"""
"""Whether every chart is drawn, for the width that it is given."""
BEYOND = """() => {
    const map = ".maplibregl-map", steps = "nav[aria-label=Steps]";
    const found = [...document.querySelectorAll("body *")].filter(one => !one.closest(map) && !one.closest(steps));
    const wide = found.filter(one => one.getBoundingClientRect().right > innerWidth + 0.5);
    const moved = found.filter(one => (
        one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)
    ));
    const cut = [...document.querySelectorAll("svg text")].filter(one => {
        const [text, picture] = [one.getBoundingClientRect(), one.ownerSVGElement.getBoundingClientRect()];
        return text.left < picture.left - 1 || text.right > picture.right + 1;
    });
    const page = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
    return [...page, ...[...wide, ...moved, ...cut].map(one => one.outerHTML.slice(0, 120))];
}"""
"""What reaches beyond the window, moves sideways within itself, or is cut; the map moves where it is dragged, and
the row of the steps, which keeps the present one in sight."""


@pytest.mark.slow
@pytest.mark.parametrize(("example", "dark"), [("city", False), ("city", True), ("ages", False)])
def test_nothing_is_cut_or_moves_sideways_or_is_a_barrier(example, dark, visit, request):
    visitor = visit(phone=True, workspace=request.getfixturevalue(example), view="data", dark=dark)
    visitor.page.locator(".maplibregl-canvas, .bars svg").first.wait_for()
    fits(visitor, "Data")
    visitor.turn("Choose")
    visitor.read("Proved")
    for name in ACTIONS[example]:
        visitor.act(name)
        try_out(visitor, name)
        fits(visitor, name)
    visitor.turn("Take away")
    visitor.page.get_by_role("link", name="Mechanism file").wait_for()
    fits(visitor, "Take away")


def fits(visitor: Visitor, what: str) -> None:
    """Open all folds; fail on what is cut, moves sideways or is a barrier."""
    visitor.page.evaluate(OPEN)
    visitor.page.wait_for_function(FILLED)
    visitor.wait_until_drawn()
    assert visitor.page.evaluate(BEYOND) == [], what
    visitor.meets_no_barrier()


def try_out(visitor: Visitor, name: str) -> None:
    """Do what an action is for, so that it shows all that it has."""
    if name == "Report 100 times":
        visitor.read("What the first report reveals")
    elif name == "Walk":
        for _ in range(2):
            visitor.press("Add this stop")
        visitor.press("Start the walk")
        visitor.read("After report 2 of 2")
    elif name == "Answer again":
        visitor.press("Answer")
        visitor.read("After report 20 of 20")
    elif name == "Attack":
        visitor.suspect()
        visitor.press("Attack with this")
        visitor.read("Three attackers")
    elif name == "Compare" and visitor.page.locator(".bars").count():  # one of places takes much longer
        visitor.page.locator(".action").get_by_role("button", name="Compare", exact=True).click()
        visitor.page.locator(".action table").wait_for(timeout=LONGEST)


@pytest.mark.slow
def test_the_start_fits_a_phone(visit):
    visitor = visit(phone=True)
    fits(visitor, "the start")
