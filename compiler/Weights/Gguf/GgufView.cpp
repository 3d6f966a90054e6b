// Finds the row of each tensor and undoes its changes: one function a change, each of which says which stored rows the
// tensors of the checkpoint have.
#include "compiler/Weights/Gguf/GgufView.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Gguf/GgufTensors.h"
#include "llvm/ADT/STLExtras.h"

namespace heddle {
namespace {

using Shape = std::vector<int64_t>;

/// "a.[b,c].d" with the word of a place in the list.
std::string choose(llvm::StringRef name, unsigned which) {
  auto [head, rest] = name.split('[');
  auto [words, tail] = rest.split(']');
  llvm::SmallVector<llvm::StringRef, 3> all;
  words.split(all, words.contains('|') ? '|' : ',');
  return which < all.size() ? (head + all[which] + tail).str() : name.str();
}

std::string replaced(llvm::StringRef name, char mark, llvm::StringRef by) {
  auto [head, tail] = name.split(mark);
  return head.size() == name.size() ? name.str() : (head + by + tail).str();
}

/// Makes the tensors of one file.
class Viewer {
public:
  Viewer(const GgufFile &file, GgufView &view) : file(file), view(view), architecture(view.architecture) {}

  absl::Status run();

private:
  /// A stored tensor with the name that it gets and the rows that it has there.
  struct Item {
    const GgufTensor &tensor;
    const GgufName &row;
    llvm::StringRef stem, ending; ///< of the stored name; the ending with its dot
    std::string name;             ///< of the checkpoint, without ending

    bool isVector() const { return tensor.shape.size() == 1; }
    /// Rows of a matrix, of all experts together; elements of a vector.
    int64_t rows() const {
      int64_t count = 1;
      for (int64_t n : isVector() ? llvm::ArrayRef(tensor.shape) : llvm::ArrayRef(tensor.shape).drop_back())
        count *= n;
      return count;
    }
  };

  absl::Status add(const GgufTensor &tensor);
  absl::Status addConstants();
  absl::Status undo(const Item &item);
  absl::Status addExperts(const Item &item);
  absl::Status split(const Item &item);
  absl::Status join(const Item &item, bool pairs);
  absl::Status joinExperts(const Item &item, bool byTurns);
  absl::Status keysAndValues(const Item &item);

  absl::Status refuse(const Item &item, std::string message) const { return file.damaged(item.tensor, message); }
  /// The number of heads that `rows` are divided among.
  absl::StatusOr<int64_t> heads(const Item &item, llvm::StringRef key, int64_t rows, int64_t multiple) const;
  /// The tensor of the same layer with another word in its name.
  absl::StatusOr<const GgufTensor *> sibling(const Item &item, llvm::StringRef word) const;
  /// Numbers of a tensor `X.scale`: one, or one an expert; none where there is no such tensor.
  absl::StatusOr<std::vector<float>> factors(const GgufTensor &tensor) const;
  /// The sources of a tensor: one, or one for each expert where their factors differ; and the runs over its rows.
  absl::StatusOr<std::vector<GgufSource>> sourcesOf(const GgufTensor &tensor) const;

  absl::Status put(const Item &item, std::string name, Shape shape, std::vector<GgufSource> sources, GgufRows rows,
                   float minus = 0);
  /// The whole tensor with its rows, or elements, in another order.
  absl::Status reorder(const Item &item, GgufRows rows, std::optional<Shape> shape = std::nullopt);
  void keep(const Item &item, std::string name, std::unique_ptr<CodedTensor> made);

  const GgufFile &file;
  GgufView &view;
  const GgufArchitecture &architecture;
  std::optional<int64_t> layers;
};

absl::Status Viewer::run() {
  layers = ggufInteger(file, architecture.name, "block_count");
  for (const GgufTensor &tensor : file.tensors())
    if (absl::Status status = add(tensor); !status.ok())
      return status;
  return addConstants();
}

absl::Status Viewer::add(const GgufTensor &tensor) {
  auto [stem, kind] = llvm::StringRef(tensor.name).rsplit('.');
  if ((kind == "scale" || kind == "input_scale") && file.tensor((stem + ".weight").str())) {
    if (kind == "input_scale") // for rows that are rounded in a way of their own
      view.unneeded.push_back(tensor.name);
    return absl::OkStatus();
  }
  bool ends = kind == "weight" || kind == "bias";
  std::optional<GgufArchitecture::Match> match = architecture.find(ends ? stem : llvm::StringRef(tensor.name));
  if (!match) // so that it is told as one that nothing reads
    match = GgufArchitecture::Match{nullptr, ""};
  int64_t layer = 0;
  bool isBlock = llvm::StringRef(tensor.name).starts_with("blk.");
  if (isBlock && layers && !match->layer.empty() &&
      (llvm::StringRef(match->layer).getAsInteger(10, layer) || layer >= *layers))
    return file.damaged(
        tensor, "there " + std::string(*layers == 1 ? "is 1 layer" : "are " + std::to_string(*layers) + " layers"));
  if (match->row && match->row->to.empty()) {
    // Not those that another row joins with its own.
    llvm::StringRef word = llvm::StringRef(match->row->from).rsplit('.').second;
    if (llvm::none_of(architecture.names, [&](const GgufName &row) { return llvm::is_contained(row.changes, word); }))
      view.unneeded.push_back(tensor.name);
    return absl::OkStatus();
  }
  // Layers that predict one token more stand behind those of the model.
  int64_t more = ggufInteger(file, architecture.name, "nextn_predict_layers").value_or(0);
  if (isBlock && layers && !match->layer.empty() && layer >= *layers - more) {
    view.unneeded.push_back(tensor.name);
    return absl::OkStatus();
  }
  if (tensor.type == GgufType::I8 || tensor.type == GgufType::I16 || tensor.type == GgufType::I32 ||
      tensor.type == GgufType::I64)
    return file.damaged(tensor, "the tensor holds whole numbers (" + std::string(rowOf(tensor.type).name) +
                                    "), weights are needed");
  static const GgufName unknown{};
  Item item{tensor, match->row ? *match->row : unknown, ends ? stem : llvm::StringRef(tensor.name),
            ends ? llvm::StringRef(tensor.name).substr(stem.size()) : llvm::StringRef(), ""};
  item.name = match->row ? replaced(item.row.to, '#', match->layer) : item.stem.str();
  return undo(item);
}

absl::Status Viewer::addConstants() {
  for (const GgufName &row : architecture.names) {
    llvm::StringRef key = row.from;
    if (!key.consume_front("+"))
      continue;
    const GgufValue *value = file.find(key);
    std::optional<std::vector<double>> numbers;
    if (value && value->isArray())
      numbers = value->numbers();
    else if (std::optional<double> one = value ? value->number() : std::nullopt)
      numbers = std::vector<double>(size_t(layers.value_or(0)), *one);
    if (!numbers || !layers || int64_t(numbers->size()) < *layers || file.tensors().empty())
      return file.damaged(key, "a number a layer is needed");
    for (int64_t i = 0; i < *layers; ++i) {
      std::string name = replaced(row.to, '#', std::to_string(i));
      view.origins[name] = key.str();
      view.matrices.push_back(ggufConstant(name, {float((*numbers)[size_t(i)])}, file.stored(file.tensors().front())));
    }
  }
  return absl::OkStatus();
}

//===--- the changes ------------------------------------------------------------===//

absl::Status Viewer::undo(const Item &item) {
  llvm::ArrayRef<std::string> changes = item.row.changes;
  llvm::StringRef change = changes.empty() ? llvm::StringRef() : llvm::StringRef(changes[0]);
  const Shape &shape = item.tensor.shape;
  bool weight = item.ending == ".weight";
  auto as = [&](std::string name) { // the tensor as it is
    Item other{item.tensor, item.row, item.stem, item.ending, std::move(name)};
    return reorder(other, GgufRows::plain(item.rows()));
  };
  if (change == "experts")
    return addExperts(item);
  if (change == "split")
    return split(item);
  if (change == "join_pairs" || (change == "join" && shape.size() < 3))
    return join(item, change == "join_pairs");
  if (change == "join" || change == "interleave")
    return joinExperts(item, change == "interleave");
  if (change == "kv_b")
    return keysAndValues(item);
  if (change == "if") {
    absl::StatusOr<const GgufTensor *> other = sibling(item, changes[1]);
    return as(choose(item.name, other.ok() ? 0 : 1));
  }
  if (change == "tokenizer") {
    const GgufValue *model = file.find("tokenizer.ggml.model");
    return as(choose(item.name, model && model->text() == llvm::StringRef(changes[1]) ? 0 : 1));
  }
  if (change == "minus_one" && weight) {
    if (!item.isVector())
      return refuse(item, "the weight of a norm is needed, one dimension, it has " + std::to_string(shape.size()));
    absl::StatusOr<std::vector<GgufSource>> sources = sourcesOf(item.tensor);
    return sources.ok() ? put(item, item.name + ".weight", shape, *sources, GgufRows::plain(1), 1) : sources.status();
  }
  if (change == "q_pairs" || change == "k_pairs") {
    absl::StatusOr<int64_t> count =
        heads(item, change == "q_pairs" ? "attention.head_count" : "attention.head_count_kv", item.rows(), 2);
    return count.ok() ? reorder(item, GgufRows::pairs(item.rows(), *count)) : count.status();
  }
  if (change == "by_head") { // [3, heads, width] to [heads, 3, width]
    absl::StatusOr<int64_t> count = heads(item, "attention.head_count", item.rows(), 3);
    if (!count.ok())
      return count.status();
    int64_t width = item.rows() / *count / 3, all = *count * width;
    return reorder(item, GgufRows(*count, {{0, width, 0, width}, {0, width, all, width}, {0, width, 2 * all, width}}));
  }
  if (change == "by_group") { // queries, keys and values to groups with a key and a value each
    absl::StatusOr<int64_t> count = heads(item, "attention.head_count", 0, 1);
    absl::StatusOr<int64_t> keys = heads(item, "attention.head_count_kv", 0, 1);
    if (!count.ok() || !keys.ok())
      return count.ok() ? keys.status() : count.status();
    if (*count % *keys || item.rows() % (*count + 2 * *keys))
      return refuse(item, std::to_string(*count) + " heads and " + std::to_string(*keys) +
                              " of keys do not divide its " + std::to_string(item.rows()) + " rows");
    int64_t width = item.rows() / (*count + 2 * *keys), many = *count / *keys * width;
    return reorder(item, GgufRows(*keys, {{0, many, 0, many},
                                          {0, width, *count * width, width},
                                          {0, width, (*count + *keys) * width, width}}));
  }
  if (change == "rows") { // a norm a head
    absl::StatusOr<std::vector<GgufSource>> sources = sourcesOf(item.tensor);
    if (!sources.ok())
      return sources.status();
    for (int64_t i = 0; i < (item.isVector() ? 1 : item.rows()); ++i)
      if (absl::Status status = put(item, replaced(item.name, '@', std::to_string(i)) + item.ending.str(),
                                    {shape.back()}, *sources, GgufRows::plain(1, i));
          !status.ok())
        return status;
    return absl::OkStatus();
  }
  if (change == "one_row" && item.isVector())
    return reorder(item, GgufRows::plain(shape[0]), Shape{1, shape[0]});
  if (change == "no_suffix" || change == "underscore") {
    std::string name = item.name + (change == "underscore" && !weight ? "_bias" : "");
    absl::StatusOr<std::vector<GgufSource>> sources = sourcesOf(item.tensor);
    if (!sources.ok())
      return sources.status();
    bool row = changes.size() > 1 && changes[1] == "row" && item.isVector();
    return put(item, name, row ? Shape{1, shape[0]} : shape, *sources,
               GgufRows::plain(item.isVector() ? 1 : item.rows()));
  }
  const GgufValue *model = file.find("tokenizer.ggml.model");
  if (change == "positions" && weight && shape.size() == 2 && model && model->text() && *model->text() != "bert") {
    // Positions begin behind the id of padding; its rows are not in the file.
    absl::StatusOr<std::vector<GgufSource>> sources = sourcesOf(item.tensor);
    return sources.ok() ? put(item, item.name + ".weight", {shape[0] + 2, shape[1]}, *sources,
                              GgufRows(1, {{GgufRows::zeros, 2, 0}, {0, shape[0], 0}}))
                        : sources.status();
  }
  return as(item.name);
}

absl::Status Viewer::addExperts(const Item &item) {
  const Shape &shape = item.tensor.shape;
  if (shape.size() != 3)
    return refuse(item, "[experts, rows, features] is needed, the tensor has " + std::to_string(shape.size()) +
                            " dimensions");
  if (shape[0] > 4096)
    return refuse(item, "at most 4096 experts are read, there are " + std::to_string(shape[0]));
  bool halves = item.row.changes.size() > 1 && item.row.changes[1] == "halves"; // gate above up
  if (halves && shape[1] % 2)
    return refuse(item, "an even number of rows is needed, gate above up, it has " + std::to_string(shape[1]));
  absl::StatusOr<std::vector<float>> factor = factors(item.tensor);
  if (!factor.ok())
    return factor.status();
  int64_t parts = halves ? 2 : 1, rows = shape[1] / parts;
  for (int64_t e = 0; e < shape[0]; ++e)
    for (int64_t h = 0; h < parts; ++h) {
      std::string name = replaced(choose(item.name, unsigned(h)), '@', std::to_string(e));
      GgufSource source(file, item.tensor, (*factor)[factor->size() > 1 ? size_t(e) : 0]);
      if (absl::Status status = put(item, name + item.ending.str(), {rows, shape[2]}, {source},
                                    GgufRows::plain(rows, e * shape[1] + h * rows));
          !status.ok())
        return status;
    }
  return absl::OkStatus();
}

/// Queries, keys and values that the file has in one.
absl::Status Viewer::split(const Item &item) {
  absl::StatusOr<int64_t> count = heads(item, "attention.head_count", 0, 1);
  absl::StatusOr<int64_t> keys = heads(item, "attention.head_count_kv", 0, 1);
  if (!count.ok() || !keys.ok())
    return count.ok() ? keys.status() : count.status();
  if (item.rows() % (*count + 2 * *keys))
    return refuse(item, std::to_string(*count) + " heads and " + std::to_string(*keys) + " of keys do not divide its " +
                            std::to_string(item.rows()) + " rows");
  int64_t width = item.rows() / (*count + 2 * *keys), first = 0;
  absl::StatusOr<std::vector<GgufSource>> sources = sourcesOf(item.tensor);
  if (!sources.ok())
    return sources.status();
  const int64_t many[] = {*count, *keys, *keys};
  for (unsigned i = 0; i < 3; ++i) {
    int64_t rows = many[i] * width;
    Shape shape = item.isVector() ? Shape{rows} : Shape{rows, item.tensor.shape.back()};
    if (item.isVector())
      sources->front().features = 1;
    if (absl::Status status =
            put(item, choose(item.name, i) + item.ending.str(), shape, *sources, GgufRows::plain(rows, first));
        !status.ok())
      return status;
    first += rows;
  }
  return absl::OkStatus();
}

/// Tensors of a layer, one above the other: with `pairs` queries, keys and values, else two.
absl::Status Viewer::join(const Item &item, bool pairs) {
  std::vector<GgufSource> sources;
  std::vector<GgufRows::Run> runs;
  int64_t total = 0;
  std::vector<std::string> words = {""};
  llvm::append_range(words, llvm::ArrayRef(item.row.changes).drop_front());
  for (auto [i, word] : llvm::enumerate(words)) {
    absl::StatusOr<const GgufTensor *> tensor = word.empty() ? &item.tensor : sibling(item, word);
    if (!tensor.ok())
      return tensor.status();
    Item part{**tensor, item.row, item.stem, item.ending, item.name};
    bool fits = part.tensor.shape.size() == item.tensor.shape.size() && part.tensor.shape.size() < 3 &&
                (item.isVector() || part.tensor.shape.back() == item.tensor.shape.back());
    if (!fits)
      return file.damaged(part.tensor, "its shape does not fit " + item.tensor.name);
    absl::StatusOr<std::vector<GgufSource>> source = sourcesOf(part.tensor);
    if (!source.ok())
      return source.status();
    sources.push_back(source->front());
    if (item.isVector())
      sources.back().features = 1;
    int64_t rows = part.rows(), head = rows;
    if (pairs && i < 2) {
      absl::StatusOr<int64_t> count = heads(part, i ? "attention.head_count_kv" : "attention.head_count", rows, 2);
      if (!count.ok())
        return count.status();
      head = rows / *count;
      for (int64_t h = 0; h < *count; ++h)
        for (int64_t half : {0, 1})
          runs.push_back({unsigned(i), head / 2, h * head + half, 0, 2});
    } else {
      runs.push_back({unsigned(i), rows, 0});
    }
    total += rows;
  }
  Shape shape = item.isVector() ? Shape{total} : Shape{total, item.tensor.shape.back()};
  return put(item, item.name + item.ending.str(), shape, std::move(sources), GgufRows(1, std::move(runs)));
}

/// Gates and ups of all experts [experts, rows, features]: one above the other for each expert, or by turns. With
/// biases [experts, rows] single elements are joined.
absl::Status Viewer::joinExperts(const Item &item, bool byTurns) {
  absl::StatusOr<const GgufTensor *> other = sibling(item, item.row.changes[1]);
  if (!other.ok())
    return other.status();
  const Shape &shape = item.tensor.shape;
  bool bias = item.ending == ".bias";
  if (shape.size() != (bias ? 2u : 3u))
    return refuse(item, std::string(bias ? "[experts, rows]" : "[experts, rows, features]") +
                            " is needed, the tensor has " + std::to_string(shape.size()) + " dimensions");
  if ((*other)->shape != shape)
    return file.damaged(**other, "its shape is not that of " + item.tensor.name);
  absl::StatusOr<std::vector<GgufSource>> gate = sourcesOf(item.tensor), up = sourcesOf(**other);
  if (!gate.ok() || !up.ok())
    return gate.ok() ? up.status() : gate.status();
  int64_t experts = shape[0], rows = shape[1];
  // A source for each expert where factors differ, else one for all.
  std::vector<GgufSource> sources = *gate;
  llvm::append_range(sources, *up);
  if (bias)
    for (GgufSource &source : sources)
      source.features = 1;
  bool apart = gate->size() > 1 || up->size() > 1;
  std::vector<GgufRows::Run> runs;
  auto add = [&](int64_t periods, int64_t expert) {
    unsigned one = gate->size() > 1 ? unsigned(expert) : 0;
    unsigned two = unsigned(gate->size()) + (up->size() > 1 ? unsigned(expert) : 0);
    int64_t first = expert * rows;
    if (!byTurns)
      runs.insert(runs.end(), {{one, rows, first, rows}, {two, rows, first, rows}});
    else if (periods > 1)
      runs.insert(runs.end(), {{one, 1, first, 1}, {two, 1, first, 1}});
    else
      for (int64_t r = 0; r < rows; ++r)
        runs.insert(runs.end(), {{one, 1, first + r}, {two, 1, first + r}});
  };
  int64_t periods = apart ? 1 : byTurns ? experts * rows : experts;
  for (int64_t e = 0; e < (apart ? experts : 1); ++e)
    add(periods, e);
  Shape joined = shape;
  joined[1] *= 2;
  std::string ending = byTurns ? (bias ? "_bias" : "") : item.ending.str();
  return put(item, item.name + ending, joined, std::move(sources), GgufRows(periods, std::move(runs)));
}

absl::Status Viewer::keysAndValues(const Item &item) {
  absl::StatusOr<const GgufTensor *> other = sibling(item, item.row.changes[1]);
  if (!other.ok())
    return other.status();
  const Shape &keys = item.tensor.shape, &values = (*other)->shape;
  if (keys.size() != 3 || values.size() != 3 || keys[0] != values[0] || keys[1] != values[2])
    return refuse(item, "[heads, rank, width of keys] is needed with " + (*other)->name + " [heads, width, rank]");
  absl::StatusOr<std::vector<GgufSource>> k = sourcesOf(item.tensor), v = sourcesOf(**other);
  if (!k.ok() || !v.ok())
    return k.ok() ? v.status() : k.status();
  std::string name = item.name + item.ending.str();
  keep(item, name, ggufKeysAndValues(name, k->front(), keys, v->front(), values[1]));
  return absl::OkStatus();
}

//===--- parts of these ---------------------------------------------------------===//

absl::StatusOr<int64_t> Viewer::heads(const Item &item, llvm::StringRef key, int64_t rows, int64_t multiple) const {
  std::optional<int64_t> count = ggufInteger(file, architecture.name, key);
  if (!count && key == "attention.head_count_kv")
    count = ggufInteger(file, architecture.name, "attention.head_count");
  std::string whole = architecture.name + "." + key.str();
  if (!count || *count < 1 || *count > (1 << 20))
    return file.damaged(whole, "a number of heads is needed");
  if (rows % *count || rows / *count % multiple)
    return refuse(item, std::to_string(*count) + " heads (`" + whole + "`) do not divide its " + std::to_string(rows) +
                            " rows" + (multiple == 2 ? " into pairs" : ""));
  return *count;
}

absl::StatusOr<const GgufTensor *> Viewer::sibling(const Item &item, llvm::StringRef word) const {
  // The name up to its last word: "blk.3.", "enc.blk.0."
  llvm::StringRef head = item.stem.take_front(item.stem.rfind('.') + 1);
  std::string name = (head + word + item.ending).str();
  if (const GgufTensor *tensor = file.tensor(name))
    return tensor;
  name = (head + word + ".weight").str();
  if (llvm::StringRef(item.row.changes.front()) == "if" && file.tensor(name))
    return file.tensor(name);
  return refuse(item, "the tensor `" + (head + word + item.ending).str() + "` is missing, which belongs to it");
}

absl::StatusOr<std::vector<float>> Viewer::factors(const GgufTensor &tensor) const {
  llvm::StringRef stem = tensor.name;
  const GgufTensor *scale = stem.consume_back(".weight") ? file.tensor((stem + ".scale").str()) : nullptr;
  if (!scale)
    return std::vector<float>{1};
  int64_t count = 1;
  for (int64_t n : scale->shape)
    count *= n;
  int64_t needed = tensor.shape.size() == 3 ? tensor.shape[0] : 1;
  if (count != needed || isWhole(scale->type))
    return file.damaged(*scale, std::to_string(count) + " numbers scale `" + tensor.name + "`, " +
                                    std::to_string(needed) + " are needed");
  std::vector<float> numbers(static_cast<size_t>(count));
  GgufSource source(file, *scale);
  source.features = 1;
  if (absl::Status status = source.readRows(0, numbers); !status.ok())
    return status;
  return numbers;
}

absl::StatusOr<std::vector<GgufSource>> Viewer::sourcesOf(const GgufTensor &tensor) const {
  absl::StatusOr<std::vector<float>> all = factors(tensor);
  if (!all.ok())
    return all.status();
  std::vector<GgufSource> sources;
  for (float factor : *all)
    sources.emplace_back(file, tensor, factor);
  return sources;
}

absl::Status Viewer::reorder(const Item &item, GgufRows rows, std::optional<Shape> shape) {
  absl::StatusOr<std::vector<GgufSource>> sources = sourcesOf(item.tensor);
  if (!sources.ok())
    return sources.status();
  if (sources->size() > 1) { // experts, each with a factor: their rows are in order
    int64_t count = item.tensor.shape[1];
    std::vector<GgufRows::Run> runs;
    for (int64_t e = 0; e < int64_t(sources->size()); ++e)
      runs.push_back({unsigned(e), count, e * count});
    rows = GgufRows(1, std::move(runs));
  } else if (item.isVector()) {
    sources->front().features = 1;
  }
  return put(item, item.name + item.ending.str(), shape.value_or(item.tensor.shape), std::move(*sources),
             std::move(rows));
}

absl::Status Viewer::put(const Item &item, std::string name, Shape shape, std::vector<GgufSource> sources,
                         GgufRows rows, float minus) {
  keep(item, name, ggufTensor({name, std::move(shape), std::move(sources), std::move(rows), minus}));
  return absl::OkStatus();
}

void Viewer::keep(const Item &item, std::string name, std::unique_ptr<CodedTensor> made) {
  view.origins[name] = item.tensor.name;
  view.matrices.push_back(std::move(made));
}

} // namespace

absl::StatusOr<GgufView> openGguf(InputFile input) {
  absl::StatusOr<GgufFile> file = GgufFile::open(std::move(input));
  if (!file.ok())
    return file.status();
  absl::StatusOr<GgufArchitecture> architecture = architectureOf(*file);
  if (!architecture.ok())
    return architecture.status();
  GgufView view;
  view.architecture = *std::move(architecture);
  std::string prefix = view.architecture.name + ".";
  // config.json does not count layers that predict one token more.
  double more = double(ggufInteger(*file, view.architecture.name, "nextn_predict_layers").value_or(0));
  for (const auto &[key, value] : file->values())
    if (std::optional<double> number = value.number(); number && llvm::StringRef(key).starts_with(prefix)) {
      llvm::StringRef common = llvm::StringRef(key).drop_front(prefix.size());
      if (!llvm::is_contained(view.architecture.unlike, common))
        view.stated.push_back(
            {file->path(), key, prefix.size(), *number - (common == "block_count" ? more : 0), value.byte()});
    }
  if (absl::Status status = Viewer(*file, view).run(); !status.ok())
    return status;
  view.files = file->takeFiles();
  return view;
}

} // namespace heddle
