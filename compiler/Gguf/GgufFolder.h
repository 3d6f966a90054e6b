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

class GgufFile;

/// Whether a file begins as GGUF files do, or is called so; false for what cannot be read.
bool isGgufFile(llvm::StringRef path);

/// The parts of a split file, NAME-00001-of-00003.gguf, by the name of one; none of another file.
std::vector<std::string> ggufParts(llvm::StringRef path);

/// The files of a model at a path: of a directory or of any other file itself, and of a GGUF file the texts that it
/// stands for. Errors are those of the GGUF file. `warnings`: whole sentences.
absl::StatusOr<ModelFolder> openModel(llvm::StringRef path, std::vector<std::string> &warnings);
/// The same without config.json: the tokenizer and the templates of a file, which need no tensors.
absl::StatusOr<ModelFolder> openTexts(llvm::StringRef path, std::vector<std::string> &warnings);

/// The README.md of a file, of which only the front matter says something: the licence, as `general.license` states it.
/// "" where it states none.
std::string makeCard(const GgufFile &file);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_GGUFFOLDER_H
