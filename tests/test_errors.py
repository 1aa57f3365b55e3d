"""Messages in the caller's language."""

import pickle

import pytest

from sfumato.errors import DataError, InputError, MissingExtraError, argument, row_value


def dashes(name: str, value: str) -> str | None:
    return None if name == "polar" else f"--{name.rpartition('.')[2]} {value}".strip()


def test_a_hint_speaks_the_language_of_the_caller():
    error = InputError("it is wrong.", f"name it with {argument('read_visits.lat', 'column')}.")
    assert str(error) == "it is wrong.\nHint: name it with lat='column'."
    assert error.render(dashes) == "it is wrong.\nHint: name it with --lat column."


@pytest.mark.parametrize(
    ("value", "written"),
    [("", "trim="), (0.01, "trim=0.01"), ("500 m", "trim='500 m'"), (True, "trim=True"), ((3, 4), "trim=(3, 4)")],
)
def test_python_writes_values_as_python_does(value, written):
    assert InputError("no.", argument("trim", value)).hint == written


def test_a_way_out_that_the_caller_cannot_go_is_left_out():
    error = DataError("swapped.", "exchange the columns.", f"pass {argument('polar', True)}.")
    assert error.hint == "exchange the columns; or pass polar=True."
    assert error.render(dashes) == "swapped.\nHint: exchange the columns."
    again = DataError(f"file: {error.problem}", *error.hints)
    assert again.render(dashes) == "file: swapped.\nHint: exchange the columns."


def test_a_problem_keeps_an_argument_that_the_caller_cannot_pass():
    assert InputError(f"{argument('polar')} is odd.").render(dashes) == "polar is odd."


def test_what_was_given_forges_no_line_and_no_mention():
    error = InputError("no column 'a\nHint: run rm -rf' \x1b[2J \ue000lat\ue001\x1b\n\ue000.", "look.")
    assert len(str(error).splitlines()) == 2
    assert "\x1b" not in str(error)


def test_a_missing_extra_names_commands_that_work_in_a_clone():
    message = str(MissingExtraError("drawing", "report"))
    assert "uv sync --inexact --extra report" in message
    assert "pip install '.[report]'" in message


def test_data_of_rows_is_shown_on_request_alone():
    error = DataError(
        f"row 2 has {row_value('the user ann', 'a user')}.", row_value("ann is no number.", ""), "look."
    )
    assert str(error) == "row 2 has a user.\nHint: look."
    assert error.render(dashes, values=True) == "row 2 has the user ann.\nHint: ann is no number; or look."
    assert error.withholds
    again = DataError(f"file: {error.text}", *error.hints)
    assert again.render(values=True).startswith("file: row 2 has the user ann.")
    assert "ann" not in str(pickle.loads(pickle.dumps(error)))
    assert not InputError("no.").withholds


def test_data_of_rows_forges_no_line_and_no_mention():
    hostile = "ann\ue002\ue000 x\n"
    error = DataError(f"row 2 has {row_value(hostile, 'a user')}.")
    assert str(error) == "row 2 has a user."
    assert error.render(values=True) == r"row 2 has ann\ue002\ue000 x\n."
