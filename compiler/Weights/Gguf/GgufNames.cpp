// A row: the architectures that it holds for, a name there and a name here, without `.weight` or `.bias`; `#` is the
// number of a layer. The first row that fits counts.
#include "compiler/Weights/Gguf/GgufNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle {
namespace {

struct Row {
  llvm::StringLiteral architectures; ///< words between spaces, or *
  llvm::StringLiteral from, to;
  GgufChange change = GgufChange::None;
};

constexpr llvm::StringLiteral known =
    "llama qwen2 qwen2moe qwen3 qwen3moe gemma gemma2 gemma3 phi3 stablelm starcoder2 gpt2";
constexpr llvm::StringLiteral gemmas = "gemma gemma2 gemma3";

constexpr Row rows[] = {
    // Factors of rotary positions, which config.json has.
    {"*", "rope_freqs", ""},
    {"*", "rope_factors_long", ""},
    {"*", "rope_factors_short", ""},
    {"gpt2", "token_embd", "transformer.wte"},
    {"gpt2", "position_embd", "transformer.wpe"},
    {"gpt2", "output_norm", "transformer.ln_f"},
    {"gpt2", "blk.#.attn_norm", "transformer.h.#.ln_1"},
    {"gpt2", "blk.#.attn_qkv", "transformer.h.#.attn.c_attn"},
    {"gpt2", "blk.#.attn_output", "transformer.h.#.attn.c_proj"},
    {"gpt2", "blk.#.ffn_norm", "transformer.h.#.ln_2"},
    {"gpt2", "blk.#.ffn_up", "transformer.h.#.mlp.c_fc"},
    {"gpt2", "blk.#.ffn_down", "transformer.h.#.mlp.c_proj"},
    {gemmas, "output_norm", "model.norm", GgufChange::PlusOne},
    {gemmas, "blk.#.attn_norm", "model.layers.#.input_layernorm", GgufChange::PlusOne},
    {gemmas, "blk.#.attn_q_norm", "model.layers.#.self_attn.q_norm", GgufChange::PlusOne},
    {gemmas, "blk.#.attn_k_norm", "model.layers.#.self_attn.k_norm", GgufChange::PlusOne},
    {"gemma", "blk.#.ffn_norm", "model.layers.#.post_attention_layernorm", GgufChange::PlusOne},
    {"gemma2 gemma3", "blk.#.post_attention_norm", "model.layers.#.post_attention_layernorm", GgufChange::PlusOne},
    {"gemma2 gemma3", "blk.#.ffn_norm", "model.layers.#.pre_feedforward_layernorm", GgufChange::PlusOne},
    {"gemma2 gemma3", "blk.#.post_ffw_norm", "model.layers.#.post_feedforward_layernorm", GgufChange::PlusOne},
    {"llama", "blk.#.attn_q", "model.layers.#.self_attn.q_proj", GgufChange::QueryRows},
    {"llama", "blk.#.attn_k", "model.layers.#.self_attn.k_proj", GgufChange::KeyRows},
    {"llama", "blk.#.ffn_gate_inp", "model.layers.#.block_sparse_moe.gate"},
    {"llama", "blk.#.ffn_gate_exps", "model.layers.#.block_sparse_moe.experts.@.w1", GgufChange::Experts},
    {"llama", "blk.#.ffn_down_exps", "model.layers.#.block_sparse_moe.experts.@.w2", GgufChange::Experts},
    {"llama", "blk.#.ffn_up_exps", "model.layers.#.block_sparse_moe.experts.@.w3", GgufChange::Experts},
    {"phi3", "blk.#.ffn_up", "model.layers.#.mlp.gate_up_proj"},
    {"starcoder2", "blk.#.ffn_up", "model.layers.#.mlp.c_fc"},
    {"starcoder2", "blk.#.ffn_down", "model.layers.#.mlp.c_proj"},
    {"*", "token_embd", "model.embed_tokens"},
    {"*", "output_norm", "model.norm"},
    {"*", "output", "lm_head"},
    {"*", "blk.#.attn_norm", "model.layers.#.input_layernorm"},
    {"*", "blk.#.attn_q", "model.layers.#.self_attn.q_proj"},
    {"*", "blk.#.attn_k", "model.layers.#.self_attn.k_proj"},
    {"*", "blk.#.attn_v", "model.layers.#.self_attn.v_proj"},
    {"*", "blk.#.attn_qkv", "model.layers.#.self_attn.qkv_proj"},
    {"*", "blk.#.attn_output", "model.layers.#.self_attn.o_proj"},
    {"*", "blk.#.attn_q_norm", "model.layers.#.self_attn.q_norm"},
    {"*", "blk.#.attn_k_norm", "model.layers.#.self_attn.k_norm"},
    {"*", "blk.#.ffn_norm", "model.layers.#.post_attention_layernorm"},
    {"*", "blk.#.ffn_gate", "model.layers.#.mlp.gate_proj"},
    {"*", "blk.#.ffn_up", "model.layers.#.mlp.up_proj"},
    {"*", "blk.#.ffn_down", "model.layers.#.mlp.down_proj"},
    {"*", "blk.#.ffn_gate_inp", "model.layers.#.mlp.gate"},
    {"*", "blk.#.ffn_gate_exps", "model.layers.#.mlp.experts.@.gate_proj", GgufChange::Experts},
    {"*", "blk.#.ffn_down_exps", "model.layers.#.mlp.experts.@.down_proj", GgufChange::Experts},
    {"*", "blk.#.ffn_up_exps", "model.layers.#.mlp.experts.@.up_proj", GgufChange::Experts},
    {"*", "blk.#.ffn_gate_inp_shexp", "model.layers.#.mlp.shared_expert_gate", GgufChange::OneRow},
    {"*", "blk.#.ffn_gate_shexp", "model.layers.#.mlp.shared_expert.gate_proj"},
    {"*", "blk.#.ffn_down_shexp", "model.layers.#.mlp.shared_expert.down_proj"},
    {"*", "blk.#.ffn_up_shexp", "model.layers.#.mlp.shared_expert.up_proj"},
};

bool isWordOf(llvm::StringRef words, llvm::StringRef word) {
  llvm::SmallVector<llvm::StringRef, 16> all;
  words.split(all, ' ');
  return llvm::is_contained(all, word);
}

/// What `#` stands for, if the name fits; empty where the pattern has none.
std::optional<llvm::StringRef> layerOf(llvm::StringRef name, llvm::StringRef pattern) {
  auto [head, tail] = pattern.split('#');
  if (head.size() == pattern.size())
    return name == pattern ? std::optional<llvm::StringRef>("") : std::nullopt;
  if (!name.consume_front(head) || !name.consume_back(tail) || name.empty() || !llvm::all_of(name, llvm::isDigit))
    return std::nullopt;
  return name;
}

} // namespace

bool isGgufArchitecture(llvm::StringRef architecture) { return isWordOf(known, architecture); }

llvm::StringRef ggufArchitectures() { return known; }

std::optional<GgufName> nameOfGguf(llvm::StringRef architecture, llvm::StringRef tensor) {
  auto [stem, kind] = tensor.rsplit('.');
  if (kind != "weight" && kind != "bias")
    return std::nullopt;
  for (const Row &row : rows) {
    if (row.architectures != "*" && !isWordOf(row.architectures, architecture))
      continue;
    std::optional<llvm::StringRef> layer = layerOf(stem, row.from);
    if (!layer)
      continue;
    if (row.to.empty())
      return GgufName{"", row.change};
    auto [head, tail] = llvm::StringRef(row.to).split('#');
    bool numbered = head.size() != row.to.size();
    std::string name = numbered ? (head + *layer + tail).str() : row.to.str();
    return GgufName{name + "." + kind.str(), row.change};
  }
  return std::nullopt;
}

} // namespace heddle
