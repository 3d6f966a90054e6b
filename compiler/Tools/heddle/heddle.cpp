//===- heddle.cpp - the command line --------------------------------------===//
//
// Options in, one call of the driver out. Nothing is decided here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Inspect.h"
#include "compiler/Driver/Unsaid.h"
#include "compiler/Import/LocatedJson.h"
#include "compiler/Tokenizer/Tokenize.h"
#include "heddle/input_file.h"
#include "llvm/Support/FileSystem.h"
#include "targets/CPU/Processors.h"
#include "llvm/Support/Path.h"
#include <CLI/CLI.hpp>
#include <sstream>

using namespace heddle;

static const char *kExitCodes =
    "Exit codes: 0 done, 1 bad input, 2 bad usage, 3 unsupported, 4 resources, 5 files, 70 internal error\n";

/// What every command's own help ends with, under the command's name; "" is the tool itself.
static const std::pair<const char *, const char *> kExamples[] = {
    {"", R"(  heddle compile models/gpt2 -o gpt2       a Hugging Face directory becomes one binary
  heddle check models/gpt2                 everything that is wrong with it, at once
  heddle help compile                      more of one command
)"},
    {"compile", R"(  heddle compile models/gpt2               a Hugging Face directory becomes the binary ./gpt2
  heddle compile encoder.json -o encoder   Heddle's own description
  heddle compile models/gpt2 --emit=fused  the IR after a stage
  heddle compile - -o model < model.json   a description from standard input
)"},
    {"check", R"(  heddle check models/gpt2                 accepted, or every reason why not
  heddle check model.json --json           the same for programs
)"},
    {"interpret", R"(  heddle interpret model.json -i in.safetensors -o out.safetensors
  heddle interpret models/gpt2 -i in.safetensors -o out.safetensors -n 5
)"},
    {"mask", R"(  heddle mask model.json --dims T=4096     what each attention sees, skips and saves
  heddle mask model.json --svg masks.svg   as a picture in a file
)"},
    {"verify", R"(  heddle verify model.json -i in.safetensors
)"},
    {"tokenize", R"(  echo "Once upon a time" | heddle tokenize models/gpt2
)"},
    {"stages", R"(  heddle stages
)"},
    {"schema", R"(  heddle schema > heddle.schema.json       for editors that check JSON
)"},
    {"reference", R"(  heddle reference | less
)"},
};

/// "NAME=VALUE" into its halves; CLI11's own message when there is no `=`.
static std::pair<std::string, std::string> split(const std::string &text, const char *what) {
  size_t at = text.find('=');
  if (at == std::string::npos || at == 0)
    throw CLI::ValidationError(what, "expected NAME=VALUE, found '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

/// The largest length and tile that `heddle mask` takes.
static constexpr int64_t kLongestDim = 1 << 18; // every pair of positions is counted, in tiles

/// "DIM=N", N positive.
static std::pair<std::string, int64_t> dimOf(const std::string &text, const char *what) {
  auto [dim, number] = split(text, what);
  int64_t n;
  if (llvm::StringRef(number).getAsInteger(10, n) || n < 1)
    throw CLI::ValidationError(what, "expected a positive number, found '" + number + "'");
  return {dim, n};
}

/// Puts every .json of `folder` in front of the families that are compiled in.
static int readFamilies(const Console &console, const std::string &folder, FamilyLibrary &library, std::vector<std::string> &read) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    llvm::StringRef path = it->path();
    if (llvm::sys::path::extension(path) != ".json")
      continue;
    ReadFile file = readInputFile(path.str().c_str(), JsonLimits().bytes);
    if (!file.ok())
      return console.complain(file.systemError ? IOError : InputError, path + ": " + file.why);
    read.push_back(path.str());
    library.own[llvm::sys::path::stem(path).str()] = std::move(file.bytes);
  }
  return error ? console.complain(IOError, "cannot read the folder " + folder + ": " + error.message()) : Ok;
}

/// What the parser of the command line could not use, with the nearest name that there is.
static int misused(const Console &console, CLI::App &app, const CLI::ParseError &e) {
  std::vector<CLI::App *> parsed = app.get_subcommands();
  std::vector<std::string> left = app.remaining(/*recurse=*/true), known;
  std::string text = e.what();
  if (parsed.empty()) {
    for (CLI::App *sub : app.get_subcommands([](CLI::App *) { return true; }))
      known.push_back(sub->get_name());
    if (!left.empty())
      text = "there is no command " + quote(left.front()) + nearest(left.front(), known);
  } else if (e.get_exit_code() == int(CLI::ExitCodes::ExtrasError)) {
    for (CLI::Option *o : parsed.front()->get_options())
      for (const std::string &name : o->get_lnames())
        known.push_back("--" + name);
    for (llvm::StringRef word : left)
      if (word.starts_with("-")) {
        text = "heddle " + parsed.front()->get_name() + " has no option " + quote(word) + nearest(word.split('=').first, known);
        break;
      }
  }
  return console.complain(UsageError, text + "\nRun with --help for more information.");
}

/// `heddle help`, `heddle help compile`.
static int showHelp(const Console &console, const CLI::App &app, const std::string &topic) {
  std::vector<std::string> known;
  for (const CLI::App *sub : app.get_subcommands([](const CLI::App *) { return true; })) {
    known.push_back(sub->get_name());
    if (sub->get_name() == topic) {
      console.out << sub->help("heddle");
      return Ok;
    }
  }
  if (!topic.empty())
    return console.complain(UsageError, "there is no command " + quote(topic) + nearest(topic, known));
  // help() would show the command that was given, which is this one.
  console.out << app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  return Ok;
}

static int run(const Console &console, int argc, char **argv) {
  CLI::App app{"heddle compiles transformer models ahead of time"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  registerPasses();

  CompileOptions c;
  std::vector<std::string> sets, bounds, dims;
  std::string families, outputs, tile, target = "cpu";
  bool noEmbed = false, json = false;
  InspectOptions look;

  auto addInput = [&](CLI::App *sub) {
    sub->add_option("model", c.import.path, "model.json, a Hugging Face directory, the .mlir of a stage, or - for standard input")->required();
    sub->add_option("--weights", c.import.weightsPath, "read these weights instead of the description's");
    sub->add_option("--set", sets, "NAME=VALUE: another value of a constant of the description")->allow_extra_args(false);
    sub->add_option("--families", families, "a folder of family files, asked before those that are built in");
    sub->add_option("--ignore-config", c.import.ignoreConfig, "KEY: read config.json as if it had no such key")->allow_extra_args(false);
    sub->add_option("--ignore-weights", c.import.ignoreWeights, "PATTERN: tensors of the file that nothing reads; * is any text")->allow_extra_args(false);
    sub->add_option("--bound", bounds, "DIM=MAX: the largest length of a dim")->allow_extra_args(false);
    sub->add_option("--outputs", outputs, "all: hand out hidden states too")->check(CLI::IsMember({"all", "default"}));
    sub->add_option("--masked-rows", c.import.maskedRows, "what a row that sees nothing yields")
        ->check(CLI::IsMember({"zero", "nan", "mean"}));
    sub->add_option("--cache", c.pipeline.cache, "the cached step: auto, or an error without one, or none")
        ->check(CLI::IsMember({"auto", "require", "none"}));
    sub->add_option("--padded-rows", c.pipeline.paddedRows, "rows of padding: skip (outputs are 0 there), compute, or auto: skip where outputs do not have them, or the model is Hugging Face's")
        ->check(CLI::IsMember({"auto", "skip", "compute"}));
  };

  // How reals are stored and multiplied; interpret and verify round as the binary does.
  auto addArithmetic = [&](CLI::App *sub) {
    sub->add_option("--dtype", c.dtype, "how weights, keys and values are stored (f32); sums are f32 always")
        ->check(CLI::IsMember({"f32", "bf16", "f16"}));
    sub->add_option("--math", c.math,
                    "of bf16: dots rounds the other factor too (fast, avx512bf16), wide keeps it f32; auto: dots if there are")
        ->check(CLI::IsMember({"auto", "dots", "wide"}));
  };

  CLI::App *compileCommand = app.add_subcommand("compile", "compile a model into one standalone binary");
  addInput(compileCommand);
  compileCommand->add_option("-o,--output", c.output, "the file to write; if not given, a binary gets the model's name here, text goes to standard output");
  std::vector<std::string> stageNames;
  for (const Stage &s : stages())
    stageNames.push_back(s.name.str());
  for (auto &s : outputStages())
    stageNames.push_back(s.first.str());
  compileCommand->add_option("--emit", c.emit, "stop after a stage and write its text")->check(CLI::IsMember(stageNames));
  // Targets that are known by name and not built are refused below, and offered by no help.
  auto isTarget = [](const std::string &name) { return name == "cpu" || name == "cuda" ? "" : name + " not in {cpu}"; };
  compileCommand->add_option("--target", target, "what the binary runs on")->check(isTarget, "{cpu}");
  compileCommand->add_option("--mcpu", c.mcpu, "the processor that the code is for: native, x86-64-v3, znver5, ...; help lists them")
      ->each([&](const std::string &name) {
        if (name != "help")
          return;
        console.out << cpu::describeProcessors();
        throw CLI::Success(); // nothing else of the command line is needed
      });
  addArithmetic(compileCommand);
  compileCommand->add_flag("--no-embed", noEmbed, "keep the weights in a second file beside the binary");
  compileCommand->add_option("--depfile", c.depfile, "write the files it is made of as a rule of make, for build systems");
  compileCommand->add_option("--dump-ir", c.dumpDir, "write the IR after every pass into this folder");
  compileCommand->add_flag("-v,--time", c.time, "say where time and memory went: phases, then functions");

  compileCommand->add_option("--timeout", c.timeout, "give up after so many seconds (exit code 4)")->check(CLI::PositiveNumber);
  compileCommand->add_option("--max-memory", c.maxMemory, "give up beyond so much memory, as 500M or 2G (exit code 4)")
      ->transform(CLI::AsSizeValue(false));

  CLI::App *check = app.add_subcommand("check", "everything that compile would refuse, at once; reads the headers of weights, not their data");
  addInput(check);
  check->add_flag("--json", json, "one JSON array");

  CLI::App *interpret = app.add_subcommand("interpret", "run a model by the reference interpreter (slow, f64)");
  addInput(interpret);
  addArithmetic(interpret);
  interpret->add_option("-i,--input", look.input, "safetensors with the inputs by name")->required();
  interpret->add_option("-o,--output", look.output, "safetensors to write")->required();
  interpret->add_option("--stage", look.stage, "interpret the IR after this stage");
  interpret->add_option("-n,--new-tokens", look.newTokens, "generate greedily instead, this many tokens");

  CLI::App *mask = app.add_subcommand("mask", "every attention's mask: expression and picture");
  addInput(mask);
  mask->add_option("--dims", dims, "NAME=N: lengths; what is not named is 512, the batch 1")->delimiter(',')->allow_extra_args(false);
  mask->add_option("--tile", tile, "ROWSxKEYS of a tile, instead of the kernel's");
  mask->add_option("--head", look.head, "the head that is drawn, where heads differ")->check(CLI::NonNegativeNumber);
  mask->add_option("--batch", look.batch, "the batch element that is drawn, where they differ")->check(CLI::NonNegativeNumber);
  mask->add_option("-i,--input", look.input, "safetensors with real data: ids, lengths, masks");
  mask->add_option("--svg", look.output, "write a picture into this file, and no picture in letters");
  mask->add_flag("--json", json, "one JSON object instead of text");

  CLI::App *verify = app.add_subcommand("verify", "interpret after every pass; name the first that changes a result");
  addInput(verify);
  addArithmetic(verify);
  verify->add_option("-i,--input", look.input, "safetensors with the inputs by name")->required();
  verify->add_option("-n,--new-tokens", look.newTokens, "hold so many tokens of the cached step against @run, too");

  std::string tokenizer;
  CLI::App *tokenizeCommand = app.add_subcommand("tokenize", "a text a line in, ids and pieces out");
  tokenizeCommand->add_option("tokenizer", tokenizer, "tokenizer.json or its directory")->required();
  tokenizeCommand->add_flag("--json", json, "one JSON object a line, in and out");

  app.add_subcommand("stages", "the table of stages")->callback([&] { console.out << describeStages(); });
  std::string described;
  CLI::App *schema = app.add_subcommand("schema", "the JSON Schema of descriptions");
  schema->add_option("description", described, "the schema of this file: it knows the blocks that the file declares");
  schema->add_option("--families", families, "a folder of family files, asked before those that are built in");
  app.add_subcommand("reference", "the reference page of the description language")->callback([&] { printReference(console.out); });

  std::string topic;
  CLI::App *help = app.add_subcommand("help", "more of one command");
  help->add_option("command", topic, "the command");
  for (auto [name, text] : kExamples)
    (*name ? app.get_subcommand(name) : &app)->footer(std::string("Examples:\n") + text + (*name ? "" : kExitCodes));

  try {
    app.parse(argc, argv);
    for (const std::string &s : sets)
      c.import.sets.push_back(split(s, "--set"));
    for (const std::string &s : bounds)
      c.import.bounds.push_back(dimOf(s, "--bound"));
    for (const std::string &s : dims)
      if (auto dim = dimOf(s, "--dims"); !look.dims.insert(dim).second || dim.second > kLongestDim)
        throw CLI::ValidationError("--dims", "each dim once, at most " + std::to_string(kLongestDim) + ", found '" + s + "'");
    if (auto [rows, keys] = llvm::StringRef(tile).split('x');
        !tile.empty() && (rows.getAsInteger(10, look.rowTile) || keys.getAsInteger(10, look.keyTile) ||
                          std::min(look.rowTile, look.keyTile) < 1 || std::max(look.rowTile, look.keyTile) > kLongestDim))
      throw CLI::ValidationError("--tile", "expected ROWSxKEYS, as 32x128, found '" + tile + "'");
  } catch (const CLI::ParseError &e) {
    if (e.get_exit_code() != 0)
      return misused(console, app, e);
    std::ostringstream help;
    app.exit(e, help, help);
    console.out << help.str();
    return Ok;
  }
  if (help->parsed())
    return showHelp(console, app, topic);
  if (int code = readStream(console, c.import))
    return code;
  if (!families.empty())
    if (int code = readFamilies(console, families, c.import.families, c.alsoRead))
      return code;
  c.import.outputsAll = outputs == "all";
  c.embed = !noEmbed;
  if (compileCommand->parsed()) {
    if (target != "cpu")
      return console.complain(Unsupported, "this build has the target cpu only, found --target=" + target);
    bool binary = c.emit == "exe" || c.emit == "obj", unsaid = binary && c.output.empty();
    if (binary && c.output == "-")
      return console.complain(UsageError, "-o -: a binary goes into a file; -o FILE names it");
    if (unsaid)
      if (int code = chooseOutput(console, c))
        return code;
    if (!c.depfile.empty() && (c.output.empty() || c.output == "-"))
      return console.complain(UsageError, "--depfile says what a file is made of; it needs -o FILE");
    int code = compile(console, c);
    if (unsaid && code == Ok)
      console.err << "heddle: wrote " << c.output << "\n";
    return code;
  }
  if (schema->parsed())
    return showSchema(console, described, c.import.families);
  if (tokenizeCommand->parsed())
    return tokenize(tokenizer, json);
  look.json = json;
  if (look.output == "-" && (json || interpret->parsed()))
    return console.complain(UsageError, interpret->parsed() ? "-o -: tensors go into a file; -o FILE names it"
                                                           : "--json and --svg - both write to standard output");
  if (check->parsed())
    return checkInput(console, c, look);
  if (interpret->parsed())
    return interpretModel(console, c, look);
  if (mask->parsed())
    return showMasks(console, c, look);
  if (verify->parsed())
    return verifyModel(console, c, look);
  return Ok;
}

int main(int argc, char **argv) {
  guardExits();
  const Console console{llvm::outs(), llvm::errs()};
  return finish(console, run(console, argc, argv));
}
