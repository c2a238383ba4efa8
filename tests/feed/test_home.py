"""What / answers: a page for people, JSON for programs."""

import pytest

from tests.conftest import client_of

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


@pytest.fixture
def anyone():
    return client_of(None)


def ask(client, accept, method="get"):
    headers = {} if accept is None else {"accept": accept}
    return getattr(client, method)("/", headers=headers)


@pytest.mark.parametrize(
    "accept", [BROWSER, "text/html", "text/html;q=0.9, application/json;q=0.1"]
)
def test_people_get_a_page(anyone, accept):
    response = ask(anyone, accept)

    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert "http://testserver/" not in response.text
    assert "service=http://testserver\n" in response.text


@pytest.mark.parametrize(
    "accept",
    [None, "*/*", "application/json", "image/png", "nonsense", "application/json, text/html;q=0.9"],
)
def test_programs_get_json(anyone, accept):
    response = ask(anyone, accept)

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response.json()["documentation"] == "/v1/docs/"


def test_every_address_it_names_is_answered(anyone, transactional_db):
    named = [it for it in ask(anyone, None).json().values() if it.startswith("/")]

    assert len(named) == 5
    page = ask(anyone, BROWSER).text
    for address in named:
        assert f'href="{address}"' in page
        assert anyone.get(address).status_code == 200


@pytest.mark.parametrize("accept", [BROWSER, "*/*"])
def test_a_cache_may_keep_both_answers_apart(anyone, accept):
    response = ask(anyone, accept)

    assert response["Vary"] == "Accept"
    assert response["Cache-Control"] == "public, max-age=300"


def test_the_page_may_run_its_own_script_only_and_ask_this_service_only(anyone):
    policy = ask(anyone, BROWSER)["Content-Security-Policy"]

    assert policy.startswith("default-src 'none'; connect-src 'self'; script-src 'sha256-")
    assert "unsafe" not in policy
