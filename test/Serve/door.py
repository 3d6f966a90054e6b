#!/usr/bin/python3
"""The door of a server: what becomes of clients that stall or are refused, and whether others are heard beside them.

    door.py --heddle BIN [--clients N] [-v]

`--clients N`: so many connections at a server that may have 256 file handles (2,000). One line a failure, then `N passed, M failed`."""
import argparse
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from serving import Counts, Server, compile_example

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = GET.replace(b"Host", b"Connection: close\r\nHost")
# What is refused, and what stalls: in front of a head, in it, and in a body.
REFUSED = {403: b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 404: b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n",
           405: b"DELETE /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 411: b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n\r\n",
           415: b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"}
STALLED = [b"", b"GET /health HT", b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"]


class Limited(Server):
    """A server that may have so many file handles."""

    def __init__(self, binary, handles, *flags, soft=None):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.handles = (soft or handles, handles)
        script = os.path.join(os.path.dirname(binary), "limited")
        with open(script, "w") as file:
            file.write("#!/bin/sh\nulimit -n %d && ulimit -Sn %d && exec %s \"$@\"\n" % (handles, soft or handles, binary))
        os.chmod(script, 0o755)
        assert before[1] == resource.RLIM_INFINITY or before[1] >= handles, before
        super().__init__(script, *flags)

    def lines(self):
        self.log.seek(0)
        return self.log.read().decode().splitlines()


def connected(port, data, peer="127.0.0.1"):
    s = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(peer, 0))
    if data:
        try:
            s.sendall(data)
        except ConnectionError:  # it has made room already
            pass
    return s


def status_of(s):
    """The status of the answer and whether the connection ended; within the socket's time."""
    got = b""
    try:
        while True:
            piece = s.recv(65536)
            if not piece:
                return int(got[9:12] or 0), True, got
            got += piece
    except ConnectionError:
        return int(got[9:12] or 0), True, got
    except socket.timeout:
        return int(got[9:12] or 0), False, got


class Health:
    """Asks for /health over and over, each time by a new connection, while the test goes on."""

    def __init__(self, port):
        self.port, self.times, self.wrong, self.over = port, [], [], False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over:
            begin = time.monotonic()
            try:
                with connected(self.port, GET) as s:
                    s.settimeout(10)
                    got = s.recv(4096)
            except OSError as error:
                got = repr(error).encode()
            self.times.append(time.monotonic() - begin)
            if not got.startswith(b"HTTP/1.1 200"):
                self.wrong.append(got[:60])
            time.sleep(0.005)

    def end(self):
        self.over = True
        self.thread.join()
        return max(self.times)


def crowd(t, binary, count):
    """Stalled and refused connections, many more than there are handles for."""
    clients = []
    with Limited(binary, 256) as server:
        health = Health(server.port)
        for i in range(count):
            clients.append(connected(server.port, list(REFUSED.values())[i // 2 % len(REFUSED)] if i % 2 else STALLED[i // 2 % 3]))
        time.sleep(1)
        worst = health.end()
        t.check("/health beside %d that stall or are refused" % count, not health.wrong and worst < 1 and len(health.times) > 20,
                "%.2f s at worst of %d, %s" % (worst, len(health.times), health.wrong[:3]))
        t.check("a text beside them", server.post("/v1/completions", {"prompt": "Once", "max_tokens": 2})[0] == 200)
        begin = time.monotonic()
        t.check("SIGTERM beside them", server.stop() == 0 and time.monotonic() - begin < 10, "%.1f s" % (time.monotonic() - begin))
        t.check("what it says of them", len(server.lines()) < 10, server.lines()[:10])
    for s in clients:
        s.close()


def refusals(t, binary):
    """A refusal is the last answer of its connection, which ends soon."""
    with Server(binary) as server:
        for status, data in REFUSED.items():
            with connected(server.port, data) as s:
                s.settimeout(8)
                got = status_of(s)
                t.check("a refusal ends its connection", got[:2] == (status, True), (status, got))
        for host in ("evil.com/.localhost", "a b.localhost", "..localhost", "evil.com#.localhost", "x@.localhost", "a..localhost"):
            got = server.raw(b"GET /health HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode(), 5)
            t.check("Host " + host, got[9:12] == b"403", got[:40])
        # HEAD says what GET would, without the body: two of them on one connection, then a GET.
        head = b"HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
        got = server.raw(head % b"/health" + head % b"/v1/models" + LAST, 5)
        parts = got.split(b"\r\n\r\n")
        t.check("HEAD has no body", len(parts) == 4 and all(p.startswith(b"HTTP/1.1 200 ") for p in parts[:3]) and parts[3] == b'{"status":"ok"}', got)
        t.check("a refused HEAD has none", server.raw(head % b"/nowhere", 5).endswith(b"\r\n\r\n"))
        # A stalled body, and a connection that only was opened, do not hold the server up when it ends.
        clients = [connected(server.port, data) for data in STALLED + list(REFUSED.values())]
        begin = time.monotonic()
        t.check("SIGTERM beside stalled ones", server.stop() == 0 and time.monotonic() - begin < 10, "%.1f s" % (time.monotonic() - begin))
        for s in clients:
            s.close()


def handles(t, binary):
    """Few handles: the soft limit is raised, and what is left bounds the connections."""
    for few, soft in ((64, None), (40, None), (600, 40)):
        with Limited(binary, few, soft=soft) as server:
            clients = [connected(server.port, STALLED[i % 3]) for i in range(3 * few)]
            t.check("/health with %d handles" % few, server.raw(LAST, 5)[9:12] == b"200")
            used = len(os.listdir("/proc/%d/fd" % server.process.pid))
            t.check("handles in use of %d" % few, used <= few and (not soft or used > 2 * soft), used)
            t.check("it ends", server.stop() == 0)
            t.check("what it says with %d handles" % few, len(server.lines()) < 10, server.lines()[:10])
            for s in clients:
                s.close()
    done = subprocess.run(["sh", "-c", "ulimit -n 8; exec \"$0\" serve --port 0", binary], capture_output=True, text=True, timeout=20)
    t.check("8 handles are too few", done.returncode == 4 and done.stdout == "", done)


def is_open(s):
    """Whether the server has not ended this connection."""
    s.settimeout(0.01)
    try:
        return s.recv(1, socket.MSG_PEEK) != b""
    except socket.timeout:
        return True
    except ConnectionError:
        return False


def shares(t, binary):
    """A peer has its share of the connections; beyond it the peer itself loses one, or is sent away, and nobody else notices."""
    ask = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    body = b'{"prompt": [%s"Once"], "stream": true, "ignore_eos": true, "n": 8}' % (63 * b'"Once", ')  # longer than all that is asked beside it
    with Server(binary, "--connections-per-peer", "4", "--slots", "1") as server:
        own = connected(server.port, STALLED[1])
        crowd = [connected(server.port, STALLED[i % 3], "127.0.0.2") for i in range(20)]
        t.check("beside a crowd: /health for all", all(status_of(connected(server.port, LAST, peer))[0] == 200 for peer in ("127.0.0.1", "127.0.0.2")))
        held = [is_open(s) for s in crowd]
        # /health took the place of the one that had kept still for longest: when the server read what each said is its own affair.
        t.check("the newest of a crowd, less what /health took", not any(held[:16]) and sum(held[16:]) == 3, held)
        t.check("another's connection stays", is_open(own))
        for s in crowd:
            s.close()
        busy = [connected(server.port, ask % (len(body), body), "127.0.0.2") for _ in range(4)]
        for s in busy[:1]: # an answer has begun, the others wait
            s.settimeout(20)
            s.recv(9, socket.MSG_PEEK)
        deadline = time.monotonic() + 20
        while server.metric("heddle_queue") != 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        for _ in range(3):
            with connected(server.port, GET, "127.0.0.2") as s:
                s.settimeout(8)
                status, ended, got = status_of(s)
                t.check("one more of a busy peer is sent away", (status, ended) == (503, True) and b"--connections-per-peer" in got, got)
        t.check("others are served", server.raw(LAST, 5)[9:12] == b"200")
        t.check("nothing is taken from who waits for an answer", all(map(is_open, busy)))
        for s in busy:
            s.close()
        while server.metric("heddle_slots{state=\"busy\"}") and time.monotonic() < deadline:
            time.sleep(0.01)
        with connected(server.port, GET, "127.0.0.2") as s:
            s.settimeout(8)
            t.check("and then it is served", s.recv(4096)[9:12] == b"200")
        own.close()
        t.check("it ends", server.stop() == 0)
    # Where nobody says how many, a quarter.
    with Limited(binary, 256) as server:
        own = [connected(server.port, STALLED[0]) for _ in range(20)]
        server.raw(LAST, 5)
        before = len(os.listdir("/proc/%d/fd" % server.process.pid))
        crowd = [connected(server.port, STALLED[i % 3], "127.0.0.2") for i in range(300)]
        t.check("/health beside them", server.raw(LAST, 5)[9:12] == b"200")
        used = len(os.listdir("/proc/%d/fd" % server.process.pid)) - before
        t.check("a quarter of 256 handles, about", 40 < used <= 64, used)
        t.check("others keep theirs", all(map(is_open, own)))
        for s in own + crowd:
            s.close()
    done = subprocess.run([binary, "serve", "--connections-per-peer", "0"], capture_output=True, text=True, timeout=20)
    t.check("no connection is none", done.returncode == 2 and "--connections-per-peer" in done.stderr, done)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--clients", type=int, default=2000)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t = Counts(o.v)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = o.clients + 200
    if hard != resource.RLIM_INFINITY and hard < wanted:
        print("skipped: this process may have %d file handles, and the test needs %d" % (hard, wanted))
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted) if soft != resource.RLIM_INFINITY else soft, hard))
    with tempfile.TemporaryDirectory(prefix="heddle-door-") as work:
        binary = compile_example(os.path.abspath(o.heddle), work)
        refusals(t, binary)
        handles(t, binary)
        shares(t, binary)
        crowd(t, binary, o.clients)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
