#!/usr/bin/python3
"""What strangers may do to a server: twelve ways, after each of which it answers as before and has grown by at most 16 MiB.

    abuse.py --heddle BIN [--fuzz N] [-v]

`--fuzz N`: so many requests whose fields hold values at their bounds and of other kinds; none may get a status of 5xx. One
line a failure, then `N passed, N failed`."""
import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from serving import Counts, Server, compile_example, sanitized

PATH = "/v1/completions"
GOOD = {"prompt": "Once upon a time", "max_tokens": 8, "temperature": 0}


def post(fields, body=b"", path=PATH, version="1.1"):
    """The bytes of a POST; `fields` are lines."""
    head = "POST %s HTTP/%s\r\n" % (path, version) + "".join(f + "\r\n" for f in fields) + "\r\n"
    return head.encode("latin-1") + body


def smuggled():
    """Requests about whose end two readers could disagree: what a careless one would take for a second request asks for
    /health."""
    h, j, inner = "Host: localhost", "Content-Type: application/json", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    n = str(len(inner))
    yield post([h, j, "Content-Length: 0", "Content-Length: " + n], inner)
    yield post([h, j, "Content-Length: " + n, "Content-Length: 0"], inner)
    yield post([h, j, "Content-Length: 0, " + n], inner)
    yield post([h, j, "Content-Length: +0"], inner)
    yield post([h, j, "Content-Length: -1"], inner)
    yield post([h, j, "Content-Length: 0x0"], inner)
    yield post([h, j, "Content-Length : " + n], inner)
    yield post([h, j, " Content-Length: " + n], inner)
    yield post([h, j, "Content-Length:"], inner)
    yield post([h, j, "Content-Length: 00000000000"], inner)
    yield post([h, j, "Content-Length: 5", "Transfer-Encoding: chunked"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked", "Content-Length: 5"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: xchunked"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: identity"], inner)
    yield post([h, j, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding:\x0bchunked"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"0\r\n\r\n" + inner, version="1.0")
    yield post([h, j, "X: a", " Transfer-Encoding: chunked"], b"0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"0x0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"0;a=b\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"0\n\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"1\r\naX0\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"000000000\r\n\r\n" + inner)
    yield post([h, j, "Transfer-Encoding: chunked"], b"fffffffffffffffff\r\n" + inner)
    yield post([h, j, "X: a\0b"], inner)
    yield post([h, h, j, "Content-Length: 0"], inner)
    yield post([j, "Content-Length: 0"], inner)
    yield (b"POST " + PATH.encode() + b" HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n" + inner)
    yield (b"\r\n" + post([h, j, "Content-Length: 0"], inner))
    yield (b"GET http://localhost/health HTTP/1.1\r\nHost: other\r\n\r\n")
    yield (b"GET /health HTTP/1.1\r\n" + b"Host: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n")


# Values at bounds and of other kinds.
ODD = [None, True, False, 0, 1, -1, 2, 0.5, 2.0001, -2, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 63 - 1, -2 ** 63, 2 ** 64, 10 ** 30, "", "a", "\u0000", "\U0001F600", "x" * 300,
       [], [""], ["a", "b"], [0], [[0]], [[]], [-1], [2 ** 40], [None], {}, {"1": 1}, {"1": 101}, {"-1": 1}, {"99999999999": 1}, {"include_usage": True}, {"include_usage": 5}, [[[]]],
       {"a": {"b": []}}, [{}], [{"role": "user"}], [{"role": "user", "content": "a"}], [{"role": "assistant", "tool_calls": 5}], [{"role": "assistant", "tool_calls": [{"function": {"arguments": "[]"}}]}],
       "none", "base64", "pooled"]


def fuzz(t, server, path, good, names, count, bounded=lambda body, draw: body):
    """`count` requests: `good` with one to three of the fields `names` at ODD values. None may be our mistake."""
    draw, worst = random.Random(1), {}
    for _ in range(count):
        body = dict(good)
        for _ in range(draw.choice((1, 1, 2, 3))):
            body[draw.choice(names)] = draw.choice(ODD)
        body = bounded(body, draw)
        status, _, data = server.request("POST", path, body)
        if status not in (200, 400, 404):
            worst[status] = (body, data[:300])
    t.check("%d requests of all kinds to %s" % (count, path), not worst, worst)


class Abuse:
    def __init__(self, t, binary, work, fuzz, measured):
        self.t, self.binary, self.work, self.fuzz, self.measured = t, binary, work, fuzz, measured

    def alive(self, server, what, before):
        good = server.post(PATH, GOOD)
        self.t.check(what + ": answers as before", good[0] == 200 and good[1]["choices"][0]["text"] == self.text, good)
        grown = server.resident() - before if self.measured else 0
        self.t.check(what + ": memory", grown <= 16 << 20, "%d bytes more" % grown)

    def run(self):
        with Server(self.binary, "--queue", "4", "--drain", "20") as server:
            self.text = server.post(PATH, GOOD)[1]["choices"][0]["text"]
            for name in ("bodies", "many_fields", "slow_head", "stalled", "slow_reader", "closed", "smuggling", "deep", "fields", "full_queue"):
                before = server.resident()
                getattr(self, name)(server)
                self.alive(server, name, before)
            self.terminated(server)
        self.strangers()

    def bodies(self, server):
        """1: longer than allowed, said at once, or in chunks."""
        h = ["Host: localhost", "Content-Type: application/json"]
        self.t.check("length over the limit", b" 413 " in server.raw(post(h + ["Content-Length: 4194305"]))[:20])
        flood = post(h + ["Transfer-Encoding: chunked"]) + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 80
        got = server.raw(flood)
        self.t.check("chunks over the limit", b" 413 " in got[:20] or got == b"", got[:80])
        self.t.check("a chunk over the limit", b" 413 " in server.raw(post(h + ["Transfer-Encoding: chunked"]) + b"ffffffff\r\n")[:20])

    def many_fields(self, server):
        """2: 400,000 fields."""
        got = server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 400000)
        self.t.check("400,000 fields", b" 431 " in got[:20] or got == b"", got[:80])

    def slow_head(self, server):
        """3: a byte a second."""
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.settimeout(1)
            got = b""
            for byte in b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: aaaaaaaaaaa":
                try:
                    s.sendall(bytes([byte]))
                    got += s.recv(4096)
                    break
                except socket.timeout:
                    continue
                except ConnectionError:
                    break
        took = time.monotonic() - begin
        self.t.check("a byte a second", took < 14 and b" 408 " in got[:20], "%.0f s, %r" % (took, got[:60]))

    def stalled(self, server):
        """4: 900 clients that stall in the middle of a body; /health is quick all the same."""
        clients = []
        for _ in range(900):
            s = socket.create_connection(("127.0.0.1", server.port))
            s.sendall(post(["Host: localhost", "Content-Type: application/json", "Content-Length: 1000"], b"{"))
            clients.append(s)
        times = []
        for _ in range(100):
            begin = time.monotonic()
            status = server.request("GET", "/health")[0]
            times.append(time.monotonic() - begin)
            if status != 200:
                break
        self.t.check("/health beside 900 that stall", len(times) == 100 and sorted(times)[98] < 0.5, "p99 %.0f ms" % (1000 * sorted(times)[-2]))
        for s in clients:
            s.close()

    def slow_reader(self, server):
        """5: asks for streams and reads nothing."""
        clients = []
        for _ in range(3):
            s = socket.create_connection(("127.0.0.1", server.port))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            body = json.dumps({"prompt": "Once", "max_tokens": 200, "n": 8, "stream": True, "logprobs": 20, "seed": 1}).encode()
            s.sendall(post(["Host: localhost", "Content-Type: application/json", "Content-Length: %d" % len(body)], body))
            clients.append(s)
        end = time.monotonic() + 60
        while time.monotonic() < end and (server.metric('heddle_slots{state="busy"}') or server.metric("heddle_queue")):
            time.sleep(0.1)
        self.t.check("unread streams end", time.monotonic() < end)
        for s in clients:
            s.close()

    def closed(self, server):
        """6: 100 clients that leave in the middle of a stream: at most one token is made for nobody."""
        body = json.dumps({"prompt": "Once", "max_tokens": 250, "stream": True, "temperature": 0}).encode()
        made = server.metric('heddle_tokens_total{kind="new"}')
        cancelled = server.metric("heddle_cancelled_total")
        for _ in range(100):
            with socket.create_connection(("127.0.0.1", server.port)) as s:
                s.sendall(post(["Host: localhost", "Content-Type: application/json", "Content-Length: %d" % len(body)], body))
                s.recv(300)
        end = time.monotonic() + 30
        while time.monotonic() < end and (server.metric('heddle_slots{state="busy"}') or server.metric("heddle_queue")):
            time.sleep(0.05)
        self.t.check("left", time.monotonic() < end and server.metric("heddle_cancelled_total") - cancelled >= 90,
                     "%r cancelled, %r tokens" % (server.metric("heddle_cancelled_total") - cancelled, server.metric('heddle_tokens_total{kind="new"}') - made))

    def smuggling(self, server):
        """7: no second answer, whatever a request hides."""
        for i, request in enumerate(smuggled()):
            got = server.raw(request, wait=5)
            self.t.check("smuggling %d" % i, got.count(b"HTTP/1.1 ") == 1 and got[9:12] in (b"400", b"431") and b"draining" not in got and b'"ok"' not in got,
                         "%r -> %r" % (request[:80], got[:120]))

    def deep(self, server):
        """9: nested 100,000 deep, and other bodies that are no request."""
        for body in (b"[" * 100000, b'{"prompt":' * 100000, b'{"a":' * 60 + b"1" + b"}" * 60, b'"' + b"a" * 3000000, b"\xff\xfe", b"1e999999", b'{"prompt":"' + b"\\ud800" * 1000 + b'"}'):
            status = server.request("POST", PATH, body)[0]
            self.t.check("body %r" % body[:12], status == 400, status)

    def fields(self, server):
        """10: fields at their bounds and of other kinds."""
        def bounded(body, draw):
            if not isinstance(body.get("max_tokens"), int) or isinstance(body["max_tokens"], bool) or body["max_tokens"] > 8:
                body["max_tokens"] = draw.choice((0, 1, 3, "x"))
            return body

        names = ["model", "prompt", "max_tokens", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "logit_bias",
                 "seed", "n", "best_of", "stop", "stream", "stream_options", "echo", "logprobs", "suffix", "user"]
        fuzz(self.t, server, PATH, {"prompt": "a", "max_tokens": 2, "temperature": 0}, names, self.fuzz, bounded)

    def full_queue(self, server):
        """11: more requests than may wait."""
        results = []

        def ask():
            results.append(server.request("POST", PATH, {"prompt": "Once upon a time", "max_tokens": 200, "temperature": 0, "n": 4}))

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        refused = [r for r in results if r[0] == 503]
        self.t.check("a full queue", refused and all(r[1].get("retry-after") == "1" for r in refused) and
                     all(r[0] in (200, 503) for r in results), [r[0] for r in results])

    def terminated(self, server):
        """12: SIGTERM while a stream runs: it ends whole. One that only comes when the server stops is answered 503."""
        results = []

        def ask(seed):
            results.append(server.stream(PATH, {"prompt": "Once", "max_tokens": 240, "seed": seed, "temperature": 1, "n": 4}))

        thread = threading.Thread(target=ask, args=(1,))
        thread.start()
        end = time.monotonic() + 10
        while time.monotonic() < end and not server.metric('heddle_slots{state="busy"}'):
            time.sleep(0.01)
        status = server.stop()
        thread.join()
        whole = results and (results[0][0] == 503 or (results[0][0] == 200 and results[0][1][-1] == "[DONE]"))
        self.t.check("SIGTERM", status == 0 and whole, (status, results and results[0][1][-1]))

    def strangers(self):
        """8: foreign hosts, pages and keys."""
        keys = os.path.join(self.work, "keys")
        with open(keys, "w") as file:
            file.write("0123456789abcdefX\nanother-key-of-ours\n")
        os.chmod(keys, 0o600)
        for flags, words in ((["--host", "0.0.0.0"], "--api-key-file"), (["--host", "::"], "--no-key"), (["--special-in-content", "x"], "refuse"), (["--system", "x"], "template"), (["--host", "example.org", "--no-key"], "address"), (["--port", "70000"], "65535"),
                             (["--api-key-file", "/dev/null"], "regular file")):
            done = subprocess.run([self.binary, "serve", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)
            self.t.check("serve %s" % " ".join(flags), done.returncode == (1 if "/dev/null" in flags else 2) and words in done.stderr, done)
        with Server(self.binary, "--api-key-file", keys, "--allow-host", "models.example.org", "--allow-origin", "https://app.example.org") as server:
            ask = lambda **fields: server.request("GET", "/v1/models", fields={k.replace("_", "-"): v for k, v in fields.items()})[0]
            key = {"Authorization": "Bearer another-key-of-ours"}
            check = lambda what, want, **fields: self.t.check(what, ask(**fields) == want, ask(**fields))
            check("no key", 401)
            check("a wrong key", 401, Authorization="Bearer 0123456789abcdefY")
            check("the beginning of a key", 401, Authorization="Bearer 0123456789abcdef")
            check("no bearer", 401, Authorization="Basic another-key-of-ours")
            check("a key", 200, **key)
            check("a known Host", 200, Host="models.example.org:80", **key)
            for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:80:80", "[::1", "local host", "0x7f000001", "127.1"):
                check("Host " + host, 403, Host=host, **key)
            for host in ("localhost", "LOCALHOST:8080", "a.localhost", "127.0.0.1", "[::1]:80", "192.168.1.7"):
                check("Host " + host, 200, Host=host, **key)
            check("a foreign page", 403, Origin="https://evil.example", **key)
            check("a null page", 403, Origin="null", **key)
            check("an allowed page", 200, Origin="https://app.example.org", **key)
            check("our own page", 200, Origin="http://localhost", Host="localhost", **key)
            self.t.check("/health is open", server.request("GET", "/health")[0] == 200)
            self.t.check("the page is open", server.request("GET", "/")[0] == 200)
            self.t.check("/metrics is not", server.request("GET", "/metrics")[0] == 401)
            self.t.check("an empty Host", b" 403 " in server.raw(b"GET /health HTTP/1.1\r\nHost:\r\n\r\n")[:20])
            self.t.check("text/plain", server.request("POST", PATH, json.dumps(GOOD), dict(key, **{"Content-Type": "text/plain"}))[0] == 415 and
                         server.request("POST", PATH, json.dumps(GOOD), dict(key, **{"Content-Type": "application/json; charset=utf-8"}))[0] == 200)
            self.t.check("stops", server.stop() == 0)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--fuzz", type=int, default=2000)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t = Counts(o.v)
    with tempfile.TemporaryDirectory(prefix="heddle-abuse-") as work:
        Abuse(t, compile_example(os.path.abspath(o.heddle), work), work, o.fuzz, not sanitized(o.heddle)).run()
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
