#!/usr/bin/python3
"""Calls of the system that fail, now and then, under a server and a chat: neither dies by a signal, hangs, or loses an answer in silence.

    injected.py --heddle BIN [--every N,...] [-v]

Every Nth call of one function fails, from the start on or once the server listens. A program may end with the status of what is
missing; 70 and signals are mistakes. A client gets an answer with a status, or its server has ended with one."""
import argparse
import errno
import http.client
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from serving import ROOT, Counts, Server, sanitized

# What fails, and with which error.
CALLS = [("malloc", errno.ENOMEM), ("calloc", errno.ENOMEM), ("realloc", errno.ENOMEM), ("read", errno.EIO), ("write", errno.EIO), ("readv", errno.EIO),
         ("writev", errno.ENOBUFS), ("recv", errno.EIO), ("send", errno.ENOBUFS), ("accept4", errno.EMFILE), ("epoll_ctl", errno.ENOMEM), ("epoll_wait", errno.EIO),
         ("poll", errno.ENOMEM), ("eventfd", errno.EMFILE), ("pthread_create", errno.EAGAIN)]
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}Once upon a time{% endif %}"
GOOD = {0, 1, 2, 4, 5}
ASKED = [("GET", "/health", None), ("POST", "/v1/completions", {"prompt": "Once", "max_tokens": 4}), ("POST", "/v1/completions", {"prompt": "Once", "max_tokens": 4, "stream": True}),
         ("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "Tell me."}], "max_tokens": 4}), ("GET", "/nowhere", None), ("GET", "/v1/models", None)]


def environment(library, call, every, error, skip=0):
    return dict(os.environ, LD_PRELOAD=library, INJECT="%s %d %d %d" % (call, every, error, skip))


def served(t, binary, library, call, every, error):
    what = "serve, every %d of %s" % (every, call)
    try:
        server = Server(binary, environment=environment(library, call, every, error))
    except RuntimeError:
        done = subprocess.run([binary, "serve", "--port", "0"], env=environment(library, call, every, error), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
        t.check(what + ": it does not begin", done.returncode in GOOD - {0} and done.stderr, done)
        return
    with server:
        unanswered = []
        deaf = (call, every) in (("accept4", 1), ("epoll_wait", 1)) # nobody comes in, so nobody can be answered; the server waits and hears signals
        for i in range(1 if deaf else 3 * len(ASKED)):
            method, path, body = ASKED[i % len(ASKED)]
            try:
                status, _, data = server.request(method, path, body, timeout=1 if deaf else 10)
                if status not in (200, 404, 500, 503):
                    unanswered.append((path, status))
            except (OSError, http.client.HTTPException) as problem:
                time.sleep(0.1)
                if server.process.poll() is None:
                    unanswered.append((path, repr(problem)))
                elif server.process.returncode in GOOD - {0}:
                    break # it has said so
        if deaf:
            t.check(what + ": it waits", server.process.poll() is None, server.process.returncode)
        else:
            t.check(what + ": answers", not unanswered, unanswered)
        try:
            status = server.process.poll()
            status = server.stop(15) if status is None else status
        except subprocess.TimeoutExpired:
            status = "no end"
        server.log.seek(0)
        t.check(what + ": its end", status in GOOD, (status, server.log.read()[-300:]))


def chatted(t, binary, library, call, every, error, want):
    what = "chat, every %d of %s" % (every, call)
    try:
        done = subprocess.run([binary, "chat", "-n", "6", "--greedy"], input=b"Tell me.\nAnd then?\n", env=environment(library, call, every, error), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    except subprocess.TimeoutExpired:
        return t.check(what, False, "no end")
    t.check(what, done.returncode in GOOD and (done.returncode != 0 or done.stdout == want) and (done.returncode == 0 or done.stderr), done)


def threads(t, binary, library):
    """No thread to be had: fewer with a note, or the end before anything is promised."""
    env = environment(library, "pthread_create", 1, errno.EAGAIN)
    done = subprocess.run([binary, "generate", "--text", "Once", "-n", "4", "--greedy", "--threads", "3"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    alone = subprocess.run([binary, "generate", "--text", "Once", "-n", "4", "--greedy"], stdout=subprocess.PIPE, timeout=30)
    t.check("fewer threads", done.returncode == 0 and done.stdout == alone.stdout and b"1 threads instead of 3" in done.stderr, done)
    for skip in (0, 1, 2):
        env = environment(library, "pthread_create", 1, errno.EAGAIN, skip)
        done = subprocess.run([binary, "serve", "--port", "0", "--threads", "2"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
        t.check("a server with %d threads" % (skip + 1), done.returncode == 4 and not done.stdout and b"no thread that" in done.stderr, done)


def signals(t, binary, library):
    """A signal whose wake-up fails is heard all the same."""
    with Server(binary, environment=environment(library, "write", 1, errno.EIO, 1)) as server: # but the address is written
        t.check("answers without wake-ups", server.request("GET", "/health", timeout=10)[0] == 200)
        t.check("SIGTERM without wake-ups", server.stop(10) == 0)


def memory(t, binary):
    """A body of 4 MB costs what is in proportion to it."""
    with Server(binary) as server:
        server.request("GET", "/health")
        before = server.resident()
        for body in (b"[" + b"0," * 2000000 + b"0]", b'{"prompt":[' + b"1," * 2000000 + b"1]}", b'{"prompt":[' + b'"",' * 1300000 + b'""]}', b'{"a":[' + b"{}," * 1300000 + b"{}]}"):
            status, _, data = server.request("POST", "/v1/completions", body)
            t.check("a body of %d values" % body.count(b","), status == 400 and b"values" in data, data)
        with open("/proc/%d/status" % server.process.pid) as file:
            peak = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))
        t.check("memory of a body", peak - before < 96 << 20, "%d MB" % ((peak - before) >> 20))
        t.check("ends", server.stop() == 0)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--every", default="3,17")
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t, heddle = Counts(o.v), os.path.abspath(o.heddle)
    compiler = next((c for c in ("cc", "clang-22", "clang++-22", "gcc") if shutil.which(c)), None)
    if not compiler or sanitized(heddle):
        print("skipped: no C compiler for the library that lets calls fail, or its calls are the sanitizer's")
        return 0
    with tempfile.TemporaryDirectory(prefix="heddle-injected-") as work:
        library, folder, binary = os.path.join(work, "inject.so"), os.path.join(work, "talker"), os.path.join(work, "talker.bin")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "inject.c"), "-ldl"], check=True)
        shutil.copytree(os.path.join(ROOT, "examples", "stories"), folder)
        with open(os.path.join(folder, "chat_template.jinja"), "w") as file:
            file.write(TEMPLATE)
        subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True)
        want = subprocess.run([binary, "chat", "-n", "6", "--greedy"], input=b"Tell me.\nAnd then?\n", stdout=subprocess.PIPE, check=True).stdout
        threads(t, binary, library)
        signals(t, binary, library)
        memory(t, binary)
        for call, error in CALLS:
            for every in map(int, o.every.split(",")):
                served(t, binary, library, call, every, error)
                chatted(t, binary, library, call, every, error, want)
        # A loop that is refused most of what it asks for still hears SIGTERM.
        for call, every, error in (("epoll_ctl", 2, errno.ENOMEM), ("epoll_wait", 1, errno.EIO)):
            served(t, binary, library, call, every, error)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
