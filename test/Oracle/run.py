#!/usr/bin/python3
"""Runs the oracle's cases through Heddle: every case is compiled and executed, and interpreted.

    run.py --heddle BIN [--kind hf_model|attention|seed_module]... [--only CASE,...] [--jobs N] [--binary | --interpret] [--dtype f16 | --dtype bf16 [--math dots|wide] | --math dots|wide]
           [--mcpu CPU [--runner COMMAND] | --target cuda --device emulator [--races] [--alone]] [--listed] [-v] DIR

DIR: one folder per case as its README describes (config.json, model.safetensors, inputs, expected, meta.json). A run counts
twice, once for the binary and once for the interpreter. Tolerances and valid rows are those of meta.json, always. A line is
printed for each failure (-v: for each run); the last line is `N passed, N failed`. Exit status 1 on any failure. A case whose
family is not in compiler/Families is skipped, unless --only asked for it."""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import shlex
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import attention
import cached
import tensors

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A seed module's case, by the beginning of its name, and the example that describes the module.
SEEDS = ["seed000_encoder", "seed000_pos_encoder_norm", "seed001_transformer", "seed004_early", "seed004_final"]
SECONDS = 300
# The root of the mean square of the difference, relative to that of what is expected, where numbers
# are stored in 16 bits: rounding costs 2e-3 a product in bf16, and layers add up.
RMS_OF_HALVES = {"bf16": 3e-2, "f16": 4e-3}
# The same where rows are rounded to 8 bits before they meet a weight in codes (--math dots in f32).
RMS_OF_CODES = 5e-2
# There a router of numbers that are not rounded rates two experts alike at 2 of 26 tokens (differences of 0.006 and 0.010; rounding the
# rows of the linears before it moves its ratings by 0.006), and the reference's numpy with rounded rows exchanges the same two: one
# token in so many is left out, the worst; all others must agree (0.022 there).
EXCHANGED_BY_CODES = {"gptq_experts": 13}
# Scores whose differences are smaller than the last place of a key of theirs in bf16, and routers (of random weights)
# that rate two experts so much alike that rounding exchanges them: another expert is another answer, not a wrong one.
BEYOND_HALVES = ["att_common_offset_scores", "qwen2_moe"]
# Such a router where products are wide: the interpreter, in f64 on the same stored numbers, is as far from what is expected.
BEYOND_WIDE = ["mixtral"]
# What is run again in other ways (--listed), and in run.sh with code as users have it: every kind of mask, bias and cache, and one model of every family of architectures.
LISTED = ["att_alibi_decode", "att_bigbird", "att_dense_bias", "att_document", "att_longformer", "att_padding_left_causal", "att_sink_logits", "att_t5_causal",
          "bart", "bert", "big_bird_sparse", "bloom", "deberta_v2", "falcon_new_arch", "gemma2_softcap", "gpt2", "gpt_neox", "llama_gqa", "longformer",
          "mistral_swa", "mixtral", "t5", "transfo_xl", "wav2vec2", "whisper"]


def multiplies_pairs(heddle, mcpu="native"):
    """Whether --math=auto takes products of pairs of bf16 for this processor: the compiler's table says so."""
    table = subprocess.run([heddle, "compile", "--mcpu=help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return any(line.split()[:1] == [mcpu] and line.split()[2] == "dots" for line in table.splitlines())


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def inherited(doc):
    """A family that is `like` another generates as it does, unless it says otherwise."""
    while "like" in doc:
        parent = read_json(os.path.join(ROOT, "compiler", "Families", doc["like"] + ".json"))
        doc = {**parent, **{k: v for k, v in doc.items() if k != "like"}}
    return doc


def family_of(model_type):
    folder = os.path.join(ROOT, "compiler", "Families")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith(".json"):
            doc = read_json(os.path.join(folder, name))
            types = doc.get("family", {}).get("model_type", [])
            if model_type in ([types] if isinstance(types, str) else types):
                return inherited(doc)
    raise Skip("no family for model_type %r" % model_type)


class Case:
    """What is compiled: the arguments that name the model, and how its description says a text grows."""

    def __init__(self, path, work):
        self.path, self.work, self.name = path, work, os.path.basename(path)
        self.meta = read_json(os.path.join(path, "meta.json"))
        self.inputs = tensors.read(os.path.join(path, "inputs.safetensors"))
        self.expected = tensors.read(os.path.join(path, "expected.safetensors"))
        self.constants, self.weights = {}, []
        kind = self.meta["kind"]
        if kind == "attention":
            run = self.meta["runs"][0]
            given = {k: self.inputs[t] for k, t in run["inputs"].items() if k != "bucket_of_relative"}
            self.model = os.path.join(work, self.name + ".json")
            with open(self.model, "w") as f:
                json.dump(attention.describe(self.meta["spec"], given), f, indent=1)
            doc = {}
        elif kind == "seed_module":
            example = next(s for s in SEEDS if self.name.startswith(s))
            self.model = os.path.join(ROOT, "examples", example, "model.json")
            self.weights = ["--weights", os.path.join(path, "model.safetensors")]
            constructor = read_json(os.path.join(path, "config.json"))["constructor"]
            self.constants = {k: v for k, v in constructor.items() if k not in ("dropout", "norm")}
            doc = read_json(self.model)
        else:
            self.model = path
            doc = family_of(read_json(os.path.join(path, "config.json"))["model_type"])
        self.roles = doc.get("generate", {})

    def given(self, run):
        return {k: self.inputs[t] for k, t in run["inputs"].items() if k != "bucket_of_relative"}

    def settings(self, run):
        """The constants that choose this run's variant of the description."""
        given, sets = self.given(run), dict(self.constants)
        if self.meta["kind"] == "hf_model" and getattr(given.get("attention_mask"), "ndim", 2) == 3:
            sets["mask_by_query"] = True
        if (run.get("kwargs") or {}).get("interpolate_pos_encoding"):
            sets["resized"] = True
        if "tgt_mask" in given:
            real, heads = given["tgt_mask"].dtype.kind == "f", given["tgt_mask"].ndim == 3
            sets["tgt_mask_kind"] = "float" if real else "per_head" if heads else "bool"
        if run["kind"] == "seed_greedy":
            sets["bos"], sets["eos"] = run["kwargs"]["bos_idx"], run["kwargs"]["eos_idx"]
        return [a for k, v in sets.items() for a in ("--set", "%s=%s" % (k, v if isinstance(v, str) else json.dumps(v)))]


class Runner:
    def __init__(self, heddle, case, dtype="f32", math="auto", target="cpu", device="", races=False, alone=False, chip="sm_80", mcpu="native", runner=""):
        self.heddle, self.case, self.binaries, self.count = heddle, case, {}, 0
        # One text of PTX is enough where the emulator runs the kernels.
        emulated = device.startswith("emulator")
        self.target = ["--mcpu", mcpu] if target == "cpu" else ["--target", target] + (["--emulate-alone" if alone else "--emulate", "--mcpu=" + chip] if emulated else [])
        self.target += ["--emulate-races"] if races or "races" in device else []
        self.code = cached.flags(heddle) if case.name in LISTED and not alone else cached.quick(heddle)
        self.devices = [[]] if not device else [["--device", d] for d in [device] + ["emulator:races"] * races]
        self.runner = shlex.split(runner)
        self.exchanged = None
        self.rms, self.arithmetic = RMS_OF_HALVES.get(dtype), ["--dtype", dtype, "--math", math]
        if dtype == "f32" and math == "dots":
            self.rms = RMS_OF_CODES
            self.exchanged = EXCHANGED_BY_CODES.get(case.name)
        wide = math == "wide" or math == "auto" and (target == "cuda" or not multiplies_pairs(heddle, mcpu))
        self.beyond = [] if self.rms == RMS_OF_CODES else BEYOND_HALVES + (BEYOND_WIDE if wide else [])

    def file(self, ending):
        self.count += 1
        return os.path.join(self.case.work, "%s.%d%s" % (self.case.name, self.count, ending))

    def execute(self, command, what):
        try:
            p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure("%s: no answer in %d s" % (what, SECONDS))
        except OSError as e:
            raise Failure("%s: %s" % (what, e))
        if p.returncode:
            lines = p.stdout.decode(errors="replace").strip().split("\n")
            said = next((l for l in lines if "error" in l), lines[-1])
            raise Failure("%s: exit status %d: %s" % (what, p.returncode, said[:400]))

    def compiled(self, run):
        sets = self.case.settings(run)
        key = tuple(sets)
        if key not in self.binaries:
            out = self.file(".bin")
            command = [self.heddle, "compile", self.case.model, "-o", out, "--outputs=all", "--cache=auto", "--masked-rows=zero"]
            try:
                self.execute(command + self.code + self.target + self.arithmetic + self.case.weights + sets, "compile")
                self.binaries[key] = out
            except Failure as e:
                self.binaries[key] = e
        if isinstance(self.binaries[key], Failure):
            raise self.binaries[key]
        return self.binaries[key]

    def binary(self, run, device):
        program, source, result = self.compiled(run), self.file(".in"), self.file(".out")
        given = self.case.given(run)
        tensors.write(source, given)
        if "greedy" in run["kind"]:
            self.execute(self.runner + [program, "generate", "--input", source, "--output", result, "-n", str(self.new_tokens(run, given)), "--greedy", "--ignore-eos"] + device, "generate")
        else:
            self.execute(self.runner + [program, "run", "--input", source, "--output", result] + device, "run")
        return tensors.read(result)

    def interpreter(self, run):
        given = self.case.given(run)
        if "greedy" not in run["kind"]:
            return self.interpret(run, [given])[0]
        # The whole text again for every token, as the oracle did it: behind the tokens that are expected, so that one process
        # interprets all of the texts. The first token that is another one is a difference, so nothing hides behind that.
        roles = self.roles(run)
        mask = given.get(roles.get("mask"))
        begun = given[roles["tokens"]] if roles["tokens"] in given else self.start(run, given)
        expected = self.case.expected[run["outputs"]["ids"]["tensor"]]
        feeds, lasts = [], []
        for n in range(begun.shape[1], expected.shape[1]):
            ids = np.concatenate([begun, expected[:, begun.shape[1]:n].astype(begun.dtype)], 1)
            feeds.append({**given, roles["tokens"]: ids})
            lasts.append(np.full(len(ids), n - 1))
            if mask is not None:
                grown = np.concatenate([mask, np.ones((len(ids), n - mask.shape[1]), mask.dtype)], 1)
                feeds[-1][roles["mask"]] = grown
                if "positions" in roles:
                    feeds[-1][roles["positions"]] = np.where(grown == 0, 1, grown.cumsum(1) - 1)
                lasts[-1] -= np.argmax(grown[:, ::-1] != 0, 1)
        logits = [out[roles["logits"]] for out in self.interpret(run, feeds)]
        made = [l[np.arange(len(l)), last].argmax(-1)[:, None] for l, last in zip(logits, lasts)]
        return {"ids": np.concatenate([begun, *made], 1)}

    def roles(self, run):
        """Where they depend on the head, the binary says which ones they are."""
        if any(str(name).startswith("=") for key, name in self.case.roles.items() if key in ("tokens", "mask", "positions", "source")):
            said = subprocess.run(self.runner + [self.compiled(run), "info", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
            self.case.roles = json.loads(said.stdout)["generate"]
        return self.case.roles

    def interpret(self, run, feeds):
        files = [(self.file(".in"), self.file(".out")) for _ in feeds]
        for (source, _), feed in zip(files, feeds):
            tensors.write(source, feed)
        named = [word for source, result in files for word in ("-i", source, "-o", result)]
        self.execute([self.heddle, "interpret", self.case.model, "--outputs=all"] + named + self.arithmetic + self.case.weights + self.case.settings(run), "interpret")
        return [tensors.read(result) for _, result in files]

    def start(self, run, given):
        batch = len(given[self.roles(run)["source"]])
        return np.full((batch, 1), run["kwargs"]["bos_idx"], np.int64)

    def new_tokens(self, run, given):
        ids = self.case.expected[run["outputs"]["ids"]["tensor"]]
        tokens = given.get(self.roles(run)["tokens"])
        return ids.shape[1] - (1 if tokens is None else tokens.shape[1])

    def judge(self, run, got):
        wrong = []
        for name, o in run["outputs"].items():
            if name.endswith("_pytorch"):
                continue  # what PyTorch's NaN does to a fully masked row; Heddle's convention is zero
            if name not in got:
                wrong.append("no output %s (there are %s)" % (name, ", ".join(sorted(got)[:8])))
                continue
            e, a = self.case.expected[o["tensor"]], got[name]
            if e.shape == a.shape and o.get("valid"):
                rows = self.case.expected[o["valid"]].astype(bool)
                e, a = e[rows], a[rows]
            if self.exchanged and e.shape == a.shape and np.isfinite(a).all():
                e, a = (x.reshape(-1, x.shape[-1]) for x in (e, a))
                best = np.argsort(((a.astype(np.float64) - e) ** 2).sum(-1))[:len(e) - len(e) // self.exchanged]
                e, a = e[best], a[best]
            if self.rms:
                what = tensors.differs_in_the_mean(e, a, self.rms)
            else:
                what = tensors.differs(e, a, o.get("atol", 1e-4), o.get("rtol", 1e-4))
            if what:
                wrong.append("%s: %s" % (name, what))
        return wrong


def run_case(path, options):
    """-> lines to print, passed, failed, skipped"""
    lines, passed, failed = [], 0, 0
    name = os.path.basename(path)
    with tempfile.TemporaryDirectory(prefix="heddle-oracle-") as work:
        try:
            case = Case(path, work)
        except Skip as e:
            if options.only:
                return ["FAIL %s: %s" % (name, e)], 0, 1, 0
            return ["skip %s: %s" % (name, e)], 0, 0, 1
        except (OSError, ValueError, KeyError, StopIteration) as e:
            return ["FAIL %s: cannot read the case: %s: %s" % (name, type(e).__name__, e)], 0, 1, 0
        races = options.races and name in LISTED
        runner = Runner(options.heddle, case, options.dtype, options.math, options.target, options.device, races, options.alone, options.chip, options.mcpu, options.runner)
        for run in case.meta["runs"]:
            if runner.rms and ("greedy" in run["kind"] or name in runner.beyond):
                continue  # the expected tokens are those of f32
            engines = [(" ".join(["binary"] + d[1:]), lambda run, d=d: runner.binary(run, d)) for d in runner.devices if not options.interpret]
            engines += [("interpreter", runner.interpreter)] * (not options.binary)
            for engine, result in engines:
                try:
                    wrong = runner.judge(run, result(run))
                except (Failure, OSError, ValueError, KeyError) as e:
                    wrong = [str(e) if isinstance(e, Failure) else "%s: %s" % (type(e).__name__, e)]
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    more = ["and %d more" % (len(wrong) - 3)] if len(wrong) > 3 else []
                    lines.append("FAIL %s/%s %s: %s" % (name, run["name"], engine, "; ".join(wrong[:3] + more)))
                elif options.v:
                    lines.append("ok   %s/%s %s" % (name, run["name"], engine))
    return lines, passed, failed, 0


def main():
    p = argparse.ArgumentParser(description="Runs the oracle's cases through Heddle.")
    p.add_argument("--heddle", required=True, metavar="BIN")
    p.add_argument("--kind", action="append", choices=["hf_model", "attention", "seed_module"])
    p.add_argument("--only", default="", metavar="CASE,...", help="these cases; * and ? are patterns")
    p.add_argument("--listed", action="store_true", help="the 25 cases of LISTED")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--binary", action="store_true", help="the compiled binary only")
    p.add_argument("--interpret", action="store_true", help="the interpreter only")
    p.add_argument("--dtype", default="f32", choices=["f32", "bf16", "f16"])
    p.add_argument("--math", default="auto", choices=["auto", "dots", "wide"])
    p.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    p.add_argument("--device", default="", help="what binaries run on: a number, or emulator[:OPTIONS] (test/Emulator/README.md)")
    p.add_argument("--mcpu", default="native", help="the processor that binaries are for")
    p.add_argument("--runner", default="", metavar="COMMAND", help="what runs binaries for another architecture, as 'qemu-aarch64 -L /usr/aarch64-linux-gnu'")
    p.add_argument("--alone", action="store_true", help="on the emulated device: programs without PTX, which are compiled in less time")
    p.add_argument("--races", action="store_true", help="on the emulated device: the programs of LISTED can check for races, and run a second time with the check")
    p.add_argument("--chip", default="sm_80", help="whose kernels are emulated")
    p.add_argument("-v", action="store_true", help="a line for what passes, too")
    p.add_argument("dir")
    options = p.parse_args()
    if options.races and not options.device.startswith("emulator"):
        p.error("--races is of --device emulator")
    options.heddle = os.path.abspath(options.heddle)
    wanted = [w for w in options.only.split(",") if w] + (LISTED if options.listed else [])
    cases = sorted(c for c in os.listdir(options.dir) if os.path.exists(os.path.join(options.dir, c, "meta.json")))
    chosen = [c for c in cases if not wanted or any(fnmatch.fnmatchcase(c, w) for w in wanted)]
    nobody = [w for w in wanted if not any(fnmatch.fnmatchcase(c, w) for c in cases)]
    chosen = [c for c in chosen if not options.kind or read_json(os.path.join(options.dir, c, "meta.json"))["kind"] in options.kind]
    for w in nobody:
        print("FAIL --only: no case %s in %s" % (w, options.dir))
    passed, failed, skipped = 0, len(nobody), 0
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for lines, good, bad, left in pool.map(lambda c: run_case(os.path.join(options.dir, c), options), chosen):
            for line in lines:
                print(line, flush=True)
            passed, failed, skipped = passed + good, failed + bad, skipped + left
    if not passed and not failed:
        print("nothing was run")
        failed = 1
    print("%d passed, %d failed" % (passed, failed) + (", %d skipped" % skipped if skipped else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
