"""changed.py HEDDLE MODEL WORK: files of a model that change while it is compiled. One line a failure, then `N passed, N failed`.

Each change comes when the compilation has reached a stage, so that some files have been read and others have not: the program is that of
the old files, or there is none and the error says which file changed (H0104)."""
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, model, work = sys.argv[1:]
folder, program = os.path.join(work, "model"), os.path.join(work, "program")


def fresh():
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(model, folder)


def path(name):
    return os.path.join(folder, name)


def overwrite(name):
    """The same bytes but the last, in place: the size stays."""
    with open(path(name), "r+b") as f:
        f.seek(-1, os.SEEK_END)
        last = f.read(1)
        f.seek(-1, os.SEEK_END)
        f.write(bytes([last[0] ^ 1]) if name.endswith("safetensors") else last)


def replace(name):
    shutil.copy(path(name), path(name) + ".new")
    os.replace(path(name) + ".new", path(name))


def add(name):
    with open(path(name), "w") as f:
        f.write("{}")


CHANGES = [("weights written in place", lambda: overwrite("model.safetensors"), "model.safetensors"),
           ("weights replaced", lambda: replace("model.safetensors"), "model.safetensors"),
           ("config.json written in place", lambda: overwrite("config.json"), "config.json"),
           ("config.json replaced", lambda: replace("config.json"), "config.json"),
           ("generation_config.json appears", lambda: add("generation_config.json"), "generation_config.json"),
           ("chat_template.jinja appears", lambda: add("chat_template.jinja"), "chat_template.jinja"),
           ("the weights are removed", lambda: os.unlink(path("model.safetensors")), "model.safetensors")]

fresh()
compiled = [heddle, "compile", folder, "-o", program, *cached.quick(heddle)]
assert subprocess.run(compiled).returncode == 0
with open(program, "rb") as f:
    good = f.read()
for what, change, name in CHANGES:
    for stage in ("data.o", "code0.o", "log"):
        for _ in range(10):  # on a busy machine the compilation may end before the change
            fresh()
            process = subprocess.Popen(compiled, stderr=subprocess.PIPE)
            end = time.time() + 60
            while process.poll() is None and time.time() < end:
                scratch = [f for f in os.listdir(work) if f.startswith(".program")]
                if scratch and os.path.exists(os.path.join(work, scratch[0], stage)):
                    process.send_signal(signal.SIGSTOP)  # the change is whole before it goes on
                    break
                time.sleep(2e-4)
            ran = process.poll() is None
            change()
            process.send_signal(signal.SIGCONT) if ran else None
            said = process.communicate(timeout=60)[1].decode()
            if ran:
                break
        if process.returncode == 0:  # nothing was left to do but the last step
            with open(program, "rb") as f:
                check(f.read() == good, "%s at %s: another program" % (what, stage))
        else:
            check(process.returncode in (1, 5) and (name in said or "changed" in said), "%s at %s: exit %d, %s" % (what, stage, process.returncode, said))
            check(not os.path.exists(program), "%s at %s: a program in spite of the error" % (what, stage))
        check([f for f in os.listdir(work) if f not in ("model", "program")] == [], "%s at %s: leftovers %s" % (what, stage, os.listdir(work)))
        check(stage != "data.o" or process.returncode == 5, "%s at %s: exit %d, expected 5" % (what, stage, process.returncode))
sys.exit(finish())
