#include "gguf/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

#include "gguf/half.h"
#include "support/support.h"

namespace adjudge::gguf {
namespace {

int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::vector<std::byte> bytes_of_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit_of(hex[i]) * 16 + digit_of(hex[i + 1])));
  }
  return bytes;
}

TEST(DType, EveryFormatDecodesToTheBitsOfTheReference) {
  const auto data = json::parse(testing::read_file(testing::testdata("gguf/dtypes.json"))).value();
  const json::Value& formats = *data.find("formats");
  ASSERT_EQ(formats.members.size(), all_dtypes().size());
  for (const DTypeTraits& traits : all_dtypes()) {
    const json::Value* format = formats.find(traits.name);
    ASSERT_NE(format, nullptr) << traits.name;
    const auto blocks = bytes_of_hex(format->find("blocks")->text);
    const auto expected = bytes_of_hex(format->find("values")->text);
    const std::size_t block_count = blocks.size() / static_cast<std::size_t>(traits.block_bytes);
    const std::size_t value_count = block_count * static_cast<std::size_t>(traits.block_values);
    ASSERT_EQ(expected.size(), value_count * 4) << traits.name;
    std::vector<float> values(value_count);
    traits.decode(blocks.data(), block_count, values.data());
    for (std::size_t i = 0; i < value_count; ++i) {
      float reference;
      std::memcpy(&reference, expected.data() + i * 4, 4);
      ASSERT_EQ(bits_of_float(values[i]), bits_of_float(reference))
          << traits.name << " value " << i << ": " << values[i] << " instead of " << reference;
    }
  }
}

TEST(DType, BlocksDecodeAtAnyAddress) {
  for (const DTypeTraits& traits : all_dtypes()) {
    const std::size_t bytes = static_cast<std::size_t>(traits.block_bytes);
    const std::vector<std::byte> zeros(bytes + 1);
    std::vector<float> values(static_cast<std::size_t>(traits.block_values), 1.0f);
    traits.decode(zeros.data() + 1, 1, values.data());
    for (const float value : values) EXPECT_EQ(value, 0.0f) << traits.name;
  }
}

TEST(DType, IsFoundByItsCodeAndNoOther) {
  std::set<DType> found;
  for (std::uint32_t code = 0; code < 1000; ++code) {
    const DTypeTraits* traits = find_dtype(code);
    if (traits == nullptr) continue;
    EXPECT_LT(code, kDTypeLimit);
    EXPECT_EQ(&traits_of(traits->type), traits);
    EXPECT_STREQ(traits->name, dtype_name(code));
    found.insert(traits->type);
  }
  EXPECT_EQ(found.size(), 13u);
}

TEST(DType, HasANameEvenWhenItCannotBeRead) {
  EXPECT_STREQ(dtype_name(12), "Q4_K");
  EXPECT_STREQ(dtype_name(16), "IQ2_XXS");
  EXPECT_STREQ(dtype_name(39), "MXFP4");
  EXPECT_STREQ(dtype_name(42), "Q2_0");
  EXPECT_STREQ(dtype_name(43), "unknown");
  EXPECT_STREQ(dtype_name(0xffffffff), "unknown");
}

TEST(Half, EveryHalfHasTheValueItsBitsSpell) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = half >> 10 & 31;
    const int fraction = half & 1023;
    const float value = float_of_half(half);
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) expected = std::numeric_limits<double>::infinity();
    ASSERT_EQ(std::signbit(value), half >> 15 != 0) << bits;
    ASSERT_EQ(std::fabs(value), expected) << bits;
  }
}

TEST(Half, AFloatThatIsAHalfComesBackUnchanged) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_of_half(half_of_float(value))));
    } else {
      ASSERT_EQ(half_of_float(value), half);
    }
  }
}

TEST(Half, AFloatBetweenTwoHalvesBecomesTheNearerOrTheEvenOne) {
  for (std::uint16_t half = 0; half < 0x7bff; ++half) {
    const float low = float_of_half(half);
    const float high = float_of_half(static_cast<std::uint16_t>(half + 1));
    const float middle = low + (high - low) / 2;  // exact: a float has bits to spare
    const std::uint16_t even = half % 2 == 0 ? half : static_cast<std::uint16_t>(half + 1);
    ASSERT_EQ(half_of_float(middle), even);
    ASSERT_EQ(half_of_float(std::nextafter(middle, 0.0f)), half);
    ASSERT_EQ(half_of_float(std::nextafter(middle, 1e9f)), half + 1);
    ASSERT_EQ(half_of_float(-middle), even | 0x8000);
  }
}

TEST(Half, WhatIsTooLargeBecomesInfinity) {
  EXPECT_EQ(half_of_float(65504.0f), 0x7bff);
  EXPECT_EQ(half_of_float(65519.996f), 0x7bff);
  EXPECT_EQ(half_of_float(65520.0f), 0x7c00);
  EXPECT_EQ(half_of_float(-1e30f), 0xfc00);
  EXPECT_EQ(half_of_float(std::numeric_limits<float>::infinity()), 0x7c00);
}

TEST(Bf16, IsTheUpperHalfOfAFloatRoundedToTheNearestOrEvenOne) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    const float value = float_of_bf16(stored);
    EXPECT_EQ(bits_of_float(value), bits << 16);
    if (std::isnan(value)) continue;
    ASSERT_EQ(bf16_of_float(value), stored);
  }
  EXPECT_EQ(bf16_of_float(float_of_bits(0x3f808000)), 0x3f80);  // a tie goes to the even one
  EXPECT_EQ(bf16_of_float(float_of_bits(0x3f818000)), 0x3f82);
  EXPECT_EQ(bf16_of_float(float_of_bits(0x3f808001)), 0x3f81);
  EXPECT_EQ(bf16_of_float(float_of_bits(0x7f7fffff)), 0x7f80);  // beyond the largest: infinity
  EXPECT_TRUE(std::isnan(float_of_bf16(bf16_of_float(float_of_bits(0x7f800001)))));
}

}  // namespace
}  // namespace adjudge::gguf
