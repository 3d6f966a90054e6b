//===- SaveTemps.cpp - everything between a model and its binary ----------===//

#include "compiler/Driver/SaveTemps.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/PrintIR.h"
#include "compiler/Driver/ShellWord.h"
#include "targets/Card/CardText.h"
#include "targets/Host/Link.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string SaveTemps::folderOf(const CompileOptions &options) {
  if (!options.watch.temps)
    return "";
  if (!options.watch.temps->empty())
    return *options.watch.temps;
  return (options.output.empty() || options.output == "-" ? "heddle" : options.output) + ".temps";
}

std::string SaveTemps::codeFolderOf(const CompileOptions &options) {
  std::string folder = folderOf(options);
  return folder.empty() ? "" : folder + "/code";
}

void SaveTemps::fail(Error kind, const llvm::Twine &text) {
  if (!problem)
    problem.emplace(kind, text.str());
}

void SaveTemps::fail(std::error_code ec, const llvm::Twine &file) {
  if (ec)
    fail(errorOf(ec, Error::CannotWrite), file + ": " + ec.message());
}

void SaveTemps::writeFile(const llvm::Twine &name, Printer print, bool isScript) {
  std::string file = (folderOf(options) + "/" + name).str();
  if (fs::equivalent(options.import.path, file))
    return fail(Error::WouldReplace, file + " is the model itself, which --save-temps would replace");
  std::error_code ec;
  llvm::raw_fd_ostream os(file, ec);
  if (!ec) {
    print(os);
    os.close();
    ec = os.error();
    os.clear_error();
  }
  if (!ec && isScript)
    ec = fs::setPermissions(file, fs::all_read | fs::owner_write | fs::all_exe);
  fail(ec, file);
}

int SaveTemps::begin(const Console &console) {
  std::string folder = codeFolderOf(options);
  if (std::error_code ec = fs::create_directories(folder))
    return console.complain(errorOf(ec, Error::CannotWrite), folder + ": " + ec.message());
  return Ok;
}

//===-- stages ---------------------------------------------------------------------===//

void SaveTemps::imported(ModuleOp, const Target &of) {
  target = &of;
  targetName = of.name().str();
  hasSeveral = StringRef(options.target).contains(',');
  prefix = hasSeveral ? of.name().str() + "/" : "";
  if (hasSeveral)
    fail(fs::create_directories(folderOf(options) + "/" + prefix), prefix);
}

void SaveTemps::ended(const Stage &stage, ModuleOp module) {
  writeFile(prefix + stage.name + ".mlir", [&](llvm::raw_pwrite_stream &os) { printIR(module, os); });
  stages.push_back(stage.name.str());
  if (!target || stage.name != target->stages().back().name)
    return;
  card += cardText(module);
  if (!target->processor())
    printKernels(module);
}

/// Texts of a device's code; those of a processor's are written function by function as they are compiled.
void SaveTemps::printKernels(ModuleOp module) {
  for (const OutputStage &output : target->outputs()) {
    if (output.first == "obj" || output.first == "exe")
      continue;
    StringRef ending = output.first == "llvmir" ? StringRef("ll") : output.first;
    writeFile(prefix + "kernels." + ending, [&](llvm::raw_pwrite_stream &os) {
      std::string refused;
      if (!target->print(module, output.first, os, refused))
        fail(Error::OurMistake, refused);
    });
  }
}

//===-- code -----------------------------------------------------------------------===//

void SaveTemps::generated(ArrayRef<host::CodePart> parts) {
  for (const host::CodePart &part : parts) {
    functions.push_back("code/" + host::fileNameOf(part));
    writeFile(functions.back() + ".o",
              [&](llvm::raw_pwrite_stream &os) { os.write(part.bytes.data(), part.bytes.size()); });
  }
}

void SaveTemps::linked(ArrayRef<std::string> line, StringRef folder) {
  std::string script = shellWord(host::linkerPath());
  size_t objects = 0; // of functions, which come first
  bool isOutput = false;
  for (StringRef word : line.drop_front()) {
    script += " ";
    if (std::exchange(isOutput, word == "-o")) {
      script += "\"$1\"";
    } else if (word.consume_front(folder)) {
      std::string file = path::filename(word).str();
      if (objects < functions.size()) {
        file = functions[objects++] + ".o";
      } else {
        // Weights may be large, and a link costs nothing.
        std::string from = (folder + word).str(), to = folderOf(options) + "/" + file;
        fs::remove(to);
        if (fs::create_hard_link(from, to))
          fail(fs::copy_file(from, to), to);
      }
      script += "\"$here\"/" + shellWord(file);
    } else {
      script += shellWord(word);
    }
  }
  writeFile(
      "link.sh",
      [&](llvm::raw_pwrite_stream &os) {
        os << "#!/bin/sh\n# Links the objects of this folder: link.sh OUTPUT\n"
              "here=$(cd \"$(dirname \"$0\")\" && pwd) || exit\n"
              "[ $# -eq 1 ] || { echo \"usage: $0 OUTPUT\" >&2; exit 2; }\nexec "
           << script << "\n";
      },
      /*isScript=*/true);
}

//===-- the script that makes it again ---------------------------------------------===//

/// Those options that the text of a stage does not hold.
static std::vector<std::string> optionsBehindImport(const CompileOptions &options, const std::string &target) {
  std::vector<std::string> words = {"--target=" + target, "--mcpu=" + options.mcpu};
  auto add = [&](bool isGiven, const llvm::Twine &word) {
    if (isGiven)
      words.push_back(word.str());
  };
  const PipelineOptions usual, &pipeline = options.pipeline;
  const TargetOptions &forTarget = options.forTarget;
  add(options.emit != "exe", "--emit=" + options.emit);
  add(pipeline.cache != usual.cache, "--cache=" + pipeline.cache);
  add(pipeline.slots != kSlotsOfServer, "--slots=" + pipeline.slots);
  add(pipeline.paddedRows != usual.paddedRows, "--padded-rows=" + pipeline.paddedRows);
  add(forTarget.alone, "--emulate-alone");
  add(forTarget.emulate && !forTarget.alone, "--emulate");
  add(forTarget.races, "--emulate-races");
  add(forTarget.cubin, "--cubin");
  add(forTarget.quick, "--quick");
  add(options.debugInfo, "--debug-info");
  add(!options.embed, "--no-embed");
  add(!options.serve, "--without=serve");
  add(!options.chat, "--without=chat");
  add(!options.bench, "--without=bench");
  add(options.quiet, "--quiet");
  return words;
}

void SaveTemps::printRepeat(llvm::raw_ostream &os) const {
  llvm::SmallString<256> here;
  std::error_code ec = fs::current_path(here);
  std::string self = fs::getMainExecutable(nullptr, nullptr);
  StringRef name = path::filename(options.output);
  os << "#!/bin/sh\n# Makes the same again from the text of a stage: repeat.sh [STAGE [OUTPUT]]\n# STAGE: "
     << llvm::join(stages, ", ") << "\n"
     << "here=$(cd \"$(dirname \"$0\")\" && pwd) || exit\n"
     << "output=${2:-\"$here\"/" << shellWord(name.empty() || name == "-" ? "again" : name) << "}\n"
     << "case $output in /*) ;; *) output=$PWD/$output ;; esac\n";
  if (!ec) // what the text names is relative to it
    os << "cd " << shellWord(here) << " || exit\n";
  os << "exec " << shellWord(self) << " compile \"$here/${1:-" << stages.front() << "}.mlir\"";
  for (const std::string &word : optionsBehindImport(options, targetName))
    os << " " << shellWord(word);
  os << " -o \"$output\"\n";
}

int SaveTemps::end(const Console &console, int code) {
  if (code != Ok)
    return code;
  if (!card.empty())
    writeFile("card.txt", [&](llvm::raw_pwrite_stream &os) { os << card; });
  if (!hasSeveral && !stages.empty())
    writeFile("repeat.sh", [&](llvm::raw_pwrite_stream &os) { printRepeat(os); }, /*isScript=*/true);
  return problem ? console.complain(problem->first, problem->second) : code;
}
