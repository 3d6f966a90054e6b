//===- Replay.cpp - `heddle_replay FOLDER...`: dumps are what they say -------===//
//
// Of each folder of --dump-ir: every file parses back and prints the same; and the command in its header, run on the
// file before it, gives this very file.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/LoopArguments.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/PrintIR.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "targets/Registration.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <ctime>

using namespace mlir;
using namespace heddle;

namespace {
struct Counts {
  unsigned files = 0, passes = 0;
  double seconds = 0, idle = 0; ///< of passes; of those that changed nothing
};

/// A file of a dump, and what its header says.
struct Dumped {
  std::string name, text, after, command, pipeline;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// The word after `--pass-pipeline=`, without the shell's quotes.
static std::string pipelineIn(StringRef command) {
  StringRef quoted = command.split("--pass-pipeline=").second;
  std::string word;
  for (bool inside = false; !quoted.empty(); quoted = quoted.drop_front())
    if (quoted.front() == '\'')
      inside = !inside;
    else if (!inside && quoted.consume_front("\\"))
      word += quoted.front();
    else
      word += quoted.front();
  return word;
}

static void readHeader(Dumped &file) {
  auto name = (*file.module)->getAttrOfType<StringAttr>("model.name");
  std::string head = "// " + (name ? name.str() : "a model") + ", ";
  SmallVector<StringRef> lines;
  StringRef(file.text).split(lines, '\n', 6);
  StringRef first = lines[0];
  if (first.consume_front(head))
    file.after = first.str();
  for (StringRef line : ArrayRef(lines).drop_back())
    if (line.consume_front("// heddle-opt "))
      file.command = "heddle-opt " + line.str();
  file.pipeline = pipelineIn(file.command);
}

/// `module` under the header of `file`.
static std::string printed(ModuleOp module, const Dumped &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIR(module, os, {/*locations=*/true, file.after, file.command});
  return text;
}

/// The first line in which two texts differ; "" if they are equal.
static std::string difference(StringRef expected, StringRef actual) {
  if (expected == actual)
    return "";
  SmallVector<StringRef> a, b;
  expected.split(a, '\n');
  actual.split(b, '\n');
  size_t i = 0;
  while (i < std::min(a.size(), b.size()) && a[i] == b[i])
    ++i;
  auto line = [&](ArrayRef<StringRef> lines) {
    return i < lines.size() ? lines[i].take_front(300).str() : "(the end)";
  };
  return "line " + std::to_string(i + 1) + "\n  expected " + line(a) + "\n  got      " + line(b);
}

static LogicalResult run(ModuleOp module, StringRef pipeline) {
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline);
  if (failed(parsed))
    return failure();
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  static_cast<OpPassManager &>(pm) = std::move(*parsed);
  pm.enableVerifier(false); // of a file it is done when it is read
  return pm.run(module);
}

/// A text without its header.
static StringRef bodyOf(StringRef text) {
  while (text.starts_with("//"))
    text = text.split('\n').second;
  return text;
}

/// What is wrong with the files of a folder, a line each; counts what is right.
static int check(StringRef folder, Counts &counts) {
  std::vector<std::string> paths;
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (StringRef(it->path()).ends_with(".mlir"))
      paths.push_back(it->path());
  llvm::sort(paths);
  std::unique_ptr<MLIRContext> context = makeContext();
  Dumped before;
  int wrong = 0;
  auto say = [&](const Dumped &file, const Twine &what) {
    llvm::outs() << folder << "/" << file.name << ": " << what << "\n";
    ++wrong;
  };
  for (const std::string &path : paths) {
    Dumped file;
    file.name = llvm::sys::path::filename(path).str();
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (buffer)
      file.text = (*buffer)->getBuffer().str();
    file.module = parseSourceString<ModuleOp>(file.text, context.get(), path);
    if (!file.module) {
      say(file, "it does not parse");
      return wrong;
    }
    loops::placeArgumentsAtLoops(*file.module); // the parser gives them those of the file
    readHeader(file);
    if (std::string other = difference(file.text, printed(*file.module, file)); !other.empty())
      say(file, "read back it prints otherwise: " + other);
    ++counts.files;
    std::clock_t start = std::clock();
    if (before.module && !StringRef(file.command).starts_with("heddle-opt " + before.name + " "))
      say(file, "its command is not of the file before: " + file.command);
    else if (before.module && failed(run(*before.module, file.pipeline)))
      say(file, "its command fails: " + file.command);
    else if (before.module) {
      double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
      counts.seconds += seconds;
      counts.idle += bodyOf(before.text) == bodyOf(file.text) ? seconds : 0;
      std::string other;
      if (!OperationEquivalence::isEquivalentTo(*before.module, *file.module, OperationEquivalence::None))
        other = difference(file.text, printed(*before.module, file)); // which is long to make
      if (!other.empty())
        say(file, file.command + " gives something else: " + other);
      ++counts.passes;
    }
    before = std::move(file);
  }
  return wrong;
}

int main(int argc, char **argv) {
  registerPasses();
  Counts counts;
  int wrong = 0;
  for (int i = 1; i < argc; ++i)
    wrong += check(argv[i], counts);
  llvm::outs() << counts.files << " files read back, " << counts.passes << " passes replayed, " << wrong << " wrong; "
               << llvm::format("%.1f", counts.idle / std::max(counts.seconds, 1e-9) * 100)
               << " % of their time changed nothing\n";
  return wrong != 0 || counts.passes == 0;
}
