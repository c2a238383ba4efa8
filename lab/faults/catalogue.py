"""All faults by name; docs/faults.md has the same table."""

from lab.faults import celery, cluster, database, redis, timelines, workers
from lab.faults.fault import Fault

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        celery.broker_forgets,
        celery.broker_frozen,
        celery.broker_killed,
        celery.celery_worker_killed,
        database.clock_moved,
        database.connections_taken,
        database.database_disk_full,
        database.database_frozen,
        database.database_killed,
        database.database_older_copy,
        database.database_read_only,
        timelines.deletes,
        workers.drainer_cut_off,
        workers.drainer_frozen,
        workers.drainer_killed,
        timelines.friendships,
        cluster.primary_cut_off,
        cluster.primary_killed,
        cluster.primary_killed_ahead,
        redis.redis_emptied,
        redis.redis_evicting,
        redis.redis_frozen,
        redis.redis_full,
        redis.redis_killed,
        redis.redis_older_copy,
        redis.redis_wrong_type,
        cluster.slots_moved,
        timelines.store_switched,
        timelines.timelines_swapped,
        workers.web_worker_killed,
    )
}
