// The rules about the tensors of one file together: names, and how they share
// the data.
#ifndef HEDDLE_COMPILER_WEIGHTS_TENSORLAYOUT_H
#define HEDDLE_COMPILER_WEIGHTS_TENSORLAYOUT_H

#include "compiler/Weights/Problem.h"
#include "compiler/Weights/SafetensorsHeader.h"

namespace heddle {

/// Orders `header` by name and checks rules 7 and 19 to 22 (22 only warns).
/// Each tensor by itself must be sound. `file` is safe to print.
std::optional<WeightProblem> arrangeTensors(SafetensorsHeader &header,
                                            uint64_t dataStart,
                                            uint64_t fileBytes,
                                            const std::string &file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_TENSORLAYOUT_H
