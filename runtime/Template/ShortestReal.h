//===- ShortestReal.h - The shortest digits of a number ---------*- C++ -*-===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_SHORTESTREAL_H
#define HEDDLE_RUNTIME_TEMPLATE_SHORTESTREAL_H

#include <string>

namespace heddle::rt::chat {

/// The fewest digits that read back as `value`, the closest of these, as "1.25e-07". `value` must be finite.
std::string shortestReal(double value);

} // namespace heddle::rt::chat

#endif // HEDDLE_RUNTIME_TEMPLATE_SHORTESTREAL_H
