"""A server of a compiled example, started on a free port, and ways to talk to it: JSON, streams, raw bytes."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import cached

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Counts:
    """What passed and failed; prints a line a failure."""

    def __init__(self, verbose=False):
        self.passed = self.failed = self.skipped = 0
        self.verbose = verbose

    def check(self, what, good, more=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if self.verbose or not good:
            print("%s %s %s" % ("ok  " if good else "FAIL", what, more), flush=True)
        return bool(good)

    def skip(self, why):
        self.skipped += 1
        print("skipped: " + why, flush=True)

    def end(self):
        print("%d passed, %d failed" % (self.passed, self.failed) + (", %d skipped" % self.skipped if self.skipped else ""))
        return int(self.failed > 0 or not self.passed)


def sanitized(heddle):
    """Whether programs are linked with a runtime with sanitizers (test/sanitize.sh): they are larger, and keep what is freed for a while."""
    return os.path.exists(os.path.join(os.path.dirname(os.path.abspath(heddle)), os.pardir, "lib", "libheddle.sanitizers"))


def compile_example(heddle, folder, name="stories", flags=()):
    binary = os.path.join(folder, name)
    subprocess.run([heddle, "compile", os.path.join(ROOT, "examples", name), "-o", binary, *cached.flags(heddle), *flags], check=True)
    return binary


class Server:
    def __init__(self, binary, *flags, environment=None):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([binary, "serve", "--port", "0", *flags], stdout=subprocess.PIPE, stderr=self.log, env=environment)
        self.line = self.process.stdout.readline().decode()
        found = re.search(r"http://(\[?[^/]*?\]?):(\d+)/", self.line)
        if not found:
            self.log.seek(0)
            raise RuntimeError("no server: %r %r" % (self.line, self.log.read()))
        self.port = int(found.group(2))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self, wait=60):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(wait)

    def request(self, method, path, body=None, fields=None, timeout=60):
        """(status, fields, bytes); `body` is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        fields = dict(fields or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, dict((k.lower(), v) for k, v in answer.getheaders()), data

    def post(self, path, body, fields=None):
        """(status, JSON)."""
        status, _, data = self.request("POST", path, body, fields)
        return status, json.loads(data)

    def stream(self, path, body, fields=None):
        """The events of a stream as JSON; the last is "[DONE]" where the server says so."""
        status, head, data = self.request("POST", path, dict(body, stream=True), fields)
        if status != 200:
            return status, [json.loads(data)]
        events = []
        for block in data.decode().split("\n\n"):
            if block.startswith("data: "):
                events.append(block[6:] if block == "data: [DONE]" else json.loads(block[6:]))
            elif block and not block.startswith(":"):
                raise ValueError("no event: %r" % block)
        return status, events

    def raw(self, data, wait=10, half=False):
        """Sends bytes and returns all that comes until the connection ends or `wait` seconds pass."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as s:
            s.sendall(data)
            if half:
                s.shutdown(socket.SHUT_WR)
            got = b""
            end = time.monotonic() + wait
            try:
                while time.monotonic() < end:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    got += piece
            except (ConnectionError, socket.timeout):
                pass
            return got

    def resident(self):
        """Bytes of memory."""
        with open("/proc/%d/statm" % self.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def metric(self, name):
        _, _, data = self.request("GET", "/metrics")
        for line in data.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        return None
