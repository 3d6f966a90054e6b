// `heddle_check_is_compile SCRATCH` reads paths of models from standard input, a line each, and asks `check` and
// `compile` about each: they must end with the same status and say the same errors. A line that differs is printed; at
// last the totals.
//
// Two things only compile can know, for `check` reads no data: whether tensors of equal shape hold the same numbers,
// and whether the groups that a quantised matrix names for its features exist.
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Inspect.h"
#include "targets/Registration.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <iostream>

using namespace heddle;

namespace {
struct Answer {
  int code;
  std::vector<std::string> errors;
};

Answer answerOf(llvm::function_ref<int(const Console &)> ask) {
  std::error_code ec;
  llvm::raw_fd_ostream nowhere("/dev/null", ec);
  std::string text;
  llvm::raw_string_ostream err(text);
  Answer a{ask({nowhere, err}), {}};
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.contains("error: ") || line.contains("error["))
      a.errors.push_back(line.str());
  return a;
}

bool onlyData(const Answer &compile) {
  if (compile.errors.size() != 1)
    return false;
  llvm::StringRef error = compile.errors[0];
  return error.contains(" differs from ") || error.contains("error[H0242]: element ");
}
} // namespace

int main(int argc, char **argv) {
  registerPasses();
  size_t accepted = 0, refused = 0, data = 0, different = 0, turn = 0;
  for (std::string path; std::getline(std::cin, path);) {
    CompileOptions c;
    c.import.path = path;
    std::error_code ec;
    for (llvm::sys::fs::directory_iterator it(path + "/families", ec), end; !ec && it != end; it.increment(ec))
      if (auto text = llvm::MemoryBuffer::getFile(it->path()))
        c.import.families.own[llvm::sys::path::stem(it->path()).str()] = (*text)->getBuffer().str();
    InspectOptions look;
    Answer check = answerOf([&](const Console &console) { return checkInput(console, c, look); });
    // Making code takes long; every eighth time is enough to see that nothing is refused there.
    c.emit = check.code == 0 && turn++ % 8 == 0 ? "llvm" : "buffers";
    c.output = std::string(argc > 1 ? argv[1] : ".") + "/out.mlir";
    Answer compiled = answerOf([&](const Console &console) { return compile(console, c); });
    bool same = check.code == compiled.code && check.errors == compiled.errors;
    (check.code == 0 ? accepted : refused)++;
    if (!same && check.code == 0 && onlyData(compiled)) {
      ++data;
      continue;
    }
    if (same && (check.code == 0) == check.errors.empty())
      continue;
    ++different;
    std::cout << path << ": check ends with " << check.code << ", compile --emit=" << c.emit << " with "
              << compiled.code << "\n";
    for (auto &[who, errors] : {std::pair("check", check.errors), {"compile", compiled.errors}})
      for (const std::string &e : errors)
        std::cout << "  " << who << " says " << e << "\n";
  }
  std::cout << accepted << " accepted, " << refused << " refused, " << data << " told apart by their data alone, "
            << different << " different\n";
  return different != 0 || accepted == 0 || refused == 0;
}
