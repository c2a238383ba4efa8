"""How much larger than their rows the files of tables get under load, on PostgreSQL and MariaDB.

python -m tests.tools.files postgres_tuned-outbox-packed --minutes 10

After the load, and what the database cleans up by itself meanwhile, each table is written anew
(VACUUM FULL, OPTIMIZE TABLE): its file then has what its rows take.
"""

import argparse
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.faults.running import serving
from launch.service import Seed

SIZES = {
    "postgresql": """
        SELECT relname, pg_total_relation_size(oid) FROM pg_class
        WHERE relkind = 'r' AND relname LIKE 'feed_%'
    """,
    "mysql": """
        SELECT SUBSTRING_INDEX(NAME, '/', -1), FILE_SIZE
        FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE 'feed/feed_%'
    """,
}
ANEW = {"postgresql": "VACUUM FULL {}", "mysql": "OPTIMIZE TABLE feed.{}"}
SHOWN_FROM = 2**20
"""Bytes of a table."""


def main():
    options = parse()
    with TemporaryDirectory() as folder:
        seed = Seed(people=1000, friends=500)
        with serving(options.variant, Path(folder).resolve(), seed) as running:
            print("| minute | posts | table | MB | rows alone, MB | times |", flush=True)
            for minute in range(1, options.minutes + 1):
                with running.load(options.clients):
                    time.sleep(60)
                if minute in (1, options.minutes):
                    running.drained()
                    show(running, minute)


def show(running, minute):
    """Print the sizes of files, write the tables anew, and print those of rows alone."""
    engine = running.service.variant.database.engine
    with closing(running.server("database").connect()) as connection:
        before = sizes(connection, engine)
        for table in before:
            rows_of(connection, ANEW[engine].format(table))
        after = sizes(connection, engine)
    for table, size in before.items():
        if size > SHOWN_FROM:
            print(
                f"| {minute} | {len(running.accepted):,} | {table} | {size / 1e6:.1f} "
                f"| {after[table] / 1e6:.1f} | {size / after[table]:.1f} |",
                flush=True,
            )


def sizes(connection, engine):
    return {table: int(size) for table, size in rows_of(connection, SIZES[engine])}


def rows_of(connection, sql):
    cursor = connection.cursor()
    cursor.execute(sql)
    return cursor.fetchall() if cursor.description else []


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--clients", type=int, default=8)
    return parser.parse_args()


if __name__ == "__main__":
    main()
