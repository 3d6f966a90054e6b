//===- Templates.cpp - Chat templates and conversations of strangers ------===//
//
//   heddle_fuzz_templates [--runs=N] [--seed=N] [--what=templates|messages] [FILE...]
//
// Good templates (those given, and a few of its own) or a good conversation are
// changed: bytes, stretches moved or repeated, words of the language inserted,
// brackets and numbers grown. Each is compiled and rendered as a compiled model
// does it. A crash, a report of a sanitizer, or a run of more than a second is
// the finding; what was used and refused is counted. Links nothing of LLVM.
//
//===----------------------------------------------------------------------===//
#include "compiler/Template/TemplateBlob.h"
#include "heddle/template.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>

using namespace heddle;
using Random = std::mt19937_64;

namespace {

const char *const templates[] = {
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m.content | trim + '<|im_end|>' }}\n{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "{%- set ns = namespace(n=0, s='') -%}\n{%- for m in messages if m.role != 'system' -%}\n  {%- set ns.n = ns.n + 1 "
    "-%}{{ loop.index }}/{{ loop.length }}{% if loop.last %}!{% elif loop.first %}?{% else %}{{ loop.previtem.role }}"
    "{% endif %}{% set ns.s = ns.s ~ m.content %}{%- else %}none{%- endfor %}{{ ns.s | length }}",
    "{% macro show(x, deep=0) %}{% if x is mapping %}{% for k, v in x | dictsort %}{{ k }}:{{ show(v, deep + 1) }}"
    "{% endfor %}{% elif x is string %}{{ x | upper }}{% elif x is iterable %}{{ x | map('string') | join(',') }}{% else %}"
    "{{ x | tojson(indent=2) }}{% endif %}{% endmacro %}{% for t in tools %}{{ show(t) }}{% endfor %}{{ show(messages) }}",
    "{{ messages[::-1][0].content[1:-1].split(' ', 2)[-1].replace('a', 'bb') }}{{ '%5.2f %s' % (1.5, none) }}"
    "{% set x %}{{ 2 ** 10 // 3 % 7 - 1.5e3 }}{% endset %}{{ x }}{{ messages | selectattr('role', 'equalto', 'user') | list "
    "| tojson }}{% call(y) show2(1) %}{{ y }}{% endcall %}{% macro show2(a, b=a) %}{{ caller(a ~ b) }}{% endmacro %}",
};
const char *const words[] = {"{{",
                             "}}",
                             "{%",
                             "%}",
                             "{#",
                             "#}",
                             "-%}",
                             " if ",
                             " else ",
                             "{% endif %}",
                             "{% endfor %}",
                             "{% for x in messages %}",
                             " | list",
                             " | sort",
                             " | tojson",
                             "loop.",
                             "[::-1]",
                             "[0]",
                             "*",
                             "**",
                             " * 99999",
                             "(",
                             ")",
                             "[",
                             "]",
                             "{",
                             "}",
                             "not ",
                             "-",
                             "~",
                             "messages",
                             "range(99999)",
                             "'a'",
                             " | indent(999)",
                             "{% set ns.s = ns.s + ns.s %}",
                             " is ",
                             " in ",
                             ".x",
                             "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                             "{% raw %}",
                             "\\u0041",
                             "{% generation %}",
                             " | replace('a', 'aa')",
                             ".split('')",
                             "0x",
                             "1e",
                             "99999999999999999999"};
const std::string conversation =
    R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How deep is a tide?"}, )"
    R"({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5, true]}}}]}, )"
    R"({"role": "user", "content": [{"type": "text", "text": "\u00e9\ud83e\uddf5"}]}], "tools": [{"function": {"name": "f", )"
    R"("parameters": {"b": {"c": {}}}}}], "add_generation_prompt": true, "now": "2025-03-04T05:06:07", "n": -1e-7})";
const char *const jsonWords[] = {"{",    "}",   "[",       "]",     ",", ":",        "\"",   "null",
                                 "true", "\\u", "\\ud800", "1e999", "-", "\"a\": 1", "[[[[", "\"role\""};

size_t below(Random &random, size_t n) { return n ? random() % n : 0; }

template <size_t N> std::string changed(const std::string &good, const char *const (&inserted)[N], Random &random) {
  std::string bad = good;
  for (size_t changes = 1 + below(random, random() % 4 ? 1 : 8); changes && !bad.empty(); --changes) {
    size_t at = below(random, bad.size()), from = below(random, bad.size());
    size_t size = 1 + below(random, std::min<size_t>(48, bad.size() - from));
    switch (random() % 9) {
    case 0: bad.erase(at, size); break;
    case 1: bad.insert(at, bad.substr(from, size)); break;
    case 2: bad.replace(at, size, bad.substr(from, size)); break;
    case 3: bad[at] = char(bad[at] ^ (1 << random() % 8)); break;
    case 4: bad[at] = char(random()); break;
    case 5:
      for (std::string word = inserted[below(random, N)]; word.size() < 400; word += word)
        if (random() % 2) {
          bad.insert(at, word);
          break;
        }
      break;
    default: bad.insert(at, inserted[below(random, N)]);
    }
  }
  return bad;
}

/// Seconds that this process has computed: another's load on the machine is no slowness of a template.
double processorSeconds() { return double(clock()) / CLOCKS_PER_SEC; }

} // namespace

int main(int argc, char **argv) {
  unsigned long runs = 10000, seed = 1;
  bool messages = false;
  std::vector<std::string> good(std::begin(templates), std::end(templates));
  for (int i = 1; i < argc; ++i) {
    if (!strncmp(argv[i], "--runs=", 7))
      runs = strtoul(argv[i] + 7, nullptr, 10);
    else if (!strncmp(argv[i], "--seed=", 7))
      seed = strtoul(argv[i] + 7, nullptr, 10);
    else if (!strncmp(argv[i], "--what=", 7))
      messages = !strcmp(argv[i] + 7, "messages");
    else {
      std::ifstream file(argv[i], std::ios::binary);
      good.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  Random random(seed);
  std::vector<std::string> blobs(good.size());
  for (size_t i = 0; i < good.size(); ++i)
    if (!compileTemplates({{"default", good[i]}}, {{"bos_token", "<s>"}}, blobs[i]).empty()) {
      fprintf(stderr, "a template that should be good is refused\n");
      return 1;
    }
  unsigned long refused = 0, failed = 0, rendered = 0, slow = 0;
  double longest = 0;
  for (unsigned long run = 0; run < runs; ++run) {
    double begin = processorSeconds();
    size_t which = below(random, good.size());
    std::string blob = blobs[which], error, request = conversation, source = good[which];
    bool compiled = true;
    if (messages) {
      request = changed(conversation, jsonWords, random);
    } else {
      source = changed(good[which], words, random);
      compiled = compileTemplates({{"default", source}}, {{"bos_token", "<s>"}}, blob).empty();
    }
    if (compiled) {
      std::unique_ptr<rt::TemplateRunner> runner = rt::TemplateRunner::open(blob, error);
      if (!runner) {
        fprintf(stderr, "run %lu: the blob cannot be opened: %s\n%s\n", run, error.c_str(), source.c_str());
        return 1;
      }
      ++(runner->render(request).good ? rendered : failed);
    } else {
      ++refused;
    }
    double seconds = processorSeconds() - begin;
    longest = std::max(longest, seconds);
    if (seconds > 1) {
      ++slow;
      fprintf(stderr, "run %lu: %.2f s\n%s\n", run, seconds, messages ? request.c_str() : source.c_str());
    }
  }
  printf("%lu rendered, %lu failed while rendering, %lu refused; %lu over a second, the longest %.3f s (seed %lu)\n",
         rendered, failed, refused, slow, longest, seed);
  return slow != 0;
}
