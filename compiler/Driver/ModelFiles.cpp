//===- ModelFiles.cpp - the files that a model is made of -----------------===//

#include "compiler/Driver/ModelFiles.h"
#include "compiler/Driver/Output.h"
#include "compiler/Gguf/GgufFolder.h"
#include "compiler/Interpreter/ParameterFiles.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// A file next to a model with one of these names belongs to it.
static bool belongs(StringRef name) {
  static const StringRef names[] = {"config.json",
                                    "model.json",
                                    "generation_config.json",
                                    "preprocessor_config.json",
                                    "tokenizer.json",
                                    "vocab.json",
                                    "tokenizer_config.json",
                                    "special_tokens_map.json",
                                    "added_tokens.json",
                                    "vocab.txt",
                                    "model.safetensors.index.json",
                                    "merges.txt",
                                    "pytorch_model.bin",
                                    "modules.json",
                                    "processor_config.json",
                                    "config_sentence_transformers.json",
                                    "vocab-src.json",
                                    "vocab-tgt.json",
                                    "target_vocab.json",
                                    "target_tokenizer.json",
                                    "README.md"};
  bool sentence = name.starts_with("sentence_") && name.ends_with("_config.json");
  return llvm::is_contained(names, name) || sentence || name.ends_with(".safetensors") || name.ends_with(".model") ||
         name.ends_with(".spm") || name.ends_with(".jinja");
}

/// Appends the files of a folder that belong to a model.
static void addBelonging(StringRef folder, std::vector<std::string> &files) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (belongs(path::filename(it->path())))
      files.push_back(it->path());
}

/// The files of the modules of sentence-transformers, which are in folders 1_Pooling, 2_Dense, ...
static void addModules(StringRef folder, std::vector<std::string> &files) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    StringRef number = path::filename(it->path()).split('_').first;
    unsigned place = 0;
    if (!number.getAsInteger(10, place) && fs::is_directory(it->path()))
      addBelonging(it->path(), files);
  }
}

std::vector<std::string> heddle::modelFiles(const ImportOptions &options, ModuleOp module) {
  std::vector<std::string> files;
  for (const std::string &named : {options.path, options.weightsPath, options.targetTokenizer})
    if (fs::is_regular_file(named))
      files.push_back(named);
  if (auto listed = module ? module->getAttrOfType<ArrayAttr>("model.weights") : ArrayAttr())
    for (StringAttr file : listed.getAsRange<StringAttr>())
      files.push_back(file.getValue().str());
  std::vector<AdapterChoice> adapters = options.adapters;
  if (module)
    llvm::append_range(adapters, adaptersOf(module));
  for (const AdapterChoice &adapter : adapters)
    for (StringRef name : {AdapterChoice::configName, AdapterChoice::weightsName})
      if (std::string file = adapter.file(name); fs::is_regular_file(file))
        files.push_back(file);
  // A later stage names its tokenizers, each a file or the folder of several.
  for (StringRef name : {"model.tokenizer", "model.target_tokenizer"})
    if (auto tokenizer = module ? module->getAttrOfType<StringAttr>(name) : StringAttr();
        tokenizer && fs::is_regular_file(tokenizer.getValue()))
      files.push_back(tokenizer.str());
  if (fs::is_directory(options.targetTokenizer))
    addBelonging(options.targetTokenizer, files);
  if (isGgufFile(options.path)) { // alone, or with the other parts of a split one
    for (std::string &part : ggufParts(options.path))
      files.push_back(std::move(part));
  } else {
    std::string folder = options.folder().place().empty() ? "." : options.folder().place();
    addBelonging(folder, files);
    addModules(folder, files);
  }
  for (std::string &file : files)
    if (StringRef(file).starts_with("./"))
      file = file.substr(2);
  llvm::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

/// A path in a rule: blanks and # take a backslash, $ is doubled.
static std::string inRule(StringRef file) {
  llvm::SmallString<256> whole(file);
  // Absolute paths: make runs in another directory.
  if (fs::make_absolute(whole))
    whole = file;
  path::remove_dots(whole, /*remove_dot_dot=*/false);
  std::string text;
  for (char c : whole) {
    if (c == ' ' || c == '#')
      text += '\\';
    text += c == '$' ? "$$" : std::string(1, c);
  }
  return text;
}

int heddle::writeDepfile(const Console &console, const CompileOptions &options, ArrayRef<std::string> files) {
  std::string text = inRule(options.output) + ":";
  auto add = [&](StringRef file) { text += " \\\n  " + inRule(file); };
  auto liesIn = [](StringRef file, StringRef folder) {
    StringRef parent = path::parent_path(file);
    return fs::equivalent(parent.empty() ? "." : parent, folder);
  };
  for (StringRef folder : {options.import.path, options.import.weightsPath})
    if (!folder.empty() && fs::is_directory(folder) && !liesIn(options.output, folder) &&
        !liesIn(options.depfile, folder))
      add(folder);
  llvm::for_each(files, add);
  llvm::for_each(options.alsoRead, add);
  text += "\n";
  return writeAtomically(console, options.depfile, [&](llvm::raw_pwrite_stream &os) {
    os << text;
    return true;
  });
}
