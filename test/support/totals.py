"""Counts a test program's own report: `totals.py gtest|lit REPORT.json` prints `N passed, N failed[, N skipped]`.

`totals.py log FILE` prints how many checks the text of a program counts: the sum over its lines of totals, or `-` if there are none."""
import json
import re
import sys

# What programs end with, each with the number of what they tried and found right.
TOTALS = [re.compile(p) for p in (
    r"^(\d+) passed, \d+ failed",                   # scripts of the suite
    r"^\[  PASSED  \] (\d+) tests?\.",              # gtest
    r"^  Passed +: (\d+) ",                          # lit
    r"^(\d+) equal, \d+ differ",                    # test/Driver/identical.py
    r"^(\d+) mutations in ",                         # test/Fuzz/stages.py
    r"^(\d+) (?:files|inputs|checkpoints), seed ",   # fuzzers
    r"^(\d+) judged, ",                              # test/Fuzz/safetensors_oracle.py
    r"^(\d+) rendered, ",                            # the fuzzer of templates
    r"^(\d+) the same text, ",                       # test/Chat/campaign.py
)]


def log(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        found = [int(m[1]) for line in f for pattern in TOTALS if (m := pattern.match(line))]
    return str(sum(found)) if found else "-"


def gtest(report):
    results = [t for suite in report["testsuites"] for t in suite["testsuite"]]
    failed = sum("failures" in t for t in results)
    skipped = sum(t.get("result") == "SKIPPED" or t.get("status") == "NOTRUN" for t in results)
    return len(results) - failed - skipped, failed, skipped


def lit(report):
    codes = [t["code"] for t in report["tests"]]
    passed = sum(c in ("PASS", "XFAIL", "FLAKYPASS") for c in codes)
    skipped = sum(c in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for c in codes)
    return passed, len(codes) - passed - skipped, skipped


def main():
    kind, path = sys.argv[1:]
    if kind == "log":
        print(log(path))
        return 0
    try:
        with open(path) as f:
            passed, failed, skipped = {"gtest": gtest, "lit": lit}[kind](json.load(f))
    except (OSError, ValueError, KeyError) as e:
        print("no report of %s: %s" % (kind, e))
        return 1
    print("%d passed, %d failed" % (passed, failed) + (", %d skipped" % skipped if skipped else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
