//===- TokenFiles.h - What a tokenizer's files have alike -------*- C++ -*-===//
//
// tokenizer_config.json, special_tokens_map.json and added_tokens.json give
// tokens roles and write a token as a text or as an object with flags.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENFILES_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENFILES_H

#include "compiler/Folder/ModelFolder.h"
#include <nlohmann/json.hpp>
#include <string>

namespace heddle {

/// The roles that a file can give a token, in the order in which Hugging Face's library adds those that are new.
inline constexpr const char *kTokenRoles[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                              "pad_token", "cls_token", "mask_token"};

/// The largest file of a tokenizer, in bytes.
inline constexpr size_t kMostFileBytes = size_t(256) << 20;

/// The value of a key; null where there is none or `object` is no object.
const nlohmann::json &memberOf(const nlohmann::json &object, const char *key);

/// The text of a token, which is a string or an object with `content`; "" for others.
std::string contentOf(const nlohmann::json &token);

/// Reads a file of a folder that must be a JSON object, nested at most 64 deep; false with `error`, the file and what
/// is wrong.
bool readJsonObject(const ModelFolder &folder, const std::string &name, nlohmann::json &value, std::string &error);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENFILES_H
