#!/usr/bin/python3
"""Sums stay in registers: `registers.py HEDDLE MODEL CPU LEAST`.

Of the assembly of MODEL for CPU: innermost loops that do nothing but multiply and add (linears and attention: no compare of
vectors, no other arithmetic of reals) and have LEAST or more multiply-adds touch no stack. Prints how many there are."""
import re
import subprocess
import sys

# Of an architecture: a jump and its label, a multiply-add, arithmetic of other kinds, a vector to or from the stack.
X86 = (r"\s+j[a-z]+\s+(\.L\w+)", "fmadd", r"v(cmp|mul|add|sub|div|max|min)", r"v.*\(%rsp")
ARM = (r"\s+(?:b\.\w+|cbn?z\s+\w+,|tbn?z\s+\w+, #\d+,)\s*(\.L\w+)", "fmla", r"f(cm|mul|add|sub|div|max|min)", r"(ld|st)\w+\s+q.*\[sp")

heddle, model, cpu, least = sys.argv[1:]
text = subprocess.run([heddle, "compile", model, "--mcpu=" + cpu, "--emit=asm", "-o", "-"], check=True, stdout=subprocess.PIPE, text=True).stdout
jumps, sums, others, stack = X86 if "%rsp" in text else ARM
lines, labels, loops, good, bad = text.splitlines(), {}, [], 0, 0
for number, line in enumerate(lines):
    label, jump = re.match(r"(\.L\w+):", line), re.match(jumps, line)
    if label:
        labels[label[1]] = number
    if not jump or jump[1] not in labels:
        continue
    start = labels[jump[1]]
    innermost = not any(start <= a and b < number and (a, b) != (start, number) for a, b in loops)
    loops.append((start, number))
    body = [x.strip() for x in lines[start + 1:number]]
    if not innermost or sum(sums in x for x in body) < int(least) or any(re.match(others, x) for x in body):
        continue
    spills = [x for x in body if re.match(stack, x)]
    good, bad = good + (not spills), bad + bool(spills)
    if spills:
        print("%s: %d multiply-adds and %d moves to or from the stack" % (jump[1], sum(sums in x for x in body), len(spills)))
print("%d loops in registers, %d not" % (good, bad))
sys.exit(bad > 0 or good == 0)
