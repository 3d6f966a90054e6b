"""Pseudo-terminals of tests."""
import os


def drain(master):
    """The bytes that a terminal got until its other end was closed, with lines as a program ends them; closes it."""
    got = b""
    try:
        while part := os.read(master, 65536):
            got += part
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return got.replace(b"\r\n", b"\n")
