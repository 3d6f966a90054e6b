// The base of an adapter that is given alone: the directory that adapter_config.json names.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERBASE_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERBASE_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// Whether a folder holds an adapter and no model.
bool isAdapterAlone(llvm::StringRef folder);

/// The directory of the model that `base_model_name_or_path` of such a folder means: a whole path, or a folder next to
/// the adapter with this name or with its last part, or a path from the working directory. An error that says what to
/// give, where there is none.
absl::StatusOr<std::string> baseOfAdapter(llvm::StringRef folder);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERBASE_H
