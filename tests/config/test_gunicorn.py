import sys
from urllib.request import urlopen

from launch.processes import Processes, free_port


def test_log_lines_are_written_in_the_background_if_asked_for(tmp_path):
    port = free_port()
    env = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3",
        "WEB_WORKERS": "1",
        "LOG_REQUESTS": "1",
        "DJANGO_SETTINGS_MODULE": "replays.browse.settings",
        "LOG_IN_BACKGROUND": "1",
    }
    with Processes(tmp_path) as processes:
        processes.start("web", [sys.executable, "-m", "config.serve", f"--bind=:{port}"], env)
        processes.wait_until("web", lambda: "Booting worker" in processes.log_tail("web"))
        urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20).close()

    log = (tmp_path / "web.log").read_text()
    assert log.count('"GET /healthz HTTP/1.1" 200') == 1
