//===- MaskSvg.cpp - the report of masks as a picture ---------------------===//
//
// The report as SVG: one card for each attention with its expression, what is seen element by element, the kernel's
// tiles on the same scale, and the numbers. The file refers to no other.
//
//===----------------------------------------------------------------------===//

#include "compiler/MaskReport/MaskReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace heddle;

static constexpr int kWidth = 980, kPanel = 280, kLeft = 64, kGap = 56, kTop = 104, kCard = kTop + kPanel + 64;
static constexpr double kMaskLine = 16, kSmallLine = 14;
static constexpr const char *kEmpty = "#eef1f5", *kFull = "#1d4f7c", *kPartial = "#e0a030";

static std::string escapedXml(llvm::StringRef text, size_t limit) {
  std::string out;
  for (char c : text.take_front(limit))
    out += c == '&'              ? "&amp;"
           : c == '<'            ? "&lt;"
           : c == '>'            ? "&gt;"
           : c == '"'            ? "&quot;"
           : (c & 0xE0) || c < 0 ? std::string(1, c)
                                 : " ";
  return text.size() > limit ? out + "…" : out;
}

/// `text` in lines of at most `limit` characters, broken after a space where there is one, so that nothing leaves the
/// page and nothing is left out.
static std::vector<std::string> wrapped(llvm::StringRef text, size_t limit) {
  std::vector<std::string> lines;
  do {
    size_t end = text.size();
    if (llvm::count_if(text, [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }) > int64_t(limit)) {
      end = 0;
      for (size_t i = 0, characters = 0; i < text.size() && characters <= limit; ++i) {
        bool begins = (uint8_t(text[i]) & 0xC0) != 0x80;
        if (begins && characters++ == limit) { // no space in the whole line: break here
          end = end ? end : i;
          break;
        }
        end = text[i] == ' ' ? i + 1 : end;
      }
      end = end ? end : text.size();
    }
    lines.push_back(text.take_front(end).rtrim().str());
    text = text.drop_front(end);
  } while (!text.empty());
  return lines;
}

/// A colour between those of empty and full, by the fraction that is seen.
static std::string shade(double share) {
  const int from[] = {0xbf, 0xd6, 0xea}, to[] = {0x2b, 0x66, 0x98};
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "#";
  int step = std::min(7, int(share * 8)); // few shades, so that equal neighbours can be joined
  for (int i = 0; i < 3; ++i)
    os << llvm::format("%02x", from[i] + (to[i] - from[i]) * step / 7);
  return text;
}

static void text(llvm::raw_ostream &os, double x, double y, llvm::StringRef style, const std::string &content) {
  os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" class=\"", x, y) << style << "\">" << content << "</text>\n";
}

/// A grid in a square of kPanel; neighbours of one colour in a row are one rectangle.
template <typename Colour>
static void panel(llvm::raw_ostream &os, const MaskGrid &g, double x, double y, bool lines, Colour colour) {
  double scale = double(kPanel) / double(std::max<int64_t>(1, std::max(g.allRows, g.allKeys)));
  double wide = scale * double(g.allKeys), tall = scale * double(g.allRows);
  os << llvm::format(
            "<g shape-rendering=\"crispEdges\">\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\" fill=\"", x,
            y, wide, tall)
     << kEmpty << "\"/>\n";
  for (int64_t i = 0; i < g.rows; ++i)
    for (int64_t k = 0; k < g.columns;) {
      std::string c = colour(i, k);
      int64_t end = k + 1;
      while (end < g.columns && colour(i, end) == c)
        ++end;
      if (c != kEmpty) {
        double from = scale * double(k * g.wide), to = scale * double(std::min(g.allKeys, end * g.wide));
        double top = scale * double(i * g.tall), bottom = scale * double(std::min(g.allRows, (i + 1) * g.tall));
        os << llvm::format("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"", x + from, y + top,
                           to - from, bottom - top)
           << c << "\"/>\n";
      }
      k = end;
    }
  if (lines && g.rows <= 96 && g.columns <= 96) {
    os << "<g stroke=\"#ffffff\" stroke-width=\"1\">\n";
    for (int64_t i = 1; i < g.rows; ++i)
      os << llvm::format("<path d=\"M%.2f %.2fh%.2f\"/>\n", x, y + scale * double(i * g.tall), wide);
    for (int64_t k = 1; k < g.columns; ++k)
      os << llvm::format("<path d=\"M%.2f %.2fv%.2f\"/>\n", x + scale * double(k * g.wide), y, tall);
    os << "</g>\n";
  }
  os << llvm::format(
      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#8894a4\"/>\n</g>\n", x, y,
      wide, tall);
  text(os, x, y - 6, "small", "0");
  text(os, x + wide, y - 6, "small end", "keys " + std::to_string(g.allKeys));
  text(os, x - 6, y + tall, "small end", std::to_string(g.allRows));
  os << llvm::format(
      "<text class=\"small\" text-anchor=\"middle\" transform=\"translate(%.1f %.1f) rotate(-90)\">queries</text>\n",
      x - 8, y + tall / 2);
}

static void legend(llvm::raw_ostream &os, double y) {
  struct {
    const char *colour, *word;
  } entries[] = {
      {kEmpty, "empty: never visited"}, {kPartial, "partial tile: each element is tested"}, {kFull, "full: no test"}};
  double x = kLeft;
  for (auto &e : entries) {
    os << llvm::format(
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" stroke=\"#8894a4\" stroke-width=\"0.5\" fill=\"",
              x, y - 10)
       << e.colour << "\"/>\n";
    text(os, x + 18, y, "small", e.word);
    x += 60 + 6.2 * double(llvm::StringRef(e.word).size());
  }
  for (int i = 0; i < 8; ++i)
    os << llvm::format("<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"12\" fill=\"", x + 10 * i, y - 10)
       << shade(i / 8.0) << "\"/>\n";
  text(os, x + 88, y, "small", "cell seen in part");
}

namespace {
/// The words of a card, in lines that fit the page; more than one line each makes the card taller.
struct CardText {
  std::vector<std::string> mask, place, unknown, runs;

  explicit CardText(const AttentionReport &r) {
    mask = wrapped(r.written + (r.simplified.empty() ? "" : "   =   " + r.simplified), 112);
    std::string where;
    if (!r.places.empty())
      where = r.places.front().file + ":" + std::to_string(r.places.front().line) + ":" +
              std::to_string(r.places.front().column) + "  " + r.places.front().path;
    place = wrapped(where, 140);
    if (!r.unknown.empty())
      unknown = wrapped("no picture: " + r.unknown, 116);
    std::string all;
    for (const MaskInterval &i : r.bounds.visible)
      all += (all.empty() ? "" : " and ") + ("[" + i.begin + ", " + i.end + ")");
    runs = wrapped("rows from " + std::to_string(r.rowTile) + "*t: keys " + all, 140);
  }
  /// How far the picture moves down.
  double above() const { return double(mask.size() - 1) * kMaskLine + double(place.size() - 1) * kSmallLine; }
  double height() const { return kCard + above() + double(std::max(runs.size(), size_t(1)) - 1) * kSmallLine; }
};
} // namespace

/// Lines below each other; returns where the next one would be.
static double lines(llvm::raw_ostream &os, double x, double y, double step, llvm::StringRef style,
                    llvm::ArrayRef<std::string> all) {
  for (const std::string &line : all) {
    text(os, x, y, style, escapedXml(line, line.size()));
    y += step;
  }
  return y;
}

/// One attention: its mask in words, the picture of its tiles, and the counts next to it. `y` is the upper edge.
static void card(llvm::raw_ostream &os, const AttentionReport &r, const CardText &words, size_t n, double y) {
  os << llvm::format(
      "<rect x=\"16\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"8\" fill=\"#ffffff\" stroke=\"#d5dbe3\"/>\n", y,
      kWidth - 32, words.height() - 16);
  text(os, 32, y + 28, "title",
       "attention " + std::to_string(n) + " · " + std::to_string(r.layers) + (r.layers == 1 ? " layer" : " layers"));
  double below = lines(os, 32, y + 50, kMaskLine, "mask", words.mask);
  lines(os, 32, below + 4, kSmallLine, "small", words.place);
  y += words.above();
  if (!r.unknown.empty()) {
    lines(os, 32, y + 104, kMaskLine, "line", words.unknown);
    return;
  }
  double left = kLeft, right = kLeft + kPanel + kGap, top = y + kTop, beside = right + kPanel + 28;
  panel(os, r.elements, left, top, r.elements.tall == 1, [&](int64_t i, int64_t k) -> std::string {
    int64_t seen = r.elements.at(i, k);
    return seen == 0 ? kEmpty : r.elements.full(i, k) ? kFull : shade(double(seen) / double(r.elements.area(i, k)));
  });
  panel(os, r.tiles, right, top, true, [&](int64_t i, int64_t k) -> std::string {
    return r.tiles.at(i, k) == 0 ? kEmpty : r.tiles.full(i, k) ? kFull : kPartial;
  });
  std::string cell = r.elements.tall == 1
                         ? "elements"
                         : "cells of " + std::to_string(r.elements.tall) + " x " + std::to_string(r.elements.wide);
  text(os, left, top + kPanel + 20, "small",
       cell + (r.perHead ? ", head " + std::to_string(r.head) : "") +
           (r.perBatch ? ", batch element " + std::to_string(r.batch) : ""));
  text(os, right, top + kPanel + 20, "small",
       "tiles of " + std::to_string(r.rowTile) + " rows x " + std::to_string(r.keyTile) + " keys");
  const MaskCounts &c = r.counts;
  auto share = [&](int64_t part) {
    std::string s;
    llvm::raw_string_ostream(s) << llvm::format("%.1f %%", c.pairs ? 100.0 * double(part) / double(c.pairs) : 0.0);
    return s;
  };
  // clang-format off
  std::pair<const char *, std::string> counts[] = {
      {"visible", share(c.visible)},         {"computed", share(c.computed)},
      {"tested one by one", share(c.tested)}, {"saved", share(c.pairs - c.computed)},
      {"tiles empty", std::to_string(c.empty)}, {"tiles full", std::to_string(c.full)},
      {"tiles partial", std::to_string(c.partial)}, {"tiles visited", std::to_string(c.visited)},
      {"rows without keys", std::to_string(c.blindRows)}, {"heads", std::to_string(r.heads)},
      {"batch", std::to_string(r.batches)}};
  // clang-format on
  double at = top + 12;
  for (auto &[name, value] : counts) {
    text(os, beside, at, "line", name);
    text(os, kWidth - 36, at, "line end", value);
    at += 20;
  }
  lines(os, left, top + kPanel + 38, kSmallLine, "small", words.runs);
}

void heddle::writeMaskSvg(const MaskReport &report, llvm::raw_ostream &os) {
  std::vector<CardText> words(report.attentions.begin(), report.attentions.end());
  double below = words.empty() ? kCard : 0;
  for (const CardText &card : words)
    below += card.height();
  int height = 84 + int(below) + 16;
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth
     << " " << height << "\" width=\"" << kWidth << "\" height=\"" << height
     << "\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
     << "<title>masks of " << escapedXml(report.model, 200) << "</title>\n"
     << "<style>.title{font-size:15px;font-weight:bold;fill:#1c2733}.mask{font-size:13px;font-family:'DejaVu Sans Mono',monospace;fill:#1d4f7c}"
        ".line{font-size:13px;fill:#1c2733}.small{font-size:11px;fill:#5a6675}.end{text-anchor:end}</style>\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"#f7f9fb\"/>\n";
  std::string dims;
  for (auto &[name, size] : report.dims)
    dims += (dims.empty() ? "" : ", ") + name + " = " + std::to_string(size);
  text(os, 32, 34, "title", "masks of " + escapedXml(report.model, 100));
  text(os, kWidth - 36, 34, "small end", escapedXml(dims, 80));
  legend(os, 64);
  if (report.attentions.empty())
    text(os, 32, 110, "line", "no attention in this model");
  double y = 84;
  for (auto [i, r] : llvm::enumerate(report.attentions)) {
    card(os, r, words[i], i, y);
    y += words[i].height();
  }
  os << "</svg>\n";
}
