//===- MaskText.cpp - the report of masks as text and as JSON -------------===//

#include "compiler/MaskReport/MaskReport.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace heddle;

/// 1234567 -> "1.23 M".
static std::string shortened(double n) {
  const char *units[] = {"", " k", " M", " G", " T", " P"};
  int u = 0;
  for (; n >= 1000 && u < 5; ++u)
    n /= 1000;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(u == 0    ? "%.0f"
                                                 : n < 10  ? "%.2f"
                                                 : n < 100 ? "%.1f"
                                                           : "%.0f",
                                                 n)
                                 << units[u];
  return text;
}
static std::string bytes(double n) { return shortened(n) + (n < 1000 ? " B" : "B"); }
static double percent(int64_t part, int64_t whole) { return whole ? 100.0 * double(part) / double(whole) : 0; }

static std::string listed(const std::vector<MaskInterval> &all) {
  std::string text;
  for (const MaskInterval &i : all)
    text += (text.empty() ? "" : " and ") + ("[" + i.begin + ", " + i.end + ")");
  return text.empty() ? "none" : text;
}

static void bounds(const AttentionReport &r, llvm::raw_ostream &os) {
  const MaskBounds &b = r.bounds;
  os << "  runs of rows [" << r.rowTile << "*t, " << r.rowTile << "*t + " << r.rowTile << "): keys "
     << listed(b.visible) << (b.narrowed ? ", less what the data hides" : "") << "\n";
  if (!b.full.empty())
    os << "    full inside " << listed(b.full) << (b.fullKnown ? "" : ", and where the data says so") << "\n";
  else if (!b.fullKnown)
    os << "    full where the data says so\n";
}

static void data(const AttentionReport &r, llvm::raw_ostream &os) {
  for (const MaskData &d : r.data) {
    os << "  depends on " << d.name << ": ";
    if (d.source == "example")
      os << "an example is shown (" << d.about << "); --input FILE.safetensors shows real data\n";
    else if (d.source == "default")
      os << "shown as it is when the input is left out\n";
    else
      os << (d.source == "given" ? "from --input\n" : "computed\n");
  }
}

/// Draws a grid with two characters for each cell, by the fraction of it that is seen.
static void draw(const MaskGrid &g, int64_t group, bool tiles, llvm::raw_ostream &os) {
  int64_t rows = (g.rows + group - 1) / group, columns = (g.columns + group - 1) / group;
  for (int64_t i = 0; i < rows; ++i) {
    os << "    ";
    for (int64_t k = 0; k < columns; ++k) {
      int64_t seen = 0, area = 0;
      for (int64_t a = i * group; a < std::min(g.rows, (i + 1) * group); ++a)
        for (int64_t b = k * group; b < std::min(g.columns, (k + 1) * group); ++b) {
          seen += g.at(a, b);
          area += g.area(a, b);
        }
      double share = double(seen) / double(area);
      os << (seen == 0 ? "· " : seen == area ? "██" : tiles ? "▒▒" : share < 0.34 ? "░░" : share < 0.67 ? "▒▒" : "▓▓");
    }
    os << "\n";
  }
}

/// How many cells are joined to one, so that no more than `most` are side by side.
static int64_t groupOf(const MaskGrid &g, int64_t most) {
  int64_t group = 1;
  while ((std::max(g.rows, g.columns) + group - 1) / group > most)
    group *= 2;
  return group;
}

static void picture(const AttentionReport &r, llvm::raw_ostream &os) {
  int64_t together = groupOf(r.elements, kMaskCells), cell = r.elements.tall * together;
  os << "  elements";
  if (cell > 1)
    os << ", " << cell << " x " << cell << " in each cell";
  os << " (██ all seen, ▓▓ ▒▒ ░░ some, · none)";
  if (r.perBatch)
    os << ", batch element " << r.batch;
  if (r.perHead)
    os << ", head " << r.head;
  os << "\n";
  draw(r.elements, together, false, os);
  if (r.tiles.rows * r.tiles.columns < 2)
    return;
  int64_t group = groupOf(r.tiles, kMaskCells);
  os << "  tiles of " << r.rowTile << " rows x " << r.keyTile << " keys";
  if (group > 1)
    os << ", " << group << " x " << group << " in each cell";
  else
    os << " (██ full, ▒▒ partial, · empty)";
  os << "\n";
  draw(r.tiles, group, group == 1, os);
}

static void counts(const AttentionReport &r, llvm::raw_ostream &os) {
  const MaskCounts &c = r.counts;
  os << "  " << r.rows << " rows x " << r.keys << " keys, " << r.heads << " heads";
  if (r.batches > 1)
    os << ", batch " << r.batches;
  os << ": " << llvm::format("%.1f", percent(c.visible, c.pairs)) << " % visible, "
     << llvm::format("%.1f", percent(c.computed, c.pairs)) << " % computed, "
     << llvm::format("%.1f", percent(c.tested, c.pairs)) << " % tested one by one\n";
  os << "  tiles: " << c.tiles << " = " << c.empty << " empty + " << c.full << " full + " << c.partial << " partial; "
     << c.visited << " visited\n";
  double layers = double(r.layers);
  os << "  operations " << shortened(r.operations(c.computed) * layers) << " instead of "
     << shortened(r.operations(c.pairs) * layers) << " dense, "
     << llvm::format("%.1f", 100 - percent(c.computed, c.pairs)) << " % saved; keys and values read "
     << bytes(r.bytes(c.reads) * layers) << " instead of " << bytes(r.bytes(c.allReads) * layers)
     << "; a table of the mask would hold " << bytes(double(c.pairs) / double(r.perHead ? 1 : r.heads)) << "\n";
  if (c.blindRows)
    os << "  " << c.blindRows << " rows see nothing: their result is 0\n";
}

void heddle::writeMaskText(const MaskReport &report, bool pictures, llvm::raw_ostream &os) {
  if (report.attentions.empty())
    os << "no attention in " << (report.entry == "run" ? "this model" : "@" + report.entry) << "\n";
  for (auto [n, r] : llvm::enumerate(report.attentions)) {
    os << (n ? "\n" : "") << "attention " << n << ", " << r.layers << (r.layers == 1 ? " layer: " : " layers: ")
       << r.written << "\n";
    if (!r.simplified.empty())
      os << "  is " << r.simplified << "\n";
    for (auto [i, p] : llvm::enumerate(r.places)) {
      if (i == 3 && r.places.size() > 4) {
        os << "  and at " << r.places.size() - i << " more places\n";
        break;
      }
      os << "  at " << p.file << ":" << p.line << ":" << p.column << (p.path.empty() ? "" : " " + p.path);
      if (p.maskLine)
        os << ", mask " << p.maskLine << ":" << p.maskColumn;
      if (p.layers > 1 && r.places.size() > 1)
        os << ", " << p.layers << " layers";
      os << "\n";
    }
    bounds(r, os);
    data(r, os);
    if (!r.unknown.empty()) {
      os << "  no picture: " << r.unknown << "\n";
      continue;
    }
    if (pictures)
      picture(r, os);
    counts(r, os);
  }
}

//===-- JSON -------------------------------------------------------------------------===//

static llvm::json::Object grid(const MaskGrid &g) {
  if (std::max(g.rows, g.columns) > kMaskTiles)
    return llvm::json::Object{{"cell", llvm::json::Array{g.tall, g.wide}},
                              {"left_out", std::to_string(g.rows) + " x " + std::to_string(g.columns) +
                                               " cells; at most " + std::to_string(kMaskTiles) +
                                               " a side are listed, --tile makes them larger"}};
  llvm::json::Array rows;
  for (int64_t i = 0; i < g.rows; ++i) {
    llvm::json::Array row;
    for (int64_t k = 0; k < g.columns; ++k)
      row.push_back(g.at(i, k));
    rows.push_back(std::move(row));
  }
  return llvm::json::Object{{"cell", llvm::json::Array{g.tall, g.wide}}, {"visible", std::move(rows)}};
}

static llvm::json::Array intervals(const std::vector<MaskInterval> &all) {
  llvm::json::Array out;
  for (const MaskInterval &i : all)
    out.push_back(llvm::json::Object{{"begin", i.begin}, {"end", i.end}});
  return out;
}

/// The report for programs; the keys are described in compiler/MaskReport/mask.md.
void heddle::writeMaskJson(const MaskReport &report, llvm::raw_ostream &os) {
  using llvm::json::Array;
  using llvm::json::Object;
  Object dims;
  for (auto &[name, n] : report.dims)
    dims[name] = n;
  Array attentions;
  for (const AttentionReport &r : report.attentions) {
    Array places, data;
    for (const AttentionReport::Place &p : r.places)
      places.push_back(Object{{"file", p.file},
                              {"line", p.line},
                              {"column", p.column},
                              {"path", p.path},
                              {"mask_line", p.maskLine},
                              {"mask_column", p.maskColumn},
                              {"layers", p.layers}});
    for (const MaskData &d : r.data) {
      Object o{{"name", d.name}, {"source", d.source}};
      if (!d.about.empty())
        o["about"] = d.about;
      data.push_back(std::move(o));
    }
    Object bounds{{"visible", intervals(r.bounds.visible)},
                  {"full", intervals(r.bounds.full)},
                  {"data_hides_more", r.bounds.narrowed},
                  {"data_fills_more", !r.bounds.fullKnown}};
    Object o{{"mask", r.written},
             {"simplified", r.simplified.empty() ? r.written : r.simplified},
             {"places", std::move(places)},
             {"layers", r.layers},
             {"batches", r.batches},
             {"heads", r.heads},
             {"kv_heads", r.kvHeads},
             {"key_width", r.width},
             {"value_width", r.valueWidth},
             {"rows", r.rows},
             {"keys", r.keys},
             {"key_start", r.keyStart},
             {"depends_on", Object{{"batch", r.perBatch}, {"head", r.perHead}, {"data", std::move(data)}}},
             {"bounds", std::move(bounds)},
             {"tile", Array{r.rowTile, r.keyTile}}};
    if (!r.unknown.empty()) {
      o["unknown"] = r.unknown;
    } else {
      const MaskCounts &c = r.counts;
      o["counts"] = Object{{"pairs", c.pairs},       {"visible", c.visible},
                           {"computed", c.computed}, {"tested", c.tested},
                           {"tiles", c.tiles},       {"empty", c.empty},
                           {"full", c.full},         {"partial", c.partial},
                           {"visited", c.visited},   {"rows_without_keys", c.blindRows}};
      o["layer"] = Object{{"operations", r.operations(c.computed)},
                          {"operations_dense", r.operations(c.pairs)},
                          {"bytes", r.bytes(c.reads)},
                          {"bytes_dense", r.bytes(c.allReads)}};
      o["drawn"] =
          Object{{"batch", r.batch}, {"head", r.head}, {"elements", grid(r.elements)}, {"tiles", grid(r.tiles)}};
    }
    attentions.push_back(std::move(o));
  }
  os << llvm::json::Value(Object{{"model", report.model},
                                 {"entry", report.entry},
                                 {"dims", std::move(dims)},
                                 {"attentions", std::move(attentions)}})
     << "\n";
}
