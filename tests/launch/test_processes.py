import os
import sys

import psutil
import pytest

from launch.processes import Processes, RunFailed
from tests.sessions import wait_until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print('up', flush=True)\n"
    "time.sleep(60)",
]


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        yield processes


def test_leaving_the_block_ends_everything(tmp_path):
    with Processes(tmp_path) as processes:
        started = [processes.start(role, SLEEP, {}) for role in ("web", "workers", "web")]
        assert all(psutil.pid_exists(process.pid) for process in started)

    assert not any(psutil.pid_exists(process.pid) for process in started)


def test_a_second_ctrl_c_spares_no_process(tmp_path, monkeypatch):
    stop = Processes.stop

    def interrupted(self, role):
        stop(self, role)
        if role == "workers":
            raise KeyboardInterrupt

    monkeypatch.setattr(Processes, "stop", interrupted)
    with pytest.raises(KeyboardInterrupt), Processes(tmp_path) as processes:
        started = [processes.start(role, SLEEP, {}) for role in ("database", "workers", "web")]

    assert not any(psutil.pid_exists(process.pid) for process in started)


def test_a_process_that_ignores_the_signal_is_killed_with_its_children(processes, monkeypatch):
    monkeypatch.setattr("launch.processes.STOP_WITHIN_S", 0.2)
    process = processes.start("web", STUBBORN, {})
    processes.wait_until("web", lambda: "up" in processes.log_tail("web"))
    (child,) = psutil.Process(process.pid).children()

    processes.stop("web")

    assert process.poll() is not None
    psutil.wait_procs([child], timeout=20)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_process_that_exits_fails_the_run_with_its_last_output(processes):
    processes.start("web", [sys.executable, "-c", "print('no port'); raise SystemExit(3)"], {})

    with pytest.raises(RunFailed, match=r"web ended \(3\): no port"):
        processes.wait_until("web", lambda: False)


def test_a_process_that_is_never_ready_fails_the_run(processes):
    processes.start("web", SLEEP, {})

    with pytest.raises(RunFailed, match="wasn't ready within"):
        processes.wait_until("web", lambda: False, within_s=0.2)


def test_a_command_returns_its_output_and_other_exit_codes_fail_the_run(processes):
    assert processes.call("echo", ["echo", "hello"], {}) == "hello\n"
    assert processes.call("false", ["false"], {}, ok=(0, 1)) == ""
    with pytest.raises(RunFailed, match="false ended with status 1"):
        processes.call("false", ["false"], {})


def test_cpu_is_that_of_a_process_and_its_children(processes):
    family = "import os, time\nos.fork()\nwhile time.process_time() < .3: pass\ntime.sleep(60)"
    processes.start("web", [sys.executable, "-c", family], {})

    wait_until(lambda: processes.cpu_s()["web"] >= 0.5, 60)
    assert processes.cpu_s()["web"] < 5


def test_a_pinned_load_generator_has_the_last_core_to_itself(tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    with Processes(tmp_path, is_pinned=True) as processes:
        for role, expected in (("web", cores[:-1] or cores), ("locust", cores[-1:])):
            process = psutil.Process(processes.start(role, SLEEP, {}).pid)
            processes.wait_until(role, lambda it=process: it.name() != "taskset")
            assert process.cpu_affinity() == expected == processes.cores_of(role)
