"""``sfumato studio``: it serves this machine alone, and says what to install without its package."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request


def test_without_the_studio_one_line_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sfumato_studio", None)
    assert re.search(r"^ +studio +Open a page", run("--help").out, flags=re.MULTILINE)
    assert "--no-open" in run("studio", "--help").out
    found = run("studio", "--no-open", "--folder", "kept")
    assert found.code == 1
    assert found.out == ""
    assert "`sfumato studio` needs the package sfumato-studio, which is not installed." in found.err
    assert "pip install sfumato-studio" in found.err
    assert "Traceback" not in found.err


def test_a_port_that_is_taken_is_refused(run):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = run("studio", "--no-open", "--folder", "kept", "--port", other.getsockname()[1])
    assert found.code == 1
    assert "--port" in found.err


def test_a_folder_that_cannot_be_used_is_refused(run, tmp_path):
    (tmp_path / "file").write_text("x")
    found = run("studio", "--no-open", "--folder", tmp_path / "file" / "below")
    assert found.code == 1
    assert "--folder" in found.err


def test_a_folder_in_which_everybody_can_write_is_refused(run, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    found = run("studio", "--no-open", "--folder", tmp_path / "open")
    assert found.code == 1
    assert "anyone can write" in found.err
    assert "--folder" in found.err
    assert list((tmp_path / "open").iterdir()) == []


def test_it_prints_an_address_that_works_and_ends_with_an_interrupt(tmp_path):
    """In a folder that others can look into, they cannot read anything."""
    (tmp_path / "kept").mkdir(mode=0o755)
    command = [sys.executable, "-m", "sfumato", "studio", "--no-open", "--folder", str(tmp_path / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        base, _, token = address.partition("/?token=")
        assert base.startswith("http://127.0.0.1:")
        request = urllib.request.Request(f"{base}/api/about", headers={"X-Sfumato-Token": token})
        with urllib.request.urlopen(request, timeout=300) as answer:
            assert answer.status == 200
        assert {path.name for path in (tmp_path / "kept").iterdir()} >= {
            "studio.db",
            "studio.db-wal",
            "workspaces",
        }
        assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "kept").iterdir())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    assert token not in said
    assert "Traceback" not in said
