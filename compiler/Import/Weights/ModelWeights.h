// Internal to the importer: the weights of a model, as its ops ask for them. What is asked for and not there is noted
// and told at the end, in one table; what is there and nothing asks for too.
#ifndef HEDDLE_COMPILER_IMPORT_WEIGHTS_MODELWEIGHTS_H
#define HEDDLE_COMPILER_IMPORT_WEIGHTS_MODELWEIGHTS_H

#include "compiler/Import/Weights/QuantisedConfig.h"
#include "compiler/Import/Weights/WeightNames.h"
#include <memory>
#include <optional>

namespace heddle {

class ConfigFile;
struct Session;
struct Source;

/// The weights of one import. It opens the files, answers ops by name, and collects what is missing.
class ModelWeights {
public:
  /// Opens the file that the options or the description name.
  ModelWeights(Session &session, const Source &source);

  /// Null: there are none. Ops that read weights then cannot be imported, or have shapes that are made up.
  WeightNames *names() { return byName.get(); }
  const WeightTable *stored() const { return table; }
  /// True once: the first time it is asked, unless the absence of weights was reported, or allowed, before.
  bool tellAbsence() { return !std::exchange(absenceTold, true); }

  /// A weight that an op asks for and the files do not have.
  struct Missing {
    Loc shown, asked; ///< in the user's file; of the op itself
    std::string path, block, name, why;
    std::string expected; ///< its shape as far as the op knows it
    std::string output;   ///< the one that is left out for lack of it, or ""
  };
  void note(Missing weight) { (weight.output.empty() ? missing : left).push_back(std::move(weight)); }
  /// Whether an output that could not be made is left out for lack of weights; then it is said.
  bool leavesOut(const std::string &output, DiagnosticSink &sink) const;
  size_t countMissing() const { return missing.size(); }

  /// Tells what is missing; else, where the import is `complete`, what was not read.
  void finish(DiagnosticSink &sink, bool complete);
  /// For the attribute model.weights.
  std::vector<std::string> files() const;
  /// For the attribute model.quantised; empty where no matrix is coded.
  std::string quantised() const { return table ? quantisation.scheme.text() : ""; }

private:
  void open(Session &session, const Source &source, const std::string &named);
  bool refuseOtherMethod(Session &session);
  bool refuseContradiction(Session &session, const ConfigFile &config) const;
  void reportMissing(DiagnosticSink &sink);

  std::unique_ptr<WeightTable> own;
  const WeightTable *table = nullptr; ///< `own`, or that of the options
  std::unique_ptr<WeightNames> byName;
  std::string file; ///< as messages call it
  QuantisedConfig quantisation;
  bool absenceTold = false;
  bool listing = false; ///< the weights are listed, not read
  std::vector<Missing> missing;
  std::vector<Missing> left; ///< of outputs that are left out
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WEIGHTS_MODELWEIGHTS_H
