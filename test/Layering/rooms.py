#!/usr/bin/env python3
"""The rooms of a folder and who includes whom: no include runs upward. `rooms.py [--picture]`.

FLOORS lists, of a folder, its rooms from the ground up. A room is a folder in it, or "." for the files directly in the
folder. A file may include headers of its own room, and of rooms below it; rooms in one tuple are neighbours, which do not include each
other. A room that is not listed is a failure, as is a listed one that is not there.

Prints a line `path:line: rule` for each breach; exit status 1 if there is any. --picture prints the floors with the number of
includes from each room to each other. The lines of CAUGHT must each be a breach."""
import os
import re
import sys

from layering import ROOT, SOURCES

FLOORS = {
    "compiler/Conversion/Lowering": ["Language", "Facts", "Frame", "Ops", ("CPU", "GPU"), "."],
    "compiler": ["cmake", "IRText", "Folder", "Tokenizer", "Template", "Weights", "Import", "Gguf", ("Interpreter", "Plan"), "Conversion", "Pipelines", "SideFiles", "Driver",
                 ("MaskReport", "ModelInfo", "Reduce", "Explain"), "Report", "Diff", "Tools"],
    "runtime": ["include", "Base", "Core", ("Json", "Device", "Media", "Tokenizer", "Program"), ("Generate", "Encode", "Template"), ("Bench", "Chat"), "Serve"],
    "compiler/Weights": ["Files", "Safetensors", "Coded", "Gguf", "Adapter", ".", "Pack"],
    "compiler/Import": ["Json", "Description", "Evaluate", "Weights", "Ops", "."],
}
CAUGHT = [
    ("compiler/Conversion/Lowering/GPU/WarpLanes.cpp", '#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"'),
    ("compiler/Conversion/Lowering/Facts/Tiles.cpp", '#include "compiler/Conversion/Lowering/Frame/Lowering.h"'),
    ("compiler/SideFiles/SideFiles.cpp", '#include "compiler/Driver/Console.h"'),
    ("compiler/Driver/Compile.cpp", '#include "compiler/MaskReport/MaskReport.h"'),
    ("compiler/Plan/PlanMemory.cpp", '#include "compiler/Interpreter/Interpreter.h"'),
    ("compiler/Import/Json/LocatedJson.cpp", '#include "compiler/Import/Description/Description.h"'),
    ("compiler/Import/Ops/OpCall.h", '#include "compiler/Import/Importer.h"'),
    ("compiler/Weights/Gguf/GgufView.cpp", '#include "compiler/Weights/WeightStore.h"'),
    ("compiler/Weights/Safetensors/SafetensorsHeader.cpp", '#include "compiler/Weights/Pack/Pack.h"'),
]
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def room(folder, path):
    """The room of `folder` in which the file `path` (of the repository) is; None if it is elsewhere."""
    if not path.startswith(folder + "/"):
        return None
    rest = path[len(folder) + 1:].split("/")
    return rest[0] if len(rest) > 1 else "."


def floor(folder, name):
    return next((i for i, f in enumerate(FLOORS[folder]) if name in (f if isinstance(f, tuple) else (f,))), None)


def breach(folder, path, line):
    """What is wrong with a line of a file in `folder`; "" if nothing."""
    included = INCLUDE.match(line)
    to = included and room(folder, included[1])
    here = room(folder, path)
    if not to or to == here:
        return ""
    up, at = floor(folder, to), floor(folder, here)
    if up is None or up < at:
        return ""
    return "%s is %s %s" % (to, "beside" if up == at else "above", here)


def names(folder):
    return [n for f in FLOORS[folder] for n in (f if isinstance(f, tuple) else (f,))]


def main():
    wrong = ["rooms.py: no rule catches %s: %s" % (path, line) for path, line in CAUGHT
             if not any(breach(folder, path, line) for folder in FLOORS if room(folder, path))]
    for folder in FLOORS:
        arrows, there = {}, set()
        for top, _, files in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(f for f in files if f.endswith(SOURCES)):
                path = os.path.relpath(os.path.join(top, name), ROOT)
                here = room(folder, path)
                there.add(here)
                if floor(folder, here) is None:
                    wrong.append("%s: the room %s of %s has no floor in rooms.py" % (path, here, folder))
                    continue
                with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                    for number, line in enumerate(f, 1):
                        included = INCLUDE.match(line)
                        to = included and room(folder, included[1])
                        if to and to != here:
                            arrows[here, to] = arrows.get((here, to), 0) + 1
                        what = breach(folder, path, line)
                        if what:
                            wrong.append("%s:%d: %s: %s" % (path, number, what, line.strip()))
        wrong += ["rooms.py: %s has no room %s" % (folder, n) for n in names(folder) if n not in there]
        if "--picture" in sys.argv:
            print(folder)
            for name in reversed(names(folder)):
                print("  %-12s -> %s" % (name, ", ".join("%s %d" % (to, n) for (at, to), n in sorted(arrows.items()) if at == name) or "none"))
    print("\n".join(wrong) if wrong else "%d folders, no include runs upward" % len(FLOORS))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
