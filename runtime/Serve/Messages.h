// What is done to the turns of a request before the model's template sees them.
#ifndef HEDDLE_RUNTIME_SERVE_MESSAGES_H
#define HEDDLE_RUNTIME_SERVE_MESSAGES_H

#include "runtime/Serve/Requests.h"

namespace heddle::serve {

/// Puts the server's own system turn in front of a conversation without one, gives the arguments of calls the form that
/// the template writes, and refuses special tokens in what turns say if the server is told to.
ApiError prepareMessages(const Service &service, json::Value &body);

} // namespace heddle::serve

#endif
