"""Clients that read and post all the time, for servers that are restarted under load."""

import itertools
import json
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException


class Clients:
    """One per token; they keep their connections, and what they were answered."""

    def __init__(self, port, tokens, pause_s=0.0):
        self.port, self.tokens, self.pause_s = port, tokens, pause_s
        self.answers = Counter()
        self.failures = []
        self.posts = {}
        """Every post that was answered with 201, by id."""
        self._stopping = threading.Event()

    @contextmanager
    def working(self):
        self._stopping.clear()
        threads = [threading.Thread(target=self._work, args=(it,)) for it in self.tokens]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in threads:
                thread.join()

    def forget(self):
        """Return the answers and failures so far, and count from here on."""
        before = self.answers, self.failures
        self.answers, self.failures = Counter(), []
        return before

    def _work(self, token):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as client:
            for method in itertools.cycle(["GET", "POST"]):
                if self._stopping.is_set():
                    return
                try:
                    self._ask(client, method, headers)
                except (OSError, HTTPException) as error:
                    self.failures.append((method, error))
                    client.close()
                time.sleep(self.pause_s)

    def _ask(self, client, method, headers):
        if method == "GET":
            client.request("GET", "/v1/feed/", headers=headers)
        else:
            client.request("POST", "/v1/posts/", b'{"body": "hello"}', headers)
        with client.getresponse() as answer:
            body = answer.read()
        self.answers[method, answer.status] += 1
        if answer.status == 201:
            post = json.loads(body)
            self.posts[post["id"]] = post
