"""The instructions of a PTX text, without what --debug-info adds."""
import re

ADDED = re.compile(r"\s*\.(loc|file|section)\s|\$L__(tmp|func_(begin|end))\d+:")


def code(ptx):
    lines = (line.split("//")[0].rstrip() for line in ptx.split("\n"))
    return [line for line in lines if line.strip() and not ADDED.match(line)]
