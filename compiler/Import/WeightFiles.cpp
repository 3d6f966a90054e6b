// The store of weights seen as a table. Its complaints become diagnostics of the file.
#include "compiler/Import/WeightTable.h"

#include "compiler/Import/Diagnostics.h"
#include "compiler/Weights/WeightStore.h"

using namespace heddle;
using llvm::StringRef;

namespace {
class StoredTable final : public WeightTable {
public:
  StoredTable(WeightStore store, DiagnosticSink &sink) : store(std::move(store)), sink(sink) {}

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (StringRef n : store.names())
      out.push_back(n.str());
    return out;
  }
  std::optional<Tensor> find(StringRef name) const override {
    const StoredTensor *t = store.find(name);
    if (!t)
      return std::nullopt;
    Element e = t->type() == StoredType::Bool ? Element::Bool
                : isReal(t->type())           ? Element::Real
                                              : Element::Integer;
    return Tensor{std::vector<int64_t>(t->shape().begin(), t->shape().end()), e};
  }
  std::optional<bool> equal(StringRef a, StringRef b) const override {
    const StoredTensor *x = store.find(a), *y = store.find(b);
    if (!x || !y)
      return std::nullopt;
    absl::StatusOr<bool> same = store.equal(*x, *y);
    if (same.ok())
      return *same;
    sink.errorInFile(x->file->path(), "", std::string(same.status().message()));
    return std::nullopt;
  }
  std::vector<std::string> files() const override { return store.files(); }

private:
  WeightStore store;
  DiagnosticSink &sink;
};
} // namespace

std::unique_ptr<WeightTable> heddle::openWeights(StringRef path, DiagnosticSink &sink) {
  absl::StatusOr<WeightStore> store = WeightStore::open(path);
  if (!store.ok()) {
    Diagnostic &d = sink.errorInFile(path, "", std::string(store.status().message()));
    if (absl::IsUnimplemented(store.status()))
      d.unsupported();
    return nullptr;
  }
  return std::make_unique<StoredTable>(*std::move(store), sink);
}
