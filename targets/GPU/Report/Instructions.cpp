//===- Instructions.cpp - what the loops of a PTX text consist of -----------===//
//
// A loop of a text is what is between a label and the last branch back to it; it is innermost if no other loop
// is inside. That is enough for text that LLVM has written, which lays blocks out in order.
//
//===----------------------------------------------------------------------===//

#include "targets/GPU/Report/Instructions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

using namespace heddle::gpu;
using llvm::StringRef;

namespace {
struct Function {
  std::string name;
  bool kernel = false;
  std::vector<StringRef> lines;
  llvm::SmallVector<std::string> calls;
};
} // namespace

/// The number behind `letter` of a shape such as .m64n128k16; 0: there is none.
static int64_t extent(StringRef opcode, StringRef before, char letter) {
  size_t at = opcode.find((before + llvm::Twine(letter)).str());
  int64_t n = 0;
  if (at == StringRef::npos || opcode.drop_front(at + before.size() + 1).consumeInteger(10, n))
    return 0;
  return n;
}

/// m * n * k of a matrix product, doubled.
static int64_t operationsOf(StringRef opcode) {
  size_t at = opcode.find(".m");
  while (at != StringRef::npos && (at + 2 == opcode.size() || !llvm::isDigit(opcode[at + 2])))
    at = opcode.find(".m", at + 1); // of wgmma.mma_async.sync.aligned.m64n128k16
  if (at == StringRef::npos)
    return 0;
  StringRef shape = opcode.drop_front(at);
  int64_t m = extent(shape, ".", 'm'), n = 0, k = 0;
  StringRef rest = shape.drop_front(shape.find('n') + 1);
  if (rest.consumeInteger(10, n) || !rest.consume_front("k") || rest.consumeInteger(10, k))
    return 0;
  return 2 * m * n * k;
}

static bool isReal(StringRef opcode) {
  for (StringRef type : {".f32", ".f64", ".bf16", ".f16", ".bf16x2", ".f16x2"})
    if (opcode.contains(type))
      return true;
  return false;
}

static void count(StringRef opcode, Mix &mix) {
  auto is = [&](std::initializer_list<StringRef> heads) {
    return llvm::any_of(heads, [&](StringRef head) { return opcode.starts_with(head); });
  };
  if (is({"wgmma.mma_async"})) {
    ++mix.products;
    mix.operations += operationsOf(opcode) / 4; // a warp's share of the four that do it
  } else if (is({"mma."})) {
    ++mix.products;
    mix.operations += operationsOf(opcode);
  } else if (is({"fma."})) {
    ++mix.products;
    mix.operations += 2 * 32;
  } else if (is({"cp.async", "mbarrier", "wgmma", "fence"})) {
    ++mix.copies;
  } else if (is({"ldmatrix", "stmatrix", "ld.shared", "st.shared"})) {
    ++mix.shared;
  } else if (is({"ld.param", "st.param", "mov", "cvta"})) {
    ++mix.integers;
  } else if (is({"ld", "st.", "atom", "red"})) {
    ++mix.global;
  } else if (is({"bra", "bar", "shfl", "vote", "call", "ret", "match", "activemask", "elect"})) {
    ++mix.control;
  } else if (isReal(opcode)) {
    ++mix.reals;
  } else {
    ++mix.integers;
  }
}

/// Without the predicate in front; "" for what is no instruction.
static StringRef opcodeOf(StringRef line) {
  line = line.trim();
  if (line.starts_with("@"))
    line = line.drop_front(line.find_first_of(" \t")).ltrim();
  if (line.empty() || !llvm::isAlpha(line[0]))
    return "";
  return line.take_until([](char c) { return c == ' ' || c == '\t' || c == ';'; });
}

static Mix mixOf(llvm::ArrayRef<StringRef> lines) {
  Mix mix;
  for (StringRef line : lines)
    if (StringRef opcode = opcodeOf(line); !opcode.empty())
      count(opcode, mix);
  return mix;
}

static std::vector<Function> functionsOf(StringRef ptx) {
  std::vector<Function> functions;
  bool inside = false;
  while (!ptx.empty()) {
    StringRef line;
    std::tie(line, ptx) = ptx.split('\n');
    bool entry = line.contains(".entry "), function = line.starts_with(".func") || line.contains(" .func");
    if (!inside && (entry || function)) {
      StringRef name = line.drop_front(entry ? line.find(".entry ") + 7 : line.find(".func") + 5);
      if (name.ltrim().starts_with("(")) // what it returns is in front
        name = name.drop_front(name.find(')') + 1);
      functions.push_back({name.ltrim().take_until([](char c) { return c == '(' || c == ' '; }).str(), entry, {}, {}});
    }
    if (line.starts_with("{"))
      inside = !functions.empty();
    else if (line.starts_with("}"))
      inside = false;
    else if (inside)
      functions.back().lines.push_back(line);
    // The callee is on the line behind `call` or on its own.
    if (inside && opcodeOf(line).starts_with("call")) {
      StringRef rest = line.drop_front(line.find("call")).split(' ').second.ltrim(" \t\n");
      if (rest.starts_with("("))
        rest = rest.drop_front(rest.find(')') + 1).ltrim(" ,\t");
      functions.back().calls.push_back(
          rest.take_until([](char c) { return c == ',' || c == ';' || c == '(' || c == ' ' || c == '\n'; }).str());
    }
  }
  return functions;
}

/// The better of two: more operations, then more instructions.
static void better(Mix &best, const Mix &other) {
  if (std::pair(other.operations, other.total()) > std::pair(best.operations, best.total()))
    best = other;
}

static Mix hotLoop(const Function &function) {
  llvm::StringMap<size_t> labels, ends; // of labels: the line, and that of the last branch back
  for (auto [i, line] : llvm::enumerate(function.lines)) {
    StringRef text = line.trim();
    if (text.ends_with(":"))
      labels[text.drop_back()] = i;
    if (size_t at = text.find('$'); opcodeOf(line).starts_with("bra") && at != StringRef::npos) {
      StringRef label = text.drop_front(at).take_until([](char c) { return c == ';'; });
      if (labels.count(label))
        ends[label] = i;
    }
  }
  Mix best;
  for (auto &loop : ends) {
    size_t from = labels[loop.first()], to = loop.second;
    bool innermost = llvm::none_of(ends, [&](auto &other) {
      size_t begin = labels[other.first()];
      return begin > from && other.second < to;
    });
    if (innermost)
      better(best, mixOf(llvm::ArrayRef(function.lines).slice(from, to - from + 1)));
  }
  return best;
}

std::map<std::string, Mix> heddle::gpu::hotLoops(StringRef ptx) {
  std::vector<Function> functions = functionsOf(ptx);
  llvm::StringMap<Mix> own;
  for (const Function &f : functions)
    own[f.name] = hotLoop(f);
  std::map<std::string, Mix> loops;
  for (const Function &f : functions)
    if (f.kernel) {
      Mix best = own[f.name];
      for (StringRef callee : f.calls)
        better(best, own.lookup(callee));
      loops[f.name] = best.total() ? best : mixOf(f.lines);
    }
  return loops;
}

std::string Mix::str() const {
  std::string text;
  for (auto [n, what] : {std::pair(products, "product"),
                         {reals, "real"},
                         {integers, "integer"},
                         {global, "global"},
                         {shared, "shared"},
                         {copies, "copy"},
                         {control, "control"}})
    if (n)
      text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + what;
  return text;
}
