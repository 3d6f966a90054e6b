//===- CommandLine.cpp - what a command line says -------------------------===//
//
// Reads a command line: every command declares its options, then words with a form of their own (NAME=VALUE, ROWSxKEYS)
// are parsed. The only file that knows CLI11, which reports errors by exceptions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Tools/heddle/CommandLine.h"
#include "compiler/Driver/MathChoice.h"
#include "compiler/Driver/RemarkOutput.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/SideFiles/SentenceVectors.h"
#include "targets/Target.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <sstream>

using namespace heddle;

static const char *kExitCodes =
    "Exit codes: 0 done, 1 bad input, 2 bad usage, 3 unsupported, 4 resources, 5 files, 70 internal error\n";

/// The last lines of each command's help; "" is the tool itself.
static const std::pair<const char *, const char *> kExamples[] = {
    {"", R"(  heddle compile models/gpt2 -o gpt2       a Hugging Face directory becomes one binary
  heddle check models/gpt2                 everything that is wrong with it, at once
  heddle explain H0304                     what an error means, and what helps
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
    {"info", R"(  heddle info models/gpt2                  what it is, before it is compiled
  heddle info model.safetensors --json     the same for programs, with every tensor
)"},
    {"report", R"(  heddle report models/gpt2 -o gpt2.html   passes, cost, memory, masks and machine code, as one page
  heddle report model.json --bench --dims T=512
                                           the same with measured times
)"},
    {"interpret", R"(  heddle interpret model.json -i in.safetensors -o out.safetensors
  heddle interpret models/gpt2 -i in.safetensors -o out.safetensors -n 5
)"},
    {"mask", R"(  heddle mask model.json --dims T=4096     what each attention sees, skips and saves
  heddle mask model.json --svg masks.svg   as a picture in a file
  heddle mask model.json --entry step      of the cached step, past positions and one new one
)"},
    {"weights", R"(  heddle weights models/gpt2/config.json    names, shapes and types that the weights must have
  heddle weights model.json --json         the same for programs
)"},
    {"verify", R"(  heddle verify model.json -i in.safetensors
  heddle verify model.json -i in.safetensors --bisect > small.mlir
)"},
    {"reduce", R"(  heddle reduce ir/05-canonicalize.mlir --pass=cse -o small.mlir
  heddle reduce ir/05-canonicalize.mlir --check='heddle-opt {} --cse | grep -q attn.sdpa'
)"},
    {"tokenize", R"(  echo "Once upon a time" | heddle tokenize models/gpt2
)"},
    {"template", R"(  echo '{"messages": [{"role": "user", "content": "Hi"}]}' | heddle template models/llama
  heddle template models/llama --info      what its turns look like
)"},
    {"stages", R"(  heddle stages
  heddle stages --json                     the same for programs
)"},
    {"diff", R"(  heddle diff old/gpt2 new/gpt2             two programs
  heddle diff models/gpt2 --with "--dtype=bf16"
)"},
    {"explain", R"(  heddle explain H0304                     cause, an example, what helps
  heddle explain model-fuse-elementwise    what a pass does, and where it comes
  heddle explain linear                    the op of descriptions, and that of the IR
)"},
    {"schema", R"(  heddle schema > heddle.schema.json       for editors that check JSON
)"},
    {"reference", R"(  heddle reference | less
  heddle reference blocks                  how the blocks of the library are defined
  heddle reference errors                  what the codes of errors mean
  heddle reference families                the model types that are built in
  heddle reference family gpt2             the text of one, which places name (families/gpt2.json:46:14)
)"},
};

/// Splits "NAME=VALUE"; throws CLI11's error if there is no `=`.
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

namespace {
/// Options that are parsed when the whole command line has been read.
struct Unread {
  std::vector<std::string> adapters, sets, bounds, dims;
  std::string outputs, tile, topic, report, weights, group, only, temps, remarks, bench;
  std::vector<std::string> without;
  bool noEmbed = false, noLocations = false, json = false;
};
} // namespace

/// Where a command is that a compiled model has, not heddle.
static std::string commandOfModel(llvm::StringRef word) {
  if (!llvm::is_contained({"run", "generate", "chat", "serve", "bench", "licences"}, word))
    return "";
  return "; a compiled model has it: heddle compile MODEL -o NAME, then ./NAME " + word.str();
}

/// The message about words that the parser did not know, with the nearest option.
static int misused(const Console &console, CLI::App &app, const CLI::ParseError &e) {
  std::vector<CLI::App *> parsed = app.get_subcommands();
  std::vector<std::string> left = app.remaining(/*recurse=*/true), known;
  std::string text = e.what();
  if (parsed.empty()) {
    for (CLI::App *sub : app.get_subcommands([](CLI::App *) { return true; }))
      known.push_back(sub->get_name());
    if (!left.empty())
      text = "there is no command " + quote(left.front()) +
             (commandOfModel(left.front()).empty() ? nearest(left.front(), known) : commandOfModel(left.front()));
  } else if (e.get_exit_code() == int(CLI::ExitCodes::ExtrasError)) {
    for (CLI::Option *o : parsed.front()->get_options())
      for (const std::string &name : o->get_lnames())
        known.push_back("--" + name);
    for (llvm::StringRef word : left)
      if (word.starts_with("-")) {
        text = "heddle " + parsed.front()->get_name() + " has no option " + quote(word) +
               nearest(word.split('=').first, known);
        break;
      }
  }
  return console.complain(Error::BadUsage, text + "\nRun with --help for more information.");
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
    return console.complain(Error::BadUsage, "there is no command " + quote(topic) + nearest(topic, known));
  // help() would show the command that was given, which is this one.
  console.out << app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  return Ok;
}

/// The options about the model, for every command that reads one.
static void addInput(CLI::App *sub, CommandLine &line, Unread &unread) {
  CompileOptions &c = line.compile;
  sub->add_option("model", c.import.path,
                  "model.json, a Hugging Face directory, a GGUF file, the .mlir of a stage, or - for standard input")
      ->required();
  sub->add_option("--weights", c.import.weightsPath, "read these weights instead of the description's");
  sub->add_option("--lora", unread.adapters,
                  "DIR[:SCALE]: a LoRA adapter as peft saves it, merged into the weights; several, in their order")
      ->allow_extra_args(false);
  sub->add_option("--set", unread.sets, "NAME=VALUE: another value of a constant of the description")
      ->allow_extra_args(false);
  sub->add_option("--families", line.families, "a folder of family files, asked before those that are built in");
  sub->add_option("--ignore-config", c.import.ignoreConfig,
                  "KEY: read config.json as if it had no such key; FILE:KEY: of generation_config.json and the like")
      ->allow_extra_args(false);
  sub->add_flag(
      "--force", c.import.force,
      "with --ignore-config: also a key that means something to the family; what is computed may then be wrong");
  sub->add_option("--ignore-weights", c.import.ignoreWeights,
                  "PATTERN: tensors of the file that nothing reads; * is any text")
      ->allow_extra_args(false);
  sub->add_option("--bound", unread.bounds, "DIM=MAX: the largest length of a dim")->allow_extra_args(false);
  sub->add_option(
      "--target-tokenizer", c.import.targetTokenizer,
      "FILE or folder: the tokenizer of what an encoder-decoder writes, where that has a separate vocabulary "
      "(target_tokenizer.json in the folder of the model)");
  sub->add_option(
      "--template", c.chatTemplate,
      "FILE: this chat template instead of the model's own; NAME: this one of the model's; none: without one");
  sub->add_option(
         "--pool", c.import.pool,
         "how hidden states become a vector of a text, instead of modules.json: cls, max, mean, mean_sqrt_len_tokens, weightedmean, last, or several joined by +; none: no vectors")
      ->check(CLI::Validator(
          [](const std::string &text) {
            return text == "none" || !poolingKinds(text).empty() ? std::string() : "there is no pooling " + text;
          },
          "MODE"));
  sub->add_option("--outputs", unread.outputs, "all: hand out hidden states too")
      ->check(CLI::IsMember({"all", "default"}));
  sub->add_option("--masked-rows", c.import.maskedRows, "what a row that sees nothing yields")
      ->check(CLI::IsMember({"zero", "nan", "mean"}));
  sub->add_option("--cache", c.pipeline.cache, "the cached step: auto, or an error without one, or none")
      ->check(CLI::IsMember({"auto", "require", "none"}));
  c.pipeline.slots = kSlotsOfServer.str();
  sub->add_option(
         "--slots", c.pipeline.slots,
         "also an entry `batch`, with which `serve` makes several texts at once: served (where there is a server), auto, or an error without one, or none")
      ->check(CLI::IsMember({"served", "auto", "require", "none"}));
  sub->add_option(
         "--padded-rows", c.pipeline.paddedRows,
         "rows of padding: skip leaves them out (an output is 0 there), compute computes them, auto leaves out those that no output has, and all in models of a config.json")
      ->check(CLI::IsMember({"auto", "skip", "compute"}));
}

/// A check that a word is one of `words`. Other programs have other names: `theirs` says ours for them, in any case.
static CLI::Validator oneOf(std::vector<std::string> words,
                            std::vector<std::pair<llvm::StringRef, llvm::StringRef>> theirs) {
  std::string all = "{" + llvm::join(words, ",") + "}";
  return CLI::Validator(
      [=](const std::string &text) -> std::string {
        if (llvm::is_contained(words, text))
          return "";
        auto ours = llvm::find_if(theirs, [&](auto &row) { return row.first.equals_insensitive(text); });
        std::string near;
        for (const std::string &word : words)
          if (llvm::StringRef(word).equals_insensitive(text))
            near = word;
        if (near.empty() && ours != theirs.end())
          near = ours->second.str();
        return text + " not in " + all + (near.empty() ? "" : "; did you mean " + near + "?");
      },
      all);
}

/// How reals are stored and multiplied; interpret and verify round as the binary does.
static void addArithmetic(CLI::App *sub, CompileOptions &c, Unread &unread) {
  sub->add_option("--dtype", c.dtype, "how weights, keys and values are stored (f32); sums are f32 always")
      ->check(oneOf({"f32", "bf16", "f16"}, {{"fp16", "f16"},
                                             {"float16", "f16"},
                                             {"half", "f16"},
                                             {"bfloat16", "bf16"},
                                             {"fp32", "f32"},
                                             {"float32", "f32"},
                                             {"float", "f32"},
                                             {"int8", "f32 or bf16 with --weights-dtype=int8"},
                                             {"int4", "f32 or bf16 with --weights-dtype=int4"}}));
  sub->add_option(
         "--math", c.math,
         "of bf16 and codes: dots rounds the other factor too, wide keeps it f32; auto: what the processor is fast at (--mcpu=help). Or for one kind of product: linear=wide, attention=wide, codes=wide, joined by commas")
      ->check(CLI::Validator(
          [](const std::string &text) {
            std::string error;
            MathChoice::parse(text, error);
            return error;
          },
          "{auto,dots,wide}"));
  sub->add_option(
         "--rows", c.rows,
         "of codes, 32 or 128: features of a row that share a scale while rows are rounded to 8 bits (128); 32 is nearer to f32, and slower with matrix registers")
      ->check(CLI::IsMember({32, 128}));
  CLI::Option *codes =
      sub->add_option(
             "--weights-dtype", unread.weights,
             "int8, int4: large matrices and the table of tokens are rounded to codes; what is left is as --dtype says")
          ->check(oneOf({"int8", "int4"}, {{"q8_0", "int8"},
                                           {"q8", "int8"},
                                           {"8bit", "int8"},
                                           {"w8a8", "int8"},
                                           {"i8", "int8"},
                                           {"q4_0", "int4"},
                                           {"q4_1", "int4"},
                                           {"q4_k", "int4"},
                                           {"q4_k_m", "int4"},
                                           {"q4_k_s", "int4"},
                                           {"q4", "int4"},
                                           {"4bit", "int4"},
                                           {"w4a16", "int4"},
                                           {"i4", "int4"},
                                           {"nf4", "int4"},
                                           {"fp16", "--dtype=f16"},
                                           {"f16", "--dtype=f16"},
                                           {"bf16", "--dtype=bf16"}}));
  sub->add_option("--group", unread.group, "of --weights-dtype: features that share a scale (int8: 128, int4: 32)")
      ->check(CLI::IsMember({"32", "64", "128", "channel"}))
      ->needs(codes);
  sub->add_option("--keep", c.pipeline.keep,
                  "of --weights-dtype, PATTERN: matrices that are not rounded; * is any text")
      ->allow_extra_args(false)
      ->needs(codes);
}

/// What the passes did and did not, and why.
static void addRemarks(CLI::App *sub, CompileOptions &c, Unread &unread) {
  sub->add_flag("--remarks{.}", unread.remarks,
                "what passes did, and did not for which reason, each at its place; --remarks=REGEX: those with it in "
                "their name or kind, as 'fuse\\..*' or missed");
  sub->add_option("--remarks-file", c.remarksFile, "write the remarks into this file, .yaml or .json")
      ->check(CLI::Validator([](const std::string &file) { return wrongRemarksFile(file); }, "FILE"));
}

/// What the binary is for: compile makes it, check asks what would be refused.
static void addTarget(const Console &console, CLI::App *sub, CompileOptions &c) {
  c.target.clear(); // the default, or what the text of a stage names
  sub->add_option("--target", c.target, "what the binary runs on: cpu, cuda, or cpu,cuda");
  sub->add_option(
         "--mcpu", c.mcpu,
         "what the code is for: native, x86-64-v3, znver5, ...; of cuda sm_80, sm_90a, sm_80+sm_90a (help lists all); of cpu,cuda both, as x86-64-v3,sm_80")
      ->each([&console](const std::string &name) {
        if (name != "help")
          return;
        console.out << describeMachines();
        throw CLI::Success(); // nothing else of the command line is needed
      });
}

/// What of its passes a command shows; `dumps`: it also writes files.
static void addWatching(CLI::App *sub, CompileOptions &c, Unread &unread, bool dumps) {
  WatchOptions &watch = c.watch;
  if (dumps) {
    CLI::Option *dump = sub->add_option(
        "--dump-ir", c.dumpDir,
        "write into this folder the IR after every pass, what each changed (NN.diff), and index.html and index.json");
    sub->add_option("--only", unread.only,
                    "of --dump-ir: changed leaves out the files of passes that change nothing; all (the default)")
        ->check(CLI::IsMember({"changed", "all"}))
        ->needs(dump);
    sub->add_flag("--save-temps{-}", unread.temps,
                  "keep in OUTPUT.temps, or in the folder of --save-temps=DIR, all files between the model and its "
                  "binary: every stage, code and objects of each function, how they are linked, and repeat.sh");
  }
  sub->add_option("--print-ir-before", watch.before, "PASS: print the IR before this pass on standard error")
      ->allow_extra_args(false);
  sub->add_option("--print-ir-after", watch.after, "PASS: the same after it")->allow_extra_args(false);
  sub->add_flag("--print-ir-change{all}", watch.change,
                "print the IR after every pass that changes something, or with --print-ir-change=diff what it changes")
      ->check(CLI::IsMember({"all", "diff"}));
  sub->add_option("--function", watch.functions, "NAME: show this function alone, of dumped and printed IR")
      ->allow_extra_args(false);
  sub->add_option("--at", watch.at,
                  "PATH or FILE:LINE: show the ops of this statement of the description alone, as $.body[3] or "
                  "model.json:12");
}

/// What a compilation says and takes.
static void addLimits(CLI::App *sub, CompileOptions &c) {
  sub->add_flag("-q,--quiet", c.quiet, "no notes and no progress; errors and warnings all the same");
  sub->add_flag("-v{lines},--time{lines}", c.time,
                "say where time and memory went: phases, passes and functions; --time=json: as JSON on standard output")
      ->check(CLI::IsMember({"lines", "json"}));
  sub->add_option("--time-trace", c.watch.trace,
                  "write the same into this file in Chrome's trace format, with the threads of code generation");
  sub->add_option("--timeout", c.timeout, "give up after so many seconds (exit code 4)")->check(CLI::PositiveNumber);
  sub->add_option("--max-memory", c.maxMemory, "give up beyond so much memory, as 500M or 2G (exit code 4)")
      ->transform(CLI::AsSizeValue(false));
}

/// The options of `heddle compile`: the output, the processor, limits.
static void addCompile(const Console &console, CLI::App &app, CommandLine &line, Unread &unread) {
  CompileOptions &c = line.compile;
  CLI::App *sub = app.add_subcommand("compile", "compile a model into one standalone binary");
  addInput(sub, line, unread);
  sub->add_option("-o,--output", c.output,
                  "the file to write; if not given, a binary gets the model's name here, text goes to standard output");
  std::vector<std::string> stageNames;
  for (const TargetKind &target : targetKinds()) {
    for (const Stage &s : target.stages())
      if (!llvm::is_contained(stageNames, s.name))
        stageNames.push_back(s.name.str());
    for (auto &s : target.outputs())
      if (!llvm::is_contained(stageNames, s.first))
        stageNames.push_back(s.first.str());
  }
  sub->add_option("--emit", c.emit, "stop after a stage and write its text")->check(CLI::IsMember(stageNames));
  sub->add_flag("--cubin", c.forTarget.cubin,
                "of cuda: machine code in addition to the PTX, by the ptxas on the path; such a program starts sooner");
  sub->add_flag(
      "--report{-}", unread.report,
      "of cuda: what each kernel takes and its least time, as a table, or as JSON with --report=FILE; without -o nothing is compiled");
  sub->add_option("--dims", unread.dims, "NAME=N: the lengths of --report")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs("--report");
  sub->add_flag("--emulate", c.forTarget.emulate)->group(""); // for tests
  sub->add_flag_callback("--emulate-alone", [&c] { c.forTarget.emulate = c.forTarget.alone = true; })->group("");
  sub->add_flag("--emulate-races", c.forTarget.races)->group("");
  sub->add_flag("--quick", c.forTarget.quick)->group(""); // for tests
  addTarget(console, sub, c);
  addArithmetic(sub, c, unread);
  sub->add_flag("--no-embed", unread.noEmbed, "keep the weights in a second file next to the binary");
  sub->add_option(
         "--without", unread.without,
         "leave out what the program would have: serve, its server, half a megabyte; chat, talking on the command line; bench, measuring itself")
      ->check(CLI::IsMember({"serve", "chat", "bench"}))
      ->delimiter(',');
  sub->add_flag("--json", c.json, "one JSON object: what was written, what rounding changed, all messages");
  sub->add_option("--depfile", c.depfile, "write the files it is made of as a rule of make, for build systems");
  addWatching(sub, c, unread, /*dumps=*/true);
  addRemarks(sub, c, unread);
  sub->add_flag("--debug-info", c.debugInfo,
                "keep symbols, and lines of the description for perf, gdb and Nsight; the code stays the same");
  sub->add_option("--code-cache", c.forTarget.codeCache,
                  "of a binary: keep machine code and PTX in this folder, and take from it what is there");
  sub->add_flag(
      "--no-locations", unread.noLocations,
      "leave the places in the description out of --emit and --dump-ir; messages about such a file cannot point there");
  addLimits(sub, c);
}

/// The options of `heddle report`: those of a compilation, and what the page has.
static void addReport(const Console &console, CLI::App &app, CommandLine &line, Unread &unread) {
  CompileOptions &c = line.compile;
  ReportRequest &r = line.report;
  CLI::App *sub =
      app.add_subcommand("report", "compile a model and write a page: passes, cost, memory, masks, machine code");
  addInput(sub, line, unread);
  sub->add_option("-o,--output", r.page, "the page to write: one file without requests")->capture_default_str();
  sub->add_option("--json", r.json, "FILE: also write report.json, of which the page is made (heddle schema report)");
  sub->add_option("--dims", unread.dims, "NAME=N: lengths of the masks, of a measurement, and to begin with")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_flag(
      "--bench{-}", unread.bench,
      "measure on this machine, with one thread; --bench=FILE.json: what MODEL bench --profile --json printed");
  sub->add_option("--detail", r.detail,
                  "of functions other than entries: entries, nothing; kernels, IR and machine code, of the largest the "
                  "last form alone where the page would be long; all")
      ->check(CLI::IsMember({"entries", "kernels", "all"}))
      ->capture_default_str();
  sub->add_flag("--paths", r.paths, "call files by the paths of the command line, not by their names");
  sub->add_flag("--quick", c.forTarget.quick)->group(""); // for tests
  sub->add_option("--code-cache", c.forTarget.codeCache,
                  "take the machine code of functions from this folder, and keep it there");
  addTarget(console, sub, c);
  addArithmetic(sub, c, unread);
  addLimits(sub, c);
}

/// The options of the commands that look at a model: check, interpret, mask, verify.
static void addInspection(const Console &console, CLI::App &app, CommandLine &line, Unread &unread) {
  InspectOptions &look = line.look;
  CLI::App *check = app.add_subcommand(
      "check", "everything that compile would refuse, at once; reads the headers of weights, not their data");
  addInput(check, line, unread);
  addTarget(console, check, line.compile);
  addArithmetic(check, line.compile, unread);
  addRemarks(check, line.compile, unread);
  check->add_flag("--json", unread.json, "one JSON array");
  check->add_flag("-q,--quiet", line.compile.quiet, "no progress");
  addWatching(check, line.compile, unread, /*dumps=*/false);

  CLI::App *info = app.add_subcommand(
      "info", "what a model is before it is compiled: family, weights, licence, tokenizer; from headers alone");
  addInput(info, line, unread);
  addArithmetic(info, line.compile, unread);
  info->add_option("--dims", unread.dims, "NAME=N: lengths for the cost; what is not named is as declared, the batch 1")
      ->delimiter(',')
      ->allow_extra_args(false);
  info->add_flag("--tensors", line.info, "each tensor in a separate line");
  info->add_flag("--json", unread.json, "one JSON object, with every tensor");

  CLI::App *weights =
      app.add_subcommand("weights", "what weights a description or a config.json needs: names, shapes, types");
  addInput(weights, line, unread);
  weights->add_flag("--json", unread.json, "one JSON array: name, shape, dtype, stored");

  CLI::App *interpret = app.add_subcommand("interpret", "run a model by the reference interpreter (slow, f64)");
  addInput(interpret, line, unread);
  addArithmetic(interpret, line.compile, unread);
  interpret
      ->add_option("-i,--input", look.inputs, "safetensors or .npz with the inputs by name; several, each with its -o")
      ->required()
      ->allow_extra_args(false);
  interpret->add_option("-o,--output", look.outputs, "safetensors, .npz or .npy to write")
      ->required()
      ->allow_extra_args(false);
  interpret->add_flag("-q,--quiet", line.compile.quiet, "no progress");
  interpret->add_option("--stage", look.stage,
                        "interpret the IR after this stage (model; fused with --padded-rows=skip)");
  interpret->add_option(
      "-n,--new-tokens", look.newTokens,
      "generate greedily instead, at most this many tokens, up to eos: `ids`, and `logits.0`, ... of each step");

  CLI::App *mask = app.add_subcommand("mask", "every attention's mask: expression and picture");
  addInput(mask, line, unread);
  mask->add_option("--dims", unread.dims, "NAME=N: lengths; what is not named is 512, the batch 1")
      ->delimiter(',')
      ->allow_extra_args(false);
  mask->add_option("--entry", look.entry,
                   "run, once, step or batch: the masks of this function; --dims names past, new, ...")
      ->check(CLI::IsMember({"run", "once", "step", "batch"}));
  mask->add_option("--tile", unread.tile, "ROWSxKEYS of a tile, instead of the kernel's");
  mask->add_option("--head", look.head, "the head that is drawn, where heads differ")->check(CLI::NonNegativeNumber);
  mask->add_option("--batch", look.batch, "the batch element that is drawn, where they differ")
      ->check(CLI::NonNegativeNumber);
  mask->add_option("-i,--input", look.input, "safetensors or .npz with real data: ids, lengths, masks");
  mask->add_option("--svg", look.output, "write a picture into this file, and no picture in letters");
  mask->add_flag("--json", unread.json, "one JSON object instead of text");
  mask->add_flag("-q,--quiet", line.compile.quiet, "no progress");

  CLI::App *verify = app.add_subcommand("verify", "interpret after every pass; name the first that changes a result");
  addInput(verify, line, unread);
  addArithmetic(verify, line.compile, unread);
  verify->add_option("-i,--input", look.inputs, "safetensors or .npz with the inputs by name")->required()->expected(1);
  verify->add_flag("--json", unread.json, "one JSON object");
  verify->add_flag("-q,--quiet", line.compile.quiet, "no progress");
  verify->add_option("-n,--new-tokens", look.newTokens, "hold so many tokens of the cached step against @run, too");
  verify->add_flag("--bisect", look.bisect,
                   "where a pass changes a result: the statements that this takes, and their IR on standard output");
}

/// `heddle reduce`.
static void addReduce(CLI::App &app, CommandLine &line) {
  CLI::App *sub = app.add_subcommand("reduce", "IR on which a pass is wrong, made small");
  ReduceOptions &r = line.reduce;
  sub->add_option("file", r.file, "the text of a stage, or a file of --dump-ir")->required();
  auto *pass = sub->add_option("--pass", r.pass,
                               "the pass that fails, or changes what @run computes; with options as --pass-pipeline "
                               "takes them");
  sub->add_option("--check", r.check,
                  "COMMAND: ends with 0 where the fault is there; {} in it is the file, which else comes last")
      ->excludes(pass);
  sub->add_option("-o,--output", r.output, "the file to write; if not given, standard output");
}

/// `heddle diff`, whose models are read as those of `compile` (heddle.cpp).
static void addDiff(CLI::App &app, CommandLine &line, Unread &unread) {
  CLI::App *diff = app.add_subcommand(
      "diff", "what differs between two compilations, statement by statement; exit code 1 if anything does");
  diff->add_option("a", line.diff.first, "a program, a report.json of heddle report, or a model")->required();
  diff->add_option("b", line.diff.second, "the other one; if not given, A compiled again --with other options");
  diff->add_option("--base", line.diff.base, "\"OPTIONS\" of heddle compile, with which models are compiled");
  diff->add_option("--with", line.diff.with, "\"OPTIONS\" that the second model has in addition");
  diff->add_flag("--json", unread.json, "one JSON object, with all differences");
}

/// The commands that need no model: tokenize, template, stages, schema, reference, help.
static void addRest(CLI::App &app, CommandLine &line, Unread &unread) {
  CLI::App *tokenize = app.add_subcommand("tokenize", "a text a line in, ids and pieces out");
  tokenize->add_option("tokenizer", line.tokenizer, "tokenizer.json, its directory, or a GGUF file")->required();
  tokenize->add_flag("--json", unread.json, "one JSON object a line, in and out");
  CLI::App *chat =
      app.add_subcommand("template", "a conversation as JSON a line in, the text of its chat template out");
  chat->add_option("template", line.chatTemplate,
                   "a template, a tokenizer_config.json that has one, a directory, or a GGUF file")
      ->required();
  chat->add_option("--template", line.compile.chatTemplate, "NAME: this one of several templates of a model");
  chat->add_flag("--json", unread.json, "answers as JSON, too: {\"text\"} or {\"error\"}");
  chat->add_flag("--info", line.info, "what the template understands: system turns, parts, calls, the end of a turn");
  CLI::App *stages = app.add_subcommand("stages", "the table of stages");
  stages->add_flag("--json", unread.json, "one JSON array: each stage, what holds after it, its passes");
  CLI::App *explain =
      app.add_subcommand("explain", "what an error, a pass, a stage, an op or a block is; for errors, what helps");
  explain->add_option("name", line.explained,
                      "H0304, model-fuse-elementwise, fused, linear, ...; none: lists all names");
  explain->add_flag("--json", unread.json, "one JSON array");
  CLI::App *schema = app.add_subcommand("schema", "the JSON Schema of descriptions");
  schema->add_option(
      "description", line.described,
      "the schema of this file: it knows the blocks that the file declares; report: that of report.json");
  schema->add_option("--families", line.families, "a folder of family files, asked before those that are built in");
  CLI::App *reference = app.add_subcommand("reference", "the reference page of the description language");
  reference
      ->add_option("part", line.part,
                   "blocks: the library of blocks instead (stdlib.json); errors: what the codes of errors mean; "
                   "families: their names; family NAME: the text of one")
      ->check(CLI::IsMember({"blocks", "errors", "families", "family"}));
  reference->add_flag("--json", unread.json, "of errors and families: one JSON array");
  reference->add_option("name", line.described, "the family");
  reference->add_option("--families", line.families, "a folder of family files, asked before those that are built in");
  CLI::App *help = app.add_subcommand("help", "more of one command");
  help->add_option("command", unread.topic, "the command");
}

/// Parses words that have a form of their own; throws CLI11's errors.
static void readWords(const Unread &unread, CommandLine &line) {
  InspectOptions &look = line.look;
  for (const std::string &s : unread.adapters) {
    std::string error;
    std::optional<AdapterChoice> adapter = AdapterChoice::parse(s, error);
    if (!adapter)
      throw CLI::ValidationError("--lora", error);
    line.compile.import.adapters.push_back(std::move(*adapter));
  }
  for (const std::string &s : unread.sets)
    line.compile.import.sets.push_back(split(s, "--set"));
  for (const std::string &s : unread.bounds)
    line.compile.import.bounds.push_back(dimOf(s, "--bound"));
  for (const std::string &s : unread.dims)
    if (auto dim = dimOf(s, "--dims"); !look.dims.insert(dim).second || dim.second > kLongestDim)
      throw CLI::ValidationError("--dims",
                                 "each dim once, at most " + std::to_string(kLongestDim) + ", found '" + s + "'");
  if (auto [rows, keys] = llvm::StringRef(unread.tile).split('x');
      !unread.tile.empty() &&
      (rows.getAsInteger(10, look.rowTile) || keys.getAsInteger(10, look.keyTile) ||
       std::min(look.rowTile, look.keyTile) < 1 || std::max(look.rowTile, look.keyTile) > kLongestDim))
    throw CLI::ValidationError("--tile", "expected ROWSxKEYS, as 32x128, found '" + unread.tile + "'");
  line.compile.dims.insert(look.dims.begin(), look.dims.end());
  if (!unread.bench.empty())
    line.report.bench = unread.bench == "-" ? "" : unread.bench;
  if (!unread.report.empty())
    line.compile.report = unread.report == "-" ? "" : unread.report;
  if (!unread.remarks.empty()) {
    if (std::string why = RemarkCollector::wrong(unread.remarks); !why.empty())
      throw CLI::ValidationError("--remarks", why);
    line.compile.remarks = unread.remarks;
  }
  if (!unread.weights.empty()) {
    PipelineOptions &coded = line.compile.pipeline;
    coded.weightBits = unread.weights == "int4" ? 4 : 8;
    coded.weightGroup = coded.weightBits == 4 ? 32 : 128;
    if (!unread.group.empty() && llvm::StringRef(unread.group).getAsInteger(10, coded.weightGroup))
      coded.weightGroup = 0; // "channel"
  }
  line.compile.watch.changedOnly = unread.only == "changed";
  if (!unread.temps.empty())
    line.compile.watch.temps = unread.temps == "-" ? "" : unread.temps;
  line.compile.import.outputsAll = unread.outputs == "all";
  line.compile.serve = !llvm::is_contained(unread.without, "serve");
  line.compile.chat = !llvm::is_contained(unread.without, "chat");
  line.compile.bench = !llvm::is_contained(unread.without, "bench");
  line.compile.embed = !unread.noEmbed;
  line.compile.locations = !unread.noLocations;
  look.json = unread.json;
}

std::optional<CommandLine> readCommandLine(const Console &console, int argc, char **argv, int &code) {
  CLI::App app{"heddle compiles transformer models ahead of time"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  CommandLine line;
  Unread unread;
  addCompile(console, app, line, unread);
  addReport(console, app, line, unread);
  addInspection(console, app, line, unread);
  addReduce(app, line);
  addDiff(app, line, unread);
  addRest(app, line, unread);
  for (auto [name, text] : kExamples)
    (*name ? app.get_subcommand(name) : &app)->footer(std::string("Examples:\n") + text + (*name ? "" : kExitCodes));

  if (argc < 2) { // nothing was asked for: say what can be
    console.err << app.help();
    code = int(exitOf(Error::BadUsage));
    return std::nullopt;
  }
  try {
    app.parse(argc, argv);
    readWords(unread, line);
  } catch (const CLI::ParseError &e) {
    if (e.get_exit_code() != 0) {
      code = misused(console, app, e);
      return std::nullopt;
    }
    std::ostringstream help;
    app.exit(e, help, help);
    console.out << help.str();
    code = Ok;
    return std::nullopt;
  }
  line.command = app.get_subcommands().front()->get_name();
  line.report.version = "heddle " HEDDLE_VERSION;
  line.report.words = {"heddle"};
  line.report.words.insert(line.report.words.end(), argv + 1, argv + argc);
  if (line.command == "help") {
    code = showHelp(console, app, unread.topic);
    return std::nullopt;
  }
  return line;
}
