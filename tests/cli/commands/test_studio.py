"""``sfumato studio``: it serves this machine alone, and says what to install without its packages."""

import signal
import socket
import subprocess
import sys
import urllib.request

import sfumato as sf
import sfumato.studio


def loaded() -> list[str]:
    return [name for name in sys.modules if name.startswith("sfumato.studio")]


def test_without_the_extra_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(sf, "studio", sf.studio)  # which other tests have, and go on with
    for name in loaded():
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = run("studio", "--no-open", "--folder", "kept")
    for name in loaded():  # those that were loaded before come back
        del sys.modules[name]
    assert found.code == 1
    assert "--extra studio" in found.err
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
    assert "everybody can write" in found.err
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
