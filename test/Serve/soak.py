#!/usr/bin/python3
"""A server for hours: four clients that never stop asking, some of whom go away; every answer is right and memory does not grow.

    soak.py --heddle BIN [--minutes 120] [--clients 4] [--slots 4] [--threads N]

Requests are company.py's, each against its answer alone. Memory is sampled every second; its slope is that of a line through
the samples of the second half. Prints a line a minute, then `N passed, N failed`."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from company import go_away, of_stream, requests_for, told
from serving import Counts, Server, compile_example

MOST_SLOPE = 1 << 20  # bytes an hour


def slope(samples):
    """Bytes an hour of (seconds, bytes)."""
    n = len(samples)
    x, y = sum(s for s, _ in samples) / n, sum(b for _, b in samples) / n
    return 3600 * sum((s - x) * (b - y) for s, b in samples) / max(sum((s - x) ** 2 for s, _ in samples), 1e-9)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--minutes", type=float, default=120)
    p.add_argument("--clients", type=int, default=4)
    p.add_argument("--slots", type=int, default=4)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    t = Counts()
    with tempfile.TemporaryDirectory(prefix="heddle-soak-") as work:
        binary = compile_example(os.path.abspath(o.heddle), work)
        bodies = requests_for(random.Random(o.seed), 60, 60)
        with Server(binary, "--slots", "1", "--threads", "1") as server:
            want = [[told(c) for c in server.post("/v1/completions", body)[1]["choices"]] for body in bodies]
        end, counts, lock = time.monotonic() + 60 * o.minutes, {"right": 0, "wrong": 0, "left": 0}, threading.Lock()
        with Server(binary, "--slots", str(o.slots), "--threads", str(o.threads)) as server:

            def client(number):
                draw = random.Random(o.seed * 1000 + number)
                while time.monotonic() < end:
                    i, way, what = draw.randrange(len(bodies)), draw.random(), "wrong"
                    try:
                        if way < 0.1:
                            go_away(server.port, bodies[i], 100 + int(way * 20000))
                            what = "left"
                        elif way < 0.5:
                            status, events = server.stream("/v1/completions", bodies[i])
                            what = "right" if status == 200 and of_stream(events[:-1]) == want[i] else "wrong"
                        else:
                            status, got = server.post("/v1/completions", bodies[i])
                            what = "right" if status == 200 and [told(c) for c in got["choices"]] == want[i] else "wrong"
                    except Exception as e:  # whatever it is, it is counted
                        print("error: %r" % e, flush=True)
                    with lock:
                        counts[what] += 1

            clients = [threading.Thread(target=client, args=(i,)) for i in range(o.clients)]
            for one in clients:
                one.start()
            begin, samples, said = time.monotonic(), [], 0
            while any(one.is_alive() for one in clients):
                time.sleep(1)
                now = time.monotonic() - begin
                samples.append((now, server.resident()))
                if now // 60 > said:
                    said = now // 60
                    print("%4d min: %s, %.2f MB" % (said, counts, samples[-1][1] / 1e6), flush=True)
            grows = slope(samples[len(samples) // 2:])
            t.check("every answer is right", counts["wrong"] == 0 and counts["right"] > 0, counts)
            t.check("memory does not grow", grows <= MOST_SLOPE, "%.0f bytes an hour" % grows)
            t.check("ends", server.stop() == 0)
            print("%s in %.1f minutes, %.0f bytes an hour" % (counts, o.minutes, grows))
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
