// Quantised checkpoints that a stranger wrote.
//   heddle_fuzz_coded [--runs=N] [--seed=S]
// A small checkpoint of one of the ways of storing a matrix is made of random codes, then damaged: a piece dropped, of
// another shape or type, with numbers at the ends of their ranges, a state that is no JSON, a config that says
// otherwise. What is accepted is read whole, in parts and as codes, which must agree; what is refused must say where
// and why. Counts by method show that both happen. A crash or a report of a sanitizer is the finding.
#include "test/Fuzz/WeightFiles.h"
#include <chrono>
#include <map>

using namespace heddle;
using namespace heddle::fuzz;

namespace {

struct Piece {
  std::string name, type;
  std::vector<int64_t> shape;
  std::string bytes;
};

struct Checkpoint {
  std::string way;
  CodedScheme scheme;
  std::vector<Piece> pieces;
};

int64_t widthOf(llvm::StringRef type) {
  std::optional<StoredType> known = storedTypeOf(type);
  return known ? width(*known) : 1;
}

/// Random bytes of a tensor; reals are near 1 and seldom odd, integers small.
std::string content(Random &random, llvm::StringRef type, int64_t elements, int64_t most) {
  std::string bytes;
  for (int64_t i = 0; i < elements; ++i) {
    uint64_t value = random.next();
    if (type == "F32") {
      float x = float(1 + random.below(100)) / 64;
      std::memcpy(&value, &x, 4);
    } else if (type == "F16") {
      value = 0x3000 + random.below(0x1000);
    } else if (type == "BF16") {
      value = 0x3f00 + random.below(0x100);
    } else if (most > 0) {
      value = uint64_t(random.below(most));
    }
    bytes.append(reinterpret_cast<const char *>(&value), widthOf(type));
  }
  return bytes;
}

/// Builds the pieces of one matrix X of a random way.
class Maker {
public:
  explicit Maker(Random &random) : r(random), n(1 + random.below(40)), k(8 * (1 + random.below(16))) {}

  Checkpoint run() {
    switch (r.below(8)) {
    case 0: return gptq();
    case 1: return awq();
    case 2: return packed();
    case 3: return plain();
    case 4: return nvfp4();
    case 5: return fourBits();
    case 6: return eightBits();
    default: return mxfp4();
    }
  }

private:
  void add(const std::string &suffix, const std::string &type, std::vector<int64_t> shape, int64_t most = 0) {
    int64_t elements = 1;
    for (int64_t d : shape)
      elements *= d;
    out.pieces.push_back({"X" + suffix, type, shape, content(r, type, elements, most)});
  }
  std::string scaleType() { return r.pick<std::string>({"F16", "BF16", "F32"}); }
  static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }
  void begin(const char *way, const char *method) {
    out.way = way;
    out.scheme.method = method;
  }

  Checkpoint gptq() {
    begin("gptq", "gptq");
    int64_t bits = r.pick<int64_t>({2, 3, 4, 8}), group = r.pick<int64_t>({8, 16, 32, k});
    k = up(k, 32) * 32;
    int64_t groups = up(k, group);
    add(".qweight", "I32", {k * bits / 32, n});
    add(".qzeros", "I32", {groups, up(n * bits, 32)});
    add(".scales", scaleType(), {groups, n});
    if (r.oneIn(2))
      add(".g_idx", "I32", {k}, groups);
    out.scheme.bits = r.oneIn(3) ? 0 : bits;
    out.scheme.groups = {group};
    out.scheme.symmetric = r.oneIn(2);
    out.scheme.version = 1 + r.below(2);
    return out;
  }
  Checkpoint awq() {
    begin("awq", "awq");
    n = up(n, 8);
    int64_t group = r.pick<int64_t>({8, 16, k}), groups = up(k, group);
    add(".qweight", "I32", {k, n});
    add(".qzeros", "I32", {groups, n});
    add(".scales", scaleType(), {groups, n * 8});
    out.scheme.groups = {group};
    out.scheme.symmetric = r.oneIn(4);
    return out;
  }
  Checkpoint packed() {
    begin("pack-quantized", "compressed-tensors");
    int64_t bits = r.pick<int64_t>({2, 4, 8}), group = r.pick<int64_t>({8, 16, k}), groups = up(k, group);
    add(".weight_packed", "I32", {n, up(k * bits, 32)});
    add(".weight_scale", scaleType(), {n, groups});
    add(".weight_shape", "I64", {2});
    int64_t shape[] = {n, k};
    out.pieces.back().bytes.assign(reinterpret_cast<const char *>(shape), sizeof shape);
    if (r.oneIn(2))
      add(".weight_zero_point", "I32", {up(n * bits, 32), groups});
    else if (r.oneIn(4))
      add(".weight_zero_point", "I8", {n, groups});
    if (r.oneIn(2))
      add(".weight_g_idx", "I32", {k}, groups);
    out.scheme.bits = r.oneIn(2) ? 0 : bits;
    out.scheme.groups = {group};
    return out;
  }
  Checkpoint plain() {
    bool fp8 = r.oneIn(2);
    begin(fp8 ? "fp8" : "int-quantized", fp8 ? "fp8" : "compressed-tensors");
    add(".weight", r.pick<std::string>({"I8", "I8", "F8_E4M3", "F8_E5M2"}), {n, k});
    std::string name = fp8 && r.oneIn(2) ? ".weight_scale_inv" : ".weight_scale";
    std::vector<int64_t> shape;
    switch (r.below(4)) {
    case 0: shape = {1}; break;
    case 1: shape = {n, 1}; break;
    case 2: shape = {n, up(k, 8)}; break;
    default:
      out.scheme.blocks = {{1 + r.below(16), 1 + r.below(32)}};
      shape = {up(n, out.scheme.blocks[0].first), up(k, out.scheme.blocks[0].second)};
    }
    add(name, scaleType(), shape);
    if (r.oneIn(3))
      add(".weight_zero_point", "I8", shape);
    if (r.oneIn(6))
      add(".weight_g_idx", "I32", {k}, 2);
    return out;
  }
  Checkpoint nvfp4() {
    begin("nvfp4", "compressed-tensors");
    k = up(k, 16) * 16;
    add(".weight_packed", "U8", {n, k / 2});
    add(".weight_scale", "F8_E4M3", {n, k / 16}, 100);
    add(".weight_global_scale", "F32", {1});
    return out;
  }
  Checkpoint fourBits() {
    begin("four bits", "bitsandbytes");
    int64_t block = r.pick<int64_t>({16, 64, 7}), count = up(n * k, block);
    add(".weight", r.pick<std::string>({"U8", "I8"}), {up(n * k, 2), 1});
    add(".weight.quant_map", "F32", {16});
    std::string state = "{\"shape\": [" + std::to_string(n) + ", " + std::to_string(k) +
                        "], \"blocksize\": " + std::to_string(block) + ", \"dtype\": \"bfloat16\"";
    if (r.oneIn(2)) {
      add(".weight.absmax", "F32", {count});
    } else {
      add(".weight.absmax", "U8", {count});
      add(".weight.nested_absmax", "F32", {up(count, 256)});
      add(".weight.nested_quant_map", "F32", {256});
      state += ", \"nested_blocksize\": 256, \"nested_offset\": 0.25";
    }
    state += "}";
    std::string name = std::string(".weight.quant_state.bitsandbytes__") + (r.oneIn(2) ? "nf4" : "fp4");
    out.pieces.push_back({"X" + name, "U8", {int64_t(state.size())}, state});
    return out;
  }
  Checkpoint eightBits() {
    begin("eight bits", "bitsandbytes");
    add(".weight", "I8", {n, k});
    add(".SCB", "F32", {n});
    if (r.oneIn(2))
      out.pieces.push_back({"X.weight_format", "U8", {}, std::string(1, '\0')});
    return out;
  }
  Checkpoint mxfp4() {
    begin("mxfp4", "mxfp4");
    int64_t groups = up(k, 32);
    add("_blocks", "U8", {2, n, groups, 16});
    add("_scales", "U8", {2, n, groups}, r.oneIn(4) ? 256 : 200);
    return out;
  }

  Random &r;
  int64_t n, k;
  Checkpoint out;
};

void damage(Checkpoint &c, Random &r) {
  Piece &piece = c.pieces[r.below(c.pieces.size())];
  switch (r.below(9)) {
  case 0: c.pieces.erase(c.pieces.begin() + (&piece - c.pieces.data())); break;
  case 1: // another dimension, with as many bytes
    if (!piece.shape.empty()) {
      int64_t &dim = piece.shape[r.below(piece.shape.size())];
      dim = std::clamp<int64_t>(odd(r, dim), 0, 256);
    }
    break;
  case 2: piece.shape.push_back(1 + r.below(2)); break;
  case 3:
    if (!piece.shape.empty())
      piece.shape.pop_back();
    break;
  case 4:
    piece.type =
        r.pick<std::string>({"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E8M0", "I64", "I32", "I8", "U8", "BOOL"});
    break;
  case 5: { // numbers at the ends
    int64_t width = widthOf(piece.type), at = r.below(int64_t(piece.bytes.size()) / width);
    int64_t value = odd(r, 1);
    if (piece.bytes.size() >= size_t(width))
      std::memcpy(&piece.bytes[at * width], &value, width);
    break;
  }
  case 6: { // a text, such as the state, with something else in it
    static const char *words[] = {"{",    "}",  "[",    "]",       "\"", ",", "1e400", "-1", "9223372036854775808",
                                  "null", "\\", "\x80", "shape\":"};
    std::string word = words[r.below(13)];
    size_t at = r.below(piece.bytes.size() + 1);
    piece.bytes.replace(at, r.below(4), word);
    if (piece.shape.size() == 1 && piece.type == "U8")
      piece.shape[0] = int64_t(piece.bytes.size());
    break;
  }
  case 7: // what the config says
    if (r.oneIn(2))
      c.scheme.bits = r.below(10);
    if (r.oneIn(2))
      c.scheme.groups = {odd(r, 32)};
    if (r.oneIn(2))
      c.scheme.blocks = {{1 + std::abs(odd(r, 8)) % (1 << 24), 1 + r.below(300)}};
    c.scheme.symmetric = r.oneIn(2);
    break;
  default: // another piece beside it
    Piece more = piece;
    more.name = std::string("X") + r.pick<const char *>({".weight", ".qzeros", ".weight_scale", ".weight_scale_inv",
                                                         ".g_idx", ".SCB", ".input_scale", "_scales"});
    if (std::none_of(c.pieces.begin(), c.pieces.end(), [&](const Piece &p) { return p.name == more.name; }))
      c.pieces.push_back(more);
  }
}

std::string fileOf(Checkpoint &c) {
  std::string header = "{", data;
  for (Piece &piece : c.pieces) {
    uint64_t bytes = widthOf(piece.type);
    for (int64_t d : piece.shape)
      bytes *= uint64_t(d);
    piece.bytes.resize(bytes, '\1');
    header += (header.size() > 1 ? ",\"" : "\"") + piece.name + "\":{\"dtype\":\"" + piece.type + "\",\"shape\":[";
    for (size_t i = 0; i < piece.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(piece.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(data.size()) + "," + std::to_string(data.size() + bytes) + "]}";
    data += piece.bytes;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header + data;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t runs = 20000, seed = 1;
  if (!readArguments(argc, argv, runs, seed))
    return 2;
  Random random(seed);
  MemoryFile file;
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  auto start = std::chrono::steady_clock::now();
  for (uint64_t run = 0; run < runs; ++run) {
    Checkpoint checkpoint = Maker(random).run();
    for (int64_t times = random.below(4); times > 0 && !checkpoint.pieces.empty(); --times)
      damage(checkpoint, random);
    file.write(fileOf(checkpoint));
    ++counts[checkpoint.way][verdict(file, checkpoint.scheme, random)];
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto &[way, verdicts] : counts) {
    std::printf("%s:", way.c_str());
    for (auto &[what, count] : verdicts)
      std::printf(" %s %llu;", what.c_str(), (unsigned long long)count);
    std::printf("\n");
  }
  std::printf("%llu checkpoints, seed %llu, %.1f s, 0 findings\n", (unsigned long long)runs, (unsigned long long)seed,
              seconds);
  return 0;
}
