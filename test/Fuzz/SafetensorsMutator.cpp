// The driver of heddle_fuzz_safetensors: mutates good and bad seeds with words of the
// format, mends the header's length most of the time so that mutations get past it, and
// counts which rules were met.
//   heddle_fuzz_safetensors [--runs=N] [--seed=S] [--dump=FILE] [inputs to replay...]
// --dump writes every input and verdict for safetensors_oracle.py to judge again.
#include "test/Fuzz/Safetensors.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <cstdio>
#include <map>
#include <vector>

using namespace heddle;

namespace {

/// splitmix64: the same inputs for the same seed everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n ? next() % n : 0; }
  bool oneIn(size_t n) { return below(n) == 0; }

private:
  uint64_t state;
};

const llvm::StringRef words[] = {"{",
                                 "}",
                                 "[",
                                 "]",
                                 ",",
                                 ":",
                                 "\"",
                                 " ",
                                 "\\",
                                 "\n",
                                 "\t",
                                 "0",
                                 "1",
                                 "2",
                                 "3",
                                 "4",
                                 "8",
                                 "16",
                                 "-1",
                                 "-0",
                                 "1.0",
                                 "1e3",
                                 "01",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "4294967296",
                                 "null",
                                 "true",
                                 "NaN",
                                 "Infinity",
                                 "\"dtype\":",
                                 "\"shape\":",
                                 "\"data_offsets\":",
                                 "\"__metadata__\":",
                                 "\"F32\"",
                                 "\"F64\"",
                                 "\"F16\"",
                                 "\"BF16\"",
                                 "\"I64\"",
                                 "\"I8\"",
                                 "\"U8\"",
                                 "\"BOOL\"",
                                 "\"F4\"",
                                 "\"F8_E4M3\"",
                                 "\"F8_E4M3FNUZ\"",
                                 "\"Q31\"",
                                 "\"a\":",
                                 "\"b\":",
                                 "\"\\u0061\":",
                                 "\\u0000",
                                 "\\ud800",
                                 "\\u00e9",
                                 "\xC3\xA9",
                                 "\xE2\x82",
                                 "\xFF",
                                 "[0,0]",
                                 "[0,4]",
                                 "[4,8]",
                                 "[]",
                                 "{}",
                                 "[[[[[",
                                 "{\"x\":",
                                 "\"weight_map\":",
                                 "\"metadata\":",
                                 "\"total_size\":",
                                 "\"1.safetensors\"",
                                 "../",
                                 "/",
                                 "..",
                                 "\"\\u005f_metadata__\":{\"k\":\"v\"},",
                                 ".."};

std::string file(llvm::StringRef header, size_t data) {
  std::string result;
  for (int i = 0; i < 8; ++i)
    result += char(uint64_t(header.size()) >> (8 * i));
  return result + header.str() + std::string(data, 'd');
}

std::vector<std::string> seeds() {
  return {
      file("{}", 0),
      file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )", 8),
      file(R"({"__metadata__":{"format":"pt","k":"v"},)"
           R"("a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
           R"("b":{"dtype":"U8","shape":[],"data_offsets":[12,13]},)"
           R"("c":{"dtype":"I64","shape":[0,5],"data_offsets":[13,13]}})",
           13),
      file(R"({"h.0.w":{"dtype":"F16","shape":[1,1,4],"data_offsets":[8,16]},)"
           R"("h.1.w":{"data_offsets":[0,8],"shape":[4],"dtype":"I16"}})",
           16),
      file(R"({"q":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", 2),
      R"({"metadata":{"total_size":8},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})",
      R"({"weight_map":{"a":"1.safetensors"},"extra":[{"x":null}]})",
      "version https://git-lfs.github.com/spec/v1\n",
      "<!DOCTYPE html>",
      std::string("PK\x03\x04"),
  };
}

/// A whole file made by the rules, with one number out of place now and then: gets to
/// the rules that single mutations of text rarely meet (duplicates, overlaps, products).
std::string generate(Random &random) {
  static const std::pair<const char *, unsigned> types[] = {{"F64", 64}, {"F32", 32}, {"F16", 16},    {"BF16", 16},
                                                            {"I64", 64}, {"I32", 32}, {"I16", 16},    {"I8", 8},
                                                            {"U8", 8},   {"BOOL", 8}, {"F8_E5M2", 8}, {"F4", 4}};
  static const char *huge[] = {"4294967296", "9223372036854775807", "2147483648", "1152921504606846976",
                               "3",          "18446744073709551615"};
  std::vector<std::string> items;
  size_t tensors = random.below(random.oneIn(20) ? 16 : 6), cursor = 0;
  size_t usual = random.below(10);
  for (size_t i = 0; i < tensors; ++i) {
    auto [type, bits] = types[random.oneIn(30) ? random.below(12) : usual];
    size_t elements = 1;
    std::string shape;
    for (size_t rank = random.below(4); rank > 0; --rank) {
      size_t dim = random.below(random.oneIn(4) ? 1 : 5);
      elements *= dim;
      shape += (shape.empty() ? "" : ",") + (random.oneIn(60) ? huge[random.below(6)] : std::to_string(dim));
    }
    size_t begin = cursor, end = cursor + elements * bits / 8;
    cursor = end;
    if (random.oneIn(60))
      begin = random.below(cursor + 3);
    if (random.oneIn(60))
      end = random.below(cursor + 3);
    if (random.oneIn(60)) // the same size elsewhere
      begin += 2, end += 2;
    size_t name = random.oneIn(60) ? random.below(tensors) : i;
    items.push_back((random.oneIn(9) ? "\"\\u006" + std::to_string(name % 10) + "\""
                                     : "\"" + std::string(1, char('`' + name)) + "\"") +
                    ":{\"dtype\":\"" + type + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
                    std::to_string(begin) + "," + std::to_string(end) + "]}");
  }
  if (random.oneIn(4))
    items.push_back(R"("__metadata__":{"format":"pt"})");
  std::string header = "{";
  while (!items.empty()) {
    size_t i = random.below(items.size());
    header += (header.size() > 1 ? "," : "") + items[i];
    items.erase(items.begin() + i);
  }
  header += "}" + std::string(random.below(8), ' ');
  return file(header, cursor);
}

void mutateOnce(std::string &text, const std::vector<std::string> &pool, Random &random) {
  size_t at = random.below(text.size() + 1);
  size_t length = random.below(std::min<size_t>(text.size() - at, 24) + 1);
  switch (random.below(9)) {
  case 0: // flip a bit
    if (at < text.size())
      text[at] ^= char(1 << random.below(8));
    break;
  case 1: // any byte
    if (at < text.size())
      text[at] = char(random.next());
    break;
  case 2: text.insert(at, words[random.below(std::size(words))].str()); break;
  case 3: text.replace(at, length, words[random.below(std::size(words))].str()); break;
  case 4: text.erase(at, length); break;
  case 5: // repeat a piece, sometimes often
    if (text.size() < 4096) {
      std::string piece = text.substr(at, length);
      for (size_t n = random.oneIn(10) ? 50 : 1; n > 0; --n)
        text.insert(at, piece);
    }
    break;
  case 6: { // a piece of another seed
    const std::string &other = pool[random.below(pool.size())];
    size_t from = random.below(other.size() + 1);
    text.insert(at, other.substr(from, random.below(64)));
    break;
  }
  case 7: { // another number where one is
    size_t digit = text.find_first_of("0123456789", at);
    if (digit == std::string::npos)
      break;
    size_t end = text.find_first_not_of("0123456789", digit);
    size_t count = (end == std::string::npos ? text.size() : end) - digit;
    text.replace(digit, count, std::to_string(random.below(random.oneIn(3) ? 1 << 20 : 20)));
    break;
  }
  case 8: // more or less data
    if (random.oneIn(2))
      text.append(random.below(9), 'd');
    else
      text.resize(text.size() - std::min(text.size(), random.below(9)));
    break;
  }
}

/// The header goes from byte 8 to the last closing brace; makes its length say so.
void mendLength(std::string &text) {
  size_t brace = text.rfind('}');
  if (text.size() < 9 || brace == std::string::npos || brace < 8)
    return;
  uint64_t length = brace + 1 - 8;
  while (8 + length < text.size() && text[8 + length] == ' ')
    ++length;
  for (int i = 0; i < 8; ++i)
    text[i] = char(length >> (8 * i));
}

bool isFile(llvm::StringRef text) {
  return !text.starts_with("{") && !text.starts_with("version") && !text.starts_with("<");
}

void dump(std::FILE *out, llvm::StringRef input, llvm::StringRef verdict) {
  uint32_t sizes[2] = {uint32_t(input.size()), uint32_t(verdict.size())};
  std::fwrite(sizes, sizeof sizes, 1, out);
  std::fwrite(input.data(), 1, input.size(), out);
  std::fwrite(verdict.data(), 1, verdict.size(), out);
}

} // namespace

int main(int argc, char **argv) {
  uint64_t runs = 20000, seed = 1;
  std::FILE *out = nullptr;
  std::vector<llvm::StringRef> replay;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    if (argument.consume_front("--runs=")) {
      if (argument.getAsInteger(10, runs))
        return 2;
    } else if (argument.consume_front("--seed=")) {
      if (argument.getAsInteger(10, seed))
        return 2;
    } else if (argument.consume_front("--dump=")) {
      if (!(out = std::fopen(argument.str().c_str(), "wb")))
        return 5;
    } else {
      replay.push_back(argument);
    }
  }
  for (llvm::StringRef path : replay) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return 5;
    std::string verdict = fuzzVerdict((*buffer)->getBuffer());
    std::printf("%s: %s\n", path.str().c_str(), verdict.c_str());
  }
  if (!replay.empty())
    return 0;

  Random random(seed);
  std::vector<std::string> pool = seeds();
  std::map<std::string, uint64_t> counts;
  auto start = std::chrono::steady_clock::now();
  for (uint64_t run = 0; run < runs; ++run) {
    bool made = random.oneIn(3);
    std::string input = made ? generate(random) : pool[random.below(pool.size())];
    bool mend = isFile(input) && !random.oneIn(8);
    size_t mutations = made ? (random.oneIn(2) ? 0 : 1) : 1 + random.below(random.oneIn(2) ? 1 : 6);
    for (; mutations > 0; --mutations)
      mutateOnce(input, pool, random);
    if (mend)
      mendLength(input);
    std::string verdict = fuzzVerdict(input);
    if (out)
      dump(out, input, verdict);
    // A verdict that is rare so far makes a seed of its input.
    if (counts[verdict]++ < 20 && input.size() < 4096)
      pool.push_back(input);
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (out)
    std::fclose(out);
  for (auto &[verdict, count] : counts)
    std::printf("%-16s %llu\n", verdict.c_str(), (unsigned long long)count);
  std::printf("%llu inputs, seed %llu, %.1f s, 0 findings\n", (unsigned long long)runs, (unsigned long long)seed,
              seconds);
  return 0;
}
