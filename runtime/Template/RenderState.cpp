//===- RenderState.cpp - What one rendering may not use -------------------===//
//
// How a rendering fails. Not in the header: messages are texts that are put
// together, and what asks for a limit at every step stays small without them.
//
//===----------------------------------------------------------------------===//
#include "runtime/Template/RenderState.h"

namespace heddle::rt::chat {

bool Session::fail(const char *message) { return fail(std::string(message)); }

bool Session::fail(std::string message) {
  if (!failed)
    error = std::move(message);
  failed = true;
  return false;
}

bool Session::noSteps() {
  steps = 0;
  return fail("it takes more than " + std::to_string(limits.steps) + " steps");
}

bool Session::noRoom() { return fail("its values take more than " + std::to_string(limits.memory >> 20) + " MiB"); }

bool Session::tooDeep() { return fail("a value is nested deeper than " + std::to_string(Limits::depth) + " levels"); }

} // namespace heddle::rt::chat
