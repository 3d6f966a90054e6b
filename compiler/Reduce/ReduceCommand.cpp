//===- ReduceCommand.cpp - heddle reduce ----------------------------------===//

#include "compiler/Reduce/ReduceCommand.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Driver/PrintIR.h"
#include "compiler/Driver/ShellWord.h"
#include "compiler/Interpreter/Verify.h"
#include "compiler/Reduce/PassFault.h"
#include "compiler/Reduce/Reduce.h"
#include "heddle/input_file.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace heddle;

/// The largest text that is reduced.
static constexpr uint64_t kMostBytes = uint64_t(1) << 30;

/// Parses a file, whatever it says of its stage: what is left of a model is none any more.
static OwningOpRef<ModuleOp> parse(const Console &console, MLIRContext &context, const std::string &file, int &code) {
  if ((code = canRead(console, file)))
    return nullptr;
  ReadFile text = readInputFile(file.c_str(), kMostBytes);
  if (!text.ok()) {
    code = console.complain(text.systemError ? Error::CannotRead : Error::NotItsFormat, file + ": " + text.why);
    return nullptr;
  }
  DiagnosticSink sink;
  OwningOpRef<ModuleOp> module;
  {
    PassMessages messages(context, sink, Error::BadStage);
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text.bytes, file), llvm::SMLoc());
    FallbackAsmResourceMap resources; // of a crash file: the pipeline
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/true, &resources));
  }
  sink.print(console.err);
  code = module ? Ok : failedWith(sink);
  return module;
}

namespace {
/// A command that is asked about a file.
class CheckCommand {
public:
  /// `{}` in the command is the file; without it the file's name comes at the end.
  explicit CheckCommand(std::string command) : command(std::move(command)) {}

  bool hasFault(ModuleOp module) const {
    llvm::SmallString<128> file;
    int descriptor;
    if (llvm::sys::fs::createTemporaryFile("heddle-reduce", "mlir", descriptor, file))
      return false;
    llvm::scope_exit remove([&] { (void)llvm::sys::fs::remove(file); });
    {
      llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
      printIR(module, os);
    }
    std::string line = command, name = shellWord(file);
    size_t at = line.find("{}");
    if (at == std::string::npos)
      line += " " + name;
    for (; at != std::string::npos; at = line.find("{}", at + name.size()))
      line.replace(at, 2, name);
    StringRef words[] = {"/bin/sh", "-c", line};
    std::optional<StringRef> nowhere[] = {StringRef(""), StringRef(""), StringRef("")};
    return llvm::sys::ExecuteAndWait(words[0], words, std::nullopt, nowhere) == 0;
  }

private:
  std::string command;
};
} // namespace

int heddle::reduceFile(const Console &console, const ReduceOptions &options) {
  if (options.pass.empty() == options.check.empty())
    return console.complain(Error::BadUsage, "either --pass=PASS or --check='COMMAND' says what the fault is");
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  OwningOpRef<ModuleOp> module = parse(console, *context, options.file, code);
  if (!module)
    return code;
  std::string what;
  Reduction reduction;
  if (!options.check.empty()) {
    CheckCommand check(options.check);
    if (!check.hasFault(*module))
      return console.complain(Error::BadUsage,
                              "--check: the command must end with 0 where the fault is there, and of " + options.file +
                                  " it does not");
    what = "the command of --check still ends with 0";
    reduction = reduceModule(module, [&](ModuleOp smaller) { return check.hasFault(smaller); });
  } else {
    double tolerance = VerifyOptions().tolerance;
    auto fault = [&](ModuleOp smaller) { return faultOf(options.pass, smaller, inventedValues(smaller), tolerance); };
    std::optional<PassFault> first = fault(*module);
    if (!first)
      return console.complain(Error::BadUsage, "--pass: '" + options.pass +
                                                   "' is no pass; `heddle-opt --help` lists them, and the files of "
                                                   "--dump-ir have each with its options");
    if (first->kind == PassFault::Kind::None)
      return console.complain(Error::BadUsage, "nothing to reduce: of " + options.file + " the pass " + options.pass +
                                                   " does not fail, and changes no result on made-up numbers");
    reduction = reduceModule(module, [&](ModuleOp smaller) { return fault(smaller)->isLike(*first); });
    what = "the pass " + options.pass + ": " + fault(*module)->what;
  }
  std::string name = options.output.empty() || options.output == "-" ? options.file : options.output;
  std::string command =
      "heddle reduce " + shellWord(name) +
      (options.check.empty() ? " --pass=" + shellWord(options.pass) : " --check=" + shellWord(options.check));
  std::string after = "reduced; " + escaped(what);
  console.err << "heddle: note: " << escapedLines(what) << "\nheddle: note: " << reduction.before << " ops became "
              << reduction.after << " in " << reduction.tried << " tries\n";
  return writeAtomically(console, options.output.empty() ? "-" : options.output, [&](llvm::raw_pwrite_stream &os) {
    printIR(*module, os, {/*locations=*/true, after, escaped(command, 4096)});
    return true;
  });
}
