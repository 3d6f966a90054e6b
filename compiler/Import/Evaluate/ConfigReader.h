// Binds the constants of a description: those of its file, overridden by --set, and for a family read from
// config.json. Every key of config.json is used, required, ignored, or an error.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_CONFIGREADER_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_CONFIGREADER_H

#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Evaluate/Evaluator.h"

namespace heddle {

/// Reads the constants of one import; used once and thrown away.
class ConfigReader {
public:
  /// `sets`: NAME and VALUE of each --set. Constants are bound in `evaluator`. `file` is null for a description.
  /// `force`: --ignore-config may take keys away that carry meaning. `bodyAlone`: the class is one without a head,
  /// where the family has one.
  ConfigReader(const Description &doc, ConfigFile *file, Evaluator &evaluator, DiagnosticSink &sink, bool force,
               bool bodyAlone)
      : doc(doc), file(file), evaluator(evaluator), constants(evaluator.constants), sink(sink), force(force),
        bodyAlone(bodyAlone) {}
  void run(const std::vector<std::pair<std::string, std::string>> &sets);

private:
  std::map<std::string, Value> readSets(const std::vector<std::pair<std::string, std::string>> &sets);
  /// Binds the constants that the class named in `architectures` sets.
  void readArchitecture();
  void readFamily();
  /// Evaluates one constant of the file.
  Value constant(const JsonMember &m);
  void checkRequire(llvm::StringRef key, const JsonValue &allowed);
  void checkNull(llvm::StringRef key, const JsonValue &allowed, const JsonMember &null);
  void checkNulls(const std::set<std::string> &used);
  bool isIgnored(const std::string &full, const std::vector<std::string> &ignored) const;
  void checkKeys(const JsonValue &object, const std::string &prefix, const std::set<std::string> &used,
                 const std::vector<std::string> &ignored, const std::vector<std::string> &shared);

  const Description &doc;
  ConfigFile *file;
  Evaluator &evaluator;
  Environment &constants;
  DiagnosticSink &sink;
  bool force, bodyAlone;
  std::set<std::string> refusedKeys; ///< keys of config.json that `require` has refused
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_CONFIGREADER_H
