#include "gguf/header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gguf/dtype.h"
#include "support/gguf_writer.h"
#include "support/support.h"

namespace adjudge::gguf {
namespace {

using testing::GgufWriter;
using testing::MetaType;

// A copy of exactly this size, so that the address sanitizer sees every byte read beyond it.
std::vector<std::byte> copy_of(std::string_view bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

std::string error_of(std::string_view file) {
  const std::vector<std::byte> bytes = copy_of(file);
  const auto header = parse_header(bytes);
  if (header.ok()) return "no error";
  EXPECT_EQ(header.error().kind, ErrorKind::bad_model);
  return header.error().message();
}

std::string error_of(const GgufWriter& writer) { return error_of(writer.bytes()); }

GgufWriter with_one_of_everything() {
  GgufWriter writer("qwen3");
  writer.integer("u8", 200, MetaType::u8).integer("i8", -100, MetaType::i8);
  writer.integer("u16", 60000, MetaType::u16).integer("i16", -30000, MetaType::i16);
  writer.integer("u32", 4000000000, MetaType::u32).integer("i32", -5, MetaType::i32);
  writer.integer("u64", 1ll << 40, MetaType::u64).integer("i64", -(1ll << 40), MetaType::i64);
  writer.integer("u64 beyond", -1, MetaType::u64);
  writer.real("f32", 0.5).real("f64", 0.1, MetaType::f64);
  writer.boolean("boolean", true).text("string", "text");
  writer.integers("integers", {1, -2}).integers("bytes", {255}, MetaType::u8);
  writer.reals("reals", {0.5, 2}).booleans("booleans", {true, false});
  writer.texts("strings", {"", "abc"}).texts("nothing", {});
  writer.tensor("a", DType::f32, {2, 3}, std::string(24, 'a'));
  writer.tensor("b", DType::q8_0, {64, 1, 2}, std::string(34 * 4, 'b'));
  writer.raw_tensor("c", 16, {256}, std::string(66, 'c'));  // IQ2_XXS
  return writer;
}

TEST(Header, HoldsEveryTypeOfKey) {
  const std::vector<std::byte> bytes = copy_of(with_one_of_everything().bytes());
  const Header header = parse_header(bytes).value();
  const Metadata& metadata = header.metadata;
  EXPECT_EQ(metadata.find_integer("u8").value(), 200);
  EXPECT_EQ(metadata.find_integer("i8").value(), -100);
  EXPECT_EQ(metadata.find_integer("u16").value(), 60000);
  EXPECT_EQ(metadata.find_integer("i16").value(), -30000);
  EXPECT_EQ(metadata.find_integer("u32").value(), 4000000000);
  EXPECT_EQ(metadata.find_integer("i32").value(), -5);
  EXPECT_EQ(metadata.find_integer("u64").value(), 1ll << 40);
  EXPECT_EQ(metadata.find_integer("i64").value(), -(1ll << 40));
  EXPECT_EQ(std::get<std::uint64_t>(*metadata.find("u64 beyond")), ~std::uint64_t{0});
  EXPECT_EQ(metadata.real("f32").value(), 0.5);
  EXPECT_EQ(metadata.real("f64").value(), 0.1);
  EXPECT_EQ(metadata.find_boolean("boolean").value(), true);
  EXPECT_EQ(metadata.string("string").value(), "text");
  EXPECT_EQ(metadata.integers("integers").value(), (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(metadata.integers("bytes").value(), std::vector<std::int64_t>{255});
  EXPECT_EQ(std::get<std::vector<double>>(*metadata.find("reals")), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(metadata.booleans("booleans").value(), (std::vector<bool>{true, false}));
  EXPECT_EQ(metadata.strings("strings").value(), (std::vector<std::string_view>{"", "abc"}));
  EXPECT_TRUE(metadata.strings("nothing").value().empty());
}

TEST(Header, FindsTheBytesOfEveryTensor) {
  const std::vector<std::byte> bytes = copy_of(with_one_of_everything().bytes());
  const Header header = parse_header(bytes).value();
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[0].shape, (std::vector<std::int64_t>{2, 3}));
  const auto expected = {std::pair{24u, 'a'}, std::pair{34u * 4, 'b'}, std::pair{0u, 'c'}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [size, letter] = expected.begin()[i];
    EXPECT_EQ(header.tensors[i].bytes.size(), size);
    for (const std::byte byte : header.tensors[i].bytes) {
      EXPECT_EQ(static_cast<char>(byte), letter);
    }
  }
}

TEST(Header, RefusesWhatIsNotGguf) {
  EXPECT_EQ(error_of(""), "the file is empty, expected a GGUF model");
  EXPECT_EQ(error_of("Dear reader,\n"),
            R"(not a GGUF file: it begins with "Dear", expected "GGUF")");
  EXPECT_EQ(error_of("GG"), R"(not a GGUF file: it begins with "GG", expected "GGUF")");
  EXPECT_EQ(error_of("GGUF\1"),
            "version: expected 4 bytes at offset 4, found 1 before the end of the file");
}

TEST(Header, RefusesOtherVersions) {
  EXPECT_EQ(error_of(GgufWriter("x").version(2)), "no error");
  EXPECT_EQ(error_of(GgufWriter("x").version(3)), "no error");
  EXPECT_EQ(error_of(GgufWriter("x").version(0)), "version: found GGUF version 0, expected 2 or 3");
  EXPECT_EQ(error_of(GgufWriter("x").version(1)), "version: found GGUF version 1, expected 2 or 3");
  EXPECT_EQ(error_of(GgufWriter("x").version(4)), "version: found GGUF version 4, expected 2 or 3");
  EXPECT_EQ(error_of(GgufWriter("x").version(0x03000000)),
            "version: the file is big-endian, expected little-endian: convert it again");
}

TEST(Header, RefusesCountsTheFileCannotHold) {
  std::string file = GgufWriter("x").bytes();
  file[8 + 7] = '\x7f';
  EXPECT_EQ(error_of(file),
            "header: found a count of 9151314442816847872 tensors, expected at most 1, as 49 bytes "
            "follow before the end of the file");
  file = GgufWriter("x").bytes();
  file[16 + 1] = 1;
  EXPECT_EQ(error_of(file),
            "header: found a count of 257 keys, expected at most 3, as 41 bytes follow before the "
            "end of the file");
  const std::string head("\4\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12);
  EXPECT_EQ(error_of(GgufWriter("x").raw("list", 9, head)),
            "key \"list\": found a count of 18446744073709551615 array elements, expected at most "
            "0, as 0 bytes follow before the end of the file");
  EXPECT_EQ(error_of(GgufWriter("x").raw("word", 8, "\xff\xff\xff\xff\xff\xff\xff\x7f")),
            "key \"word\": expected 9223372036854775807 bytes at offset 89, found 0 before the end "
            "of the file");
}

TEST(Header, RefusesBadKeys) {
  EXPECT_EQ(error_of(GgufWriter("x").text("a", "1").text("a", "2")), "key \"a\": found twice");
  EXPECT_EQ(error_of(GgufWriter("x").text("", "1")), "key 2 of 2: found an empty name");
  EXPECT_EQ(error_of(GgufWriter("x").raw("a", 13, "")),
            "key \"a\": found value type 13, expected 0 to 12");
  EXPECT_EQ(error_of(GgufWriter("x").raw("a", 9, std::string("\11\0\0\0\0\0\0\0\0\0\0\0", 12))),
            "key \"a\": found an array of value type 9, expected numbers, booleans or strings");
  EXPECT_EQ(error_of(GgufWriter("x").raw("a", 7, "\2")),
            "key \"a\": found a boolean of 2, expected 0 or 1");
  EXPECT_EQ(error_of(GgufWriter("x").integers("a", {1, -1}, MetaType::u64)),
            "key \"a\": found 18446744073709551615, expected integers below 2^63");
}

TEST(Header, RefusesBadAlignments) {
  EXPECT_EQ(error_of(GgufWriter("x").alignment(64).tensor("a", DType::f16, {1}, "hi")), "no error");
  EXPECT_EQ(error_of(GgufWriter("x").alignment(8).tensor("a", DType::f16, {1}, "hi")), "no error");
  EXPECT_EQ(error_of(GgufWriter("x").alignment(0)),
            "key \"general.alignment\": found 0, expected an integer from 8 to 1073741824");
  EXPECT_EQ(error_of(GgufWriter("x").alignment(40)),
            "key \"general.alignment\": found 40, expected a power of two");
  EXPECT_EQ(error_of(GgufWriter("x").text("general.alignment", "32")),
            "key \"general.alignment\": found the string \"32\", expected an integer");
}

std::string error_of_tensor(std::uint32_t type, GgufWriter::Shape shape, std::size_t byte_count,
                            std::int64_t offset = -1) {
  return error_of(GgufWriter("x").raw_tensor("t", type, std::move(shape),
                                             std::string(byte_count, 'x'), offset));
}

TEST(Header, RefusesBadShapes) {
  EXPECT_EQ(error_of_tensor(0, {1, 1, 1, 1}, 4), "no error");
  EXPECT_EQ(error_of_tensor(0, {}, 64), "tensor \"t\": found 0 dimensions, expected 1 to 4");
  EXPECT_EQ(error_of_tensor(0, {1, 1, 1, 1, 1}, 4),
            "tensor \"t\": found 5 dimensions, expected 1 to 4");
  EXPECT_EQ(error_of_tensor(0, {4, 0}, 0),
            "tensor \"t\": found an extent of 0, expected at least 1");
  EXPECT_EQ(error_of_tensor(0, {-4}, 0),
            "tensor \"t\": found an extent of -4, expected at least 1");
  EXPECT_EQ(error_of_tensor(0, {1ll << 32, 1ll << 31}, 4),
            "tensor \"t\": found a shape of more than 2^63 values");
  EXPECT_EQ(error_of_tensor(0, {1ll << 62}, 4),
            "tensor \"t\": found a shape of more than 2^64 bytes");
  EXPECT_EQ(error_of_tensor(12, {128}, 144),
            "tensor \"t\": found rows of 128 values, expected a multiple of 256, as the type is "
            "Q4_K");
}

TEST(Header, RefusesDataOutsideTheFile) {
  EXPECT_EQ(error_of_tensor(0, {6}, 23),
            "tensor \"t\": expected 24 bytes at offset 0 of the tensor data, found 23 bytes of "
            "data in all: the file is cut short or damaged");
  EXPECT_EQ(error_of_tensor(0, {6}, 24, 32),
            "tensor \"t\": expected 24 bytes at offset 32 of the tensor data, found 24 bytes of "
            "data in all: the file is cut short or damaged");
  EXPECT_EQ(error_of_tensor(0, {6}, 64, 4),
            "tensor \"t\": found offset 4, expected a multiple of 32");
  EXPECT_EQ(error_of_tensor(16, {256}, 64, 1ll << 62),
            "tensor \"t\": expected 0 bytes at offset 4611686018427387904 of the tensor data, "
            "found 64 bytes of data in all: the file is cut short or damaged");
}

TEST(Header, RefusesTensorsThatShareBytesOrNames) {
  GgufWriter twice("x");
  twice.tensor("t", DType::f16, {1}, "hi").tensor("t", DType::f16, {1}, "ho");
  EXPECT_EQ(error_of(twice), "tensor \"t\": found twice");
  GgufWriter nameless("x");
  nameless.tensor("", DType::f16, {1}, "hi");
  EXPECT_EQ(error_of(nameless), "tensor 1 of 1: found an empty name");
  GgufWriter inside("x");
  inside.tensor("first", DType::f32, {16}, std::string(64, 'x'));
  inside.raw_tensor("second", 0, {8}, std::string(32, 'x'), 32);
  EXPECT_EQ(error_of(inside), "tensor \"second\": its data begins inside that of tensor \"first\"");
}

TEST(Header, MayEndWithTheTableWhenThereAreNoTensors) {
  EXPECT_EQ(error_of(GgufWriter("x")), "no error");
}

// Reads everything a header points to; under the address sanitizer this proves it lies in the file.
std::uint64_t touch(const Header& header) {
  std::uint64_t sum = 0;
  for (const TensorEntry& tensor : header.tensors) {
    for (const std::byte byte : tensor.bytes) sum += static_cast<std::uint64_t>(byte);
    for (const char c : tensor.name) sum += static_cast<unsigned char>(c);
  }
  for (const auto& [key, value] : header.metadata.entries()) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      for (const char c : *text) sum += static_cast<unsigned char>(c);
    }
  }
  return sum;
}

TEST(Header, EveryTruncatedFileIsAnError) {
  const std::string whole = with_one_of_everything().bytes();
  const std::size_t padding_of_last = 66;  // a foreign tensor's size is unknown
  for (std::size_t size = 0; size < whole.size() - padding_of_last; ++size) {
    ASSERT_NE(error_of(std::string_view(whole).substr(0, size)), "no error") << size;
  }
}

TEST(Header, AFileWithFlippedBytesIsAnErrorOrValid) {
  const std::string whole = with_one_of_everything().bytes();
  constexpr unsigned char kFlips[] = {0x01, 0x80, 0xff, 0x07, 0x10};
  int errors = 0;
  std::uint64_t sum = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (const unsigned char flip : kFlips) {
      std::string damaged = whole;
      damaged[place] = static_cast<char>(static_cast<unsigned char>(damaged[place]) ^ flip);
      const std::vector<std::byte> bytes = copy_of(damaged);
      const auto header = parse_header(bytes);
      if (header.ok()) sum += touch(header.value());
      errors += !header.ok();
    }
  }
  EXPECT_GT(errors, 1000);  // the mutations do reach what is checked
  EXPECT_GT(sum, 0u);
}

TEST(Header, AFileWithManyWrongBytesIsAnErrorOrValid) {
  const std::string whole = testing::read_file(testing::tiny_model("tiny-openjev-qwen3-f32"));
  std::uint64_t random = 1;
  std::uint64_t sum = 0;
  const auto next = [&random](std::uint64_t limit) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % limit;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bytes = copy_of(whole);
    const std::uint64_t change_count = 1 + next(8);
    for (std::uint64_t i = 0; i < change_count; ++i) {
      bytes[next(20000)] = static_cast<std::byte>(next(256));
    }
    if (round % 3 == 0) bytes.resize(next(bytes.size()));
    const auto header = parse_header(bytes);
    if (header.ok()) sum += touch(header.value());
  }
  EXPECT_GT(sum, 0u);  // not every change is noticed
}

}  // namespace
}  // namespace adjudge::gguf
