"""What the columns of reports mean, in a sentence each."""

ROLES = {
    "web": "the app servers",
    "workers": "the drainers or Celery workers",
    "database": "the database",
    "redis": "Redis",
    "broker": "the broker",
    "stream": "the process that streams feeds",
    "locust": "the load generator",
}
TIMES = {
    "": "requests were answered",
    "lag ": "posts were in every timeline",
    "screen ": "posts that were sent were on a watched friend's page",
    "read ": "pages of feeds were answered",
    "deep ": "later pages of feeds were answered",
    "post ": "posts were answered",
    "refused ": "refusals came",
    "probe ": "health probes were answered",
}
MEANINGS = {
    "audit": (
        "Whether what the audit compares was found, once. If it is not clean, "
        "the other figures mean nothing."
    ),
    "figures": "Whether they may be compared, or why not; apart from what the audit found.",
    "offered /s": "Requests that users would send each second if nobody had to wait.",
    "posts/s": "Posts answered with success, per second of the measured window.",
    "requests/s": "Requests answered with success, per second of the measured window.",
    "success": "The share of requests that succeeded.",
    "mean ms": "Mean time until the answer, of requests that succeeded.",
    "in flight": "Requests that waited for an answer at the same time, on average.",
    "deliveries/s": (
        "Post ids put into timelines per second. A post to 500 friends is 501 deliveries."
    ),
    "undelivered posts": "Posts of the run that had no receipt when it was audited.",
    "shown": "The share of their friends' posts that watched people were shown.",
    "drain s": "Time from the last post until no post waited for its deliveries.",
    "cores busy": (
        "CPU seconds per second of the window, of all processes, load generator included."
    ),
    "held /s": "The highest rate that was held with every limit kept.",
    "goodput/s": "Good answers in time, per second.",
    "refused/s": "Requests refused early with 503 or 429, per second.",
    "failed/s": "Requests that failed in any other way, per second.",
    "CPU ms/op": "CPU time of the whole service for one operation.",
    "moments": "How often the fault was caused.",
    "at stake": "What the fault met: keys, or posts being delivered or accepted (median).",
    "lost": "Deliveries that should exist and do not.",
    "duplicated": "Deliveries that exist more than once.",
    "phantom": "Deliveries that should not exist.",
    "wrong pages": "Pages of feeds that lacked a post or showed a wrong one.",
    "bad answers": "Answers that a client can't act on: a 500, or a 503 without Retry-After.",
    "normal after s": "Time from the fault until answers were as good and as fast as before.",
    "replica lag p50 ms": "Half of the replicas' samples were at most this far behind.",
    "replica lag max ms": "The furthest that a replica was behind its primary.",
    "times ms": "Mean time until the accumulated times were answered.",
    "visits ms": "Mean time until a day's visits were answered.",
    "summary ms": "Mean time until the summary was answered.",
    "mean of all ms": "Mean of all requests, those that timed out included, as published.",
    "p95 of all ms": "95 of 100 requests, those that timed out included, ended within this time.",
    "ordinary mean ms": "Mean time of the ordinary requests, which should not feel the exports.",
    "expensive mean ms": "Mean time of the requests that export.",
    "ordinary errors": "The share of ordinary requests that failed.",
    "expensive errors": "The share of exports that failed.",
    "errors": "The share of all requests that failed.",
    "exports": "Exports that the audit read and compared.",
    "good posts/s": "Posts answered with 201, per second until the last answer came.",
    "all requests/s": "Requests answered in any way, per second until the last answer came.",
    "kB of a failure": "Mean size of an answer that is an error.",
    "refused": "The share of requests that were answered with an error.",
    "no answer": "Requests that had no answer before the client gave up.",
    "of pages": "Pages of feeds that were compared.",
    "median s": "Half of the answers during the fault came within this time, at its worst moment.",
    "longest s": "The longest time that a request waited for its answer.",
    "2xx": "Answers with success.",
    "503": "Requests refused for now; the client may repeat them.",
    "429": "Requests refused because one client sent too many.",
    "at worst s": "The longest of all moments until answers were normal again.",
    "longest lag s": "The longest time for which an accepted post was not delivered (median).",
    "lag at worst s": "The same of the worst moment.",
    "of 1x": "Goodput as a share of the goodput of the first step.",
    "slowest probe s": "The longest time that a health probe waited.",
    "generator late ms": "How late the load generator itself sent 1 of 100 requests.",
    "sign-ups/s": "Sign-ups answered with 201, per second.",
    "max ms": "The longest time until an answer.",
    "turned away": "The share of requests that were refused with 429.",
    "taken mean ms": "Mean time until a username that is taken was refused.",
    "control mean ms": "Mean time of other requests (posts) during the rush.",
    "control p95 ms": "95 of 100 other requests (posts) were answered within this time.",
    "idle p95 ms": "The same before the rush.",
    "control / idle": "How many times slower other requests are during the rush.",
    "run success": "The share of all requests of the run that succeeded, as published.",
    "run p95 ms": "The p95 of all requests of the run, failures included, as published.",
    "run p99 ms": "The p99 of all requests of the run, failures included, as published.",
    **{
        f"{prefix}p{share} ms": f"{share} % of the {what} within this time."
        for prefix, what in TIMES.items()
        for share in (50, 95, 99)
    },
    **{
        f"{role} cores": f"CPU seconds per second that {what} used." for role, what in ROLES.items()
    },
    **{f"{role} ms": f"CPU time of {what} for one operation." for role, what in ROLES.items()},
}
