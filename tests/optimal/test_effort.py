"""Designs that cannot fit or be proved in time are refused before they begin, with a size that would fit."""

import re

import pytest

from sfumato.errors import InputError
from sfumato.optimal import check_size, effort


def test_ten_thousand_secrets_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(effort, "free_bytes", lambda: 2.0**34)
    with pytest.raises(InputError, match=r"the optimum for 10,000 secrets takes about .* GB of memory"):
        check_size(10_000, 10_000, 20.0)
    monkeypatch.setattr(effort, "free_bytes", lambda: float("inf"))
    with pytest.raises(InputError, match="seconds, and 20 are left") as error:
        check_size(10_000, 10_000, 20.0)
    assert "time_limit" in error.value.hint
    check_size(100, 100, 1.0)


def test_the_size_that_is_named_fits(monkeypatch):
    monkeypatch.setattr(effort, "free_bytes", lambda: 2.0**32)
    with pytest.raises(InputError) as error:
        effort.check_memory(1_600, 1_600)
    told = re.search(r"about ([\d,]+) secrets fit: use cells=\((\d+), (\d+)\)", error.value.hint)
    assert told is not None
    fits, side = int(told[1].replace(",", "")), int(told[2])
    assert side * side <= fits
    effort.check_memory(fits, fits)
    with pytest.raises(InputError):
        effort.check_memory(fits + fits // 25 + 2, fits + fits // 25 + 2)
    effort.check_memory(100, 1_600)  # symmetries need fewer blocks


def test_a_system_that_does_not_tell_its_memory_refuses_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(effort, "Path", lambda name: tmp_path / "absent")
    assert effort.free_bytes() == float("inf")


def test_estimates_grow_with_the_work(monkeypatch):
    monkeypatch.setattr("timeit.repeat", lambda *_, **options: [1e-3])  # on every machine
    assert effort.needed_bytes(400, 400) == pytest.approx(0.8 * 2**30, rel=0.1)  # measured: 1.0 GiB in all
    assert effort.needed_bytes(1_024, 1_024) == pytest.approx(10 * 2**30, rel=0.1)  # measured: 10 GiB
    assert effort.proof_seconds(10, 10) < 1
    assert effort.proof_seconds(3_000, 3_000) > effort.proof_seconds(300, 300)
