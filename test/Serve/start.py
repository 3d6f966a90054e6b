#!/usr/bin/env python3
"""How long a program takes from its start to its first answered /health, by hand:

    start.py BINARY [TIMES]

Prints the least, median and largest time in ms. Every start must end with 0 after SIGTERM. Not run by the suite: it is a time.
"""
import http.client
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(binary, port):
    begin = time.monotonic()
    p = subprocess.Popen([binary, "serve", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                c = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                c.request("GET", "/health")
                status = c.getresponse().status
                took = time.monotonic() - begin
                c.close()
                break
            except ConnectionRefusedError:
                if p.poll() is not None:
                    sys.exit("the server ended with %d" % p.returncode)
                time.sleep(0.0005)
    finally:
        p.terminate()
        code = p.wait()
    if status != 200 or code != 0:
        sys.exit("status %d, exit %d" % (status, code))
    return took * 1000


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 21
    times = sorted(start(sys.argv[1], free_port()) for _ in range(count))
    print("start to /health: least %.1f, median %.1f, largest %.1f ms of %d" % (times[0], times[count // 2], times[-1], count))
