//===- ValidUtf8.h - Bytes as text ------------------------------*- C++ -*-===//
#ifndef HEDDLE_RUNTIME_CORE_VALIDUTF8_H
#define HEDDLE_RUNTIME_CORE_VALIDUTF8_H

#include <string>
#include <string_view>

namespace heddle::rt {

/// `bytes` with U+FFFD for every maximal part that is not UTF-8.
std::string validUtf8(std::string_view bytes);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_VALIDUTF8_H
