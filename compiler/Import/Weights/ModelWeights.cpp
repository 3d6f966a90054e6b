// Opens the weights that a description or a command line names, and reports at the end what they lack and what nothing
// read.
#include "compiler/Import/Weights/ModelWeights.h"
#include "compiler/Import/Evaluate/Session.h"
#include "compiler/Import/Weights/OtherKinds.h"

#include "compiler/Weights/Coded/CodedMethods.h"
#include "heddle/input_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Reads the description's `weights` into `spec`, and the name of the file into `file`; false if it has the wrong form,
/// which was reported. Values of `tied` and `ignored` may be expressions over constants.
static bool readWeightSpec(Session &session, const Description &doc, WeightNames::Spec &spec, std::string &file) {
  const JsonValue *w = doc.weights;
  if (!w)
    return true;
  if (w->isString()) {
    file = w->string;
    return true;
  }
  if (!w->isObject())
    return false;
  auto text = [&](StringRef key) {
    const JsonValue *v = w->find(key);
    return v && v->isString() ? v->string : std::string();
  };
  file = text("file");
  spec.prefix = text("prefix");
  if (const JsonValue *names = w->find("names"))
    for (const JsonMember &m : names->members)
      spec.names[m.key] = m.value.string;
  if (const JsonValue *renamed = w->find("renamed"))
    for (const JsonMember &m : renamed->members)
      spec.renamed.push_back({m.key, m.value.string, renamed});
  auto constant = [&](const JsonValue &v) -> std::optional<std::string> {
    Value c = session.evaluator.value(v, session.evaluator.fileScope);
    if (c.is(Value::Kind::String))
      return c.asString();
    if (!c.isBad() && !c.isNull())
      session.in.error(Error::WrongValue, {v.loc, &v}, "a name or null expected, found " + Twine(c.show()));
    return std::nullopt;
  };
  if (const JsonValue *tied = w->find("tied"))
    for (const JsonMember &m : tied->members)
      if (std::optional<std::string> of = constant(m.value))
        spec.tied.push_back({m.key, *of, &m.value});
  if (const JsonValue *own = w->find("own")) {
    Value v = session.evaluator.value(*own, session.evaluator.fileScope);
    if (v.is(Value::Kind::Bool))
      spec.own = v.asBool();
    else if (!v.isBad())
      session.in.error(Error::WrongValue, {own->loc, own}, "true or false expected, found " + Twine(v.show()));
  }
  if (const JsonValue *optional = w->find("optional"))
    for (const JsonMember &m : optional->members)
      for (const JsonValue &p : m.value.items)
        spec.optional.push_back({m.key, p.string});
  if (const JsonValue *ignored = w->find("ignored"))
    for (const JsonMember &m : ignored->members)
      for (const JsonValue &p : m.value.items)
        if (std::optional<std::string> pattern = constant(p))
          spec.ignored.push_back(*pattern);
  return true;
}

/// Adds the older spellings that all families share; those of the description count first.
static void addSharedSpellings(const ConfigFile &config, WeightNames::Spec &spec) {
  const JsonValue *shared = config.listOf("renamed");
  if (!shared)
    return;
  for (const JsonMember &m : shared->members)
    if (llvm::none_of(spec.renamed, [&](const WeightNames::Renamed &r) { return globMatch(r.older, m.key); }))
      spec.renamed.push_back({m.key, m.value.string, shared});
}

/// Opens the table of weights, or takes that of the options, and adds the patterns of --ignore-weights.
ModelWeights::ModelWeights(Session &session, const Source &source) {
  const ImportOptions &options = session.options;
  listing = options.needed;
  WeightNames::Spec spec;
  std::string named;
  if (!readWeightSpec(session, *source.doc, spec, named))
    return;
  if (source.config)
    addSharedSpellings(*source.config, spec);
  spec.hasConfig = source.config != nullptr;
  std::optional<QuantisedConfig> config = readQuantisedConfig(session, source);
  if (!config) {
    absenceTold = true; // which weights there are cannot be known
    return;
  }
  quantisation = *std::move(config);
  table = options.weights;
  if (!table)
    open(session, source, named);
  if (!table && options.needed) {
    own = std::make_unique<PlainWeightTable>();
    table = own.get();
  }
  if (!table)
    return;
  for (const std::string &pattern : options.ignoreWeights) {
    std::vector<std::string> known = table->names();
    if (llvm::none_of(known, [&](const std::string &name) { return globMatch(name, pattern); }))
      session.sink.errorInFile(Error::NothingNamed, "--ignore-weights", "",
                               "the file has no tensor " + quote(pattern) + nearest(pattern, known));
    spec.ignored.push_back(pattern);
  }
  if (options.bodyAlone) // as the library leaves out what the class without a head does not have
    for (const char *head : {"lm_head*", "*.lm_head.*", "score.*", "classifier*", "cls.*", "predictions.*",
                             "qa_outputs.*", "vocab_transform.*", "vocab_layer_norm.*", "vocab_projector.*", "pooler.*",
                             "*.pooler.*", "head.*", "decoder.*", "*_predictions.*"})
      spec.ignored.push_back(head);
  byName = std::make_unique<WeightNames>(*table, std::move(spec), file.empty() ? "weights" : file, session.sink);
}

/// Whether there is such a file, or such a directory with weights in it.
static bool holdsWeights(StringRef file) {
  if (file.empty() || !isThere(file.str().c_str()))
    return false;
  if (!fs::is_directory(file))
    return true;
  std::error_code ec;
  for (fs::directory_iterator it(file, ec), end; it != end && !ec; it.increment(ec))
    if (StringRef(it->path()).contains(".safetensors") || StringRef(it->path()).ends_with(".bin"))
      return true;
  return false;
}

/// Chooses the file: --weights, else the one that the description names (relative to its own folder), else the folder
/// of the config.json. Where there is nothing, either the absence is allowed, or it is an error at the name, or the
/// first op that reads a weight reports it.
void ModelWeights::open(Session &session, const Source &source, const std::string &named) {
  const ImportOptions &options = session.options;
  llvm::SmallString<128> chosen;
  if (!options.weightsPath.empty()) {
    chosen = options.weightsPath;
  } else if (!named.empty()) {
    if (path::is_absolute(named)) {
      chosen = named;
    } else {
      chosen = source.directory;
      path::append(chosen, named);
    }
  } else if (source.config) {
    chosen = source.directory.empty() ? "." : source.directory;
  }
  file = std::string(chosen);
  bool anything = holdsWeights(chosen);
  if (!anything && (options.weightsOptional || (source.config && options.configAlone)) && options.weightsPath.empty()) {
    absenceTold = true; // nothing to complain about
    if (!options.adapters.empty())
      session.sink.errorInFile(Error::NothingNamed, "--lora", "",
                               "there are no weights to merge an adapter into; --weights=FILE names them");
    return;
  }
  if (!anything && !named.empty() && options.weightsPath.empty() && !isThere(chosen.c_str())) {
    const JsonValue *weights = source.doc->weights;
    const JsonValue *where = weights->isObject() ? weights->find("file") : weights;
    session.in.error(Error::PartMissing, {where->loc, where},
                     "no file " + quote(named) + " in the folder of the description; --weights=FILE names another");
    absenceTold = true;
    return;
  }
  if (chosen.empty())
    return; // an op that wants one complains
  own = openWeights(chosen, quantisation.scheme, options.adapters, options.headersOnly, session.sink);
  // The config.json of a GGUF file alone was made from what it states.
  if (own && source.config &&
      (refuseOtherMethod(session) || (!options.made && refuseContradiction(session, *source.config))))
    own = nullptr;
  table = own.get();
  absenceTold = !table;
}

/// Whether tensors are left that a method of quantising writes, and which the config does not name; reports it.
bool ModelWeights::refuseOtherMethod(Session &session) {
  for (const std::string &name : own->names()) {
    StringRef method = methodOfName(name);
    if (method.empty())
      continue;
    std::string says = quantisation.scheme
                           ? "; the config says " + quote(quantisation.scheme.method)
                           : std::string("; without quantization_config in config.json it cannot be read");
    session.sink
        .errorInFile(Error::QuantisationUnsupported, file, "weights",
                     escaped(name) + " is how weights are stored that are quantised by " + method + says)
        .note({}, "take config.json and weights of one revision, or the checkpoint that it was made from");
    return true;
  }
  return false;
}

/// Whether the file of weights says another number of the model than config.json does; reports each. Such a file may
/// fit in all its shapes, with heads of another width for example, and would give other results in silence.
bool ModelWeights::refuseContradiction(Session &session, const ConfigFile &config) const {
  const JsonValue *table = config.listOf("gguf");
  std::vector<WeightTable::Statement> statements = own->statements();
  if (!table || statements.empty())
    return false;
  bool found = false;
  for (const JsonValue &row : table->items) {
    auto stated = llvm::find_if(statements, [&](auto &s) { return s.key == row.items.front().string; });
    if (stated == statements.end())
      continue;
    for (const JsonValue &key : llvm::drop_begin(row.items)) {
      auto [member, name] = config.member(key.string);
      if (!member || (member->value.kind != JsonValue::Kind::Integer && member->value.kind != JsonValue::Kind::Real))
        continue;
      const JsonValue &value = member->value;
      double here = value.kind == JsonValue::Kind::Integer ? double(value.integer) : value.real;
      // GGUF files store numbers as f32.
      if (float(here) == float(stated->value))
        continue;
      session.sink
          .error(Error::ConfigTwice, value.loc, "config.json." + name,
                 "is " + value.text() + ", but " + stated->text + ", is " +
                     llvm::formatv("{0}", llvm::format("%.9g", stated->value)).str())
          .note({}, "take config.json and the GGUF file of one model and one revision");
      found = true;
    }
  }
  return found;
}

std::vector<std::string> ModelWeights::files() const { return table ? table->files() : std::vector<std::string>(); }

void ModelWeights::finish(DiagnosticSink &sink, bool complete) {
  if (listing) // nothing is missing and nothing is too much
    return;
  // After other errors it is unknown which weights would have been read.
  if (!missing.empty() || (!complete && !left.empty() && !sink.hasErrors())) {
    missing.insert(missing.end(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
    reportMissing(sink);
  } else if (byName && complete) {
    byName->finish();
  }
}

bool ModelWeights::leavesOut(const std::string &output, DiagnosticSink &sink) const {
  std::set<std::string> names;
  for (const Missing &m : left)
    if (m.output == output)
      names.insert(m.name);
  if (names.empty())
    return false;
  Diagnostic &d = sink.say(Diagnostic::Kind::Remark, Loc(), "weights",
                           quote(output) + " is left out: " + escaped(llvm::join(names, " and ")) +
                               (names.size() > 1 ? " are" : " is") + " not in the file");
  d.file = file;
  return true;
}

/// One error for all weights that are missing: a sentence for one, a table for several, with the shape that is expected
/// and the tensor of the file that may be meant. It is where the first one is read.
void ModelWeights::reportMissing(DiagnosticSink &sink) {
  bool alone = !sink.hasErrors();
  std::vector<Missing> all;
  std::set<std::string> seen;
  for (Missing &m : missing)
    if (seen.insert(m.name).second)
      all.push_back(std::move(m));
  std::vector<std::string> unread = byName->unread();
  const Missing &first = all.front();
  Diagnostic *d;
  if (all.size() == 1) {
    d = &sink.error(Error::WeightMissing, first.shown, first.path, first.why);
    if (!first.expected.empty())
      d->note({}, "a tensor " + first.expected + " is expected");
  } else {
    d = &sink.error(Error::WeightMissing, first.shown, first.path,
                    Twine(all.size()) + " weights that are read here and below are not in " + quote(file));
    d->table.push_back({"weight", "expected", "nearest that nothing reads", "asked for at"});
    for (const Missing &m : all) {
      std::optional<WeightNames::Found> near = byName->nearestStored(m.name, unread);
      d->table.push_back(
          {escaped(table->nameInFile(m.name)), m.expected.empty() ? "?" : m.expected,
           near ? escaped(table->nameInFile(near->name)) + " " + shapeText(near->tensor.shape) : "nothing near it",
           placeText(m.shown)});
    }
  }
  if (const QuantisedConfig::Excluded *entry = quantisation.exclusionOf(first.name))
    d->note(quantisation.loc, quote(entry->pattern) + " in " + entry->key + " keeps " + quote(first.name) +
                                  " from being quantised, so it must be in the files as it is");
  if (llvm::any_of(all, [](const Missing &m) { return m.expected.find('?') != std::string::npos; }))
    d->note({}, "? is a length that the description leaves to the file");
  if (!(first.shown == first.asked) && first.asked)
    d->note(first.asked, "in the block " + quote(first.block));
  // What is left over is the best hint, where nothing else kept it from being read.
  if (!alone || unread.empty())
    return;
  std::string some;
  for (size_t i = 0; i < unread.size() && i < 6; ++i)
    some += (i ? ", " : "") + escaped(table->nameInFile(unread[i]));
  d->note({}, "the file has " + Twine(unread.size()) + (unread.size() == 1 ? " tensor" : " tensors") +
                  " that nothing reads: " + some + (unread.size() > 6 ? ", ..." : ""));
}
