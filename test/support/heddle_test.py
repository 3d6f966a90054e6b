"""Where scripts of the suite find each other's modules. A script begins with these two lines, and says no other path:

    sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
    import heddle_test

Its own folder comes first, then test/support, then FOLDERS."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["test/Oracle", "examples"] + ["test/" + name for name in ("Execution", "Conversion/TileToNVVM", "Serve", "Bench", "GPU", "Configs")]

sys.path += [path for path in (os.path.join(ROOT, name) for name in FOLDERS) if path not in sys.path]
