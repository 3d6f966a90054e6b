//===- Codes.cpp - matrices of codes --------------------------------------===//

#include "compiler/Interpreter/Codes.h"
#include "compiler/Weights/Pack/PackCoded.h"
#include "compiler/Weights/Pack/Quantise.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

LogicalResult evaluation::giveCodes(model::ParamOp op, Tensor &t) {
  model::CodedAttr coded = *op.getCoded();
  if (!coded.isSearched())
    return t.codes ? success() : op.emitOpError("is coded, but the file has no integer codes of it");
  int64_t n = t.shape[coded.getInOut()], k = t.shape[!coded.getInOut()];
  if (t.codes && !coded.getInOut() && fits(t.codes->form, coded.getCoding(), k))
    return success(); // as the packer does
  auto at = [&](int64_t i, int64_t j) { return coded.getInOut() ? j * n + i : i * k + j; };
  std::vector<float> rows(static_cast<size_t>(n * k));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      rows[i * k + j] = float(t.reals[at(i, j)]);
  auto codes = std::make_shared<TensorCodes>();
  codes->form = formOf(coded.getCoding(), k);
  CodingError error;
  if (k && quantiseRows(codes->form, rows, k, codes->rows, error))
    return op.emitOpError("has a number that no group of codes can hold");
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      t.reals[at(i, j)] = GroupNumbers::of(codes->form, codes->rows, i, j / codes->form.group, codes->form.groups(k))
                              .value(codes->rows.codes[i * k + j]);
  t.codes = std::move(codes);
  return success();
}

IntegerProduct::IntegerProduct(const TensorCodes &codes, int64_t k, int64_t block, bool declaredTypes)
    : codes(codes), k(k), group(codes.form.group), block(block), declaredTypes(declaredTypes), rounded(size_t(k)) {}

template <typename Real> void IntegerProduct::roundTo(const double *row) {
  rowScales.clear();
  auto feature = [&](int64_t p) { return codes.form.order.empty() ? p : int64_t(codes.form.order[p]); };
  for (int64_t first = 0; first < k; first += block) {
    int64_t end = std::min(first + block, k);
    Real largest = 0;
    for (int64_t p = first; p < end; ++p) {
      Real size = std::fabs(Real(row[feature(p)]));
      largest = size > largest || std::isnan(size) ? size : largest;
      if (std::isnan(largest))
        break;
    }
    Real inverse = Real(127) / largest;
    bool finite = std::isfinite(largest), holds = finite && std::isfinite(inverse);
    for (int64_t p = first; p < end; ++p)
      rounded[p] = holds ? int64_t(std::nearbyint(Real(row[feature(p)]) * inverse)) : 0;
    rowScales.push_back(finite ? largest / Real(127) : std::numeric_limits<Real>::quiet_NaN());
  }
}

void IntegerProduct::round(const double *row) { declaredTypes ? roundTo<float>(row) : roundTo<double>(row); }

template <typename Real> Real IntegerProduct::product(int64_t n) const {
  const CodedForm &form = codes.form;
  const CodedRows &rows = codes.rows;
  int64_t unit = std::min(group, block), groups = form.groups(k), scales = form.scales(k);
  bool wide = group > block;
  Real outer = 0, inner = 0;
  int64_t minima = 0; // in two levels, weighted
  for (int64_t first = 0; first < k; first += unit) {
    int64_t end = std::min(first + unit, k), sum = 0, whole = 0, g = n * groups + first / group;
    int64_t zero = form.zeros ? int64_t(rows.zeros[g]) : 0;
    for (int64_t p = first; p < end; ++p) {
      sum += rounded[p] * (form.integer(rows.codes[n * k + p]) - zero);
      whole += rounded[p];
    }
    Real row = Real(rowScales[first / block]);
    bool last = end == k || end % (wide ? group : block) == 0;
    if (form.super) {
      inner = std::fma(Real(sum), Real(rows.subScales[g]), inner);
      minima += form.minima ? whole * rows.subMinima[g] : 0;
      if (!last)
        continue;
      int64_t s = n * scales + first / form.super;
      Real x = inner * Real(rows.scales[s]);
      if (form.minima)
        x = std::fma(Real(rows.minima[s]), Real(minima), x);
      outer = std::fma(x, row, outer);
      inner = 0;
      minima = 0;
      continue;
    }
    Real scale = rows.scales[g];
    inner = std::fma(Real(sum), wide ? row : scale, inner);
    if (form.minima)
      inner = std::fma(Real(whole), Real(rows.minima[g]), inner);
    if (last) {
      outer = std::fma(inner, wide ? scale : row, outer);
      inner = 0;
    }
  }
  return outer;
}

double IntegerProduct::with(int64_t n) const { return declaredTypes ? double(product<float>(n)) : product<double>(n); }
