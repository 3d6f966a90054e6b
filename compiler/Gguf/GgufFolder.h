//===- GgufFolder.h - A GGUF file as the folder of a model ------*- C++ -*-===//
//
// A GGUF file says in its metadata what a Hugging Face directory says in config.json, tokenizer.json and other texts.
// They are made here in memory, so that everything behind reads one kind of model.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_GGUFFOLDER_H
#define HEDDLE_COMPILER_GGUF_GGUFFOLDER_H

#include "absl/status/statusor.h"
#include "compiler/Folder/ModelFolder.h"
#include "llvm/ADT/StringRef.h"

namespace heddle {

/// Whether a file begins as GGUF files do; false for what cannot be read.
bool isGgufFile(llvm::StringRef path);

/// The files of a tokenizer and of chat templates at a path: of a directory or of any other file itself, and of a GGUF
/// file the texts that it stands for, which need no tensors. Errors are those of the GGUF file. `warnings`: whole
/// sentences.
absl::StatusOr<ModelFolder> openTexts(llvm::StringRef path, std::vector<std::string> &warnings);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_GGUFFOLDER_H
