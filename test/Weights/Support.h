// Makes safetensors bytes, good and bad, without the reader under test; temporary
// directories; and the checks that every refusal must pass.
#ifndef HEDDLE_TEST_WEIGHTS_SUPPORT_H
#define HEDDLE_TEST_WEIGHTS_SUPPORT_H

#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Pack/BlobMap.h"
#include "compiler/Weights/WeightStore.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::test {

inline std::string lengthWord(uint64_t length) {
  std::string word;
  for (int i = 0; i < 8; ++i)
    word += char(length >> (8 * i));
  return word;
}

/// A whole file out of a header as it is and data.
inline std::string fileOf(const std::string &header, const std::string &data) {
  return lengthWord(header.size()) + header + data;
}

struct Tensor {
  std::string name, type;
  std::vector<int64_t> shape;
  std::string bytes;
};

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

/// A good file: header padded to 8 bytes, data in the order given.
inline std::string goodFile(const std::vector<Tensor> &tensors) {
  std::string header = "{", data;
  for (const Tensor &tensor : tensors) {
    if (header.size() > 1)
      header += ",";
    header += "\"" + tensor.name + "\":{\"dtype\":\"" + tensor.type + "\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(tensor.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data += tensor.bytes;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return fileOf(header, data);
}

/// A tensor of `elements` as it is.
inline PackRequest natural(const std::string &tensor, int64_t elements, PackedType type = PackedType::F32) {
  PackRequest request{tensor, {elements}, {}};
  request.layout.type = type;
  return request;
}

/// A linear's matrix of n results and k features in panels.
inline PackRequest panels(const std::string &tensor, int64_t n, int64_t k, bool inOut,
                          PackedType type = PackedType::F32, int64_t panel = 32) {
  PackRequest request{tensor, {inOut ? k : n, inOut ? n : k}, {}};
  request.layout.type = type;
  request.layout.panel = panel;
  request.layout.inOut = inOut;
  return request;
}

/// One request after the other, each at a multiple of the alignment.
inline BlobMap planOf(const std::vector<PackRequest> &requests) {
  BlobMap plan;
  for (const PackRequest &request : requests) {
    plan.entries.push_back({request, plan.bytes});
    plan.bytes = llvm::alignTo(plan.bytes + request.bytes(), BlobMap::alignment);
  }
  return plan;
}

class Directory {
public:
  Directory() {
    std::string pattern = testing::TempDir() + "heddle-weights-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }
  size_t entries() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
  std::string path;
};

inline std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline std::string text(const absl::Status &status) {
  return std::string(status.message().data(), status.message().size());
}

/// The problem of a refusal; fails when there is none or it lacks what R2 asks for.
inline WeightProblem refusal(const absl::Status &status) {
  std::optional<WeightProblem> problem = problemOf(status);
  EXPECT_TRUE(problem.has_value()) << text(status);
  if (!problem)
    return {};
  EXPECT_FALSE(problem->file.empty()) << text(status);
  EXPECT_FALSE(problem->help.empty()) << text(status);
  return *problem;
}

#define ASSERT_OK(status) ASSERT_TRUE((status).ok()) << heddle::test::text(status)
#define EXPECT_OK(status) EXPECT_TRUE((status).ok()) << heddle::test::text(status)

} // namespace heddle::test

#endif // HEDDLE_TEST_WEIGHTS_SUPPORT_H
