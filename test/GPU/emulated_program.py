"""Compiles the model of a folder for the emulated device and runs it there, for the tests of tiles."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached  # noqa: E402
import tensors  # noqa: E402


def compile_model(heddle, work, name, *flags):
    """-> the path of the program `name` of work/model.json."""
    program = os.path.join(work, name)
    subprocess.run([heddle, "compile", os.path.join(work, "model.json"), "-o", program, *cached.quick(heddle), *flags], check=True)
    return program


def run_program(program, work, inputs, device=None):
    """-> outputs by name; {} after a failure, which is printed. device: None for no emulator, else its options."""
    given, result = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
    tensors.write(given, inputs)
    chosen = [] if device is None else ["--device=emulator" + (":" + device if device else "")]
    p = subprocess.run([program, "run", "--input", given, "--output", result, *chosen], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        print("FAIL %s: exit status %d: %s" % (os.path.basename(program), p.returncode, p.stdout.strip()[-300:]))
        return {}
    return tensors.read(result)
