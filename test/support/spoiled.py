"""A lit format for broken models: what `%spoil %s %t` writes is written by lit's worker, before the first command runs.

Python reads numpy in ten times the time in which the compiler refuses a model. A worker of lit reads it once; a process for
each test would read it 300 times. A test is run so if its first command is `%spoil %s %t` and no other one spoils. One in ten
of these keeps the process, so that the command stays tested. The rest of a test is lit's own: commands, FileCheck, status."""
import os
import zlib

import lit.formats
import lit.Test
import lit.TestRunner

try:
    import spoil
except ImportError:  # lit's Python may be another one, without numpy: then every test starts /usr/bin/python3
    spoil = None

SPOIL = "%spoil %s %t"


def in_process(path):
    """Whether the test FILE can be spoiled before its first command, and is not one of those that keep the process."""
    with open(path, encoding="utf-8") as f:
        runs = [line.split("RUN: ", 1)[1].rstrip("\n") + " " for line in f if "RUN: " in line]
    once = sum("%spoil" in run for run in runs) == 1 and runs[0].startswith(SPOIL + " ")
    return once and zlib.crc32(os.path.basename(path).encode()) % 10 != 0


class Spoiled(lit.formats.ShTest):
    def execute(self, test, config):
        if spoil is None or test.config.unsupported or config.noExecute or not in_process(test.getSourcePath()):
            return super().execute(test, config)
        _, base = lit.TestRunner.getTempPaths(test)
        try:
            spoil.spoil(test.getSourcePath(), base + ".tmp")
        except (Exception, SystemExit) as e:
            return lit.Test.Result(lit.Test.FAIL, "%s: %s: %s" % (SPOIL, type(e).__name__, e))
        return lit.TestRunner.executeShTest(test, config, self.execute_external, [(SPOIL, ":")], self.preamble_commands)
