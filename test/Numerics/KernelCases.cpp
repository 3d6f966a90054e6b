//===- KernelCases.cpp - small modules, one or more for every op ----------===//

#include "test/Numerics/KernelCases.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace heddle::test {

/// `f[B, 7]` and its likes, written out.
static std::string expand(StringRef text) {
  std::string out;
  while (!text.empty()) {
    char c = text[0];
    bool start = out.empty() || !(llvm::isAlnum(out.back()) || out.back() == '%' || out.back() == '_');
    if (start && text.size() > 1 && text[1] == '[' && (c == 'f' || c == 'i' || c == 'b')) {
      size_t end = text.find(']');
      out += "!model.tensor<" + text.slice(1, end + 1).str() + ", " +
             (c == 'f'   ? "f32"
              : c == 'i' ? "i64"
                         : "i1") +
             ">";
      text = text.drop_front(end + 1);
      continue;
    }
    out += c;
    text = text.drop_front();
  }
  return out;
}

/// The parts of a list, cut at commas outside of brackets.
static std::vector<StringRef> parts(StringRef list) {
  std::vector<StringRef> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && !depth)) {
      out.push_back(list.slice(begin, i).trim());
      begin = i + 1;
    } else {
      depth += list[i] == '[' ? 1 : list[i] == ']' ? -1 : 0;
    }
  }
  return out;
}

std::string functionText(const std::string &header, const std::string &body) {
  auto [inputs, outputs] = StringRef(header).split("->");
  std::string args, results, values, types;
  for (StringRef in : parts(inputs.trim())) {
    if (in.empty())
      continue;
    auto [name, rest] = in.split(':');
    auto [axes, tail] = rest.trim().split(']');
    std::string attrs = "model.name = \"" + name.str() + "\"";
    if (tail.contains("below"))
      attrs += ", test.below = " + tail.split("below").second.trim().str() + " : i64";
    if (tail.contains("default"))
      attrs += ", model.default";
    args += (args.empty() ? "%" : ", %") + name.str() + ": " + expand((axes + "]").str()) + " {" + attrs + "}";
  }
  for (StringRef out : parts(outputs.trim())) {
    auto [name, type] = out.split(':');
    std::string full = expand(type.trim());
    results += (results.empty() ? "" : ", ") + full + " {model.name = \"" + name.str() + "\"}";
    values += (values.empty() ? "%" : ", %") + name.str();
    types += (types.empty() ? "" : ", ") + full;
  }
  return "func.func @run(" + args + ") -> (" + results + ") {\n" + expand(body) + "\nreturn " + values + " : " + types +
         "\n}\n";
}

std::string KernelCase::text() const { return functionText(header, body); }

static void elementwise(std::vector<KernelCase> &out) {
  for (const char *f : {"neg", "abs", "exp", "sin", "cos", "floor", "ceil", "tanh", "sigmoid", "relu", "gelu",
                        "gelu_tanh", "quick_gelu", "silu", "relu2", "softplus", "bf16"})
    out.push_back({std::string("Unary_") + f,
                   "x: f[B, 19] -> y: f[B, 19]",
                   std::string("%y = model.unary ") + f + " %x : (f[B, 19]) -> f[B, 19]",
                   {{{"B", 1}}, {{"B", 5}}, {{"B", 300}}},
                   1e-6,
                   true});
  for (const char *f : {"sqrt", "log"})
    out.push_back({std::string("Unary_") + f,
                   "x: f[B, 19] -> y: f[B, 19]",
                   std::string("%a = model.unary abs %x : (f[B, 19]) -> f[B, 19]\n%y = model.unary ") + f +
                       " %a : (f[B, 19]) -> f[B, 19]",
                   {{{"B", 1}}, {{"B", 5}}},
                   1e-6,
                   true});
  for (const char *f : {"add", "sub", "mul", "div", "min", "max", "floordiv"})
    out.push_back({std::string("Binary_") + f,
                   "x: f[B, 19], z: f[B, 19] -> y: f[B, 19]",
                   std::string("%y = model.binary ") + f + " %x, %z : (f[B, 19], f[B, 19]) -> f[B, 19]",
                   {{{"B", 1}}, {{"B", 5}}},
                   1e-6,
                   true});
  for (const char *f : {"add", "sub", "mul", "min", "max", "floordiv", "mod"})
    out.push_back(
        {std::string("Integer_") + f,
         "x: i[B, 19] below 100, z: i[B, 19] below 7 -> y: i[B, 19]",
         std::string(
             "%c = model.constant dense<-3> : tensor<i64> : i[]\n%o = model.binary mul %x, %c : (i[B, 19], i[]) -> i[B, 19]\n"
             "%one = model.constant dense<1> : tensor<i64> : i[]\n%d = model.binary add %z, %one : (i[B, 19], i[]) -> i[B, 19]\n%y = model.binary ") +
             f + " %o, %d : (i[B, 19], i[B, 19]) -> i[B, 19]",
         {{{"B", 1}}, {{"B", 5}}},
         0,
         true});
  for (const char *p : {"2.0", "3.0", "0.5", "1.0"})
    out.push_back({std::string("Power_") + p[0] + "_" + p[2],
                   "x: f[B, 5] -> y: f[B, 5]",
                   std::string("%a = model.unary abs %x : (f[B, 5]) -> f[B, 5]\n%c = model.constant dense<") + p +
                       "> : tensor<f64> : f[]\n%y = model.binary pow %a, %c : (f[B, 5], f[]) -> f[B, 5]",
                   {{{"B", 3}}},
                   1e-6,
                   true});
  out.push_back(
      {"PowerOfTwo",
       "x: f[B, 5], z: f[B, 5] -> y: f[B, 5]",
       "%a = model.unary abs %x : (f[B, 5]) -> f[B, 5]\n%y = model.binary pow %a, %z : (f[B, 5], f[B, 5]) -> f[B, 5]",
       {{{"B", 3}}},
       1e-6,
       true});
  for (const char *p : {"eq", "ne", "lt", "le", "gt", "ge"})
    out.push_back(
        {std::string("Compare_") + p,
         "x: i[B, T], z: i[T] -> y: b[B, T], s: f[B, T]",
         std::string("%y = model.compare ") + p +
             " %x, %z : (i[B, T], i[T]) -> b[B, T]\n%xf = model.cast %x : i[B, T] -> f[B, T]\n"
             "%zf = model.cast %z : i[T] -> f[T]\n%s = model.select %y, %xf, %zf : (b[B, T], f[B, T], f[T]) -> f[B, T]",
         {{{"B", 2}, {"T", 1}}, {{"B", 3}, {"T", 37}}},
         0});
  out.push_back(
      {"Logic",
       "x: b[B, T], z: b[B, T] -> y: b[B, T]",
       "%n = model.unary not %x : (b[B, T]) -> b[B, T]\n%a = model.binary and %n, %z : (b[B, T], b[B, T]) -> b[B, T]\n"
       "%y = model.binary or %a, %x : (b[B, T], b[B, T]) -> b[B, T]",
       {{{"B", 2}, {"T", 1}}, {{"B", 3}, {"T", 37}}},
       0,
       true});
  out.push_back(
      {"Casts",
       "x: f[B, T], n: i[B, T] -> y: i[B, T], t: b[B, T], u: b[B, T], v: f[B, T], w: i[B, T]",
       "%y = model.cast %x : f[B, T] -> i[B, T]\n%t = model.cast %x : f[B, T] -> b[B, T]\n%u = model.cast %n : i[B, T] -> b[B, T]\n"
       "%v = model.cast %u : b[B, T] -> f[B, T]\n%w = model.cast %t : b[B, T] -> i[B, T]",
       {{{"B", 2}, {"T", 1}}, {{"B", 3}, {"T", 37}}},
       0,
       true});
  out.push_back(
      {"Broadcasts",
       "x: f[B, T, 1], z: f[T, 6], s: f[B, 1, 6], c: f[] -> y: f[B, T, 6]",
       "%a = model.binary add %x, %z : (f[B, T, 1], f[T, 6]) -> f[B, T, 6]\n%d = model.binary mul %a, %s : (f[B, T, 6], f[B, 1, 6]) -> f[B, T, 6]\n"
       "%y = model.binary sub %d, %c : (f[B, T, 6], f[]) -> f[B, T, 6]",
       {{{"B", 1}, {"T", 1}}, {{"B", 3}, {"T", 17}}, {{"B", 2}, {"T", 0}}}});
  out.push_back({"Stretch", "x: f[T, 1] -> y: f[B, T, 5]", "%y = model.broadcast %x : f[T, 1] -> f[B, T, 5]", {}});
  out.back().header = "x: f[T, 1], q: f[B] -> y: f[B, T, 5], z: f[B]";
  out.back().body += "\n%z = model.unary neg %q : (f[B]) -> f[B]";
  out.back().dims = {{{"B", 1}, {"T", 1}}, {{"B", 3}, {"T", 17}}};
  out.push_back({"LongRow",
                 "x: f[B, 9001] -> y: f[B, 9001]",
                 "%y = model.unary exp %x : (f[B, 9001]) -> f[B, 9001]",
                 {{{"B", 2}}},
                 1e-6,
                 true});
}

static void moving(std::vector<KernelCase> &out) {
  std::vector<std::map<std::string, int64_t>> bt{{{"B", 1}, {"T", 3}}, {{"B", 3}, {"T", 21}}};
  out.push_back({"SliceRows", "x: f[B, T, 5] -> y: f[B, \"T-2\", 5]",
                 "%y = model.slice %x axis 1 from \"1\" to \"T-1\" : (f[B, T, 5]) -> f[B, \"T-2\", 5]", bt, 0, true});
  out.push_back({"SliceFeatures", "x: f[B, T, 5] -> y: f[B, T, 2]",
                 "%y = model.slice %x axis 2 from \"2\" to \"4\" : (f[B, T, 5]) -> f[B, T, 2]", bt, 0, true});
  out.push_back(
      {"SliceView",
       "x: f[7, 5] -> y: f[3, 5], z: f[7, 5]",
       "%s = model.slice %x axis 0 from \"2\" to \"5\" : (f[7, 5]) -> f[3, 5]\n%y = model.unary neg %s : (f[3, 5]) -> f[3, 5]\n%z = model.unary neg %x : (f[7, 5]) -> f[7, 5]",
       {{}},
       0});
  out.push_back(
      {"SqueezeUnsqueeze", "x: f[B, 1, T] -> y: f[B, T, 1]",
       "%s = model.squeeze %x axis 1 : (f[B, 1, T]) -> f[B, T]\n%u = model.unsqueeze %s axis 2 : (f[B, T]) -> f[B, T, 1]\n%y = model.unary neg %u : (f[B, T, 1]) -> f[B, T, 1]",
       bt, 0, true});
  out.push_back({"ReturnsView", "x: f[B, 1, T] -> y: f[B, T]", "%y = model.squeeze %x axis 1 : (f[B, 1, T]) -> f[B, T]",
                 bt, 0, true});
  out.push_back({"Heads", "x: f[B, T, 12] -> y: f[B, 3, T, 4]",
                 "%y = model.rearrange %x \"b t (h d) -> b h t d\" sizes {h = \"3\"} : (f[B, T, 12]) -> f[B, 3, T, 4]",
                 bt, 0, true});
  out.push_back({"Transpose", "x: f[B, T, 5] -> y: f[B, 5, T]",
                 "%y = model.rearrange %x \"b t d -> b d t\" : (f[B, T, 5]) -> f[B, 5, T]", bt, 0, true});
  out.push_back(
      {"Merge", "x: f[B, T, 5] -> y: f[B, \"5*T\"]",
       "%n = model.unary neg %x : (f[B, T, 5]) -> f[B, T, 5]\n%y = model.rearrange %n \"b t d -> b (t d)\" : (f[B, T, 5]) -> f[B, \"5*T\"]",
       bt, 0, true});
  out.push_back({"ConcatRows", "x: f[B, T, 5], z: f[1, 5] -> y: f[B, \"2*T+1\", 5]",
                 "%y = model.concat %x, %z, %x axis 1 : (f[B, T, 5], f[1, 5], f[B, T, 5]) -> f[B, \"2*T+1\", 5]", bt,
                 0});
  out.push_back({"ConcatFeatures", "x: f[B, T, 5], z: f[B, T, 2] -> y: f[B, T, 7]",
                 "%y = model.concat %x, %z axis 2 : (f[B, T, 5], f[B, T, 2]) -> f[B, T, 7]", bt, 0, true});
  out.push_back({"PadRows", "x: f[B, T, 5] -> y: f[B, \"T+3\", 5]",
                 "%y = model.pad %x axis 1 before \"1\" after \"2\" value 0.5 : (f[B, T, 5]) -> f[B, \"T+3\", 5]", bt,
                 0, true});
  out.push_back({"PadFeatures", "x: i[B, T] -> y: i[B, \"T+3\"]",
                 "%y = model.pad %x axis 1 before \"3\" after \"0\" value 2.0 : (i[B, T]) -> i[B, \"T+3\"]", bt, 0,
                 true});
  out.push_back({"GatherOne",
                 "x: f[B, 5, 3], n: i[B] -> y: f[B, 3]",
                 "%y = model.gather %x at %n : (f[B, 5, 3], i[B]) -> f[B, 3]",
                 {{{"B", 1}}, {{"B", 4}}},
                 0,
                 true});
  out.push_back({"GatherRows",
                 "x: f[B, 5, 20], n: i[B, 2] -> y: f[B, 2, 20]",
                 "%y = model.gather %x at %n : (f[B, 5, 20], i[B, 2]) -> f[B, 2, 20]",
                 {{{"B", 1}}, {{"B", 4}}},
                 0,
                 true});
  out.push_back(
      {"Embedding", "n: i[B, T] -> y: f[B, T, 21]",
       "%w = model.param \"w\" : f[5, 21]\n%y = model.embedding %n in %w : (i[B, T], f[5, 21]) -> f[B, T, 21]", bt, 0,
       true});
  out.push_back(
      {"TiedEmbedding", "n: i[B, T] below 37 -> y: f[B, T, 37]",
       "%w = model.param \"w\" : f[37, 21]\n%x = model.embedding %n in %w : (i[B, T], f[37, 21]) -> f[B, T, 21]\n"
       "%y = model.linear %x, %w : (f[B, T, 21], f[37, 21]) -> f[B, T, 37]",
       bt, 2e-6, true});
  out.push_back(
      {"RangeAndSize", "x: i[B, T] -> y: i[B, T]",
       "%r = model.range \"2\" to \"T+2\" : i[T]\n%s = model.size \"B*T\" : i[]\n%a = model.binary add %x, %r : (i[B, T], i[T]) -> i[B, T]\n%y = model.binary sub %a, %s : (i[B, T], i[]) -> i[B, T]",
       bt, 0});
  out.push_back(
      {"BigConstant",
       "x: f[B, 3] -> y: f[B, 3]",
       "%c = model.constant dense<[0.5, -1.25, 3.0]> : tensor<3xf64> : f[3]\n%y = model.binary mul %x, %c : (f[B, 3], f[3]) -> f[B, 3]",
       {{{"B", 4}}},
       1e-6,
       true});
}

static void rows(std::vector<KernelCase> &out) {
  std::vector<std::map<std::string, int64_t>> bt{{{"B", 1}, {"T", 1}}, {{"B", 3}, {"T", 7}}, {{"B", 2}, {"T", 33}}};
  for (const char *n : {"5", "16", "35", "130"}) {
    std::string N = n, x = "f[B, T, " + N + "]", header = "x: " + x + " -> y: " + x;
    std::string w = "%w = model.param \"w\" : f[" + N + "]\n%b = model.param \"b\" : f[" + N + "]\n";
    out.push_back(
        {"LayerNorm_" + N, header,
         w + "%y = model.layer_norm %x weight %w bias %b eps 1.0e-5 : (" + x + ", f[" + N + "], f[" + N + "]) -> " + x,
         bt, 3e-6, true});
    out.push_back({"RmsNorm_" + N, header,
                   w.substr(0, w.find('\n') + 1) + "%y = model.rms_norm %x weight %w eps 1.0e-5 offset 1.0 : (" + x +
                       ", f[" + N + "]) -> " + x,
                   bt, 3e-6, true});
    out.push_back({"L2Norm_" + N, header, "%y = model.l2_norm %x eps 1.0e-5 : (" + x + ") -> " + x, bt, 3e-6, true});
    out.push_back({"Softmax_" + N, header, "%y = model.softmax %x axis 2 : (" + x + ") -> " + x, bt, 3e-6, true});
    out.push_back(
        {"LogSoftmax_" + N, header, "%y = model.softmax %x axis 2 logarithm : (" + x + ") -> " + x, bt, 3e-6, true});
    out.push_back({"TopK_" + N, header, "%y = model.top_k %x k 3 fill -1.0 : (" + x + ") -> " + x, bt, 0, true});
  }
  out.push_back({"LayerNormPlain", "x: f[B, T, 35] -> y: f[B, T, 35]",
                 "%y = model.layer_norm %x eps 1.0e-5 : (f[B, T, 35]) -> f[B, T, 35]", bt, 3e-6, true});
  out.push_back(
      {"GroupNorm", "x: f[B, T, 6] -> y: f[B, T, 6]",
       "%w = model.param \"w\" : f[6]\n%b = model.param \"b\" : f[6]\n%y = model.group_norm %x weight %w bias %b groups 3 eps 1.0e-5 : (f[B, T, 6], f[6], f[6]) -> f[B, T, 6]",
       bt, 1e-5, true});
  // Three of four experts, of which each row has chosen two: tiles that all, some and none of the rows have chosen.
  std::string experts = "%wr = model.param \"wr\" : f[4, 12]\n"
                        "%r = model.linear %x, %wr : (f[B, T, 12], f[4, 12]) -> f[B, T, 4]\n"
                        "%g = model.top_k %r k 2 fill 0.0 : (f[B, T, 4]) -> f[B, T, 4]\n";
  for (int n = 0; n < 3; ++n) {
    std::string e = std::to_string(n), next = std::to_string(n + 1);
    experts += "%w" + e + " = model.param \"w" + e + "\" : f[40, 12]\n%v" + e + " = model.param \"v" + e +
               "\" : f[70, 40]\n%b" + e + " = model.param \"b" + e + "\" : f[70]\n%h" + e + " = model.linear %x, %w" +
               e + " : (f[B, T, 12], f[40, 12]) -> f[B, T, 40]\n%a" + e + " = model.unary silu %h" + e +
               " : (f[B, T, 40]) -> f[B, T, 40]\n%o" + e + " = model.linear %a" + e + ", %v" + e + " bias %b" + e +
               " : (f[B, T, 40], f[70, 40], f[70]) -> f[B, T, 70]\n%g" + e + " = model.slice %g axis 2 from \"" + e +
               "\" to \"" + next + "\" : (f[B, T, 4]) -> f[B, T, 1]\n%p" + e + " = model.binary mul %g" + e + ", %o" +
               e + " : (f[B, T, 1], f[B, T, 70]) -> f[B, T, 70]\n";
  }
  experts += "%s = model.binary add %p0, %p1 : (f[B, T, 70], f[B, T, 70]) -> f[B, T, 70]\n"
             "%y = model.binary add %s, %p2 : (f[B, T, 70], f[B, T, 70]) -> f[B, T, 70]";
  out.push_back({"Experts", "x: f[B, T, 12] -> y: f[B, T, 70]", experts, bt, 1e-5, true});
  for (const char *channels :
       {"5", "83"}) { // fewer than a vector; several vectors together, one alone and a part of one
    std::string n = channels, x = "f[B, T, " + n + "]", w = "f[" + n + "]";
    out.push_back({"GroupNormOfChannels_" + n, "x: " + x + " -> y: " + x,
                   "%w = model.param \"w\" : " + w + "\n%b = model.param \"b\" : " + w +
                       "\n%y = model.group_norm %x weight %w bias %b groups " + n + " eps 1.0e-5 : (" + x + ", " + w +
                       ", " + w + ") -> " + x,
                   bt, 1e-5, true});
  }
  out.push_back(
      {"BatchNorm", "x: f[B, T, 6] -> y: f[B, T, 6]",
       "%w = model.param \"w\" : f[6]\n%b = model.param \"b\" : f[6]\n%m = model.param \"m\" : f[6]\n%v0 = model.param \"v\" : f[6]\n"
       "%v = model.unary abs %v0 : (f[6]) -> f[6]\n%y = model.batch_norm %x mean %m variance %v weight %w bias %b eps 0.1 : (f[B, T, 6], f[6], f[6], f[6], f[6]) -> f[B, T, 6]",
       bt, 3e-6, true});
  for (const char *kind : {"mean", "sum", "max"}) {
    std::string k = kind;
    out.push_back({"Reduce_" + k + "_last", "x: f[B, T, 21] -> y: f[B, T]",
                   "%y = model.reduce " + k + " %x axes [2] : (f[B, T, 21]) -> f[B, T]", bt, 3e-6, true});
    out.push_back({"Reduce_" + k + "_rows", "x: f[B, T, 21] -> y: f[B, 1, 21]",
                   "%y = model.reduce " + k + " %x axes [1] keep : (f[B, T, 21]) -> f[B, 1, 21]", bt, 3e-6, true});
    out.push_back({"Reduce_" + k + "_two", "x: f[B, T, 21, 2] -> y: f[T, 2]",
                   "%y = model.reduce " + k + " %x axes [0, 2] : (f[B, T, 21, 2]) -> f[T, 2]", bt, 3e-6});
    out.push_back({"Reduce_" + k + "_neighbours", "x: f[B, T, 2, 37] -> y: f[B, 37]",
                   "%y = model.reduce " + k + " %x axes [1, 2] : (f[B, T, 2, 37]) -> f[B, 37]", bt, 3e-6, true});
  }
  out.push_back(
      {"ReduceIntegers", "x: i[B, T] -> y: i[B], z: i[B]",
       "%y = model.reduce sum %x axes [1] : (i[B, T]) -> i[B]\n%z = model.reduce max %x axes [1] : (i[B, T]) -> i[B]",
       bt, 0, true});
  out.push_back(
      {"Argmax", "x: f[B, T, 21] -> y: i[B, T], z: i[B, 21]",
       "%y = model.reduce argmax %x axes [2] : (f[B, T, 21]) -> i[B, T]\n%z = model.reduce argmax %x axes [1] : (f[B, T, 21]) -> i[B, 21]",
       bt, 0, true});
  out.push_back({"ArgmaxIntegers", "x: i[B, T] -> y: i[B]", "%y = model.reduce argmax %x axes [1] : (i[B, T]) -> i[B]",
                 bt, 0, true});
  out.push_back(
      {"Cumsum", "x: f[B, T, 5], n: i[B, T] -> y: f[B, T, 5], z: i[B, T]",
       "%y = model.cumsum %x axis 1 : (f[B, T, 5]) -> f[B, T, 5]\n%z = model.cumsum %n axis 1 : (i[B, T]) -> i[B, T]",
       bt, 3e-6, true});
  out.push_back({"SoftmaxRows", "x: f[B, T, 5] -> y: f[B, T, 5]",
                 "%y = model.softmax %x axis 1 : (f[B, T, 5]) -> f[B, T, 5]", bt, 3e-6, true});
  out.push_back(
      {"Sinusoidal", "p: i[B, T] below 1000 -> y: f[B, T, 10], z: f[B, T, 10]",
       "%y = model.sinusoidal %p width 10 theta 10000.0 : (i[B, T]) -> f[B, T, 10]\n%z = model.sinusoidal %p width 10 halves theta 10000.0 : (i[B, T]) -> f[B, T, 10]",
       bt, 3e-6, true});
  for (const char *pairs : {"", "pairs "})
    out.push_back(
        {std::string("Rotary") + (*pairs ? "Pairs" : "Halves"),
         "x: f[B, T, 24], p: i[B, T] below 1000 -> y: f[B, T, 24]",
         std::string(
             "%f = model.constant dense<[1.0, 0.1]> : tensor<2xf64> : f[2]\n%a = model.constant dense<1.5> : tensor<f64> : f[]\n"
             "%y = model.rotary %x at %p by %f amplitude %a head_width 6 ") +
             pairs + ": (f[B, T, 24], i[B, T], f[2], f[]) -> f[B, T, 24]",
         bt, 3e-5, true});
  out.push_back({"Matmul", "x: f[B, 3, T, 5], z: f[3, 5, T] -> y: f[B, 3, T, T]",
                 "%y = model.matmul %x, %z : (f[B, 3, T, 5], f[3, 5, T]) -> f[B, 3, T, T]", bt, 3e-6});
  out.push_back({"MatmulDeep", "x: f[B, T, 70], z: f[B, 70, 41] -> y: f[B, T, 41]",
                 "%y = model.matmul %x, %z : (f[B, T, 70], f[B, 70, 41]) -> f[B, T, 41]", bt, 3e-6, true});
  out.push_back(
      {"Conv1",
       "x: f[B, L, 4] -> y: f[B, \"(L-1)//2+1\", 6]",
       "%w = model.param \"w\" : f[6, 4, 3]\n%b = model.param \"b\" : f[6]\n%y = model.conv %x, %w bias %b stride [2] dilation [1] padding [1, 1] : (f[B, L, 4], f[6, 4, 3], f[6]) -> f[B, \"(L-1)//2+1\", 6]",
       {{{"B", 1}, {"L", 5}}, {{"B", 3}, {"L", 16}}},
       3e-6,
       true});
  out.push_back(
      {"ConvGroups",
       "x: f[B, L, 4] -> y: f[B, L, 6]",
       "%w = model.param \"w\" : f[6, 2, 3]\n%y = model.conv %x, %w stride [1] dilation [2] padding [2, 2] groups 2 : (f[B, L, 4], f[6, 2, 3]) -> f[B, L, 6]",
       {{{"B", 1}, {"L", 5}}, {{"B", 3}, {"L", 16}}},
       3e-6,
       true});
  out.push_back(
      {"ConvPatches",
       "x: f[B, H, W, 3] -> y: f[B, \"H//4\", \"W//4\", 35]",
       "%w = model.param \"w\" : f[35, 3, 4, 4]\n%b = model.param \"b\" : f[35]\n%y = model.conv %x, %w bias %b stride [4, 4] dilation [1, 1] padding [0, 0, 0, 0] : (f[B, H, W, 3], f[35, 3, 4, 4], f[35]) -> f[B, \"H//4\", \"W//4\", 35]",
       {{{"B", 1}, {"H", 8}, {"W", 12}}, {{"B", 3}, {"H", 13}, {"W", 9}}},
       3e-6,
       true});
  // Windows that overlap where x is, with an epilogue that reads elements and rows; an odd number of channels;
  // windows that do not.
  out.push_back(
      {"ConvOverlap",
       "x: f[B, L, 6], r: f[B, \"(L-3)//2+1\", 37], s: f[B, \"(L-3)//2+1\", 1] -> y: f[B, \"(L-3)//2+1\", 37]",
       "%w = model.param \"w\" : f[37, 6, 3]\n%b = model.param \"b\" : f[37]\n%c = model.conv %x, %w bias %b stride [2] dilation [1] padding [0, 0] : (f[B, L, 6], f[37, 6, 3], f[37]) -> f[B, \"(L-3)//2+1\", 37]\n"
       "%m = model.binary mul %c, %s : (f[B, \"(L-3)//2+1\", 37], f[B, \"(L-3)//2+1\", 1]) -> f[B, \"(L-3)//2+1\", 37]\n"
       "%y = model.binary add %m, %r : (f[B, \"(L-3)//2+1\", 37], f[B, \"(L-3)//2+1\", 37]) -> f[B, \"(L-3)//2+1\", 37]",
       {{{"B", 1}, {"L", 3}}, {{"B", 1}, {"L", 41}}, {{"B", 3}, {"L", 28}}},
       3e-6,
       true});
  out.push_back(
      {"ConvOverlapOdd",
       "x: f[B, L, 5] -> y: f[B, \"L-1\", 33]",
       "%w = model.param \"w\" : f[33, 5, 4]\n%y = model.conv %x, %w stride [1] dilation [1] padding [1, 1] : (f[B, L, 5], f[33, 5, 4]) -> f[B, \"L-1\", 33]",
       {{{"B", 1}, {"L", 2}}, {{"B", 2}, {"L", 19}}},
       3e-6,
       true});
  out.push_back(
      {"ConvDilated",
       "x: f[B, L, 4] -> y: f[B, L, 6]",
       "%w = model.param \"w\" : f[6, 4, 3]\n%y = model.conv %x, %w stride [1] dilation [3] padding [3, 3] : (f[B, L, 4], f[6, 4, 3]) -> f[B, L, 6]",
       {{{"B", 1}, {"L", 5}}, {{"B", 3}, {"L", 16}}},
       3e-6,
       true});
  out.push_back(
      {"ConvTwoAxes",
       "x: f[B, H, W, 3] -> y: f[B, H, \"(W-1)//2+1\", 18]",
       "%w = model.param \"w\" : f[18, 3, 3, 3]\n%y = model.conv %x, %w stride [1, 2] dilation [1, 1] padding [1, 1, 1, 1] : (f[B, H, W, 3], f[18, 3, 3, 3]) -> f[B, H, \"(W-1)//2+1\", 18]",
       {{{"B", 1}, {"H", 1}, {"W", 1}}, {{"B", 2}, {"H", 5}, {"W", 8}}},
       3e-6,
       true});
  out.push_back(
      {"ConvLargeGroups",
       "x: f[B, L, 10] -> y: f[B, L, 36]",
       "%w = model.param \"w\" : f[36, 5, 4]\n%b = model.param \"b\" : f[36]\n%y = model.conv %x, %w bias %b stride [1] dilation [1] padding [2, 1] groups 2 : (f[B, L, 10], f[36, 5, 4], f[36]) -> f[B, L, 36]",
       {{{"B", 1}, {"L", 1}}, {{"B", 2}, {"L", 17}}},
       3e-6,
       true});
  out.push_back(
      {"ConvComputedWeight",
       "x: f[B, L, 4], v: f[6, 4, 3] -> y: f[B, L, 6]",
       "%w = model.unary neg %v : (f[6, 4, 3]) -> f[6, 4, 3]\n%y = model.conv %x, %w stride [1] dilation [1] padding [1, 1] : (f[B, L, 4], f[6, 4, 3]) -> f[B, L, 6]",
       {{{"B", 1}, {"L", 5}}, {{"B", 3}, {"L", 16}}},
       3e-6});
  out.push_back(
      {"ConvDepthwise",
       "x: f[B, L, 37] -> y: f[B, \"(L+1)//2\", 37]",
       "%w = model.param \"w\" : f[37, 1, 5]\n%b = model.param \"b\" : f[37]\n%y = model.conv %x, %w bias %b stride [2] dilation [2] padding [4, 4] groups 37 : (f[B, L, 37], f[37, 1, 5], f[37]) -> f[B, \"(L+1)//2\", 37]",
       {{{"B", 1}, {"L", 1}}, {{"B", 1}, {"L", 6}}, {{"B", 3}, {"L", 23}}},
       3e-6,
       true});
  out.push_back(
      {"ConvDepthwiseTwoAxes",
       "x: f[B, H, W, 32] -> y: f[B, H, W, 32]",
       "%w = model.param \"w\" : f[32, 1, 3, 3]\n%y = model.conv %x, %w stride [1, 1] dilation [1, 1] padding [1, 1, 1, 1] groups 32 : (f[B, H, W, 32], f[32, 1, 3, 3]) -> f[B, H, W, 32]",
       {{{"B", 1}, {"H", 1}, {"W", 1}}, {{"B", 2}, {"H", 4}, {"W", 7}}},
       3e-6,
       true});
  for (const char *how : {"", "bicubic "})
    out.push_back({std::string("Interpolate") + (*how ? "Bicubic" : "Bilinear"),
                   "x: f[B, 4, 5, 3] -> y: f[B, H, W, 3], z: f[H], v: f[W]",
                   std::string("%y = model.interpolate %x to [\"H\", \"W\"] ") + how +
                       ": (f[B, 4, 5, 3]) -> f[B, H, W, 3]\n"
                       "%z = model.unary neg %h : (f[H]) -> f[H]\n%v = model.unary neg %g : (f[W]) -> f[W]",
                   {{{"B", 2}, {"H", 7}, {"W", 3}}, {{"B", 1}, {"H", 4}, {"W", 5}}},
                   3e-6});
  for (KernelCase &c : out)
    if (llvm::StringRef(c.name).starts_with("Interpolate"))
      c.header = "x: f[B, 4, 5, 3], h: f[H], g: f[W] -> y: f[B, H, W, 3], z: f[H], v: f[W]";
}

static void structures(std::vector<KernelCase> &out) {
  std::vector<std::map<std::string, int64_t>> bt{{{"B", 1}, {"T", 1}}, {{"B", 3}, {"T", 7}}, {{"B", 2}, {"T", 19}}};
  out.push_back(
      {"Parts", "x: f[B, T, 10] -> q: f[B, T, 8], v: f[B, T, 4]",
       "%w = model.param \"w\" : f[10, 16]\n%b = model.param \"b\" : f[16]\n"
       "%q, %k, %v = model.linear %x, %w bias %b in_out parts [2, 1, 1] groups 2 : (f[B, T, 10], f[10, 16], f[16]) -> (f[B, T, 8], f[B, T, 4], f[B, T, 4])",
       bt, 3e-6, true});
  out.push_back(
      {"ComputedWeight", "x: f[B, T, 10], z: f[33, 10], u: f[10, 8] -> y: f[B, T, 33], v: f[B, T, 2]",
       "%y = model.linear %x, %z : (f[B, T, 10], f[33, 10]) -> f[B, T, 33]\n"
       "%_, %v = model.linear %x, %u in_out parts [3, 1] groups 1 : (f[B, T, 10], f[10, 8]) -> (f[B, T, 6], f[B, T, 2])",
       bt, 3e-6});
  out.push_back(
      {"Epilogues", "x: f[B, T, 10], r: f[B, T, 40], m: b[B, T, 1], s: f[40] -> y: f[B, T, 40], z: f[B, T, 33]",
       "%w = model.param \"w\" : f[40, 10]\n%b = model.param \"b\" : f[40]\n%w2 = model.param \"w2\" : f[33, 10]\n%w3 = model.param \"w3\" : f[33, 10]\n"
       "%a = model.linear %x, %w bias %b : (f[B, T, 10], f[40, 10], f[40]) -> f[B, T, 40]\n%g = model.unary gelu %a : (f[B, T, 40]) -> f[B, T, 40]\n"
       "%c = model.binary mul %g, %s : (f[B, T, 40], f[40]) -> f[B, T, 40]\n%d = model.select %m, %c, %r : (b[B, T, 1], f[B, T, 40], f[B, T, 40]) -> f[B, T, 40]\n"
       "%y = model.binary add %d, %r : (f[B, T, 40], f[B, T, 40]) -> f[B, T, 40]\n"
       "%e = model.linear %x, %w2 : (f[B, T, 10], f[33, 10]) -> f[B, T, 33]\n%h = model.unary silu %e : (f[B, T, 33]) -> f[B, T, 33]\n"
       "%f = model.linear %x, %w3 : (f[B, T, 10], f[33, 10]) -> f[B, T, 33]\n%z = model.binary mul %h, %f : (f[B, T, 33], f[B, T, 33]) -> f[B, T, 33]",
       bt, 4e-6});
  std::string layer =
      "%w = model.param \"h.{0}.w\"[%i] : f[24, 12]\n%b = model.param \"h.{0}.b\"[%i] : f[24]\n%v = model.param \"h.{0}.v\"[%i] : f[12, 24]\n"
      "%n = model.layer_norm %x eps 1.0e-5 : (f[B, T, 12]) -> f[B, T, 12]\n"
      "%u = model.linear %n, %w bias %b : (f[B, T, 12], f[24, 12], f[24]) -> f[B, T, 24]\n%a = model.unary gelu %u : (f[B, T, 24]) -> f[B, T, 24]\n"
      "%d = model.linear %a, %v : (f[B, T, 24], f[12, 24]) -> f[B, T, 12]\n%z = model.binary add %x, %d : (f[B, T, 12], f[B, T, 12]) -> f[B, T, 12]\n";
  out.push_back({"Repeat", "x0: f[B, T, 12] -> y: f[B, T, 12]",
                 "%y = model.repeat 3 iter(%x0) : (f[B, T, 12]) -> f[B, T, 12] {\n^bb0(%i: index, %x: f[B, T, 12]):\n" +
                     layer + "model.yield %z : f[B, T, 12]\n}",
                 bt, 1e-5, true});
  out.push_back(
      {"RepeatCollects", "x0: f[B, T, 12] -> y: f[B, T, 12], s: f[3, B, T, 12], t: f[3, B, T, 12]",
       "%y, %s, %t = model.repeat 3 iter(%x0) : (f[B, T, 12]) -> (f[B, T, 12], f[3, B, T, 12], f[3, B, T, 12]) {\n^bb0(%i: index, %x: f[B, T, 12]):\n" +
           layer + "model.yield %z, %x, %z : f[B, T, 12], f[B, T, 12], f[B, T, 12]\n}",
       bt, 1e-5});
  out.push_back(
      {"RepeatCrossed", "x0: f[B, T], z0: f[B, T] -> y: f[B, T], z: f[B, T]",
       "%c = model.constant dense<0.5> : tensor<f64> : f[]\n%y, %z = model.repeat 3 iter(%x0, %z0) : (f[B, T], f[B, T]) -> (f[B, T], f[B, T]) {\n^bb0(%i: index, %a: f[B, T], %b: f[B, T]):\n"
       "%h = model.binary mul %a, %c : (f[B, T], f[]) -> f[B, T]\nmodel.yield %b, %h : f[B, T], f[B, T]\n}",
       bt, 1e-6, true});
  out.push_back(
      {"RepeatTwice", "x0: f[B, T, 12] -> y: f[B, T, 12], k: f[B, T, 12]",
       "%k = model.unary neg %x0 : (f[B, T, 12]) -> f[B, T, 12]\n%m = model.repeat 2 iter(%k) : (f[B, T, 12]) -> f[B, T, 12] {\n^bb0(%i: index, %x: f[B, T, 12]):\n" +
           layer +
           "model.yield %z : f[B, T, 12]\n}\n%y = model.repeat 2 iter(%m) {first = 2 : i64} : (f[B, T, 12]) -> f[B, T, 12] {\n^bb0(%i: index, %x: f[B, T, 12]):\n" +
           layer +
           "%q = model.binary add %z, %k : (f[B, T, 12], f[B, T, 12]) -> f[B, T, 12]\nmodel.yield %q : f[B, T, 12]\n}",
       bt, 1e-5, true});
  out.push_back(
      {"SameTwice", "x: f[B, T] -> y: f[B, T], z: f[B, T], q: f[B, T]",
       "%y = model.unary neg %x : (f[B, T]) -> f[B, T]\n%z = model.unary neg %y : (f[B, T]) -> f[B, T]\n%q = model.unary neg %z : (f[B, T]) -> f[B, T]",
       bt, 0, true});
}

std::vector<KernelCase> kernelCases() {
  std::vector<KernelCase> all;
  elementwise(all);
  moving(all);
  rows(all);
  structures(all);
  return all;
}

} // namespace heddle::test
