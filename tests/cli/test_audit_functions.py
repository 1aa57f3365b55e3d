"""``sfumato audit-function``: whatever the function does, one sentence says what went wrong."""

import pytest

MODULE = """
value = 3


def lists(secret):
    return [secret]


def boom(secret):
    raise ValueError("no\\nsecond line")


def two(first, second):
    return first


def nan(secret):
    return float("nan")


def none(secret):
    return None


def sets(secret):
    return {secret}


def leave(secret):
    raise SystemExit(4)


def keep(secret):
    return secret


class Box:
    @staticmethod
    def keep(secret):
        return secret
"""


@pytest.fixture
def audited(run, tmp_path):
    (tmp_path / "box_of_functions.py").write_text(MODULE)
    (tmp_path / "broken_box.py").write_text("def f(:\n")
    (tmp_path / "leaving_box.py").write_text("raise SystemExit(3)\n")

    def call(name, *options):
        return run("audit-function", name, "--secrets", "a,b", "--epsilon", "1", "--limit", "400", *options)

    return call


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os:getpid", "os:getpid failed for the secret 'a' (TypeError: "),
        ("box_of_functions:two", "failed for the secret 'a' (TypeError: "),
        ("box_of_functions:boom", "failed for the secret 'a' (ValueError: no)."),
        ("box_of_functions:leave", "failed for the secret 'a' (SystemExit: 4)"),
        ("box_of_functions:nan", "returned nan (float) for the secret 'a', which is not a report"),
        ("box_of_functions:none", "returned None (NoneType) for the secret 'a', which is not a report"),
        ("box_of_functions:sets", "returned {'a'} (set) for the secret 'a', which is not a report"),
        ("box_of_functions:value", "is not a function, but 3 (int)"),
        ("box_of_functions:missing", "has no 'missing'"),
        ("box_of_functions:Box.missing", "has no 'Box.missing'"),
        ("broken_box:f", "the module 'broken_box' cannot be imported (SyntaxError: "),
        ("leaving_box:f", "the module 'leaving_box' cannot be imported (SystemExit: 3)"),
        ("no_such_box:f", "the module 'no_such_box' cannot be imported"),
        ("box_of_functions", "does not name a function"),
        (":keep", "does not name a function"),
        ("box_of_functions:", "does not name a function"),
    ],
)
def test_a_function_that_cannot_be_audited(audited, name, message):
    done = audited(name)
    assert done.code == 1
    assert message in " ".join(done.err.split())
    assert "Hint: " in done.err
    assert "Traceback" not in done.err


def test_bins_count_numbers_only(audited):
    done = audited("box_of_functions:keep", "--bins", "4")
    assert done.code == 1
    assert "--bins counts numbers" in done.err


@pytest.mark.parametrize("name", ["box_of_functions:keep", "box_of_functions:lists", "box_of_functions:Box.keep"])
def test_a_function_that_can(audited, name):
    done = audited(name)
    assert done.code == 1
    assert "the claim is violated" in done.text
    assert (
        "the output 'a' was seen in" in done.text or "the output 'b' was seen in" in done.text or "lists" in name
    )
    assert "\\n" not in done.out  # each sentence has a line of its own
    assert done.err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--delta", "-1"), "delta"),
        (("--failure", "2"), "failure"),
        (("--prior", "uniform"), "No such option: --prior"),
        (("--family", "x.csv"), "No such option: --family"),
    ],
)
def test_options_of_a_function(audited, options, message):
    done = audited("box_of_functions:keep", *options)
    assert done.code == (2 if "No such" in message else 1)
    assert message in " ".join(done.err.split())
