"""What the columns of reports mean, in a sentence each."""

MEANINGS = {
    "audit": (
        "Whether every delivery of every accepted post was found, once. If it is not clean, "
        "the other figures mean nothing."
    ),
    "offered /s": "Requests that users would send each second if nobody had to wait.",
    "posts/s": "Posts answered with success, per second of the measured window.",
    "requests/s": "Requests answered with success, per second of the measured window.",
    "success": "The share of requests that succeeded.",
    "mean ms": "Mean time until the answer, of requests that succeeded.",
    "p50 ms": "Half of the requests were answered within this time.",
    "p95 ms": "95 of 100 requests were answered within this time.",
    "p99 ms": "99 of 100 requests were answered within this time.",
    "in flight": "Requests that waited for an answer at the same time, on average.",
    "deliveries/s": (
        "Post ids put into timelines per second. A post to 500 friends is 501 deliveries."
    ),
    "lag p50 ms": (
        "Half of the posts were in every timeline within this time after they were written."
    ),
    "lag p99 ms": (
        "99 of 100 posts were in every timeline within this time after they were written."
    ),
    "lag max ms": "The longest time from a post until it was in every timeline.",
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
    "normal after s": "Time from the fault until answers were as good and as fast as before.",
    "told after s": "Time until /readyz said that something is wrong.",
}
