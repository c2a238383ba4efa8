"""No export shows the posts of somebody who was blocked, however the two overlap."""

import pytest

from feed import follows
from feed.services import publish_post
from replays.export.app import services
from replays.export.app.models import ExportJob
from tests.conftest import client_of


@pytest.fixture
def texts(friends):
    found = {author: f"written by {author}" for author in (1, 2)}
    for author, text in found.items():
        publish_post(author_id=author, body=text)
    return found


def ordered_export(reader):
    job = client_of(reader).post("/v1/me/exports/", {}, format="json").json()
    services.make_next_export()
    return f"/v1/me/exports/{job['id']}/file/"


def downloaded(reader):
    return b"".join(client_of(reader).get("/v1/me/export/").streaming_content).decode()


def report_names(reader, author):
    return f'"author":{author}' in client_of(reader).get("/v1/me/report/").text


def test_after_a_block_no_export_shows_the_others_posts(texts):
    files = [(reader, ordered_export(reader)) for reader in (1, 2)]
    for reader, author in ((1, 2), (2, 1)):
        assert texts[author] in downloaded(reader)
        assert report_names(reader, author)

    assert client_of(1).put("/v1/me/blocks/2/").status_code == 204

    for reader, author in ((1, 2), (2, 1)):
        assert texts[author] not in downloaded(reader)
        assert not report_names(reader, author)
    assert [client_of(reader).get(file).status_code for reader, file in files] == [404, 404]


def test_an_export_that_is_being_made_during_a_block_is_not_kept(texts, folder, monkeypatch):
    job = client_of(1).post("/v1/me/exports/", {}, format="json").json()
    write = services._write_file

    def too_late(job):
        follows.block(2, 1)
        write(job)

    monkeypatch.setattr(services, "_write_file", too_late)
    services.make_next_export()

    assert client_of(1).get(f"/v1/me/exports/{job['id']}/").status_code == 404
    assert list(folder.glob("*.csv")) == []


def test_a_new_friend_withdraws_no_export(texts, folder):
    ordered_export(1)

    follows.ask(1, 4)
    follows.ask(4, 1)

    assert ExportJob.objects.get().state == "ready"
    assert len(list(folder.iterdir())) == 1
