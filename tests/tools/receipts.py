"""Receipts as a column that is updated, or as rows of their own: what a post costs either way.

python -m tests.tools.receipts mysql     (or postgres)

CPU of the server and bytes of its log per post; claims and receipts in batches of 100.
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from launch.processes import Processes
from launch.servers import servers_for
from launch.variants import Variant

ROUNDS, IGNORED, POSTS, BATCH = 12, 2, 1000, 100
COLUMNS = "author_id bigint, body {text}, created_at {time} default {now}, like_count int, deleted_at {time} null"
WORDS = {
    "mysql": {"text": "longtext", "time": "datetime(6)", "now": "now(6)", "id": "bigint auto_increment", "of": ""},
    "postgres": {
        **{"text": "text", "time": "timestamptz", "now": "statement_timestamp()", "id": "bigserial", "of": "OF post"},
    },
}
LOG = {
    "mysql": "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'innodb_os_log_written'",
    "postgres": "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn",
}


def main(kind):
    variant = Variant.named(f"{kind}_tuned-inline-setbased")
    with TemporaryDirectory() as folder, Processes(Path(folder) / "logs") as processes:
        (server,) = servers_for(variant, "local", processes, Path(folder))
        server.start()
        with server.connect() as connection:
            if kind == "mysql":
                connection.select_db("feed")
                connection.autocommit(True)
            cursor = connection.cursor()
            words = WORDS[kind]

            def ask(sql, values=()):
                cursor.execute(sql.format(**words), values)
                return cursor.fetchall() if cursor.description else []

            for table, column in (("post", ", delivered_at {time} null"), ("plain", "")):
                ask(f"CREATE TABLE {table} (id {{id}} primary key, {COLUMNS}{column})")
                ask(f"CREATE INDEX {table}_author ON {table} (author_id, id)")
                ask(f"CREATE INDEX {table}_likes ON {table} (deleted_at, like_count, id)")
            ask("CREATE TABLE receipt (post_id bigint primary key, delivered_at {time})")
            ask("CREATE INDEX receipt_at ON receipt (delivered_at)")
            ask("CREATE INDEX post_at ON post (delivered_at)")
            if kind == "postgres":
                ask("CREATE INDEX post_pending ON post (id) WHERE delivered_at IS NULL")
            last = 0

            def publish(table):
                for number in range(POSTS):
                    ask(f"INSERT INTO {table} (author_id, body, like_count) VALUES (%s, %s, 0)", (number + 1, "x" * 100))

            def update():
                for _ in range(POSTS // BATCH):
                    ask("BEGIN")
                    rows = ask(f"SELECT id, author_id, created_at FROM post WHERE delivered_at IS NULL ORDER BY id LIMIT {BATCH} FOR UPDATE SKIP LOCKED")
                    ask("UPDATE post SET delivered_at = {now} WHERE delivered_at IS NULL AND id BETWEEN %s AND %s", (rows[0][0], rows[-1][0]))
                    ask("COMMIT")

            def insert():
                nonlocal last
                for _ in range(POSTS // BATCH):
                    ask("BEGIN")
                    lock = "FOR UPDATE OF plain SKIP LOCKED" if kind == "postgres" else "FOR UPDATE SKIP LOCKED"
                    rows = ask(f"SELECT id, author_id, created_at FROM plain WHERE id > %s AND NOT EXISTS (SELECT 1 FROM receipt WHERE post_id = plain.id) ORDER BY id LIMIT {BATCH} {lock}", (last,))
                    last = rows[-1][0]
                    ask("INSERT INTO receipt SELECT id, {now} FROM plain WHERE id BETWEEN %s AND %s", (rows[0][0], last))
                    ask("COMMIT")

            ways = {
                "column: post": lambda: publish("post"),
                "column: claim and receipt": update,
                "rows: post": lambda: publish("plain"),
                "rows: claim and receipt": insert,
            }
            found = defaultdict(list)
            for _ in range(ROUNDS):
                for name, way in ways.items():
                    log, cpu_s = int(ask(LOG[kind])[0][0]), processes.ran_s()["database"]
                    way()
                    used_s = processes.ran_s()["database"] - cpu_s
                    found[name].append((1e6 * used_s / POSTS, (int(ask(LOG[kind])[0][0]) - log) / POSTS))
            print(server.version())
            for name, figures in found.items():
                cpu_us, log_bytes = zip(*figures[IGNORED:], strict=True)
                print(f"{name:26} {median(cpu_us):6.1f} us ({min(cpu_us):.1f} … {max(cpu_us):.1f}), {median(log_bytes):6.0f} B of log")


if __name__ == "__main__":
    main(sys.argv[1])
