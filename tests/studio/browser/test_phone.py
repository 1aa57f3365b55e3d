"""A phone's width: everything is below each other, and nothing is cut or has to be moved sideways."""

import pytest

from .visitor import LONGEST, Visitor

STEPS = {
    "city": ("Places", "How private", "Be there", "Walk", "Compare", "Attack", "Promises", "Design"),
    "ages": ("Values", "How private", "Answer", "Answer again", "Compare", "Attack", "Promises", "Design"),
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
    for name in STEPS[example]:
        visitor.turn(name)
        acted(visitor, name)
        visitor.page.evaluate(OPEN)
        visitor.page.wait_for_function(FILLED)
        visitor.wait_until_drawn()
        assert visitor.page.evaluate(BEYOND) == [], name
        visitor.meets_no_barrier()


def acted(visitor: Visitor, name: str) -> None:
    """Do what a view is for, so that it shows all that it has."""
    if name in ("Be there", "Answer"):
        visitor.press("Share it a hundred times")
        visitor.read("What the first report tells an attacker")
    elif name == "Walk":
        for _ in range(2):
            visitor.press("Add this stop")
        visitor.page.get_by_role("button", name="Walk", exact=True).click()
        visitor.read("After report 2 of 2")
    elif name == "Answer again":
        visitor.page.get_by_role("button", name="Answer", exact=True).click()
        visitor.read("After report 20 of 20")
    elif name == "Compare" and visitor.page.locator(".bars").count():  # one of places takes much longer
        visitor.press("Compare at this loss")
        visitor.page.locator(".panel table").wait_for(timeout=LONGEST)
    elif name == "Attack":
        visitor.suspect()
        visitor.press("Attack")
        visitor.read("Three attackers")
    elif name == "Promises":
        visitor.page.locator(".drawing svg text").first.wait_for()


@pytest.mark.slow
def test_the_start_fits_a_phone(visit):
    visitor = visit(phone=True)
    visitor.page.evaluate(OPEN)
    visitor.wait_until_drawn()
    assert visitor.page.evaluate(BEYOND) == []
