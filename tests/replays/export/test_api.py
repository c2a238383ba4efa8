"""Downloading exports and the report, and ordering exports as jobs, over HTTP."""

import contextlib
import csv
import io

import pytest
from openpyxl import load_workbook
from rest_framework.test import APIRequestFactory

from feed.models import Post
from replays.export.app import services
from replays.export.app.formats import SHEET_ROWS
from replays.export.app.models import ExportJob
from replays.export.app.views import ExportView
from tests.conftest import client_of

ORDERS = "/v1/me/exports/"


def write(person_id, *bodies):
    """Write posts and return their ids."""
    client = client_of(person_id)
    posts = [client.post("/v1/posts/", {"body": body}, format="json") for body in bodies]
    return [post.json()["id"] for post in posts]


def content(response):
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def rows_of_csv(data):
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def rows_of_xlsx(data):
    book = load_workbook(io.BytesIO(data))
    return [[str(cell) for cell in row] for sheet in book for row in sheet.values]


ROWS = {"csv": rows_of_csv, "xlsx": rows_of_xlsx}
each_format = pytest.mark.parametrize("name", ROWS)


@each_format
def test_an_export_has_the_feed_and_ones_own_posts_newest_first(friends, name):
    first, deleted = write(2, "of a friend", "deleted")
    write(4, "of a stranger")
    (own,) = write(1, 'mine, "quoted"\nand broken')
    client_of(2).delete(f"/v1/posts/{deleted}/")

    response = client_of(1).get(f"/v1/me/export/?format={name}")

    header, *rows = ROWS[name](content(response))
    assert header == ["id", "author", "created_at", "body"]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (str(own), "1", 'mine, "quoted"\nand broken'),
        (str(first), "2", "of a friend"),
    ]
    assert rows[1][2] == Post.objects.get(id=first).created_at.isoformat()
    assert response["Content-Disposition"] == f'attachment; filename="posts.{name}"'


def test_own_posts_are_exported_even_where_the_timeline_lacks_them(friends, settings):
    settings.FEED_STRATEGY = "null"
    (own,) = write(1, "mine")

    exported = rows_of_csv(content(client_of(1).get("/v1/me/export/")))

    assert [row[0] for row in exported] == ["id", str(own)]


@each_format
def test_a_long_export_is_complete_without_duplicates(friends, name, monkeypatch):
    monkeypatch.setattr("replays.export.app.selectors.CHUNK", 3)
    ids = write(1, *"abcd") + write(2, *"efg")

    _, *rows = ROWS[name](content(client_of(1).get(f"/v1/me/export/?format={name}")))

    assert [int(row[0]) for row in rows] == sorted(ids, reverse=True)


def test_rows_beyond_a_sheet_go_into_the_next(friends, monkeypatch):
    assert SHEET_ROWS == 2**20
    monkeypatch.setattr("replays.export.app.formats.SHEET_ROWS", 3)
    ids = write(1, *"abc")

    data = content(client_of(1).get("/v1/me/export/?format=xlsx"))

    sheets = [list(sheet.values) for sheet in load_workbook(io.BytesIO(data))]
    assert [len(sheet) for sheet in sheets] == [3, 2]
    assert [row[0] for sheet in sheets for row in sheet[1:]] == ids[::-1]


@pytest.mark.parametrize("query", ["format=pdf", "format=", "format=CSV"])
def test_an_unknown_format_is_refused(author, query):
    response = author.get(f"/v1/me/export/?{query}")

    assert response.status_code == 400
    assert list(response.json()) == ["format"]


@pytest.mark.parametrize("body", [{"format": "pdf"}, {"format": 1}, {"what": "x"}, []])
def test_a_bad_order_is_refused(author, body):
    assert author.post(ORDERS, body, format="json").status_code == 400
    assert not ExportJob.objects.exists()


def test_the_report_counts_posts_and_deliveries_by_author_and_month(friends):
    january, february = write(2, "one", "two")
    write(3, "three")
    write(4, "of a stranger")
    Post.objects.filter(id=january).update(created_at="2026-01-31T23:59:59Z")
    Post.objects.filter(id=february).update(created_at="2026-02-01T00:00:00Z")
    Post.objects.filter(author_id=3).update(created_at="2026-02-28T12:00:00Z")

    months = client_of(1).get("/v1/me/report/").json()["months"]

    assert months == [
        {"author": 2, "month": "2026-01", "posts": 1, "deliveries": 2},
        {"author": 2, "month": "2026-02", "posts": 1, "deliveries": 2},
        {"author": 3, "month": "2026-02", "posts": 1, "deliveries": 2},
    ]


@each_format
def test_an_ordered_export_is_the_file_that_a_download_is(friends, name):
    write(2, "one", "two")
    author = client_of(1)

    ordered = author.post(ORDERS, {"format": name}, format="json")

    job = ordered.json()
    assert ordered.status_code == 202
    assert (job["format"], job["state"], job["file"]) == (name, "waiting", None)
    assert author.get(f"{ORDERS}{job['id']}/file/").status_code == 404
    assert services.make_next_export()
    ready = author.get(ordered["Location"]).json()
    assert ready["state"] == "ready"
    file = author.get(ready["file"])
    download = author.get(f"/v1/me/export/?format={name}")
    assert file["Content-Type"] == download["Content-Type"]
    assert ROWS[name](content(file)) == ROWS[name](content(download))


def test_a_second_order_gets_the_job_that_is_waiting(author):
    first, second = (author.post(ORDERS, {}, format="json").json() for _ in range(2))
    other = author.post(ORDERS, {"format": "xlsx"}, format="json").json()

    assert first == second
    assert other["id"] != first["id"]


SLOW = ["/v1/me/export/", "/v1/me/report/"]


@pytest.mark.parametrize("path", SLOW)
def test_while_an_export_is_read_the_same_person_gets_no_other(transactional_db, friends, path):
    write(1, "hello")
    running = client_of(1).get("/v1/me/export/")

    refusal = client_of(1).get(path)

    assert (refusal.status_code, refusal["Retry-After"]) == (429, "5")
    with contextlib.closing(client_of(2).get(path)) as other:
        assert other.status_code == 200
    assert content(running)
    running.close()
    with contextlib.closing(client_of(1).get(path)) as next_one:
        assert next_one.status_code == 200


def test_an_export_that_breaks_off_is_over(transactional_db, friends):
    write(1, "hello")
    request = APIRequestFactory().get("/", **client_of(1)._credentials)
    begun = []
    for _ in range(2):
        begun.append(ExportView.as_view()(request))
        assert begun[-1].status_code == 200
        begun[-1].close()  # before its first piece was sent


def test_an_export_that_fails_is_over(friends, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("replays.export.app.selectors.Post", None)
        patch.setattr("replays.export.app.selectors.posts_due", None)
        assert [client_of(1).get(path).status_code for path in SLOW] == [500, 500]

    assert client_of(1).get("/v1/me/report/").status_code == 200
