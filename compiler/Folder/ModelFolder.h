//===- ModelFolder.h - the files of a model by their names ------*- C++ -*-===//
//
// A model of Hugging Face is a directory of texts: config.json, tokenizer.json ... A GGUF file says the same in its
// metadata. From it these texts are made in memory, so that one reader of each serves both. Messages about a made text
// name the file and its keys, since the user has never seen the text.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_FOLDER_MODELFOLDER_H
#define HEDDLE_COMPILER_FOLDER_MODELFOLDER_H

#include "heddle/input_file.h"
#include <algorithm>
#include <dirent.h>
#include <map>
#include <memory>
#include <vector>

namespace heddle {

/// A text that a file stands for.
struct MadeText {
  std::string text;
  /// The key of the file that a member of the text was made from: num_attention_heads, llama.attention.head_count.
  std::map<std::string, std::string> keys;
};

/// The files of a model: of a directory, or made from one file. A value, cheap to copy.
class ModelFolder {
public:
  using Texts = std::map<std::string, MadeText>;

  /// Of a directory; "": the working directory, with names alone in messages.
  ModelFolder(std::string directory) : where(std::move(directory)) {}
  /// The texts that `file` stands for.
  ModelFolder(std::string file, Texts texts)
      : where(std::move(file)), texts(std::make_shared<const Texts>(std::move(texts))) {}

  /// The directory, or the file.
  const std::string &place() const { return where; }
  bool isMade() const { return texts != nullptr; }

  /// `name` is relative: "tokenizer.json", "1_Pooling/config.json".
  bool has(const std::string &name) const { return texts ? texts->count(name) != 0 : isThere(path(name).c_str()); }
  /// The text of a name, at most `most` bytes, or why it cannot be read.
  ReadFile read(const std::string &name, uint64_t most) const {
    if (!texts)
      return readInputFile(path(name).c_str(), most);
    ReadFile result;
    if (const MadeText *text = made(name))
      result.bytes = text->text;
    else
      result.why = "it has no " + name;
    return result;
  }
  /// What messages call a text: DIRECTORY/NAME, or the file that it was made from.
  std::string path(const std::string &name) const {
    return texts ? where : where.empty() ? name : where.back() == '/' ? where + name : where + "/" + name;
  }
  /// Null if there is none, or nothing is made.
  const MadeText *made(const std::string &name) const {
    auto found = texts ? texts->find(name) : Texts::const_iterator();
    return texts && found != texts->end() ? &found->second : nullptr;
  }

  /// The names of the files in a sub-folder, sorted.
  std::vector<std::string> list(const std::string &folder) const {
    std::vector<std::string> names;
    if (texts) {
      std::string begin = folder + "/";
      for (auto it = texts->lower_bound(begin); it != texts->end() && it->first.rfind(begin, 0) == 0; ++it)
        names.push_back(it->first.substr(begin.size()));
    } else if (DIR *open = opendir(path(folder).c_str())) {
      while (const dirent *entry = readdir(open))
        names.push_back(entry->d_name);
      closedir(open);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

private:
  std::string where;
  std::shared_ptr<const Texts> texts;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_FOLDER_MODELFOLDER_H
