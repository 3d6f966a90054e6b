"""What a test of a program says: a line a failure, at last `N passed, N failed`, and the exit status."""
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL " + what)
    return bool(good)


def finish():
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)
