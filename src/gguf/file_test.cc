#include "gguf/file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "support/gguf_writer.h"
#include "support/support.h"

namespace adjudge::gguf {
namespace {

using testing::GgufWriter;
using testing::MetaType;
using testing::TemporaryFolder;
using testing::write_file;

template <class T>
std::string message(const Result<T>& result) {
  if (result.ok()) return "no error";
  EXPECT_EQ(result.error().kind, ErrorKind::bad_model);
  return result.error().message();
}

GgufWriter small_model() {
  GgufWriter writer("qwen3");
  writer.tensor("matrix", DType::f32, {4, 2}, std::string(32, 'm'));
  writer.tensor("vector", DType::f16, {3, 1}, std::string(6, 'v'));
  writer.raw_tensor("foreign", 16, {256}, std::string(66, 'f'));
  return writer;
}

TEST(File, GivesTensorsByName) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  small_model().write(path);
  const auto file = File::open(path).value();
  EXPECT_EQ(file->architecture(), "qwen3");
  EXPECT_EQ(file->path(), path);
  EXPECT_EQ(file->bytes(), std::filesystem::file_size(path));
  EXPECT_EQ(file->tensors().size(), 2u);
  const Tensor& matrix = *file->tensor("matrix").value();
  EXPECT_EQ(matrix.type, DType::f32);
  EXPECT_EQ(matrix.value_count(), 8);
  EXPECT_EQ(matrix.bytes.size(), 32u);
  EXPECT_EQ(static_cast<char>(matrix.bytes.back()), 'm');
  EXPECT_TRUE(file->tensor("matrix", {4, 2}).ok());
  EXPECT_TRUE(file->tensor("vector", {3}).ok());  // ones at the end do not count
  EXPECT_TRUE(file->tensor("matrix", {4, 2, 1}).ok());
}

TEST(File, AnErrorAboutATensorNamesFoundAndExpected) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  small_model().write(path);
  const auto file = File::open(path).value();
  EXPECT_EQ(message(file->tensor("absent")), path + ": tensor \"absent\" is missing");
  EXPECT_EQ(message(file->tensor("absent", {4})), path + ": tensor \"absent\" is missing");
  EXPECT_EQ(message(file->tensor("matrix", {2, 4})),
            path + ": tensor \"matrix\": found shape {4, 2}, expected {2, 4}");
  EXPECT_EQ(message(file->tensor("foreign")),
            path +
                ": tensor \"foreign\": found type IQ2_XXS (code 16), expected one of F32, F16, "
                "BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS");
}

TEST(File, ATensorOfForeignTypeIsThereUntilSomebodyAsksForIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  small_model().write(path);
  const auto file = File::open(path).value();
  EXPECT_TRUE(file->has("vector"));
  EXPECT_TRUE(file->has("foreign"));  // so that nobody takes it for one that may be left out
  EXPECT_FALSE(file->has("absent"));
}

TEST(File, ReadsAModelOfAnUnknownArchitecture) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  GgufWriter("of tomorrow").write(path);
  EXPECT_EQ(File::open(path).value()->architecture(), "of tomorrow");
  GgufWriter().write(path);
  EXPECT_EQ(message(File::open(path)),
            path + ": key \"general.architecture\" is missing, expected a string");
}

TEST(File, RefusesWhatIsNoModel) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  EXPECT_EQ(message(File::open(path)), path + ": cannot open: No such file or directory");
  EXPECT_EQ(message(File::open(folder.path())),
            folder.path() + ": found a directory, expected a file");
  write_file(path, "");
  EXPECT_EQ(message(File::open(path)), path + ": the file is empty, expected a GGUF model");
  write_file(path, "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_EQ(message(File::open(path)),
            path + ": not a GGUF file: it begins with \"vers\", expected \"GGUF\"");
}

TEST(File, RefusesAHeaderThatAsksForTooMuchMemory) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  const std::string array_of_200_million_bytes("\0\0\0\0\0\xc2\xeb\x0b\0\0\0\0", 12);
  GgufWriter("x").raw("bytes", 9, array_of_200_million_bytes).write(path);
  std::filesystem::resize_file(path, 300'000'000);  // a hole: takes no room
  EXPECT_EQ(message(File::open(path)),
            path +
                ": key \"bytes\": found a count of 200000000 array elements, expected at most "
                "134217634, as 134217634 bytes follow before 128 MiB, where a header must have "
                "ended");
}

TEST(File, ReadsTheTinyModels) {
  const auto file = File::open(testing::tiny_model("tiny-openjev-qwen3-f32")).value();
  EXPECT_EQ(file->architecture(), "qwen3");
  EXPECT_GT(file->metadata().integer("qwen3.block_count", 1, 100).value(), 0);
  EXPECT_GT(file->metadata().strings("tokenizer.ggml.tokens").value().size(), 256u);
  const Tensor& norm = *file->tensor("output_norm.weight").value();
  float first;
  std::memcpy(&first, norm.bytes.data(), sizeof(first));
  EXPECT_NEAR(first, 1.0f, 0.5f);
}

// Three parts: metadata and one tensor, one tensor, one tensor.
struct SplitModel {
  TemporaryFolder folder;
  std::vector<GgufWriter> parts{GgufWriter("qwen3"), GgufWriter(), GgufWriter()};

  SplitModel() {
    for (int i = 0; i < 3; ++i) {
      parts[at(i)].integer("split.no", i, MetaType::u16).integer("split.count", 3, MetaType::u16);
      parts[at(i)].tensor("t" + std::to_string(i), DType::f32, {2}, std::string(8, 'a'));
    }
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::string path(int part) const {
    return folder.path() + "/m-0000" + std::to_string(part) + "-of-00003.gguf";
  }
  Result<std::unique_ptr<File>> open(int tensor_count) {
    GgufWriter first = parts[0];
    first.integer("split.tensors.count", tensor_count, MetaType::i32).write(path(1));
    parts[1].write(path(2));
    parts[2].write(path(3));
    return File::open(path(1));
  }
};

TEST(SplitFile, IsOneModel) {
  SplitModel model;
  const auto file = model.open(3).value();
  EXPECT_EQ(file->tensors().size(), 3u);
  EXPECT_TRUE(file->tensor("t2", {2}).ok());
  EXPECT_EQ(file->bytes(), std::filesystem::file_size(model.path(1)) +
                               std::filesystem::file_size(model.path(2)) +
                               std::filesystem::file_size(model.path(3)));
}

TEST(SplitFile, IsOpenedByItsFirstPart) {
  SplitModel model;
  ASSERT_TRUE(model.open(3).ok());
  EXPECT_EQ(message(File::open(model.path(2))),
            model.path(2) + ": this is part 2 of 3, open the first instead: " + model.path(1));
}

TEST(SplitFile, NeedsTheNamesOfItsParts) {
  SplitModel model;
  ASSERT_TRUE(model.open(3).ok());
  const std::string other = model.folder.path() + "/other.gguf";
  std::filesystem::copy(model.path(1), other);
  EXPECT_EQ(message(File::open(other)),
            other +
                ": this is part 1 of 3, expected a name that ends in -00001-of-00003.gguf to "
                "find the others by");
  std::filesystem::copy_file(model.path(1), model.path(2),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(message(File::open(model.path(2))),
            model.path(2) + ": this is part 1 of 3, expected the name " + model.path(1));
}

TEST(SplitFile, NeedsAllItsParts) {
  SplitModel model;
  ASSERT_TRUE(model.open(3).ok());
  std::filesystem::remove(model.path(3));
  EXPECT_EQ(message(File::open(model.path(1))),
            model.path(3) + ": cannot open: No such file or directory");
}

TEST(SplitFile, ChecksEveryPartsPlaceAndTheNumberOfTensors) {
  SplitModel wrong_total;
  EXPECT_EQ(message(wrong_total.open(4)),
            wrong_total.path(1) + ": key \"split.tensors.count\": found 4, expected 3");
  SplitModel swapped;
  std::swap(swapped.parts[1], swapped.parts[2]);
  EXPECT_EQ(message(swapped.open(3)), swapped.path(2) + ": key \"split.no\": found 2, expected 1");
  SplitModel foreign;
  foreign.parts[2] = GgufWriter().integer("split.no", 2).integer("split.count", 4);
  EXPECT_EQ(message(foreign.open(2)),
            foreign.path(3) + ": key \"split.count\": found 4, expected 3");
  SplitModel twice;
  twice.parts[2] = GgufWriter().integer("split.no", 2).integer("split.count", 3);
  twice.parts[2].tensor("t1", DType::f32, {2}, std::string(8, 'a'));
  EXPECT_EQ(message(twice.open(3)),
            twice.path(3) + ": tensor \"t1\": found in an earlier part too");
}

TEST(SplitFile, OfOnePartNeedsNoSpecialName) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  GgufWriter("x").integer("split.count", 1).integer("split.no", 0).write(path);
  EXPECT_TRUE(File::open(path).ok());
}

std::string fingerprint_of(const std::string& path) {
  return File::open(path).value()->fingerprint();
}

TEST(Fingerprint, IsTheSameForTheSameBytesWhereverTheyLie) {
  const TemporaryFolder folder;
  small_model().write(folder.path() + "/a.gguf");
  small_model().write(folder.path() + "/b.gguf");
  const std::string print = fingerprint_of(folder.path() + "/a.gguf");
  EXPECT_EQ(print.size(), 32u);
  EXPECT_EQ(print.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(print, fingerprint_of(folder.path() + "/b.gguf"));
}

TEST(Fingerprint, ChangesWithKeysWeightsSizeAndSidecar) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.gguf";
  const std::string large(4 << 20, 'x');
  GgufWriter("a").tensor("t", DType::f32, {1 << 20}, large).write(path);
  const std::string original = fingerprint_of(path);

  GgufWriter("b").tensor("t", DType::f32, {1 << 20}, large).write(path);
  EXPECT_NE(fingerprint_of(path), original);

  std::string requantised = large;
  for (std::size_t i = 0; i < requantised.size(); i += 1000) requantised[i] = 'y';
  GgufWriter("a").tensor("t", DType::f32, {1 << 20}, requantised).write(path);
  EXPECT_NE(fingerprint_of(path), original);

  GgufWriter("a").tensor("t", DType::f32, {1 << 20}, large + large).write(path);
  EXPECT_NE(fingerprint_of(path), original);

  GgufWriter("a").tensor("t", DType::f32, {1 << 20}, large).write(path);
  EXPECT_EQ(fingerprint_of(path), original);
  write_file(folder.path() + "/a.adjudge.json", "{}");
  const std::string with_sidecar = fingerprint_of(path);
  EXPECT_NE(with_sidecar, original);
  write_file(folder.path() + "/a.adjudge.json", "{ }");
  EXPECT_NE(fingerprint_of(path), with_sidecar);
}

TEST(Fingerprint, SeesEveryPartOfASplitModel) {
  SplitModel model;
  const std::string original = model.open(3).value()->fingerprint();
  SplitModel other;
  other.parts[2] = GgufWriter().integer("split.no", 2, MetaType::u16);
  other.parts[2].integer("split.count", 3, MetaType::u16);
  other.parts[2].tensor("t2", DType::f32, {2}, std::string(8, 'b'));
  EXPECT_NE(other.open(3).value()->fingerprint(), original);
}

TEST(Sidecar, LiesBesideTheModel) {
  EXPECT_EQ(sidecar_path("a/b.gguf"), "a/b.adjudge.json");
  EXPECT_EQ(sidecar_path("a/b"), "a/b.adjudge.json");
}

}  // namespace
}  // namespace adjudge::gguf
