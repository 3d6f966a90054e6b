// Every byte has its place from Coding::at, the class that kernels ask too. Memory in use is one panel.
#include "compiler/Weights/Pack/PackCoded.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Files/StoredType.h"
#include <cassert>
#include <cstring>

namespace heddle {

CodedForm formOf(const Coding &coding, int64_t k) {
  CodedForm form(coding);
  form.group = std::min(coding.group, std::max<int64_t>(k, 1));
  return form;
}

Coding codingOf(const CodedForm &form) { return Coding{form, !form.order.empty()}; }

bool fits(const CodedForm &form, const Coding &coding, int64_t k) {
  Coding mine = codingOf(form);
  if (mine.group < 1 || mine.groups(k) != coding.groups(k) || (mine.ordered && int64_t(form.order.size()) != k))
    return false;
  mine.group = coding.group; // both may be all of K
  return mine == coding;
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
  int64_t groups = c.groups(k), scales = c.scales(k), all = scales * c.sectionFeatures(k);
  int64_t count = int64_t(rows.scales.size()) / scales;
  assert(count <= panel && int64_t(rows.codes.size()) == count * k);
  to.assign(size_t(c.panelBytes(panel, k)), 0);
  // Sixteen features of every row at a time: what is read of the rows and the lines written to stay in the nearest
  // cache.
  constexpr int64_t tile = 16;
  Coding::Place<int64_t> places[tile];
  int64_t low = c.lowBits();
  for (int64_t first = 0; first < all; first += tile) {
    for (int64_t j = 0; j < tile; ++j)
      places[j] = c.at(numbers, int64_t(0), first + j, panel, k);
    for (int64_t n = 0; n < panel; ++n)
      for (int64_t j = 0; j < tile; ++j) {
        bool there = n < count && first + j < k;
        unsigned code = there ? rows.codes[n * k + first + j] : c.codeOfZero();
        to[places[j].code + 4 * n] |= uint8_t((code & ((1u << low) - 1)) << places[j].shift);
        if (c.hasHighBits())
          to[places[j].high + 4 * n] |= uint8_t((code >> low) << places[j].highShift);
      }
  }
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t s = 0; s < scales; ++s) {
      auto place = c.at(numbers, n, s * c.sectionFeatures(k), panel, k);
      put(&to[place.scale], c.scale, rows.scales[n * scales + s]);
      if (c.zeros || c.minima)
        put(&to[place.second], PackedType::F16, (c.zeros ? rows.zeros : rows.minima)[n * scales + s]);
    }
    for (int64_t g = 0; c.super && g < groups; ++g) {
      auto place = c.at(numbers, n, g * c.group, panel, k);
      to[place.subScale] = uint8_t(rows.subScales[n * groups + g]);
      if (c.minima)
        to[place.subMinimum] = rows.subMinima[n * groups + g];
    }
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
      mine.append(run);
    }
    if (!status.ok())
      break;
    packPanel(coding, layout.panel, k, mine, bytes);
    status = sink.append(bytes);
  }
  return status;
}

} // namespace heddle
