//===- TemplateTraits.h - What a template understands -----------*- C++ -*-===//
//
// Renders a few small conversations and tells what follows from them, as no file
// of a model says it: whether there is a system turn, whether contents may be
// lists of parts, which form the arguments of calls have, which token ends a
// turn.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TEMPLATE_TEMPLATETRAITS_H
#define HEDDLE_COMPILER_TEMPLATE_TEMPLATETRAITS_H

#include <functional>
#include <string>

namespace heddle {

namespace rt {
class TemplateRunner;
}

struct TemplateTraits {
  bool system = false;   ///< a system turn is accepted, and its text appears
  bool parts = false;    ///< lists of parts are understood
  bool toolTurn = false; ///< a turn of a tool that says nothing is accepted
  std::string arguments; ///< of a call: "object", "text", "either", or "none" where neither is written
  std::string turnEnd;   ///< the first special token after an assistant's text; "" if there is none
};

/// `firstSpecial` gives the first special token of a text, or "".
TemplateTraits probeTemplate(const rt::TemplateRunner &runner,
                             const std::function<std::string(const std::string &)> &firstSpecial);

} // namespace heddle

#endif // HEDDLE_COMPILER_TEMPLATE_TEMPLATETRAITS_H
