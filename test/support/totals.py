"""Counts a test program's own report: `totals.py gtest|lit REPORT.json` prints `N passed, N failed[, N skipped]`."""
import json
import sys


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
