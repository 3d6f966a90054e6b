"""Compares the tables of runtime/card.md with runtime/include/heddle/card.def: `card.py [--write]`.

Each table is between the lines `<!-- generated: NAME -->` and `<!-- end of NAME -->`: the lines of a
section (Model, Settings, Entry, Memory, Launch), the roles of generation, the settings of
generation, pictures and sound. With --write the tables are made. Prints the tables that differ,
then the number of rows; exit status 1 if one differs or there is none."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE, PAGE = "runtime/include/heddle/card.def", "runtime/card.md"
MACRO = re.compile(r"^HEDDLE_(CARD_LINE|CARD_ROLE|GENERATION|PICTURE|SOUND)\((.*)\)$", re.M)
KINDS = {"Integer": "a whole number", "Real": "a number", "Flag": "0 or 1", "Choice": "a whole number", "Ids": "ids",
         "Groups": "ids", "Integers": "whole numbers", "Reals": "numbers"}


def fields(text):
    """The arguments of a row; commas within quotes end nothing."""
    return [a.strip().strip('"') for a in re.findall(r'\s*("[^"]*"|[^,]+)', text)]


def code(text):
    return "`" + text.strip().replace("|", "\\|") + "`"


def span(least, most):
    limits = {"kLong": "2^30", "-kLong": "-2^30"}
    if "kFar" in least + most:
        return "" if "-" in least else ", %s or more" % least
    return ", %s to %s" % (limits.get(least, least), limits.get(most, most))


def tables(text):
    made = {}
    for macro, row in MACRO.findall(text):
        f = fields(row)
        if macro == "CARD_LINE":
            made.setdefault(f[0], []).append((code(f[2] + " " + f[3]), f[4]))
        elif macro == "CARD_ROLE":
            made.setdefault("roles", []).append((code("generate " + f[1] + " " + f[2]), f[3]))
        else:
            what = KINDS[f[1]] + ("" if f[1] == "Flag" else span(f[2], f[3]))
            made.setdefault(macro.lower(), []).append((code(f[0]), what, f[5]))
    return made


def printed(rows):
    head = ("line", "meaning") if len(rows[0]) == 2 else ("setting", "numbers", "meaning")
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, ("---",) * len(head)] + rows)


def main():
    with open(os.path.join(ROOT, TABLE), encoding="utf-8") as f:
        made = tables(f.read())
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as f:
        page = f.read()
    wrong = 0
    for name, rows in made.items():
        begin, end = "<!-- generated: %s -->\n" % name, "<!-- end of %s -->\n" % name
        before, found, rest = page.partition(begin)
        old, ended, after = rest.partition(end)
        if not found or not ended or old != printed(rows):
            wrong += "--write" not in sys.argv or not found or not ended
            print("%s: the table %s is not that of %s" % (PAGE, name, TABLE))
            page = before + begin + printed(rows) + end + after if found and ended else page
    if "--write" in sys.argv:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as f:
            f.write(page)
    print("%d rows in %d tables, %d wrong" % (sum(map(len, made.values())), len(made), wrong))
    return int(wrong > 0 or not made)


if __name__ == "__main__":
    sys.exit(main())
