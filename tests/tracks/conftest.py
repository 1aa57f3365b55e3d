"""Tests of tracks draw the same zones and lengths in every run."""

import random

import pytest


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the operating system's randomness of zones and of a new ledger's secret."""
    source = random.Random(5)
    monkeypatch.setattr("secrets.choice", source.choice)
    monkeypatch.setattr("secrets.token_hex", lambda size=32: source.randbytes(size).hex())
