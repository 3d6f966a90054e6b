#!/usr/bin/python3
"""Heddle beside llama.cpp, in turns on this machine: one table of prompts and steps, one of first tokens.

    llamacpp.py --heddle build/bin/heddle --work DIR [--rounds 3] [--cores 1,2] [--rows bert,gpt2,batch] [--kinds f32,bf16,q8_0,q4_0]
                [--settings S,..] [--flash 1] [--tables speed,first] [--unchecked] [--under COMMAND] [--mcpu NAME] [--library NAME] [--out FILE]

DIR (that of rivals.py will do) takes models, GGUF files of the same weights (rivals/gguf.py) and llama.cpp: its libraries out of
npm's package @node-llama-cpp/linux-x64, its sources out of node-llama-cpp, both of one release. It is asked through its C API
(rivals/llama_probe.cpp) in three settings, of which the fastest counts (and of --flash 0,1): as it comes; with its weights copied
into huge pages, which it does not ask for itself; and that with its processor's library as clang builds it for this very one. `--library haswell` is that of the package for a processor with
AVX2, whatever this one has, to stand beside `--mcpu=x86-64-v3`.
Heddle gets the weights in its own 8 and 4 bits, and the same GGUF file (`--weights=FILE`). That all do the same work is checked
on outputs first."""
import argparse
import contextlib
import http.client
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

import numpy as np

import rivals
from rivals import said, spread

sys.path.append(os.path.join(rivals.HERE, "rivals"))
import gguf

VERSION = "3.22.1"
# Its caches have 16 bits by default, so ours have them, too, wherever weights have no more.
KINDS = {"f32": ["--dtype=f32"], "bf16": ["--dtype=bf16"], "q8_0": ["--weights-dtype=int8", "--dtype=bf16"], "q4_0": ["--weights-dtype=int4", "--dtype=bf16"]}
# How far outputs may be apart: its caches and its GELU have 16 bits, and both round rows of codes, each in its own way. Our own
# codes are other weights than those of the file; how far they are apart is said, too.
APART = {"f32": 2e-3, "bf16": 3e-2, "q8_0.gguf": 1e-1, "q4_0.gguf": 1e-1}
# Its library for the processor, and whether weights are copied into huge pages instead of mapped.
SETTINGS = {"as it comes": ("packaged", False), "huge pages": ("packaged", True), "built": ("clang", True)}
CODES = ("q8_0", "q4_0")
# Blocks that its own quantiser writes, of the weights in bf16: its number of a kind of file; a name in capitals mixes types.
BLOCKS = {"q4_1": 3, "q5_0": 8, "q5_1": 9, "q2_k": 10, "q3_k": 11, "q4_k": 14, "q5_k": 16, "q6_k": 18, "iq4_nl": 25, "iq4_xs": 30, "Q4_K_M": 15}
ROWS = [r for r in rivals.ROWS if r.key in ("bert", "gpt2", "batch", "llama", "short")]


class LlamaCpp:
    """llama.cpp in a folder: fetched, built, and asked."""

    def __init__(self, work, library=None):
        self.folder = os.path.join(os.path.abspath(work), "llamacpp")
        self.probe, self.quantize = (os.path.join(self.folder, name) for name in ("llama_probe", "llama_quantize"))
        self.libraries = os.path.join(self.folder, "linux-x64", "package", "bins", "linux-x64")
        self.library, alone = library, os.path.join(self.folder, "only-%s" % library)
        self.backends = {"packaged": alone if library else self.libraries, "clang": os.path.join(self.folder, "build", "bin")}

    def install(self, server=False):
        """`server`: llama-server, too, which takes ten minutes to build."""
        # The newest compiler: 14 makes its products of f32 half as fast as 22.
        clang = next((c for c in ["clang-%d" % version for version in range(40, 13, -1)] + ["clang"] if shutil.which(c.replace("clang", "clang++"))), None)
        missing = [tool for tool in ("npm", "git", "cmake", "ninja") if not shutil.which(tool)] + ([] if clang else ["clang++"])
        if missing:
            sys.exit("llamacpp.py: error: needs %s, to fetch and build llama.cpp" % ", ".join(missing))
        sources = os.path.join(self.folder, "sources")
        for package, name in (("@node-llama-cpp/linux-x64", "linux-x64"), ("node-llama-cpp", "node-llama-cpp")):
            to = os.path.join(self.folder, name)
            if not os.path.exists(os.path.join(to, "package")):
                os.makedirs(to, exist_ok=True)
                archive = said(["npm", "pack", "--silent", package + "@" + VERSION], cwd=to).split()[-1]
                said(["tar", "xzf", archive], cwd=to)
        if not os.path.exists(sources):
            said(["git", "clone", "-q", os.path.join(self.folder, "node-llama-cpp", "package", "llama", "gitRelease.bundle"), sources])
        build = os.path.dirname(self.backends["clang"])
        if not os.path.exists(os.path.join(build, "build.ninja")):
            said(["cmake", "-G", "Ninja", "-S", sources, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=" + clang, "-DCMAKE_CXX_COMPILER=" + clang.replace("clang", "clang++"),
                  "-DCMAKE_C_FLAGS=-march=native", "-DCMAKE_CXX_FLAGS=-march=native", "-DGGML_BACKEND_DL=ON", "-DGGML_NATIVE=OFF", "-DGGML_OPENMP=OFF",
                  "-DLLAMA_OPENSSL=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF"])
        said(["ninja", "-C", build, "llama-server" if server else "ggml-cpu"])
        if self.library:
            name = "libggml-cpu-%s.so" % self.library
            if not os.path.exists(os.path.join(self.libraries, name)):
                sys.exit("llamacpp.py: error: --library %s: there is no %s in %s" % (self.library, name, self.libraries))
            os.makedirs(self.backends["packaged"], exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.symlink(os.path.join(self.libraries, name), os.path.join(self.backends["packaged"], name))
        libraries = [os.path.join(self.libraries, name) for name in sorted(os.listdir(self.libraries))
                     if name.startswith(("libllama.", "libggml.", "libggml-base"))]
        includes = ["-I" + os.path.join(sources, at) for at in ("include", "ggml/include")]
        for program in (self.probe, self.quantize):
            said([clang.replace("clang", "clang++"), "-O2", "-std=c++17", *includes, os.path.join(rivals.HERE, "rivals", os.path.basename(program) + ".cpp"), "-o", program,
                  *libraries, "-Wl,-rpath," + self.libraries])

    def command(self, model, setting, threads, **keys):
        library, huge = SETTINGS[setting]
        command = [self.probe, model, self.backends[library], str(threads)] + ["%s=%s" % k for k in keys.items()]
        return ["env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", *command, "mmap=0"] if huge else command

    @contextlib.contextmanager
    def serving(self, model, slots, length, threads):
        """Its server, with weights in huge pages; yields its port and its process."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = ["env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", os.path.join(self.backends["clang"], "llama-server"), "-m", model, "--load-mode", "none", "--host", "127.0.0.1", "--port", str(port), "-np", str(slots),
                   "-c", str(slots * -(-length // 256) * 256), "-t", str(threads), "-fa", "on"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                    connection.request("GET", "/health")
                    if connection.getresponse().status == 200:
                        break
                if process.poll() is not None:
                    sys.exit("llamacpp.py: error: llama-server ended with %d" % process.returncode)
                time.sleep(0.1)
            yield port, process.pid
        finally:
            process.kill()
            process.wait()


class Bench(rivals.Bench):
    def __init__(self, options):
        super().__init__(options)
        self.rival, self.seen = LlamaCpp(self.work, options.library), set()
        os.makedirs(os.path.join(self.work, "gguf"), exist_ok=True)

    def file(self, row, kind):
        path = os.path.join(self.work, "gguf", "%s.%s.gguf" % (row.model, kind))
        if not os.path.exists(path):
            if kind in BLOCKS:
                said([self.rival.quantize, self.file(row, "bf16"), path + ".part", str(BLOCKS[kind]), str(os.cpu_count()), *["mixed"] * kind.isupper()])
                os.rename(path + ".part", path)
            else:
                getattr(gguf, row.model)(self.model(row), path, kind)
        return path

    def read_again(self, paths):
        """Files that were written when memory was short lie in it in small pieces, which are slower to read: they leave it here,
        and the next process reads them into large ones."""
        for path in paths:
            with open(path, "rb") as f:
                os.fsync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def theirs(self, row, kind, cores, setting, flash, **more):
        keys = dict(prompt=row.prompt, steps=row.steps - 1, sequences=row.batch, seconds=1, flash=flash, embeddings=int(not row.gen))
        keys.update(more)
        result = self.measured(self.rival.command(self.file(row, kind), setting, cores, **keys), cores)
        self.seen.add("%s: %s, %s" % (setting, result["backend"], result["system"].strip(" |")))
        return result

    def of_kind(self, row, kind):
        """What our compiler is told: our own weights, and theirs where it reads them."""
        if kind in KINDS:
            yield kind, KINDS[kind]
        if kind in BLOCKS or kind in CODES and row.gen:
            yield kind + ".gguf", ["--dtype=bf16", "--weights=" + self.file(row, kind)]

    def agree(self, row, kind):
        """How far the outputs are apart: the root of the mean square of the difference, relative to theirs; and whether the
        likeliest token is the same."""
        out = os.path.join(self.work, "out.theirs")
        self.theirs(row, kind, 1, "as it comes", 1, dump=out, seconds=0, sequences=1, steps=0)
        theirs = np.fromfile(out, "<f4")
        for stored, flags in self.of_kind(row, kind):
            mine = self.outputs(row, stored, len(theirs), flags)
            yield stored, float(np.sqrt(np.mean((mine - theirs) ** 2) / np.mean(theirs ** 2))), not row.gen or int(mine.argmax()) == int(theirs.argmax())

    def first(self, row, kind):
        """Commands of whole processes, from nothing to the first token."""
        words = ",".join(str(100 + i * 7919 % 20000) for i in range(19))
        for setting in self.o.settings.split(","):
            yield setting, lambda cores, s=setting: self.rival.command(self.file(row, kind), s, cores, prompt=19, seconds=0)
        for stored, flags in self.of_kind(row, kind):
            yield stored, lambda cores, p=self.binary(row, stored, flags): [p, "generate", "--ids", words, "-n", "1", "--greedy", "--print-ids", "--threads", str(cores)]


def best(turns, what):
    """The settings that are fastest at the median, and what they took."""
    setting = min(turns, key=lambda s: statistics.median(r[what] for r in turns[s]))
    return setting, [r[what] for r in turns[setting]]


def speed(bench, o, put, rows):
    head = ["row", "cores", "weights", "llama.cpp, ms", "its setting", "Heddle, ms", "ratio", "of the limit", "Heddle, the same file, ms", "ratio", "of the limit"]
    put("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        for cores in map(int, o.cores.split(",")):
            for kind in o.kinds.split(","):
                theirs = {(s, f): [] for s in o.settings.split(",") for f in o.flash.split(",")}
                ours = {stored: [] for stored, _ in bench.of_kind(row, kind)}
                bench.read_again([bench.file(row, kind)] + [bench.binary(row, stored, flags) for stored, flags in bench.of_kind(row, kind)])
                for _ in range(o.rounds):
                    for setting in theirs:
                        theirs[setting].append(bench.theirs(row, kind, cores, *setting))
                    for stored, flags in bench.of_kind(row, kind):
                        ours[stored].append(bench.ours(row, stored, cores, flags))
                for what in ("prefill", "decode") if row.gen else ("prefill",):
                    (setting, flash), rival = best(theirs, what + "_ms")
                    cells = [row.name + (", " + what if row.gen else ""), str(cores), kind, spread(rival), setting + ("" if flash == "1" else ", no flash attention")]
                    for turns in ours.values():
                        mine = [r[what + "_ms"] for r in turns]
                        shares = [s for s in (r.get("prefill_flops_fraction" if what == "prefill" else "decode_bandwidth_fraction") for r in turns) if s is not None]
                        cells += [spread(mine), "%.2f" % (statistics.median(mine) / statistics.median(rival)), "%.0f %%" % (100 * statistics.median(shares)) if shares else "-"]
                    put("| " + " | ".join(cells + ["-"] * (len(head) - len(cells))) + " |")


def first(bench, o, put, rows):
    """Whole processes that make one token of 19, their files in memory."""
    put("| first token | cores | weights | llama.cpp, ms | its setting | Heddle, ms | ratio | Heddle, the same file, ms | ratio |\n" + "|---" * 9 + "|")
    for row in {r.model: r for r in rows if r.gen}.values():
        for cores in map(int, o.cores.split(",")):
            for kind in o.kinds.split(","):
                commands, times = dict(bench.first(row, kind)), {}
                for _ in range(2 * o.rounds + 1):
                    for name, command in commands.items():
                        begin = time.monotonic()
                        done = subprocess.run(command(cores), capture_output=True, text=True, preexec_fn=rivals.before_others(cores))
                        if done.returncode:
                            sys.exit("llamacpp.py: error: %s: %s" % (name, done.stderr.strip()[-500:]))
                        times.setdefault(name, []).append({"ms": 1e3 * (time.monotonic() - begin)})
                setting, rival = best({s: times.pop(s) for s in o.settings.split(",")}, "ms")
                cells = [row.name.split(",")[0], str(cores), kind, spread(rival), setting]
                for turns in times.values():
                    mine = [r["ms"] for r in turns]
                    cells += [spread(mine), "%.2f" % (statistics.median(mine) / statistics.median(rival))]
                put("| " + " | ".join(cells + ["-"] * (9 - len(cells))) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True, metavar="BIN")
    p.add_argument("--work", required=True, metavar="DIR")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cores", default="1,2")
    p.add_argument("--rows", default="bert,gpt2,batch", help="which of " + ", ".join(dict.fromkeys(r.key for r in ROWS)))
    p.add_argument("--kinds", default=",".join(KINDS), help="how its weights are stored")
    p.add_argument("--settings", help="of llama.cpp: " + ", ".join(SETTINGS) + "; all, but of a --library those of the package")
    p.add_argument("--library", metavar="NAME", help="of its package, in place of the one that it takes for this processor: haswell, ...")
    p.add_argument("--flash", default="1", help="0, 1 or both: its flash attention")
    p.add_argument("--tables", default="speed,first")
    p.add_argument("--unchecked", action="store_true", help="outputs were compared in an earlier run")
    p.add_argument("--under", default="", metavar="COMMAND", help="what each measured process is started by")
    p.add_argument("--mcpu", help="what Heddle compiles for, if not this processor")
    p.add_argument("--out", metavar="FILE", help="where the tables go, too")
    o = p.parse_args()
    if o.rounds < 1:
        p.error("--rounds is 1 or more, not %d" % o.rounds)
    o.settings = o.settings or ",".join(s for s, (where, _) in SETTINGS.items() if where == "packaged" or not o.library)
    rows = [r for r in ROWS if r.key in o.rows.split(",")]
    if set(o.rows.split(",")) - {r.key for r in ROWS} or set(o.kinds.split(",")) - set(KINDS) - set(BLOCKS):
        p.error("rows are %s; kinds %s" % (", ".join(dict.fromkeys(r.key for r in ROWS)), ", ".join([*KINDS, *BLOCKS])))
    bench = Bench(o)
    bench.rival.install()
    lines = []

    def put(line):
        print(line, flush=True)
        lines.append(line)
    models = {r.model for r in rows}
    for row in {r.model: r for r in reversed(ROWS) if r.inputs and r.model in models}.values():
        for kind in o.kinds.split(",") if not o.unchecked else ():
            for stored, apart, same in bench.agree(row, kind):
                put("%s, %s beside %s: outputs %.1e apart%s" % (row.name, stored, kind, apart, "" if same else ", ANOTHER TOKEN"))
                if not apart < APART.get(stored, APART["q4_0.gguf"] if stored.endswith(".gguf") else np.inf):
                    sys.exit("llamacpp.py: error: %s: not the same work" % row.name)
    put("")
    for table in o.tables.split(","):
        {"speed": speed, "first": first}[table](bench, o, put, rows)
        put("")
    # Which of its libraries it took for this processor.
    put("\n".join(sorted(bench.seen)))
    if o.out:
        with open(o.out, "w") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
