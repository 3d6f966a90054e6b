//===- ConfigText.h - The config.json of a GGUF file ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_GGUF_CONFIGTEXT_H
#define HEDDLE_COMPILER_GGUF_CONFIGTEXT_H

#include "compiler/Gguf/TokenizerTexts.h"
#include "compiler/Weights/Gguf/GgufArchitectures.h"

namespace heddle {

/// The config.json of the checkpoint that the file was made from, as far as its keys and tensors say it: members by the
/// row of the table. Fails for keys that are missing or no numbers that there can be, and for what a row refuses.
absl::StatusOr<MadeText> makeConfig(const GgufFile &file, const GgufArchitecture &architecture,
                                    const GgufTokenIds &ids);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_CONFIGTEXT_H
