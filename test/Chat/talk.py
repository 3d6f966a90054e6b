#!/usr/bin/python3
"""Talking to a model: through pipes, and at a terminal of Python's pty.

    talk.py --heddle BIN [-v]

The model is examples/stories with the template of examples/chat. One line a failure, then `N passed, N failed`."""
import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from serving import ROOT, Counts, sanitized

STORIES = os.path.join(ROOT, "examples", "stories")
TEMPLATE = os.path.join(ROOT, "examples", "chat", "chat_template.jinja")
RAW, COOKED = b"\x1b[?2004h", b"\x1b[?2004l"


def run(binary, *words, text=""):
    done = subprocess.run([binary, *words], input=text.encode(), capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def begin():
    """In the child: its terminal is the one that controls it, and no signal is ignored because whoever started the test (nohup) does."""
    for one in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """`chat` at a terminal; `modes` are those before it began."""

    def __init__(self, binary, *flags, kind="xterm"):
        self.main, self.side = pty.openpty()
        self.modes = termios.tcgetattr(self.side)
        self.process = subprocess.Popen([binary, "chat", *flags], stdin=self.side, stdout=self.side, stderr=self.side, start_new_session=True,
                                        env=dict(os.environ, TERM=kind), preexec_fn=begin)

    def type(self, text):
        os.write(self.main, text if isinstance(text, bytes) else text.encode())

    def until(self, what, wait=300):
        """What is shown up to `what` and all that is there by then."""
        got, end = b"", time.monotonic() + wait
        while what not in got:
            if time.monotonic() > end or (self.process.poll() is not None and not select.select([self.main], [], [], 0)[0]):
                raise RuntimeError("never shown: %r in %r" % (what, got))
            if select.select([self.main], [], [], 0.2)[0]:
                got += os.read(self.main, 65536)
        return got

    def drain(self):
        got = b""
        while select.select([self.main], [], [], 0.3)[0]:
            got += os.read(self.main, 65536)
        return got

    def prompt(self):
        return self.until(RAW)

    def ask(self, text):
        """The answer to a line; the prompt is there before and after."""
        self.type(text if isinstance(text, bytes) else text.encode() + b"\r")
        got = self.until(COOKED)
        got += b"" if RAW in got.split(COOKED, 1)[1] else self.prompt()
        return got.split(COOKED, 1)[1].split(RAW)[0].decode().replace("\r\n", "\n")

    def end(self):
        """The exit status, and whether the terminal is as it was."""
        status = self.process.wait(300)
        same = termios.tcgetattr(self.side) == self.modes
        shown = self.drain()
        os.close(self.main)
        os.close(self.side)
        return status, same, shown


def pipes(t, binary, work):
    talk = "Once upon a time\nOne day\n"
    first = run(binary, "chat", "--greedy", "--stop", ".", text=talk)
    t.check("twice the same", first[0] == 0 and first[1] and first == run(binary, "chat", "--greedy", "--stop", ".", text=talk), first)
    answers = first[1][:-1].split("\n\n")
    messages = [{"role": "user", "content": "Once upon a time"}, {"role": "assistant", "content": answers[0]}, {"role": "user", "content": "One day"}]
    path = os.path.join(work, "two.json")
    with open(path, "w") as file:
        json.dump(messages, file)
    whole = run(binary, "--messages", path, "--greedy", "--stop", ".")
    t.check("the second answer is that of a fresh run", len(answers) == 2 and whole == (0, answers[1] + "\n", ""), (answers, whole))
    with open(path) as file:
        t.check("messages of stdin", run(binary, "--messages", "-", "--greedy", "--stop", ".", text=file.read()) == whole)
    t.check("one question", run(binary, "Once upon a time", "--greedy", "--stop", ".")[1] == answers[0] + "\n")
    t.check("a question of stdin", run(binary, "-", "--greedy", "--stop", ".", text="Once upon a time\n")[1] == answers[0] + "\n")
    t.check("a question a line", run(binary, "--lines", "--greedy", "--stop", ".", text="Once upon a time\nOnce upon a time\n")[1] == (answers[0] + "\n") * 2)
    t.check("raw text", run(binary, "--raw", "Once upon a time", "--greedy", "--stop", ".")[1] == "Once upon a time" + answers[0] + "\n")
    t.check("generate --text", run(binary, "generate", "--text", "Once upon a time", "--greedy", "--stop", ".")[1] == "Once upon a time" + answers[0] + "\n")
    t.check("a system turn", run(binary, "One day", "--system", "Once upon a time" + answers[0] + ".", "--greedy", "--stop", ".")[1] == answers[1] + "\n")
    t.check("its other way", run(binary, "chat", "--greedy", "--stop", ".", text="/system Once upon a time%s.\nOne day\n" % answers[0])[1] == answers[1] + "\n")
    asked = "Once\\\nupon a time\n\"\"\"\nOne\nday\n\"\"\"\n"
    saved = os.path.join(work, "saved.json")
    code, out, err = run(binary, "chat", "--greedy", "--stop", ".", text=asked + "/save %s\n" % saved)
    with open(saved) as file:
        kept = json.load(file)
    t.check("several lines are one question", [m["content"] for m in kept[::2]] == ["Once\nupon a time", "One\nday"], kept)
    t.check("what is saved is loaded", run(binary, "chat", "--greedy", "--stop", ".", text="/load %s\n/undo\n/undo\n%s" % (path, talk))[1] == first[1])
    undone = run(binary, "chat", "--greedy", "--stop", ".", text="Once upon a time\nThe cat\n/undo\nOne day\n")
    t.check("/undo", undone[1].split("\n\n")[-1] == answers[1] + "\n", undone)
    again = run(binary, "chat", "--greedy", "--stop", ".", text="Once upon a time\n/retry\n/clear\nOnce upon a time\n")
    t.check("/retry and /clear", again[1] == "\n\n".join([answers[0]] * 3) + "\n", again)
    drawn = run(binary, "chat", "--temp", "1", "--seed", "5", "-n", "9", text="Once upon a time\n/retry\n")[1].split("\n\n")
    t.check("/retry draws another", len(drawn) == 2 and drawn[0] != drawn[1].rstrip("\n"), drawn)
    t.check("/set", run(binary, "chat", "--greedy", text="/set n 3\n/set temp 1\n/set seed 5\n/set greedy\nOnce upon a time\n/set\n")[1:] ==
            (run(binary, "Once upon a time", "--greedy", "-n", "3")[1], "note: set: n 3, greedy\n"))
    code, out, err = run(binary, "chat", "--greedy", "-n", "8", text="Once upon a time\n" + "Then\n" * 9 + "/stats\n")
    said = re.search(r"10 turns, (\d+) prompt tokens, (\d+) of them", err)
    t.check("ten turns are computed once", said and int(said[1]) > 400 and int(said[2]) * 20 < int(said[1]), err)
    for what, words, text, status, says in (
            ("an unknown command", ["chat"], "/undoo\n", 2, "did you mean /undo?"), ("a flag of the compiler", ["--template", "x", "hi"], "", 2, "heddle compile"),
            ("a variable", ["hi", "--var", "a=b"], "", 2, "no JSON"), ("no conversation", ["--messages", TEMPLATE], "", 1, "no JSON"),
            ("a conversation of no list", ["--messages", "-"], '{"a": 1}', 1, "a list of messages expected"),
            ("both", ["--messages", path, "hi"], "", 2, "the whole conversation"), ("raw and system", ["hi", "--raw", "--system", "x"], "", 2, "--raw"),
            ("a full context", ["chat", "--context", "20", "--greedy"], "Once upon a time\nOne day\n", 1, "there are 20 positions"),
            ("beams", ["chat", "--num-beams", "2"], "", 2, "--num-beams")):
        code, out, err = run(binary, *words, text=text)
        t.check(what, code == status and says in err, (code, out, err))
    return answers


def typed(t, binary, answers):
    """The line editor, /undo, and ways out."""
    terminal = Terminal(binary, "--greedy", "--stop", ".")
    terminal.prompt()
    t.check("keys", terminal.ask(b"xce upon a timeZ\x7f\x1b[Hy\x1b[3~On\x7f\x7f\x01O\x06\x02n\x1b[3~\x05\r").rstrip("\n") == answers[0], "edited")
    t.check("/undo and history", "taken back" in terminal.ask("/undo") and terminal.ask(b"\x1b[A\x1b[A\r").rstrip("\n") == answers[0])
    pasted = terminal.ask(b"\x1b[200~One\rday\x1b[201~\r")
    t.check("a paste is one question", pasted.strip() and terminal.ask("/stats").startswith("3 turns"), pasted)
    wide = "\u4f60\u597d e\u0301"
    terminal.type(wide.encode() + b"\x02\x02\x02")
    shown = terminal.until(b"\x1b[4C")
    t.check("wide characters", b"\x1b[4C" in shown, shown)
    terminal.type(b"\x03")
    terminal.prompt()
    terminal.type(b"\x03")
    shown = terminal.prompt()
    t.check("Ctrl-C warns", b"Ctrl-C again" in shown, shown)
    terminal.type(b"\x03")
    t.check("and leaves", terminal.end()[:2] == (130, True))
    for what, how, status in (("Ctrl-D", lambda p: p.type(b"\x04"), 0), ("/exit", lambda p: p.type("/exit\r"), 0),
                              ("SIGTERM", lambda p: p.process.terminate(), -signal.SIGTERM), ("SIGHUP", lambda p: p.process.send_signal(signal.SIGHUP), -signal.SIGHUP)):
        terminal = Terminal(binary)
        terminal.prompt()
        raw = termios.tcgetattr(terminal.side) != terminal.modes
        how(terminal)
        t.check(what, raw and terminal.end()[:2] == (status, True))
    terminal = Terminal(binary, "--greedy", "--stop", ".", kind="dumb")
    terminal.type("Once upon a time\n")
    shown = terminal.until(answers[0].encode())
    t.check("a dumb terminal", b"\x1b" not in shown and b"> " not in shown, shown)
    terminal.type(b"\x04")
    t.check("and its end", terminal.end()[:2] == (0, True))


def stopped(t, binary):
    """Ctrl-C in an answer: at most one token more is said, and the next turn works."""
    for _ in range(5): # a busy machine may be through before it is stopped
        terminal = Terminal(binary, "--greedy", "--ignore-eos")
        terminal.prompt()
        terminal.type("Once upon a time\r")
        before = terminal.until(b",")
        terminal.process.send_signal(signal.SIGSTOP)
        before += terminal.drain()
        if RAW not in before:
            terminal.type(b"\x03")
            terminal.process.send_signal(signal.SIGCONT)
            after = terminal.prompt()
            rest = after.split(b"\r\n")[0].replace(b"^C", b"").decode()
            t.check("one token at most", len(rest.split()) <= 1 and terminal.process.poll() is None, (before, after))
            t.check("the next turn works", terminal.ask("/set n 4") == "" and len(terminal.ask("One day").split()) >= 2)
            t.check("the turn is kept", "One day" in terminal.ask("/undo") and "Once upon a time" in terminal.ask("/undo"))
            terminal.type(b"\x04")
            return t.check("the terminal after that", terminal.end()[:2] == (0, True))
        terminal.process.send_signal(signal.SIGCONT)
        terminal.process.kill()
        terminal.end()
    return t.check("stopped in time", False)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t = Counts(o.v)
    with tempfile.TemporaryDirectory(prefix="heddle-talk-") as work:
        binary = os.path.join(work, "story")
        subprocess.run([o.heddle, "compile", STORIES, "--template", TEMPLATE, "-o", binary, *cached.flags(o.heddle)], check=True)
        without = os.path.join(work, "without")
        subprocess.run([o.heddle, "compile", STORIES, "--template", TEMPLATE, "--without=chat", "-o", without, *cached.flags(o.heddle)], check=True)
        more = os.path.getsize(binary) - os.path.getsize(without)
        t.check("size", 0 < more <= 150 << 10 or sanitized(o.heddle), more)
        code, _, err = run(without, "hi", "--system", "x")
        t.check("without chat", code == 2 and "--without=chat" in err and run(without, "chat")[0] == 2, err)
        answers = pipes(t, binary, work)
        typed(t, binary, answers)
        stopped(t, binary)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
