#!/usr/bin/python3
"""Every example is a test: the commands of its README must print what the README says.   run.py --bin build/bin [NAME...]"""
import argparse
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--bin", required=True, help="the folder of heddle")
    p.add_argument("name", nargs="*")
    o = p.parse_args()
    names = o.name or sorted(os.path.basename(d.rstrip("/")) for d in glob.glob(os.path.join(HERE, "[!_]*/")))
    readmes = [os.path.join(HERE, n, "README.md") for n in names]
    command = ["/usr/bin/python3", os.path.join(HERE, os.pardir, "test", "Docs", "readme.py"), "--bin", o.bin]
    return subprocess.run(command + readmes).returncode


if __name__ == "__main__":
    sys.exit(main())
