import time
from concurrent.futures import ThreadPoolExecutor

from runtime.away import AWAY_S, Server


def test_one_call_at_a_time_tries_a_server_that_is_away():
    server = Server()
    with ThreadPoolExecutor(1) as another_thread:

        def refuses_another():
            return another_thread.submit(server.refuses).result()

        assert not refuses_another()
        server.note(answers=False)
        assert server.refuses()
        assert refuses_another()

        time.sleep(AWAY_S)
        assert not server.refuses()
        assert not server.refuses()  # a call within the call, like one that connects
        assert refuses_another()

        server.note(answers=True)
        assert not refuses_another()
