//===- ShortestReal.cpp - The shortest digits of a number -----------------===//
//
// Digits are added until they read back. std::to_chars gives the same text at
// once, by 129 KB of tables and code; a template prints a number now and then.
//
//===----------------------------------------------------------------------===//
#include "runtime/Template/ShortestReal.h"

#include <cstdio>
#include <cstdlib>

namespace heddle::rt::chat {

/// Makes the last digit in front of the exponent one more; false if all are 9.
static bool raise(std::string &text) {
  for (size_t i = text.find('e'); i-- > 0;) {
    if (text[i] >= '0' && text[i] < '9') {
      ++text[i];
      return true;
    }
    if (text[i] == '9')
      text[i] = '0';
  }
  return false;
}

std::string shortestReal(double value) {
  constexpr int kEnough = 16; // digits after the first
  for (int places = 0;; ++places) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.*e", places, value);
    std::string text = digits;
    if (places == kEnough || strtod(digits, nullptr) == value)
      return text;
    // The numbers above a power of two are twice as far apart as those below: the digits below may be closer and still
    // read back as another number, while those above do not.
    if (raise(text) && strtod(text.c_str(), nullptr) == value)
      return text;
  }
}

} // namespace heddle::rt::chat
