// What all requests have in common: what is served, a body as JSON that was checked, errors.
#ifndef HEDDLE_RUNTIME_SERVE_REQUESTS_H
#define HEDDLE_RUNTIME_SERVE_REQUESTS_H

#include "runtime/Core/Model.h"
#include "runtime/Serve/Listener.h"
#include "runtime/Serve/Metrics.h"
#include "runtime/Serve/RequestFields.h"
#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::serve {

/// What is served, read by all threads and changed by none.
struct Service {
  rt::Model *model = nullptr;
  const rt::Tokenizer *tokenizer = nullptr; ///< of prompts
  const rt::Tokenizer *target = nullptr;    ///< of answers, most often the same
  unsigned endpoints = 0;                   ///< what this model answers
  std::string name;                         ///< of the model
  std::vector<std::string> aliases;         ///< other names that requests may give
  std::string fingerprint;                  ///< of weights and program: same fingerprint, same seed, same text
  int64_t context = 0;                      ///< positions of a text
  int64_t started = 0;                      ///< seconds since 1970
  /// Puts a conversation into the model's template; absent: the model has none.
  std::function<ApiError(const json::Value &body, std::string &text)> render;
  std::optional<int64_t> turnEnd; ///< the token that ends an answer in a conversation
  std::string callArguments;      ///< how the template wants arguments of calls: "object", "text", or either
  std::string system;             ///< of conversations that have no system turn; "": none
  bool refusesSpecial = false;    ///< special tokens in what turns say
  bool truncates = true;          ///< texts that are too long for an encoder; false: --no-truncate

  bool hasName(std::string_view wanted) const;
};

/// Reads a body and checks its fields and the model's name. `fields`: lines for the head of the answer, which name the
/// fields that are ignored.
ApiError readBody(const Service &service, Endpoint endpoint, const std::string &text, json::Value &body,
                  std::string &fields);

/// One text, or the ids of one, as the model reads it: with the tokenizer's own special tokens around a text.
ApiError readTokens(const Service &service, const json::Value &one, const char *param, std::vector<int64_t> &ids);

/// An error of the runtime; `param` is what it is about if the request is to blame.
ApiError fromStatus(const rt::Status &status, const std::string &param);
/// The error of a request that comes, or still waits, while the server is stopping.
ApiError stopping();
/// The error of a model's name that is not served.
ApiError unknownModel(const Service &service, std::string_view name);
/// Answers with an error; `fields` are lines of the head.
void refuse(Listener &listener, const Exchange &to, const ApiError &error, const std::string &fields = {});

} // namespace heddle::serve

#endif
