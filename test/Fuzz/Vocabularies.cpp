// Vocabularies and templates of GGUF files that a stranger wrote.
//   heddle_fuzz_vocabularies [--runs=N] [--seed=S]
// A small vocabulary of one of the four models is made, then damaged: entries that are no UTF-8, double, empty or of
// another length, ids and scores at the ends of their ranges, values of another kind, keys that are gone. What is
// accepted must be JSON with a place for every token, its merges those of a slow search, and now and then it is
// compiled and used; what is refused must name a key. Counts by model show that both happen. A crash or a report of a
// sanitizer is the finding.
#include "compiler/Gguf/PieceMerges.h"
#include "compiler/Gguf/TokenizerTexts.h"
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "compiler/Weights/Files/Problem.h"
#include "heddle/tokenizer.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) { return n > 0 ? int64_t(engine() % uint64_t(n)) : 0; }
  bool oneIn(int64_t n) { return below(n) == 0; }
  template <typename T> const T &pick(const std::vector<T> &of) { return of[size_t(below(int64_t(of.size())))]; }
  std::string text(std::initializer_list<const char *> of) { return of.begin()[below(int64_t(of.size()))]; }

private:
  std::mt19937_64 engine;
};

void require(bool condition, const std::string &what) {
  if (condition)
    return;
  std::fprintf(stderr, "fuzz finding: %s\n", what.c_str());
  std::abort();
}

/// A value of the metadata: texts where `kind` or `element` is 8, else numbers.
struct Value {
  uint32_t kind = 8, element = 0;
  std::vector<std::string> texts;
  std::vector<double> numbers;
};
using Metadata = std::map<std::string, Value>;

Value text(std::string of) { return {8, 0, {std::move(of)}, {}}; }
Value flag(bool of) { return {7, 0, {}, {double(of)}}; }
Value number(double of, uint32_t kind = 4) { return {kind, 0, {}, {of}}; }

void append(std::string &out, uint64_t bits, size_t bytes) { out.append(reinterpret_cast<const char *>(&bits), bytes); }

void appendText(std::string &out, const std::string &text) {
  append(out, text.size(), 8);
  out += text;
}

void appendNumber(std::string &out, uint32_t kind, double number) {
  static constexpr size_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  if (kind == 6) {
    auto single = float(number);
    uint32_t bits = 0;
    std::memcpy(&bits, &single, 4);
    return append(out, bits, 4);
  }
  uint64_t bits = 0;
  if (kind == 12)
    std::memcpy(&bits, &number, 8);
  else
    bits = std::isnan(number) ? 0 : uint64_t(int64_t(std::min(std::max(number, -9e18), 9e18)));
  append(out, kind == 7 ? bits & 1 : bits, widths[kind]);
}

std::string fileOf(const Metadata &values) {
  std::string out = "GGUF";
  append(out, 3, 4);
  append(out, 0, 8);
  append(out, values.size(), 8);
  for (const auto &[key, value] : values) {
    appendText(out, key);
    append(out, value.kind, 4);
    bool list = value.kind == 9;
    uint32_t kind = list ? value.element : value.kind;
    if (list) {
      append(out, kind, 4);
      append(out, kind == 8 ? value.texts.size() : value.numbers.size(), 8);
    }
    if (kind == 8)
      for (const std::string &one : value.texts)
        appendText(out, one);
    else
      for (double one : value.numbers)
        appendNumber(out, kind, one);
  }
  return out;
}

std::string piece(Random &r) {
  std::string out = r.oneIn(3) ? "\xe2\x96\x81" : "";
  for (int64_t n = 1 + r.below(r.oneIn(10) ? 20 : 4); n > 0; --n)
    out += r.text({"a", "a", "b", "t", "h", "e", "\xc3\xa9", "1", ".", "\xe5\xa5\xb3"});
  return out;
}

/// A vocabulary in which little is wrong.
Metadata good(Random &r, const std::string &model) {
  static const std::vector<std::string> rules = {"llama-bpe", "gpt-2",       "mpt",          "starcoder", "qwen2",
                                                 "falcon",    "deepseek-v3", "deepseek-llm", "bloom",     "tekken",
                                                 "gpt-4o",    "tiny_aya",    "superbpe",     "jais-2",    "youtu",
                                                 "default",   "gemma4",      "kimi-k2",      "zebra"};
  Metadata out;
  Value tokens{9, 8, {}, {}}, kinds{9, 5, {}, {}}, scores{9, 6, {}, {}}, merges{9, 8, {}, {}};
  std::set<std::string> known;
  auto add = [&](const std::string &token, int kind) {
    if (!known.insert(token).second)
      return;
    tokens.texts.push_back(token);
    kinds.numbers.push_back(kind);
    scores.numbers.push_back(-double(r.below(40)) / 2);
  };
  for (const char *special : {"<unk>", "<s>", "</s>", "[CLS]", "[SEP]", "<|im_end|>", "<mask>", "<|return|>"})
    add(special, special[1] == 'u' ? 2 : 3);
  for (const char *letter : {"a", "b", "t", "h", "e", "\xc3\xa9", "1", ".", "\xe2\x96\x81", "\xc4\xa0", "<0x0A>"})
    add(letter, letter[0] == '<' ? 6 : 1);
  for (int64_t n = r.below(40); n > 0; --n)
    add(piece(r), r.oneIn(8) ? 1 + int(r.below(6)) : 1);
  for (size_t i = 0, n = tokens.texts.size(); model == "gpt2" && i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      if (known.count(tokens.texts[i] + tokens.texts[j]) && r.oneIn(2))
        merges.texts.push_back(tokens.texts[i] + " " + tokens.texts[j]);
  out["tokenizer.ggml.model"] = text(model);
  out["tokenizer.ggml.tokens"] = tokens;
  out["tokenizer.ggml.token_type"] = kinds;
  if (model == "llama" || model == "t5" || r.oneIn(4))
    out["tokenizer.ggml.scores"] = scores;
  if (model == "gpt2") {
    out["tokenizer.ggml.merges"] = merges;
    out["tokenizer.ggml.pre"] = text(r.pick(rules));
  }
  if (model == "bert" || r.oneIn(2)) {
    out["tokenizer.ggml.bos_token_id"] = number(3);
    out["tokenizer.ggml.eos_token_id"] = number(double(r.below(10)), r.oneIn(2) ? 5 : 4);
    out["tokenizer.ggml.seperator_token_id"] = number(4);
    out["tokenizer.ggml.mask_token_id"] = number(6);
  }
  for (const char *key : {"add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix",
                          "remove_extra_whitespaces", "normalizer.lowercase", "normalizer.strip_accents"})
    if (r.oneIn(3))
      out["tokenizer.ggml." + std::string(key)] = flag(r.oneIn(2));
  if (model == "t5" && r.oneIn(2)) {
    Value map{9, r.oneIn(2) ? 0u : 1u, {}, {8, 0, 0, 0}};
    for (int64_t n = r.below(40); n > 0; --n)
      map.numbers.push_back(double(r.below(256)));
    out["tokenizer.ggml.precompiled_charsmap"] = map;
  }
  if (r.oneIn(3))
    out["tokenizer.chat_template"] = text(r.text({"{{ messages }}", "chatml", "{%", ""}));
  if (r.oneIn(6)) {
    out["tokenizer.chat_templates"] = {9, 8, {"rag", "default", "a/b"}, {}};
    out["tokenizer.chat_template.rag"] = text("{{ bos_token }}");
  }
  if (r.oneIn(4))
    out["general.sampling.temp"] = number(0.5, 6);
  if (r.oneIn(6))
    out["tokenizer.ggml.suppress_tokens"] = {9, 5, {}, {3, 4}};
  if (r.oneIn(6))
    out["general.name"] = text("Phi-3");
  return out;
}

double oddNumber(Random &r) {
  static const std::vector<double> odd = {0,
                                          1,
                                          -1,
                                          7,
                                          255,
                                          256,
                                          2147483647,
                                          -2147483648.0,
                                          4294967295.0,
                                          9e18,
                                          1e300,
                                          -1e300,
                                          1e-320,
                                          0.5,
                                          std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()};
  return r.pick(odd);
}

std::string oddText(Random &r, const Metadata &values) {
  switch (r.below(6)) {
  case 0: return r.text({"", " ", "a b", " a", "a ", "\xff", "\xe2\x96", "\xed\xa0\x80", "\"\\\n", "##a"});
  case 1: return std::string(1, '\0') + "x";
  case 2: return std::string(size_t(r.below(3000)), 'a');
  case 3: return piece(r);
  default: {
    auto tokens = values.find("tokenizer.ggml.tokens");
    return tokens == values.end() || tokens->second.texts.empty() ? "a" : r.pick(tokens->second.texts);
  }
  }
}

void damage(Metadata &values, Random &r) {
  auto at = values.begin();
  std::advance(at, r.below(int64_t(values.size())));
  Value &value = at->second;
  size_t texts = size_t(r.below(int64_t(value.texts.size()))), numbers = size_t(r.below(int64_t(value.numbers.size())));
  switch (r.below(6)) {
  case 0: values.erase(at); return;
  case 1: // of another kind, with as much in it as that has
    value.kind = uint32_t(r.below(13));
    value.element = uint32_t(r.oneIn(2) ? 8 : r.below(8));
    break;
  case 2:
    if (!value.texts.empty() && value.kind == 9)
      value.texts.erase(value.texts.begin() + ptrdiff_t(texts));
    if (!value.numbers.empty() && value.kind == 9)
      value.numbers.erase(value.numbers.begin() + ptrdiff_t(numbers));
    break;
  default:
    if (!value.texts.empty())
      value.texts[texts] = oddText(r, values);
    if (!value.numbers.empty())
      value.numbers[numbers] = r.oneIn(2) ? oddNumber(r) : double(r.below(60));
  }
  bool list = value.kind == 9;
  if ((list ? value.element : value.kind) == 9)
    value.element = value.kind = 8; // arrays of arrays are the header's to refuse
  if (value.kind == 8)
    value.texts.resize(1);
  else if (value.kind != 9)
    value.numbers.resize(1);
}

std::string refused(const absl::Status &status) {
  std::optional<WeightProblem> problem = problemOf(status);
  require(problem.has_value(), "a refusal without a problem");
  require(problem->code == Error::GgufDamaged || problem->code == Error::QuantisationUnsupported, "an odd code");
  llvm::StringRef message = problem->message;
  require(message.contains("tokenizer.") || message.contains("general."), "no key in: " + problem->message);
  for (char c : message)
    require(uint8_t(c) >= 0x20, "a control byte in a message");
  return codeOf(problem->code);
}

/// The merges as they are defined: every cut of every piece.
void checkMerges(const GgufFile &file) {
  TokenizerKeys keys(file);
  std::optional<GgufVocabulary> vocabulary = GgufVocabulary::read(keys);
  if (!vocabulary || vocabulary->model != GgufVocabulary::Model::Pieces)
    return;
  auto joins = [&](uint32_t id) {
    return vocabulary->is(id, TokenKind::Normal) || vocabulary->is(id, TokenKind::UserDefined);
  };
  std::multiset<std::pair<uint32_t, uint32_t>> wanted;
  for (uint32_t id = 0; id < vocabulary->size(); ++id)
    for (size_t cut = 1; joins(id) && cut < vocabulary->tokens[id].size(); ++cut) {
      auto left = vocabulary->ids.find(vocabulary->tokens[id].substr(0, cut));
      auto right = vocabulary->ids.find(vocabulary->tokens[id].substr(cut));
      if (left != vocabulary->ids.end() && right != vocabulary->ids.end() && joins(left->second) &&
          joins(right->second))
        wanted.insert({left->second, right->second});
    }
  std::vector<std::array<uint32_t, 3>> merges;
  require(mergesOfScores(*vocabulary, merges), "too many merges");
  double last = std::numeric_limits<double>::infinity();
  std::multiset<std::pair<uint32_t, uint32_t>> got;
  for (auto [left, right, whole] : merges) {
    got.insert({left, right});
    require(vocabulary->tokens[left] + vocabulary->tokens[right] == vocabulary->tokens[whole], "a whole of others");
    require(vocabulary->scores[whole] <= last, "merges that are not by score");
    last = vocabulary->scores[whole];
  }
  require(got == wanted, "other merges");
}

void use(const ModelFolder &folder, Random &r) {
  std::string blob, error;
  if (!writeTokenizerBlob(folder, blob, error))
    return require(error.find("x.gguf") != error.npos, "a refusal without a file: " + error);
  std::unique_ptr<rt::TextCodec> codec = rt::TextCodec::open(blob, error);
  require(codec != nullptr, "a compiled tokenizer that cannot be opened: " + error);
  rt::Encoding encoding;
  codec->encode("the \xe2\x96\x81"
                "a thea  b\xc3\xa9 <mask> 11.",
                nullptr, r.oneIn(2), encoding, error);
  std::vector<int64_t> ids;
  for (size_t i = 0; i < encoding.size(); ++i)
    ids.push_back(encoding[i].id);
  codec->decode(ids, r.oneIn(2));
}

std::string verdict(const std::string &path, Random &r) {
  absl::StatusOr<GgufFile> file = GgufFile::open(path);
  if (!file.ok())
    return "no header";
  std::map<std::string, MadeText> texts;
  GgufTokenIds ids;
  std::vector<std::string> warnings;
  if (absl::Status status = makeTokenizerTexts(*file, texts, ids, warnings); !status.ok())
    return refused(status);
  for (const auto &[name, made] : texts)
    require(!llvm::StringRef(name).ends_with(".json") || nlohmann::json::accept(made.text), name + " is no JSON");
  if (!texts.count("tokenizer.json"))
    return "no tokenizer";
  require(texts.count("tokenizer_config.json"), "no tokenizer_config.json");
  require(llvm::is_sorted(ids.eos), "ends that are not sorted");
  checkMerges(*file);
  if (r.oneIn(50))
    use(ModelFolder("x.gguf", texts), r);
  return "read";
}

} // namespace

int main(int argc, char **argv) {
  uint64_t runs = 20000, seed = 1;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    bool known = argument.consume_front("--runs=")
                     ? !argument.getAsInteger(10, runs)
                     : argument.consume_front("--seed=") && !argument.getAsInteger(10, seed);
    if (!known)
      return 2;
  }
  Random random(seed);
  int fd = memfd_create("fuzz", 0);
  require(fd >= 0, "no memory for a file");
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  auto start = std::chrono::steady_clock::now();
  for (uint64_t run = 0; run < runs; ++run) {
    std::string model = random.text({"llama", "gpt2", "bert", "t5"});
    Metadata values = good(random, model);
    for (int64_t times = random.below(4); times > 0 && !values.empty(); --times)
      damage(values, random);
    std::string bytes = fileOf(values);
    require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()), "no room");
    ++counts[model][verdict(path, random)];
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto &[model, verdicts] : counts) {
    std::printf("%s:", model.c_str());
    for (auto &[what, count] : verdicts)
      std::printf(" %s %llu;", what.c_str(), (unsigned long long)count);
    std::printf("\n");
  }
  std::printf("%llu vocabularies, seed %llu, %.1f s, 0 findings\n", (unsigned long long)runs, (unsigned long long)seed,
              seconds);
  return 0;
}
