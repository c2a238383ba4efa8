from runtime.away import AWAY_S, Server


def test_one_call_at_a_time_tries_a_server_that_is_away(monkeypatch):
    times = [100.0]
    monkeypatch.setattr("runtime.away.monotonic", lambda: times[-1])
    server = Server()
    assert not server.refuses()
    server.note(answers=False)
    assert server.refuses()

    times.append(100 + AWAY_S)
    assert not server.refuses()
    assert server.refuses()

    server.note(answers=True)
    assert not server.refuses()
