import psutil

from lab.faults.running import serving, wait_for
from launch.processes import Processes
from launch.service import Seed, Service, is_ready
from launch.variants import Variant


def test_each_service_signs_tokens_with_a_key_of_its_own(tmp_path):
    variant = Variant.named("sqlite-inline-setbased")
    services = [Service(variant, Processes(tmp_path), tmp_path) for _ in range(2)]

    one, other = ({env["SECRET_KEY"] for env in service.environments} for service in services)
    assert len(one) == len(other) == 1
    assert one != other


def test_behind_the_proxy_deliveries_arrive_and_slow_requests_give_way(tmp_path):
    variant = "sqlite-outbox-setbased@granian+proxy"
    with serving(variant, tmp_path, seed=Seed(people=20, friends=10)) as running:
        with running.load(clients=2):
            wait_for(lambda: len(running.accepted) > 50, within_s=60)
        app_servers = map(psutil.Process, running.processes.pids("web"))
        niceness = sorted(it.nice() for it in app_servers)
        assert is_ready(running.service.port)

        assert running.service.audit(running.drained())["ok"]

    assert niceness[0] < niceness[-1]
