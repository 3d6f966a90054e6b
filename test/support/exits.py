"""`exits.py STATUS[-STATUS] command...` runs the command and succeeds if it ends with that status. The output passes through."""
import subprocess
import sys

wanted = sys.argv[1]
low, _, high = wanted.partition("-")
try:
    status = subprocess.run(sys.argv[2:], timeout=100).returncode
except subprocess.TimeoutExpired:
    status = "timeout"
except OSError as e:
    sys.exit("exits.py: %s" % e)
if status == "timeout" or not int(low) <= status <= int(high or low):
    sys.exit("exits.py: expected exit status %s, found %s" % (wanted, status))
