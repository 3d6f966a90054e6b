// What a request may say: one table of all fields with their kinds and bounds, from which requests are checked,
// messages are made and the page of the API is printed (`MODEL serve --fields`).
#ifndef HEDDLE_RUNTIME_SERVE_REQUESTFIELDS_H
#define HEDDLE_RUNTIME_SERVE_REQUESTFIELDS_H

#include "runtime/Json/Tree.h"
#include "runtime/Serve/Http.h"
#include <optional>

namespace heddle::serve {

/// What a model may be asked by a POST; the sets of them that a field belongs to, or that a model answers.
enum Endpoint : unsigned { Completions = 1, Chat = 2, Embeddings = 4, Classify = 8, Fill = 16, Answers = 32 };

struct EndpointName {
  Endpoint endpoint;
  const char *path, *name;
};
const std::vector<EndpointName> &endpointNames();

enum class FieldKind : uint8_t {
  Boolean,
  Integer,
  Number,
  Text,
  Texts,
  Stops,
  Prompt,
  Ids,
  Bias,
  Object,
  Objects,
  Word
};

struct RequestField {
  const char *name;
  unsigned where; ///< Endpoints
  FieldKind kind;
  double least = 0, most = 0; ///< of numbers; of texts, their count
  const char *what = "";      ///< for people; of a Word the words that it may be
  const char *why = "";       ///< why it may be nothing else
};

/// An error of a request, as the API shows it.
struct ApiError {
  int status = 0; ///< 0: nothing is wrong
  std::string message, param, code;
  explicit operator bool() const { return status != 0; }
};

const std::vector<RequestField> &requestFields();

/// Checks the kind and the bounds of every member of `body` that the table has; names of others are appended to
/// `ignored`. A member that is null counts as absent.
ApiError checkFields(const json::Value &body, Endpoint where, std::vector<std::string> &ignored);

/// The table in Markdown.
std::string describeFields();

/// {"error": {...}} as OpenAI's clients read it.
std::string errorBody(const ApiError &error);
ApiError fromRefusal(const Refusal &refusal);

// Members that have been checked; the default where they are absent or null.
/// Whether a prompt or an input is a list of texts or of lists of ids, and not one of these.
bool isSeveral(const json::Value &prompt);
const json::Value *memberOf(const json::Value &body, std::string_view name);
bool flagOf(const json::Value &body, std::string_view name, bool otherwise);
/// A whole number; it may have been written as 2.0.
std::optional<int64_t> integerOf(const json::Value &body, std::string_view name);
std::optional<double> numberOf(const json::Value &body, std::string_view name);

} // namespace heddle::serve

#endif
