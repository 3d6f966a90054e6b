// GGUF files that a stranger wrote, and blocks of any bytes.
//   heddle_fuzz_gguf [--what=files|blocks] [--runs=N] [--seed=S]
// files: a small file with values of all kinds and tensors of all types is made, then damaged: bytes changed, taken
// out, put in, cut, numbers at the ends of their ranges, words moved. What is accepted lies inside of the file, gives
// every value, and is read in every way there is; what is refused says where and why, with H0242, H0244 or H0507.
// blocks: random bytes of each type are taken apart; codes, scales and numbers must agree with each other.
// A crash or a report of a sanitizer is the finding.
#include "compiler/Weights/Gguf/GgufBlocks.h"
#include "compiler/Weights/Gguf/GgufFile.h"
#include "test/Fuzz/WeightFiles.h"
#include <chrono>
#include <cmath>
#include <map>

using namespace heddle;
using namespace heddle::fuzz;

namespace {

/// Writes the pieces of a file.
class Maker {
public:
  explicit Maker(Random &random) : r(random) {}
  std::string run();

private:
  void number(uint64_t value, size_t bytes) { out.append(reinterpret_cast<const char *>(&value), bytes); }
  void text(const std::string &value) {
    number(value.size(), 8);
    out += value;
  }
  void named(const std::string &key, GgufKind kind) {
    text(key);
    number(uint64_t(kind), 4);
  }
  void randomValue(const std::string &key);
  void elements(GgufKind kind, unsigned depth);
  void chooseTensors();

  struct Tensor {
    std::string name;
    std::vector<int64_t> shape; // the fastest dimension first
    const GgufTypeRow *type = nullptr;
    int64_t bytes = 0;
  };
  Random &r;
  std::string out;
  std::vector<Tensor> tensors;
  int64_t heads = 1;
};

/// The count and the elements of an array.
void Maker::elements(GgufKind kind, unsigned depth) {
  if (kind == GgufKind::Array && depth > 4)
    kind = GgufKind::U8;
  number(uint64_t(kind), 4);
  int64_t count = r.below(6);
  number(uint64_t(count), 8);
  for (int64_t i = 0; i < count; ++i) {
    if (kind == GgufKind::Text)
      text(std::string(size_t(r.below(9)), char(r.below(256))));
    else if (kind == GgufKind::Array)
      elements(GgufKind(r.below(ggufKinds)), depth + 1);
    else
      number(r.next(), widthOf(kind));
  }
}

void Maker::randomValue(const std::string &key) {
  GgufKind kind = GgufKind(r.below(ggufKinds));
  named(key, kind);
  if (kind == GgufKind::Text)
    text(std::string(size_t(r.below(40)), char(r.below(256))));
  else if (kind == GgufKind::Array)
    elements(GgufKind(r.below(ggufKinds)), 0);
  else
    number(kind == GgufKind::Bool ? uint64_t(r.below(2)) : r.next(), widthOf(kind));
}

void Maker::chooseTensors() {
  heads = 1 + r.below(3);
  int64_t n = heads * 2 * (1 + r.below(4)), experts = 1 + r.below(3);
  llvm::ArrayRef<GgufTypeRow> types = ggufTypes();
  for (const char *name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.1.ffn_up.weight", "blk.1.ffn_up.scale",
                           "blk.0.ffn_gate_exps.weight", "blk.0.ffn_gate_exps.scale", "output_norm.weight",
                           "token_embd.weight", "blk.0.attn_q.bias", "blk.0.ffn_gate_inp_shexp.weight"}) {
    if (r.oneIn(3))
      continue;
    llvm::StringRef called(name);
    Tensor t;
    t.name = name;
    do // seldom integers, which are refused, or f64, which random bytes make infinite
      t.type = &types[size_t(r.oneIn(4) ? r.below(3) : r.below(int64_t(types.size())))];
    while (t.type->type >= GgufType::F64 && !isBlocks(t.type->type) && !r.oneIn(30));
    int64_t k = t.type->elements * (1 + r.below(2));
    t.shape = {k, n};
    if (called.ends_with(".scale"))
      t.shape = {r.oneIn(20) ? 4 : called.contains("exps") ? experts : 1};
    else if (called.contains("exps"))
      t.shape.push_back(experts);
    else if (called.contains("bias"))
      t.shape = {n};
    else if (called.contains("norm") || called.contains("shexp"))
      t.shape = {k};
    if (t.shape[0] % t.type->elements || (t.shape.size() == 1 && !r.oneIn(20))) // vectors are no blocks
      t.type = &types[size_t(r.below(3))];
    int64_t elements = 1;
    for (int64_t d : t.shape)
      elements *= d;
    t.bytes = elements / t.type->elements * t.type->bytes;
    tensors.push_back(t);
  }
}

std::string Maker::run() {
  chooseTensors();
  std::string architecture = r.pick<std::string>(
      {"llama", "gemma", "gpt2", "qwen2moe", "gemma", "gpt2", "llama", "llama", "qwen2moe", "qwen2moe", "nobody"});
  bool split = r.oneIn(16);
  int64_t more = r.below(6), alignment = r.oneIn(4) ? 1 << r.below(9) : 32;
  out = "GGUF";
  number(uint64_t(r.oneIn(20) ? r.below(6) : 2 + r.below(2)), 4);
  number(tensors.size(), 8);
  number(uint64_t(4 + more + 3 * split), 8);
  named("general.architecture", GgufKind::Text);
  text(architecture);
  named("general.alignment", GgufKind::U32);
  number(uint64_t(alignment), 4);
  for (const char *key : {".attention.head_count", ".attention.head_count_kv"}) {
    named(architecture + key, GgufKind::U32);
    number(uint64_t(heads), 4);
  }
  for (int64_t i = 0; i < more; ++i)
    randomValue("value." + std::to_string(i));
  if (split) {
    named("split.no", GgufKind::U16);
    number(uint64_t(r.below(3)), 2);
    named("split.count", GgufKind::U16);
    number(uint64_t(r.below(3)), 2);
    named("split.tensors.count", GgufKind::I32);
    number(uint64_t(r.below(9)), 4);
  }
  int64_t at = 0;
  for (const Tensor &t : tensors) {
    text(t.name);
    number(t.shape.size(), 4);
    for (int64_t d : t.shape)
      number(uint64_t(d), 8);
    number(t.type->number, 4);
    number(uint64_t(at), 8);
    at += (t.bytes + alignment - 1) / alignment * alignment;
  }
  out.resize((out.size() + size_t(alignment) - 1) / size_t(alignment) * size_t(alignment));
  char calm = char(0x20 + r.below(20)); // numbers near 1, seldom odd
  for (int64_t i = 0; i < at; ++i)
    out += r.oneIn(3) ? calm : char(r.below(120));
  return std::move(out);
}

void damage(std::string &bytes, Random &r) {
  for (int64_t changes = r.oneIn(3) ? 0 : r.below(3); changes > 0 && !bytes.empty(); --changes) {
    size_t place = size_t(r.below(r.oneIn(8) ? int64_t(bytes.size()) : std::min<int64_t>(bytes.size(), 900)));
    switch (r.below(6)) {
    case 0: bytes.resize(place); break;
    case 1: bytes.insert(place, bytes.substr(size_t(r.below(bytes.size())), size_t(r.below(24)))); break;
    case 2: bytes.erase(place, size_t(r.below(16))); break;
    case 3: {
      int64_t value = odd(r, 8);
      std::memcpy(&bytes[place], &value, std::min<size_t>(r.oneIn(2) ? 4 : 8, bytes.size() - place));
      break;
    }
    case 4: { // bytes of another place
      size_t from = size_t(r.below(bytes.size())),
             count = std::min<size_t>({8, bytes.size() - from, bytes.size() - place});
      std::memmove(&bytes[place], &bytes[from], count);
      break;
    }
    default: bytes[place] = char(bytes[place] ^ (1 << r.below(8)));
    }
  }
}

/// Asks for everything that a value may be: just one of the questions has an answer.
void ask(const GgufValue &value) {
  int answers = value.text().has_value() + value.boolean().has_value() + value.number().has_value();
  require(!value.what().empty(), "a value without a description");
  if (!value.isArray()) {
    require(answers == 1, "a value of no kind, or of two");
    require(!value.integer() || value.number(), "a whole number that is no number");
    return;
  }
  require(answers == 0, "an array that is a value of its own");
  auto counts = [&](const auto &all) { require(!all || all->size() == value.size(), "an array of another size"); };
  counts(value.integers());
  counts(value.numbers());
  counts(value.booleans());
  counts(value.texts());
  if (std::optional<std::vector<llvm::StringRef>> texts = value.texts())
    for (llvm::StringRef one : *texts)
      require(one.size() <= 1 << 20, "a text longer than its file");
}

std::string readFile(const MemoryFile &memory, uint64_t size, Random &r) {
  absl::StatusOr<GgufFile> file = GgufFile::open(memory.path());
  absl::StatusOr<WeightStore> store = WeightStore::open(memory.path());
  if (!file.ok()) {
    require(!store.ok(), "a store of a refused file");
    return refused(file.status());
  }
  for (const auto &[key, value] : file->values())
    ask(value);
  for (const GgufTensor &t : file->tensors())
    require(t.byte <= size && t.bytes <= size - t.byte, "a tensor outside of its file");
  if (!store.ok())
    return refused(store.status());
  std::string what = "no matrix";
  for (const StoredTensor &tensor : store->tensors())
    if (what = readAll(*store, tensor, r); what[0] == 'H')
      break;
  return what;
}

/// Random blocks of one type: sizes and codes are those of the form, and numbers are exact, rounded once.
std::string readBlock(const GgufTypeRow &type, Random &r) {
  const CodedForm &form = codedFormOf(type.type);
  int64_t count = 1 + r.below(3), elements = count * type.elements, groups = elements / form.group;
  std::vector<uint8_t> bytes(size_t(count * type.bytes));
  for (uint8_t &byte : bytes)
    byte = uint8_t(r.next());
  CodedRows rows;
  takeApart(type.type, bytes, rows);
  size_t scales = size_t(form.scales(elements));
  require(rows.codes.size() == size_t(elements) && rows.scales.size() == scales, "codes of another size");
  require(rows.minima.size() == (form.minima ? scales : 0), "minima of another number");
  require(rows.subScales.size() == (form.super ? size_t(groups) : 0), "scales of groups of another number");
  require(rows.subMinima.size() == (form.super && form.minima ? size_t(groups) : 0), "minima of another number");
  bool finite = true;
  for (int64_t i = 0; i < elements; ++i) {
    uint8_t code = rows.codes[size_t(i)];
    require(code < 1 << form.bits, "a code of more bits than the form has");
    int64_t g = i / form.group, at = form.super ? i / form.super : g;
    double scale = rows.scales[size_t(at)], minimum = form.minima ? rows.minima[size_t(at)] : 0;
    if (form.super) {
      scale *= rows.subScales[size_t(g)];
      minimum *= form.minima ? rows.subMinima[size_t(g)] : 1;
    }
    float number = float(double(form.integer(code)) * scale + minimum);
    float read = GroupNumbers::of(form, rows, 0, g, groups).value(code);
    require(read == number || (std::isnan(read) && std::isnan(number)), "a number that is rounded twice");
    finite = finite && std::isfinite(number);
  }
  return finite ? "finite" : "not finite";
}

} // namespace

int main(int argc, char **argv) {
  uint64_t runs = 20000, seed = 1;
  bool files = true;
  if (argc > 1 && llvm::StringRef(argv[1]).starts_with("--what=")) {
    llvm::StringRef what = llvm::StringRef(argv[1]).drop_front(7);
    if (what != "files" && what != "blocks")
      return 2;
    files = what == "files";
    --argc;
    ++argv;
  }
  if (!readArguments(argc, argv, runs, seed))
    return 2;
  Random random(seed);
  MemoryFile file;
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  llvm::ArrayRef<GgufTypeRow> types = ggufTypes().drop_while([](const GgufTypeRow &t) { return !isBlocks(t.type); });
  auto start = std::chrono::steady_clock::now();
  for (uint64_t run = 0; run < runs; ++run) {
    if (files) {
      std::string bytes = Maker(random).run();
      damage(bytes, random);
      file.write(bytes);
      ++counts["gguf"][readFile(file, bytes.size(), random)];
    } else {
      const GgufTypeRow &type = types[size_t(random.below(int64_t(types.size())))];
      ++counts[type.name][readBlock(type, random)];
    }
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto &[way, verdicts] : counts) {
    std::printf("%s:", way.c_str());
    for (auto &[what, count] : verdicts)
      std::printf(" %s %llu;", what.c_str(), (unsigned long long)count);
    std::printf("\n");
  }
  std::printf("%llu %s, seed %llu, %.1f s, 0 findings\n", (unsigned long long)runs, files ? "files" : "blocks",
              (unsigned long long)seed, seconds);
  return 0;
}
