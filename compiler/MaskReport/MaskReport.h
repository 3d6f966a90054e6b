//===- MaskReport.h - what is known of every attention's mask ---*- C++ -*-===//
//
// The report of `heddle mask`: everything that its three writers (text, SVG, JSON) show.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_MASKREPORT_MASKREPORT_H
#define HEDDLE_COMPILER_MASKREPORT_MASKREPORT_H

#include "compiler/Driver/Inspect.h"
#include "dialects/Attn/IR/Attn.h"

namespace heddle {

/// The most cells of a picture in text, along its longer side.
constexpr int64_t kMaskCells = 32;
/// The most tiles of a side that the JSON lists.
constexpr int64_t kMaskTiles = 256;

/// Counts of visible pairs (query, key) in cells of `tall` rows and `wide` keys.
struct MaskGrid {
  int64_t tall = 1, wide = 1, rows = 0, columns = 0; ///< of a cell; of the grid
  int64_t allRows = 0, allKeys = 0;                  ///< of the attention
  std::vector<int64_t> seen;                         ///< rows x columns

  MaskGrid() = default;
  MaskGrid(int64_t allRows, int64_t allKeys, int64_t tall, int64_t wide)
      : tall(tall), wide(wide), rows((allRows + tall - 1) / tall), columns((allKeys + wide - 1) / wide),
        allRows(allRows), allKeys(allKeys), seen(rows * columns) {}
  int64_t at(int64_t r, int64_t c) const { return seen[r * columns + c]; }
  /// The pairs in a cell; cells at the edges are smaller.
  int64_t area(int64_t r, int64_t c) const {
    return std::min(tall, allRows - r * tall) * std::min(wide, allKeys - c * wide);
  }
  bool full(int64_t r, int64_t c) const { return at(r, c) == area(r, c); }
};

/// Sums over batch elements and heads of one attention.
struct MaskCounts {
  int64_t pairs = 0, visible = 0;                      ///< of (row, key): all, and those that are seen
  int64_t computed = 0, tested = 0;                    ///< in visited runs, and in those that test each element
  int64_t tiles = 0, empty = 0, full = 0, partial = 0; ///< by what is visible in them
  int64_t visited = 0;                                 ///< tiles that a run touches
  int64_t reads = 0, allReads = 0;                     ///< rows of keys (and of values) that tiles of rows read
  int64_t blindRows = 0;                               ///< rows that see nothing: their result is 0
};

/// Keys [begin, end), as formulas in the tile t of query rows.
struct MaskInterval {
  std::string begin, end;
};
struct MaskBounds {
  std::vector<MaskInterval> visible; ///< no row of the tile sees a key outside of these
  std::vector<MaskInterval> full;    ///< every row of the tile sees every key in these
  bool narrowed = false;             ///< data hides more than the formulas tell
  bool fullKnown = true;             ///< false: with data more may be full than the formulas tell
};

/// A tensor that a mask reads.
struct MaskData {
  std::string name, source; ///< source: given | default | example | computed
  std::string about;        ///< example: what it holds
};

struct AttentionReport {
  struct Place {
    std::string file, path; ///< path: $.body[4].a > attend
    unsigned line = 0, column = 0;
    unsigned maskLine = 0, maskColumn = 0; ///< of the expression, in the same file; 0: elsewhere or none
    int64_t layers = 1;
    /// Whether it is the same place, whatever the number of layers.
    bool names(const Place &p) const {
      return file == p.file && path == p.path && line == p.line && column == p.column && maskLine == p.maskLine &&
             maskColumn == p.maskColumn;
    }
  };
  std::vector<Place> places;
  std::string written, simplified; ///< simplified is empty where it says the same
  std::string unknown;             ///< why there are no numbers and pictures, or ""
  int64_t layers = 0, batches = 1, heads = 1, kvHeads = 1, width = 0, valueWidth = 0;
  int64_t rows = 0, keys = 0, past = 0, keyStart = 0;
  std::string rowsForm, keysForm; ///< as lengths of the model: T, S
  bool perBatch = false, perHead = false;
  int64_t packed = 1; ///< query heads that share the reads of a tile
  std::vector<MaskData> data;
  MaskBounds bounds;
  int64_t rowTile = 0, keyTile = 0;
  int64_t batch = 0, head = 0; ///< what is drawn
  MaskGrid elements, tiles;
  MaskCounts counts;

  /// Multiplications and additions of q·k and p·v in one layer for `pairs` pairs.
  double operations(int64_t pairs) const { return 2.0 * double(pairs) * double(width + valueWidth); }
  /// Bytes of `reads` rows of keys and values in f32.
  double bytes(int64_t reads) const { return 4.0 * double(reads) * double(width + valueWidth); }
};

struct MaskReport {
  std::string model, entry; ///< entry: the function
  std::map<std::string, int64_t> dims;
  std::vector<AttentionReport> attentions;
};

/// What is written about one mask (MaskWords.cpp, MaskBounds.cpp).
std::string describeMask(mlir::Value mask);
std::string describeTensor(mlir::Value tensor);
MaskBounds boundsOf(attn::SdpaOp op, mlir::Value mask, int64_t rowTile);

/// Fills `report` as `heddle mask` does. Returns the exit code; on failure everything has been said.
int gatherMasks(const Console &console, const CompileOptions &options, const InspectOptions &look, MaskReport &report);

/// With `pictures` false: words and numbers only.
void writeMaskText(const MaskReport &report, bool pictures, llvm::raw_ostream &os);
void writeMaskJson(const MaskReport &report, llvm::raw_ostream &os);
void writeMaskSvg(const MaskReport &report, llvm::raw_ostream &os);

} // namespace heddle

#endif
