#include "compiler/Weights/Adapter/AdapterNames.h"

namespace heddle {

/// Takes every occurrence of `word` out of `text`.
static void remove(std::string &text, llvm::StringRef word) {
  for (size_t at; (at = text.find(word.str())) != std::string::npos;)
    text.erase(at, word.size());
}

AdapterName AdapterName::of(llvm::StringRef tensor) {
  if (tensor.consume_front("base_model."))
    tensor.consume_front("model.");
  AdapterName name;
  auto is = [&](llvm::StringRef rest, llvm::StringRef word, AdapterPart part) {
    if (!rest.consume_back(word))
      return false;
    for (; rest.consume_back(".base_layer"); ++name.wrappers)
      ;
    name.module = rest.str();
    name.part = part;
    return true;
  };
  llvm::StringRef rest = tensor;
  bool weight = rest.consume_back(".weight"), bias = !weight && rest.consume_back(".bias");
  rest.consume_back(".default");
  if ((weight && (is(rest, ".lora_A", AdapterPart::A) || is(rest, ".lora_B", AdapterPart::B))) ||
      (bias && (is(rest, ".lora_A", AdapterPart::BiasA) || is(rest, ".lora_B", AdapterPart::BiasB))) ||
      (!bias && (is(rest, ".lora_embedding_A", AdapterPart::EmbeddingA) ||
                 is(rest, ".lora_embedding_B", AdapterPart::EmbeddingB) ||
                 is(rest, ".lora_magnitude_vector", AdapterPart::Magnitude))) ||
      (!weight && !bias && is(rest, ".token_adapter.trainable_tokens_delta", AdapterPart::Tokens)))
    return name;
  name.module = tensor.str();
  for (llvm::StringRef wrapper : {".modules_to_save.default", ".modules_to_save", ".base_layer"})
    remove(name.module, wrapper);
  return name;
}

BaseNames::BaseNames(llvm::ArrayRef<StoredTensor> tensors) {
  for (const StoredTensor &tensor : tensors) {
    whole[tensor.name()] = &tensor;
    for (llvm::StringRef rest = tensor.name(); rest.contains('.');) {
      rest = rest.substr(rest.find('.') + 1);
      auto [it, fresh] = ends.try_emplace(rest, &tensor);
      if (!fresh)
        it->second = nullptr;
    }
  }
}

const StoredTensor *BaseNames::search(llvm::StringRef name) const {
  if (auto it = whole.find(name); it != whole.end())
    return it->second;
  const StoredTensor *found = nullptr;
  if (auto it = ends.find(name); it != ends.end()) {
    if (!it->second)
      return nullptr;
    found = it->second;
  }
  for (llvm::StringRef rest = name; rest.contains('.');) {
    rest = rest.substr(rest.find('.') + 1);
    auto it = whole.find(rest);
    if (it == whole.end())
      continue;
    if (found)
      return nullptr;
    found = it->second;
  }
  return found;
}

/// Mixtral's experts and router have another name in transformers 5 than in its checkpoints.
const StoredTensor *BaseNames::find(llvm::StringRef name) const {
  if (const StoredTensor *tensor = search(name))
    return tensor;
  auto [before, after] = name.split(".mlp.");
  return after.empty() ? nullptr : search((before + ".block_sparse_moe." + after).str());
}

const StoredTensor *BaseNames::weightOf(llvm::StringRef module) const {
  const StoredTensor *weight = find((module + ".weight").str());
  return weight ? weight : find(module);
}

} // namespace heddle
