"""Files appear whole or not at all."""

import errno
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest

from sfumato._system import atomically
from sfumato.errors import FileError


def write_and_fail(target: Path, error: BaseException) -> NoReturn:
    with atomically(target) as temporary:
        temporary.write_text("half")
        raise error


def test_the_file_appears_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with atomically(target) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_its_rights_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomically(tmp_path / "a.txt") as temporary:
            temporary.write_text("new")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomically(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), FileError("told already")])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(type(error)) as raised:
        write_and_fail(tmp_path / "a.txt", error)
    assert raised.value is error
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EROFS, "where you may write"),
        (errno.EIO, "write elsewhere or try again"),
    ],
)
def test_a_full_disk(tmp_path: Path, number: int, hint: str) -> None:
    with pytest.raises(FileError, match=hint) as raised:
        write_and_fail(tmp_path / "a.txt", OSError(number, os.strerror(number)))
    assert os.strerror(number) in raised.value.problem
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def full(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(FileError, match="free some space"), atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("whole")
    assert not os.listdir(tmp_path)


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for path, hint in (
        (tmp_path / "none" / "a.txt", "create it first"),
        (tmp_path / "file" / "a.txt", "check the path"),
        (tmp_path, "it is a folder"),
        (tmp_path / "a\0b", "write elsewhere or try again"),
    ):
        with pytest.raises(FileError, match=hint), atomically(path):
            pytest.fail("nothing is to be written here")
    assert os.listdir(tmp_path) == ["file"]


def test_a_name_of_the_greatest_length(tmp_path: Path) -> None:
    with atomically(tmp_path / ("n" * 255)) as temporary:
        temporary.write_text("new")
    assert os.listdir(tmp_path) == ["n" * 255]
