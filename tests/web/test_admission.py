"""More requests than can be answered: most of those that can are, and the others are refused."""

import threading
import time
from collections import Counter
from functools import partial

import pytest
from prometheus_client.multiprocess import MultiProcessCollector

from tests.web.arrivals import Prober, arrive, get, post
from tests.web.conftest import web

PAUSING, ONE_LANE = "tests.web.applications:pausing", "tests.web.one_lane:pausing"
PER_S, TIMES = 50, 5
"""Requests that the process can answer, and how many times more come; each takes it 10 ms."""
READS, WRITES = [get("/v1/feed/", "token")], [post("token")]
SECONDS = 2

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module", params=["0.5", "0"], ids=["guarded", "control"])
def service(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    metrics = {"PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics")}
    with web(folder, application=[PAUSING], WEB_QUEUE_S=request.param, **metrics) as port:
        yield port, request.param != "0", partial(refused_by, folder / "metrics")


def refused_by(folder):
    """Return the counted refusals by lane."""
    return Counter(
        {
            sample.labels["lane"]: sample.value
            for metric in MultiProcessCollector(None, str(folder)).collect()
            for sample in metric.samples
            if sample.name == "feed_refused_total"
        }
    )


def test_what_can_be_answered_is_answered_in_time(service):
    port, is_guarded, refused = service
    before = refused()
    with Prober(port) as prober:
        answers = arrive(port, READS, per_s=TIMES * PER_S, seconds=SECONDS)
    good = answers.counts[200] / SECONDS
    told = (good, answers.counts, answers.seconds(200)[-1])

    if is_guarded:
        assert good > 0.9 * PER_S, told
        assert answers.counts["late"] == answers.counts["lost"] == 0, told
        assert max(prober.seconds) < 1
    else:
        assert answers.counts["late"] > 0.25 * answers.counts.total(), told
    assert answers.retries == answers.counts[503]
    assert refused() - before == Counter(read=answers.counts[503])
    assert set(prober.statuses) == {200}


@pytest.mark.parametrize("application", [PAUSING, ONE_LANE])
def test_a_flood_of_writes_takes_few_reads_unless_they_share_a_lane(application, tmp_path):
    with web(tmp_path, application=[application], WEB_QUEUE_S="0.5") as port:
        flood = threading.Thread(
            target=arrive, args=(port, WRITES), kwargs={"per_s": TIMES * PER_S, "seconds": SECONDS}
        )
        flood.start()
        time.sleep(1)
        answers = arrive(port, READS, per_s=PER_S / 4, seconds=SECONDS - 1)
        flood.join()

    good = answers.counts[200] / answers.counts.total()
    assert (good > 0.95) == (application == PAUSING), answers.counts
