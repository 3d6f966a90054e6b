//===- KnownNames.cpp - What there is to call -----------------------------===//
//
// Filters, tests and methods by name, from the table that the runtime runs by,
// and why the others are refused.
//
//===----------------------------------------------------------------------===//
#include "compiler/Template/Parser.h"
#include "heddle/nearest.h"

namespace heddle::tpl {

namespace {

const char *const filters[] = {
#define HEDDLE_FILTER(name, ...) name,
#include "heddle/template_names.def"
};
const char *const tests[] = {
#define HEDDLE_TEST(name, ...) name,
#include "heddle/template_names.def"
};
const char *const refusedFilters[] = {
#define HEDDLE_REFUSED_FILTER(name) name,
#include "heddle/template_names.def"
};
const char *const refusedTests[] = {
#define HEDDLE_REFUSED_TEST(name) name,
#include "heddle/template_names.def"
};
const char *const refusedMethods[] = {
#define HEDDLE_REFUSED_METHOD(name) name,
#include "heddle/template_names.def"
};

template <typename Names> bool find(const Names &names, const std::string &name, uint32_t &id) {
  id = 0;
  for (const char *known : names) {
    if (name == known)
      return true;
    ++id;
  }
  return false;
}

template <typename Names> std::string nearestOf(const Names &names, const std::string &name) {
  std::vector<std::string_view> known(std::begin(names), std::end(names));
  std::string near = nearestName(name, known);
  return near.empty() ? "" : "; did you mean `" + near + "`?";
}

} // namespace

bool findFilter(const std::string &name, uint32_t &id) { return find(filters, name, id); }
bool findTest(const std::string &name, uint32_t &id) { return find(tests, name, id); }

std::string whyRefused(const std::string &kind, const std::string &name) {
  uint32_t id;
  auto refused = [&](const char *of, const char *helps) {
    return "`" + name + "` is a " + kind + " of " + of + " that is not compiled: no published template uses it" + helps;
  };
  if (kind == "filter" && !findFilter(name, id)) {
    if (!find(refusedFilters, name, id))
      return "there is no filter `" + name + "`" + nearestOf(filters, name);
    return refused("Jinja", name == "groupby"  ? "; rewrite it with selectattr"
                            : name == "format" ? "; rewrite it with `%`"
                            : name == "attr"   ? "; write the attribute after a dot"
                                               : "");
  }
  if (kind == "test" && !findTest(name, id))
    return find(refusedTests, name, id) ? refused("Jinja", "")
                                        : "there is no test `" + name + "`" + nearestOf(tests, name);
  if (kind == "method" && find(refusedMethods, name, id))
    return refused("Python's texts", name == "format" ? "; rewrite it with `~`" : "");
  return "";
}

} // namespace heddle::tpl
