"""Options of a study are those of its signature, and its errors name them."""

from collections.abc import Callable, Sequence

import pytest

from sfumato import Visits
from sfumato.errors import InputError, argument
from sfumato.studies import study_options


def study(
    visits: Visits,
    region: str,
    *,
    size_km: tuple[float, float] = (1.0, 2.0),
    reports: Sequence[int] = (1, 2),
    progress: Callable[[str], None] | None = None,
) -> None:
    """Do nothing.

    Args:
        visits: The visits.
        region: Where to look, at 50 % of
            the `cells`.
        size_km: Width and height.
        reports: Numbers of reports.
        progress: Called with each line.
    """


def games(data: Sequence[tuple[str, Visits]], *, users: int = 10) -> None:
    """Do nothing.

    Args:
        data: Files of visits.
        users: How many users.
    """


def test_values_have_the_types_of_the_signature():
    words = "visits.csv --size-km 3 4.5 --reports 5 6 7 --out results"
    with study_options(study, "About.", words.split(), region="somewhere") as given:
        assert [path.name for path in given.files] == ["visits.csv"]
        assert given.arguments == {"region": "somewhere", "size_km": [3.0, 4.5], "reports": [5, 6, 7]}
        assert all(isinstance(value, int) for value in given.arguments["reports"])
        assert given.out.name == "results"


def test_defaults_are_those_of_the_signature():
    with study_options(study, None, [], region="somewhere") as given:
        assert given.files == ()
        assert given.arguments == {"region": "somewhere", "size_km": (1.0, 2.0), "reports": (1, 2)}


def test_files_of_several_sources():
    with study_options(games, None, ["a.csv", "b.csv", "--users", "3"]) as given:
        assert [path.name for path in given.files] == ["a.csv", "b.csv"]
        assert given.arguments == {"users": 3}
    with pytest.raises(SystemExit), study_options(games, None, []):
        pass


def test_help_is_what_the_docstring_says(capsys):
    with pytest.raises(SystemExit), study_options(study, "About.\n\nMore.", ["--help"], region="here"):
        pass
    said = " ".join(capsys.readouterr().out.split())
    assert "About." in said
    assert "More." not in said
    assert "where to look, at 50 % of the cells [default: here]" in said
    assert "numbers of reports [default: 1 2]" in said
    assert "--progress" not in said


@pytest.mark.parametrize("words", ["--size-km 1", "--reports", "--reports x", "--progress a", "a.csv b.csv"])
def test_what_does_not_fit_is_refused(words, capsys):
    with pytest.raises(SystemExit), study_options(study, None, words.split(), region="here"):
        pass
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (f"choose {argument('size_km', '3 4')}", "Hint: choose --size-km 3 4"),
        (f"choose {argument('read_visits.reports')}", "Hint: choose --reports"),
        (f"choose {argument('crs')}", ""),  # there is no such option
    ],
)
def test_errors_name_options(hint, said, capsys):
    with pytest.raises(SystemExit), study_options(study, None, [], region="here"):
        raise InputError("that does not work.", hint)
    text = " ".join(capsys.readouterr().err.split())
    assert "that does not work." in text
    assert text.endswith(said or "work.")
