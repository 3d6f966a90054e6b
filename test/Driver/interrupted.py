"""interrupted.py HEDDLE MODEL WORK: signals to `heddle compile` and to its linker. One line a failure, then `N passed, N failed`."""
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
COMPILE = [heddle, "compile", model, "-o", os.path.join(work, "model"), *cached.quick(heddle)]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


def fresh(embed=True):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for name in ["model"] if embed else ["model", "model.weights"]:
        with open(os.path.join(work, name), "w") as f:
            f.write("old " + name)


def left():
    """The files that are there and no longer as they were."""
    found = {}
    for name in os.listdir(work):
        path = os.path.join(work, name)
        found[name] = open(path, "rb").read() if os.path.isfile(path) else b"a folder"
    return sorted(name for name, data in found.items() if data != b"old " + name.encode())


def start(*flags, **how):
    # Whoever runs the test may ignore some of them, and that would be inherited.
    return subprocess.Popen(COMPILE + list(flags), stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in SIGNALS] and None, **how)


def wait_ignoring(number, stage):
    """A compilation for which `number` was ignored when it began, as by nohup, and gets it at `stage` and later."""
    fresh()
    process = subprocess.Popen(COMPILE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_IGN) and None)
    wait_for(process, scratch_file(stage))
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.01)
    return process.returncode, process.stderr.read()


def wait_for(process, there):
    """Until there() finds what it looks for, or the process has ended."""
    end = time.time() + 60
    while process.poll() is None and time.time() < end:
        if found := there():
            return found
        time.sleep(2e-4)
    return None


def scratch_file(name):
    def there():
        folders = [f for f in os.listdir(work) if f.startswith(".")]
        return folders and os.path.exists(os.path.join(work, folders[0], name))
    return there


def linker_of(process):
    def there():
        try:
            with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as f:
                for child in map(int, f.read().split()):
                    with open("/proc/%d/cmdline" % child) as c:
                        if c.read().startswith("ld.lld"):
                            return child
        except OSError:
            pass
        return None
    return there


for number in SIGNALS:
    for stage in ["data.o", "code0.o", "log"] if number == signal.SIGTERM else ["log"]:
        for _ in range(20):  # on a busy machine the compilation may end before the signal comes
            fresh()
            process = start()
            seen = wait_for(process, scratch_file(stage))
            process.send_signal(number)
            process.communicate(timeout=60)
            if process.returncode != 0:
                break
        what = "%s when there was %s" % (number.name, stage)
        check(seen, what + ": it was never there")
        check(process.returncode == -number, "%s: exit status %d" % (what, process.returncode))
        check(left() == [], "%s: left %s" % (what, left()))

for number in SIGNALS:
    for stage in ["data.o", "log"]:
        code, said = wait_ignoring(number, stage)
        check(code == 0 and left() == ["model"], "%s ignored, at %s: exit status %d, %s, %s" % (number.name, stage, code, left(), said))

for embed in [True, False]:
    for _ in range(20):
        fresh(embed)
        process = start(*[] if embed else ["--no-embed"])
        child = wait_for(process, linker_of(process))
        try:
            os.kill(child or 0x7fffffff, signal.SIGKILL)
        except ProcessLookupError:
            pass
        said = process.communicate(timeout=60)[1]
        if process.returncode != 0:
            break
    check(process.returncode == 4 and "the linker did not finish" in said, "a killed linker: %d %s" % (process.returncode, said))
    check(left() == [], "a killed linker left %s" % left())

fresh()
process = start(env=dict(os.environ, TMPDIR="/no/such/folder"))
process.communicate(timeout=60)
check(process.returncode == 0 and left() == ["model"], "without TMPDIR: %d %s" % (process.returncode, left()))
several = [start() for _ in range(3)]
for process in several:
    process.communicate(timeout=60)
works = subprocess.run([os.path.join(work, "model"), "info"], capture_output=True).returncode == 0
check([p.returncode for p in several] == [0, 0, 0] and left() == ["model"] and works, "several at once: %s" % left())
sys.exit(finish())
