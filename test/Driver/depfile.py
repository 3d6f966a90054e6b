"""depfile.py ROOT HEDDLE MODEL WORK: a project of CMake that compiles MODEL, by ninja and by make; what makes it compile again."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

root, heddle, model, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)

# What `cmake --install` leaves, as far as the function knows it.
tools = os.path.dirname(shutil.which(heddle))
for folder, file in (("bin", os.path.join(tools, "heddle")), ("lib", os.path.join(tools, os.pardir, "lib", "libheddle_core.a")),
                     ("lib/cmake/Heddle", os.path.join(root, "compiler", "cmake", "HeddleConfig.cmake"))):
    os.makedirs(os.path.join(work, "prefix", folder))
    os.symlink(os.path.realpath(file), os.path.join(work, "prefix", folder, os.path.basename(file)))
with open(os.path.join(work, "CMakeLists.txt"), "w") as f:
    f.write("cmake_minimum_required(VERSION 3.20)\nproject(tiny NONE)\nfind_package(Heddle REQUIRED)\n"
            'heddle_compile(tiny "model" --emit=model)\n')


def put(name, text):
    with open(os.path.join(work, "model", name), "w") as f:
        f.write(text)


for generator in ("Ninja", "Unix Makefiles"):
    shutil.rmtree(os.path.join(work, "model"), ignore_errors=True)
    shutil.copytree(model, os.path.join(work, "model"))
    build = os.path.join(work, generator)
    said = subprocess.run(["cmake", "-S", work, "-B", build, "-G", generator, "-DCMAKE_PREFIX_PATH=" + os.path.join(work, "prefix")],
                          capture_output=True, text=True)
    check(said.returncode == 0 and "Warning" not in said.stderr, "%s: configured: %s" % (generator, said.stderr))

    def made():
        """When the result was made, after a build."""
        said = subprocess.run(["cmake", "--build", build], capture_output=True, text=True)
        check(said.returncode == 0, "%s: built: %s%s" % (generator, said.stdout, said.stderr))
        return os.stat(os.path.join(build, "tiny")).st_mtime_ns

    last = made()
    check(made() == last, generator + ": nothing has changed, and it is made again")
    for what, change in (("a file changes", lambda: os.utime(os.path.join(work, "model", "config.json"))),
                         ("the weights change", lambda: os.utime(os.path.join(work, "model", "model.safetensors"))),
                         ("a file comes", lambda: put("generation_config.json", '{"max_new_tokens": 3}')),
                         ("the new file changes", lambda: put("generation_config.json", '{"max_new_tokens": 4}')),
                         ("a file goes", lambda: os.remove(os.path.join(work, "model", "generation_config.json")))):
        change()
        now = made()
        check(now > last, "%s: %s, and it is not made again" % (generator, what))
        # CMake keeps whatever a depfile once named, for make: when such a file is gone, make never rests.
        if generator == "Ninja" or what != "a file goes":
            check(made() == now, "%s: after %s it is made twice" % (generator, what))
        last = now

sys.exit(finish())
