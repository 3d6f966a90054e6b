// The rules about all tensors of a file together: their names, and how they
// share the data.
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_TENSORLAYOUT_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_TENSORLAYOUT_H

#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"

namespace heddle {

/// Sorts `header` by name and checks rules 7 and 19 to 22 (22 only warns). Each
/// tensor must have passed its own rules. `file` is safe to print.
std::optional<WeightProblem> arrangeTensors(SafetensorsHeader &header, uint64_t dataStart, uint64_t fileBytes,
                                            const std::string &file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_TENSORLAYOUT_H
