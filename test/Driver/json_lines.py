"""What programs print as JSON: `json_lines.py HEDDLE WORK`. One line a failure, then `N passed, N failed`."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test  # noqa: F401
import cached
from checks import check, finish

heddle, work = sys.argv[1:]
EXAMPLES = os.path.abspath(__file__).rpartition("/test/")[0] + "/examples"
os.makedirs(work)
program = os.path.join(work, "stories")
subprocess.run([heddle, "compile", os.path.join(EXAMPLES, "stories"), "-o", program, *cached.flags(heddle)], check=True)


def run(*words, stdin="", status=0):
    ran = subprocess.run([program, *words], input=stdin, capture_output=True, text=True, timeout=60)
    check(ran.returncode == status, "%s: exit status %d: %s" % (words, ran.returncode, ran.stderr))
    return ran.stdout, ran.stderr


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


PROMPT = "Once upon a time"
plain = run(PROMPT, "-n", "24", "--greedy")[0]
said = lines(run(PROMPT, "-n", "24", "--greedy", "--json")[0])
check(PROMPT + "".join(s["text"] for s in said[:-1]) + "\n" == plain, "the pieces are the text: %s" % said)
usage = said[-1]["usage"]
check(usage["completion_tokens"] == 24 == sum(len(s["ids"]) for s in said[:-1]) and said[-1]["finish_reason"] == "length", "usage: %s" % said[-1])
check(usage["total_tokens"] == usage["prompt_tokens"] + 24, "total")
ids = run(PROMPT, "-n", "24", "--greedy", "--print-ids")[0]
check([int(i) for i in ids.split(",")] == [i for s in said[:-1] for i in s["ids"]], "the ids are those of --print-ids")
bare = lines(run(PROMPT, "-n", "3", "--greedy", "--print-ids", "--json")[0])
check(all(list(s) == ["ids"] for s in bare[:-1]), "ids alone: %s" % bare)
whole = lines(run(PROMPT, "-n", "400", "--greedy", "--json")[0])[-1]
check(whole["finish_reason"] == "stop" and "seed" not in whole and "stats" not in whole, "a text that ends: %s" % whole)
out, err = run(PROMPT, "-n", "5", "--temp", "1", "--json", "--stats")
last = lines(out)[-1]
check(err == "" and last["stats"]["made_tokens"] == 5 and last["stats"]["read_ms"] > 0 and last["stats"]["resident_bytes"] > 0, "--stats: %s %s" % (last, err))
again = lines(run(PROMPT, "-n", "5", "--temp", "1", "--json", "--seed", str(last["seed"]))[0])
check([s.get("text") for s in again[:-1]] == [s.get("text") for s in lines(out)[:-1]], "the seed gives the text again")
many = lines(run("--lines", "-n", "4", "--greedy", "--json", stdin="One day\nOnce upon\n")[0])
check({s["line"] for s in many} == {1, 2} and sum("usage" in s for s in many) == 2, "--lines: %s" % many)
beams = lines(run(PROMPT, "-n", "6", "--num-beams", "2", "--json")[0])
check(beams[-1]["usage"]["completion_tokens"] <= 6, "beams: %s" % beams)
tokens = os.path.join(work, "ids.npz")
out, err = run("generate", "--text", PROMPT, "-n", "6", "--greedy", "--json")
check(lines(out)[-1]["usage"]["completion_tokens"] == 6, "generate: %s" % out)

# Notes, and their absence.
note = run(PROMPT, "-n", "4", "--temp", "1", "--stats")[1]
check("note: --seed" in note and "stats:" in note, "a note: %s" % note)
check("note:" not in run(PROMPT, "-n", "4", "--temp", "1", "--stats", "-q")[1], "-q: no note")
check("error[" in run("run", "--input", "nowhere", "-q", status=5)[1], "-q: an error all the same")
check(run("--greedy", "-n", "1", "--", "-q")[0].startswith("-q"), "after -- it is a text")
for words in (["info", "--json"], ["--verify", "--json"], ["bench", "--json", "--prompt-tokens", "4", "--new-tokens", "2"]):
    check(isinstance(json.loads(run(*words)[0]), dict), "%s: one object" % words)
sys.exit(finish())
