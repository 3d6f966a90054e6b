// The page of error codes, printed from the table that the compiler and the runtime include.
#include "compiler/Import/Description/ErrorPage.h"
#include "heddle/errors.h"

using namespace heddle;
using llvm::StringRef;

namespace {
struct Row {
  Error error;
  StringRef saidBy, when, help;
};
} // namespace

static constexpr Row rows[] = {
#define HEDDLE_ERROR(code, name, exit, saidBy, when, help) {Error::name, #saidBy, when, help},
#include "heddle/errors.def"
};

static constexpr StringRef introduction = R"(# Error codes

What `error[H....]` means, in `heddle` and in a compiled model; `code` in JSON (`heddle check --json`, `MODEL --error-format=json`). The
exit status says the class of a mistake, the code which one. Warnings and remarks refuse nothing and have no code. S01 to S26 are the
rules of a strict reading of safetensors; S22, alignment, is only noted.

| code | exit | said by | when | what helps |
|---|---|---|---|---|
)";

void heddle::printErrors(llvm::raw_ostream &os) {
  os << introduction;
  for (const Row &row : rows) {
    StringRef by = row.saidBy == "Heddle" ? "heddle" : row.saidBy == "Model" ? "a model" : "both";
    os << "| " << codeOf(row.error) << " | " << int(exitOf(row.error)) << " | " << by << " | " << row.when << " | "
       << row.help << " |\n";
  }
}

llvm::json::Array heddle::listErrors() {
  llvm::json::Array list;
  for (const Row &row : rows)
    list.push_back(llvm::json::Object{{"code", codeOf(row.error)},
                                      {"exit", int(exitOf(row.error))},
                                      {"said_by", row.saidBy.lower()},
                                      {"when", row.when},
                                      {"help", row.help}});
  return list;
}
