"""Export as it was published: one request a minute for ten minutes, so that errors can appear."""

from dataclasses import replace

from lab.experiments.base import RunOptions
from lab.reporting.presentation import Published
from lab.running.load import Load
from replays.export import experiment as export
from replays.export.service import ExportVariant

USERS = 50
PACE_S = 60
RUN_TIME_S = 600
PATIENCE_S = 180
POSTS_EACH = 4000
"""So that an expensive request takes 4 to 9 seconds of a core, by machine: from about 5 on, half of
50 users who ask once a minute want more than two cores, and the queue grows as the published one
did. On a fast machine, ask for more friends."""
PATIENT = {
    "DB_POOL_TIMEOUT_S": "30",
    "DB_READ_TIMEOUT_S": "300",
    "GUNICORN_CMD_ARGS": "--timeout=300",
    "FEED_TIMELINE_STORE": "pull",  # 10 million deliveries would take longer to seed than the run
}
FIGURES = (
    *("ordinary mean ms", "expensive mean ms", "mean ms"),
    *("ordinary errors", "expensive errors", "errors"),
)
PUBLISHED = tuple(
    Published(what, dict(zip(FIGURES, values, strict=True)))
    for what, *values in (
        ("one pool of 20", 13_900, 79_365, 46_391, 0.0684, 0.0334, 0.0509),
        ("two pools of 10", 102, 101_134, 51_606, 0, 0, 0),
    )
)


def variant(name: str) -> ExportVariant:
    found = export.variant(name).on("mysql")  # they give the formula of a managed MySQL
    return replace(found, settings={**found.settings, **PATIENT})


def loads(options: RunOptions) -> list[Load]:
    run_time_s = options.run_time_s or RUN_TIME_S
    (load,) = export.loads(options._replace(run_time_s=run_time_s))
    return [
        replace(
            load,
            pace_s=min(PACE_S, run_time_s / 2),
            warm_up_s=0,  # who comes first finds an idle service, there as here
            patience_s=PATIENCE_S,
        )
    ]


EXPERIMENT = replace(
    export.EXPERIMENT,
    name="published-004",
    document="[Benchmark] Separating data sources, author not named",
    variants=(
        "mysql_tuned-shared-pool",
        "mysql_tuned-split-pools",
        "mysql_tuned-narrow-lane",
        "mysql_tuned-background",
    ),
    variant=variant,
    seed=export.EXPERIMENT.seed._replace(people=USERS + 2, friends=USERS),
    seeding=(("seed_posts", f"--each={POSTS_EACH}"),),
    loads=loads,
    presentation=replace(
        export.EXPERIMENT.presentation,
        published=PUBLISHED,
        limitations=(
            "Theirs had one pool for writes as well, in both environments. A request without a "
            "connection gives up after 30 s, the default of their pool; the document doesn't say "
            "more.",
            f"How expensive theirs were isn't known. Here a feed has {POSTS_EACH:,} posts of each "
            "friend and of its reader, and what an export or a report of it takes depends on the "
            "machine. Where cores are idle (cores busy), all that was asked for fitted into them; "
            "ask for more friends.",
            f"The last answers are waited for, for up to {PATIENCE_S} s; theirs may have been cut "
            "off.",
            export.A_LOG_IN_COSTS_ITS_HASH,
        ),
    ),
    around_s=60,
)
