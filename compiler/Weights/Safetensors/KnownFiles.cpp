// A pickle is recognised by its first bytes and never loaded: loading one can
// run code.
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <vector>

namespace heddle {

static const char convertPickle[] = "convert it once, where it is trusted: python3 -c \"import sys, torch; "
                                    "from "
                                    "safetensors.torch import save_file; save_file({k: v.contiguous().clone() "
                                    "for k, v "
                                    "in torch.load(sys.argv[1], weights_only=True).items()}, sys.argv[2])\" IN "
                                    "model.safetensors; Heddle itself never reads pickles, they can run code";

static bool startsWithTag(llvm::StringRef text, llvm::StringRef tag) {
  return text.ltrim(" \t\r\n").starts_with_insensitive(tag);
}

bool beginsAsSafetensors(llvm::StringRef bytes) {
  // The three highest bytes of a realistic header's length are 0, and `{`
  // follows it.
  return bytes.size() >= 9 && bytes[8] == '{' && bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0;
}

/// By the first bytes: pointers and pages that are where a file should be, other formats of weights, archives,
/// programs.
std::optional<KnownFile> recognise(llvm::StringRef bytes) {
  if (beginsAsSafetensors(bytes))
    return std::nullopt;
  llvm::StringRef text = bytes;
  text.consume_front("\xEF\xBB\xBF");
  if (text.starts_with("version https://git-lfs.github.com/spec/"))
    return KnownFile{Error::LfsPointer, "a Git LFS pointer", "in its repository run: git lfs install && git lfs pull"};
  if (startsWithTag(text, "<!doctype html") || startsWithTag(text, "<html") || startsWithTag(text, "<?xml"))
    return KnownFile{Error::HtmlPage, "an HTML page",
                     "download the file itself: on huggingface.co use the link with "
                     "/resolve/ in place of /blob/, and log in if the model is gated"};
  if (text.starts_with("PK\x03\x04")) {
    if (text.contains(".npy"))
      return KnownFile{Error::OtherKind, "a NumPy archive (.npz)",
                       "convert it: python3 -c \"import sys, numpy; from "
                       "safetensors.numpy import save_file; save_file(dict(numpy.load("
                       "sys.argv[1])), sys.argv[2])\" IN model.safetensors"};
    return KnownFile{Error::Pickle, "a PyTorch checkpoint (a pickle in a zip archive)", convertPickle};
  }
  // (80 02 00 00 ... would be a header of 640 bytes that begins with the wrong
  // byte.)
  if (text.size() >= 3 && text[0] == '\x80' && text[1] >= 1 && text[1] <= 5 && text[2])
    return KnownFile{Error::Pickle, "a pickle (an old PyTorch checkpoint)", convertPickle};
  if (text.starts_with("GGUF"))
    return KnownFile{Error::Gguf, "a GGUF file (llama.cpp)", "it is a whole model: heddle compile FILE.gguf"};
  if (text.starts_with("lmgg") || text.starts_with("fmgg") || text.starts_with("tjgg"))
    return KnownFile{Error::Gguf, "a GGML file of before GGUF (llama.cpp)",
                     "name the Hugging Face directory of the model it was made from, or make a GGUF file of that"};
  struct Compressed {
    llvm::StringRef magic;
    const char *what, *command;
  };
  static const Compressed compressed[] = {{"\x1f\x8b\x08", "a gzip file", "gunzip"},
                                          {"\xfd"
                                           "7zXZ",
                                           "an xz file", "unxz"},
                                          {"BZh", "a bzip2 file", "bunzip2"},
                                          {"\x28\xb5\x2f\xfd", "a zstd file", "unzstd"}};
  for (const Compressed &kind : compressed)
    if (text.starts_with(kind.magic))
      return KnownFile{Error::Packed, kind.what, std::string("unpack it first: ") + kind.command + " FILE"};
  if (text.size() >= 262 && text.substr(257, 5) == "ustar")
    return KnownFile{Error::Packed, "a tar archive", "unpack it first: tar xf FILE"};
  if (text.starts_with("\x89HDF\r\n"))
    return KnownFile{Error::OtherKind, "an HDF5 file (Keras, TensorFlow)",
                     "use the model's safetensors files, or convert it"};
  if (text.starts_with("\x93NUMPY"))
    return KnownFile{Error::OtherKind, "a NumPy array (.npy)", "convert it with safetensors.numpy.save_file"};
  if (text.starts_with("\x7f"
                       "ELF"))
    return KnownFile{Error::OtherKind, "a program (ELF)", "a model that is compiled already is run: FILE --help"};
  return std::nullopt;
}

std::optional<WeightProblem> recogniseWrongFile(llvm::StringRef bytes, llvm::StringRef file) {
  if (beginsAsSafetensors(bytes))
    return std::nullopt;
  auto problem = [&](Error code, std::string message, std::string help) {
    return WeightProblem{code, "", std::move(message), printable(file, 4096), 0, "", std::move(help)};
  };
  if (std::optional<KnownFile> kind = recognise(bytes)) {
    bool isWeights = kind->code == Error::Pickle || kind->code == Error::Packed;
    return problem(kind->code, "this is " + kind->what + (isWeights ? "" : ", not safetensors"), kind->help);
  }
  llvm::StringRef text = bytes;
  text.consume_front("\xEF\xBB\xBF");
  if (text.contains("\"weight_map\""))
    return problem(Error::OtherJson, "this is an index of shards, but its name is not",
                   "call it NAME.safetensors.index.json, or name its directory");
  if (startsWithTag(text, "{") || startsWithTag(text, "["))
    return problem(Error::OtherJson, "this is JSON, not safetensors",
                   "name the .safetensors file (a JSON answer of a download server "
                   "usually says in its text why it sent no file)");
  return std::nullopt;
}

namespace {
/// Files of a directory whose names look like weights.
struct Holdings {
  explicit Holdings(llvm::StringRef directory);
  std::vector<std::string> names; ///< a few of them, sorted
  bool pickle = false, gguf = false, safetensors = false;
};
} // namespace

Holdings::Holdings(llvm::StringRef directory) {
  std::error_code error;
  unsigned looked = 0;
  for (llvm::sys::fs::directory_iterator it(directory, error), end; !error && it != end && looked < 10'000;
       it.increment(error), ++looked) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    bool isPickle =
        name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ckpt");
    bool isGguf = name.ends_with(".gguf");
    bool isSafe = name.ends_with(".safetensors");
    bool other = name.ends_with(".h5") || name.ends_with(".msgpack") || name.ends_with(".onnx");
    if (!isPickle && !isGguf && !isSafe && !other)
      continue;
    pickle |= isPickle;
    gguf |= isGguf;
    safetensors |= isSafe;
    names.push_back(printable(name));
  }
  std::sort(names.begin(), names.end());
  if (names.size() > 5)
    names.resize(5);
}

WeightProblem noWeightsIn(llvm::StringRef directory) {
  Holdings found(directory);
  WeightProblem problem;
  problem.code = found.pickle && !found.safetensors ? Error::Pickle : Error::NoWeights;
  problem.file = printable(directory, 4096);
  problem.message = "the directory holds neither model.safetensors nor "
                    "model.safetensors.index.json";
  if (!found.names.empty())
    problem.message += "; it holds " + llvm::join(found.names, ", ");
  if (found.safetensors)
    problem.help = "name the file to use: --weights=" + problem.file + "/NAME.safetensors";
  else if (found.pickle)
    problem.help = convertPickle;
  else if (found.gguf)
    problem.help = "name the file: --weights=" + problem.file +
                   "/NAME.gguf; config.json must be of the model that it was made from";
  else
    problem.help = "download the weights into it (huggingface-cli download MODEL "
                   "--local-dir DIR), or name the file with --weights=FILE";
  return problem;
}

std::optional<WeightProblem> adapterIn(llvm::StringRef directory) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, "adapter_config.json");
  if (!llvm::sys::fs::exists(path))
    return std::nullopt;
  WeightProblem problem;
  problem.code = Error::NotSupported;
  problem.file = printable(path.str(), 4096);
  problem.message =
      "this directory holds an adapter (LoRA or another of PEFT's kinds) next to a model, so either may be "
      "meant";
  problem.help = "--lora=" + printable(directory, 4096) +
                 " merges a LoRA adapter into the model; to compile the model "
                 "alone, name a directory without adapter_config.json";
  return problem;
}

WeightProblem noModelIn(llvm::StringRef directory) {
  Holdings found(directory);
  WeightProblem problem;
  problem.code = Error::NoModel;
  problem.file = printable(directory, 4096);
  problem.message = "neither config.json nor model.json in this directory";
  if (!found.names.empty())
    problem.message += "; it holds " + llvm::join(found.names, ", ");
  if (found.gguf && !found.safetensors && !found.pickle)
    problem.help = "name the GGUF file itself, which is a whole model";
  else if (!found.names.empty())
    problem.help = "put the config.json of the model next to its weights";
  else
    problem.help = "name the directory of a model (huggingface-cli download "
                   "MODEL --local-dir DIR), or a description in JSON";
  return problem;
}

} // namespace heddle
