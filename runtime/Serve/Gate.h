// Who may ask, judged on the head of a request, before any of its body is read: the Host that was asked for (a name
// that public DNS could point here is refused, which ends DNS rebinding), the page that asks (Origin), the key, the
// path and its method, and the kind of body.
#ifndef HEDDLE_RUNTIME_SERVE_GATE_H
#define HEDDLE_RUNTIME_SERVE_GATE_H

#include "runtime/Core/Status.h"
#include "runtime/Serve/Http.h"

namespace heddle::serve {

/// What a path answers to.
struct Route {
  const char *path; ///< whole, or with `below` its beginning
  const char *method;
  bool open = false;  ///< needs no key
  bool below = false; ///< and all paths that begin so
};

class Gate {
public:
  Gate() = default;
  explicit Gate(std::vector<Route> routes) : routes(std::move(routes)) {}

  std::vector<std::string> keys;         ///< none: everyone may ask
  std::vector<std::string> allowHosts;   ///< names beside localhost and addresses
  std::vector<std::string> allowOrigins; ///< pages of elsewhere that may ask, as "https://example.org"

  /// Status 0: the request may go on.
  Refusal judge(const RequestHead &head) const;
  bool hostAllowed(std::string_view host) const;
  /// Whether a path is one of the routes, whole.
  bool isPath(std::string_view path) const;

private:
  bool originAllowed(const RequestHead &head) const;
  bool keyGiven(const RequestHead &head) const;

  std::vector<Route> routes;
};

/// Reads keys from a file, one a line of at least 16 visible characters; `open`: others may read the file.
rt::Status readKeys(const std::string &path, std::vector<std::string> &keys, bool &open);

} // namespace heddle::serve

#endif
