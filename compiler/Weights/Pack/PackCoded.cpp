// Every byte has its place from Coding::at, the class that kernels ask too. Memory in use is one panel.
#include "compiler/Weights/Pack/PackCoded.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Files/StoredType.h"
#include <cassert>
#include <cstring>

namespace heddle {

CodedForm formOf(const Coding &coding, int64_t k) {
  CodedForm form;
  form.bits = unsigned(coding.bits);
  form.group = std::min(coding.group, std::max<int64_t>(k, 1));
  form.scale = coding.scale == PackedType::F16    ? ScaleType::F16
               : coding.scale == PackedType::BF16 ? ScaleType::BF16
                                                  : ScaleType::F32;
  form.zeros = coding.zeros;
  return form;
}

PackedType packedTypeOf(ScaleType scale) {
  return scale == ScaleType::F16 ? PackedType::F16 : scale == ScaleType::BF16 ? PackedType::BF16 : PackedType::F32;
}

bool fits(const CodedForm &form, const Coding &coding, int64_t k) {
  return form.bits == coding.bits && form.group > 0 && coding.groups(k) == form.groups(k) &&
         packedTypeOf(form.scale) == coding.scale && form.zeros == coding.zeros &&
         coding.ordered == !form.order.empty() && (!coding.ordered || int64_t(form.order.size()) == k);
}

/// Writes a number of a type that scales and zeros have.
static void put(uint8_t *at, PackedType type, float value) {
  if (type == PackedType::F32) {
    std::memcpy(at, &value, 4);
    return;
  }
  uint16_t half = type == PackedType::BF16 ? toBF16(value) : toF16(value);
  std::memcpy(at, &half, 2);
}

/// Places in a panel alone, without what is before all panels.
static Coding inPanel(Coding coding) {
  coding.ordered = false;
  return coding;
}

void packPanel(const Coding &coding, int64_t panel, int64_t k, const CodedRows &rows, std::vector<uint8_t> &to) {
  Coding c = inPanel(coding);
  Integers numbers;
  int64_t groups = c.groups(k), all = groups * c.features(k), count = int64_t(rows.scales.size()) / groups;
  assert(count <= panel && int64_t(rows.codes.size()) == count * k);
  to.assign(size_t(c.panelBytes(panel, k)), 0);
  // Sixteen features of every row at a time: what is read of the rows and the lines written to stay in the nearest
  // cache.
  constexpr int64_t tile = 16;
  Coding::Place<int64_t> places[tile];
  for (int64_t first = 0; first < all; first += tile) {
    for (int64_t j = 0; j < tile; ++j)
      places[j] = c.at(numbers, int64_t(0), first + j, panel, k);
    for (int64_t n = 0; n < panel; ++n)
      for (int64_t j = 0; j < tile; ++j) {
        bool there = n < count && first + j < k;
        uint8_t code = there ? rows.codes[n * k + first + j] : uint8_t(c.offset());
        to[places[j].code + 4 * n] |= uint8_t(code << places[j].shift);
      }
  }
  for (int64_t n = 0; n < count; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      auto place = c.at(numbers, n, g * c.features(k), panel, k);
      put(&to[place.scale], c.scale, rows.scales[n * groups + g]);
      if (c.zeros)
        put(&to[place.zero], PackedType::F16, rows.zeros[n * groups + g]);
    }
}

/// The order as it is before the panels.
static absl::Status packOrder(const CodedForm &form, int64_t bytes, ByteSink &sink) {
  std::vector<uint8_t> order(static_cast<size_t>(bytes), 0);
  std::memcpy(order.data(), form.order.data(), form.order.size() * sizeof(int32_t));
  return sink.append(order);
}

absl::Status packCoded(CodedSource &source, const WeightLayout &layout, int64_t n, int64_t k, ByteSink &sink) {
  const Coding &coding = layout.coding;
  const CodedForm &form = source.form();
  RowGroups take = layout.take(n);
  int64_t rows = take.count();
  if (rows == 0 || k == 0)
    return absl::OkStatus();
  if (!fits(form, coding, k))
    return toStatus(WeightProblem{Error::OurMistake, "", "internal error: codes of another form than their layout",
                                  "packing plan", std::nullopt, "", ""});
  absl::Status status;
  if (coding.ordered)
    status = packOrder(form, coding.orderBytes(k), sink);
  std::vector<uint8_t> bytes;
  CodedRows mine, run;
  for (int64_t first = 0; status.ok() && first < rows; first += layout.panel) {
    int64_t end = std::min(first + layout.panel, rows);
    mine = {};
    // Rows of a part are neighbours in the tensor as long as its group goes on.
    for (int64_t i = first, count; status.ok() && i < end; i += count) {
      for (count = 1; i + count < end && take.row(i + count) == take.row(i) + count; ++count)
        ;
      status = source.rows(take.row(i), count, run);
      mine.codes.insert(mine.codes.end(), run.codes.begin(), run.codes.end());
      mine.scales.insert(mine.scales.end(), run.scales.begin(), run.scales.end());
      mine.zeros.insert(mine.zeros.end(), run.zeros.begin(), run.zeros.end());
    }
    if (!status.ok())
      break;
    packPanel(coding, layout.panel, k, mine, bytes);
    status = sink.append(bytes);
  }
  return status;
}

} // namespace heddle
