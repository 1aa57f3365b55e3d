"""Access to the studio: refused without the token, from another page, or under another name of this machine."""

import socket

import pytest

from sfumato_studio.guard import POLICY

from .conftest import PATIENCE_S, TOKEN, Running

OTHERS = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Host": "evil.example"},
    {"Host": "127.0.0.1"},
]


@pytest.mark.parametrize("headers", [{}, {"X-Sfumato-Token": "wrong"}, {"Cookie": "sfumato_studio_1=x"}])
def test_nobody_comes_in_without_the_token(studio, headers):
    for path in ("/", "/api/about", "/api/workspaces", "/api/openapi.json", "/assets/x.js", "/x"):
        with studio.bare(**headers) as stranger:
            answer = stranger.get(path)
            assert answer.status_code == 403
            assert set(answer.json()) == {"error"}
            assert TOKEN not in answer.text


@pytest.mark.thinned(3)
@pytest.mark.parametrize("headers", OTHERS)
def test_a_page_on_another_origin_gets_nothing(studio, headers):
    for credentials in ({"X-Sfumato-Token": TOKEN}, {"Cookie": f"{studio.key.cookie}={studio.key.session}"}):
        with studio.bare(**headers, **credentials) as other:
            for method in ("GET", "POST", "OPTIONS", "DELETE"):
                answer = other.request(method, "/api/workspaces")
                assert answer.status_code == 403
                assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    assert studio.client.get("/api/workspaces").json() == {"workspaces": []}


def test_the_first_address_sets_a_cookie_and_hides_the_token(studio):
    with studio.bare() as browser:
        first = browser.get("/", params={"token": TOKEN})
        assert first.status_code == 303
        assert first.headers["location"] == "/"
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        assert browser.get("/").status_code == 200
        assert browser.get("/api/about").status_code == 200
        own = {"Origin": studio.url, "Sec-Fetch-Site": "same-origin"}
        assert browser.post("/api/workspaces", headers=own).status_code == 201
        assert browser.post("/api/workspaces").status_code == 403  # a browser always says where it comes from
        assert browser.get("/", params={"token": "wrong"}).status_code == 200  # it has the cookie already
    with studio.bare() as stranger:
        assert stranger.get("/", params={"token": "wrong"}).status_code == 403
        assert stranger.get("/api/about", params={"token": TOKEN}).status_code == 403


def test_the_cookie_of_one_run_opens_no_other(studio, tmp_path):
    with studio.bare() as browser:
        browser.get("/", params={"token": TOKEN})
        cookie = browser.cookies[studio.key.cookie]
    other = Running(tmp_path / "other", "another-token")
    try:
        for name in (studio.key.cookie, other.key.cookie):
            with other.bare(Cookie=f"{name}={cookie}") as browser:
                assert browser.get("/api/about").status_code == 403
        with other.bare(**{"X-Sfumato-Token": TOKEN}) as script:
            assert script.get("/api/about").status_code == 403
        # the cookie of the right run, sent by a page on the other port
        for said in (
            {"Origin": other.url},
            {"Sec-Fetch-Site": "same-site"},
            {"Referer": other.url, "Origin": "null"},
        ):
            with studio.bare(Cookie=f"{studio.key.cookie}={cookie}", **said) as page:
                assert page.get("/api/workspaces").status_code == 403
                assert page.post("/api/workspaces").status_code == 403
    finally:
        other.close()


def test_every_answer_tells_the_browser_to_trust_nobody_else(studio):
    with studio.bare() as stranger:
        answers = [stranger.get("/"), stranger.get("/", params={"token": TOKEN})]
    answers += [studio.client.get(path) for path in ("/", "/api/about", "/api/nothing", "/nothing")]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert "http" not in POLICY


def test_a_claim_of_ten_gigabytes_is_refused_at_once(visitor):
    studio = visitor.studio
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE_S) as line:
        asked = (
            f"PUT {visitor.base}/file?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
            f"X-Sfumato-Token: {TOKEN}\r\nContent-Length: {10 * 2**30}\r\n\r\nlat,lon\n"
        )
        line.sendall(asked.encode())
        answer = b""
        while b'"field"' not in answer:
            answer += line.recv(4096)
    assert answer.split()[1] == b"413"
    assert b"64 MB" in answer


def test_more_bytes_than_a_request_may_have_are_refused_whatever_it_claims(visitor):
    big = (b"{" + b" " * 65_536 for _ in range(40))
    answer = visitor.studio.client.post(f"{visitor.base}/example", content=big)
    assert answer.status_code == 413
    assert answer.json()["error"]["message"]


def test_what_is_no_request_is_answered_in_the_same_form(visitor):
    client, base = visitor.studio.client, visitor.base
    for answer, status in (
        (client.post(f"{base}/example", content=b"{not json"), 422),
        (client.post(f"{base}/example", json={"example": "moon"}), 422),
        (client.post(f"{base}/example", json={"example": "city", "more": 1}), 422),
        (client.get(f"{base}/nothing"), 404),
        (client.put(base), 405),
        (client.get("/api/workspaces/" + "0" * 32), 404),
        (client.get("/api/workspaces/..%2f..%2fetc"), 404),
    ):
        assert answer.status_code == status, answer.text
        assert set(answer.json()["error"]) == {"message", "hint", "field", "columns"}


def test_two_hosts_are_no_host(studio):
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE_S) as line:
        hosts = f"Host: 127.0.0.1:{studio.port}\r\nHost: evil.example\r\n"
        asked = f"GET /api/about HTTP/1.1\r\n{hosts}X-Sfumato-Token: {TOKEN}\r\nConnection: close\r\n\r\n"
        line.sendall(asked.encode())
        assert line.recv(64).split()[1] in (b"400", b"403")
