// What the fuzz target decides about one input, shared with the driver that counts.
#ifndef HEDDLE_TEST_FUZZ_SAFETENSORS_H
#define HEDDLE_TEST_FUZZ_SAFETENSORS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// "file", "index" or "request" when accepted, else the rule ("S07") or code; ends the
/// process on a finding.
std::string fuzzVerdict(llvm::StringRef input);

} // namespace heddle

#endif // HEDDLE_TEST_FUZZ_SAFETENSORS_H
