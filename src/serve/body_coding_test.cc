#include "serve/body_coding.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

namespace adjudge::serve {
namespace {

std::string zstd(const std::string& text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);  // states no size
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

std::string gzip(std::string text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(BodyCoding, WhatWasPackedComesBack) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{65536}, std::size_t{1'000'000}}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; i += 7) text[i] = static_cast<char>('a' + i % 26);
    EXPECT_EQ(decode_body("zstd", zstd(text), size).value(), text);
    EXPECT_EQ(decode_body("gzip", gzip(text), size).value(), text);
    EXPECT_EQ(decode_body("", text, size).value(), text);
    EXPECT_EQ(decode_body("identity", text, size).value(), text);
  }
}

TEST(BodyCoding, ABombIsRefusedAtTheLimit) {
  const std::string bomb(50'000'000, ' ');
  for (const auto& [coding, packed] : {std::pair{"zstd", zstd(bomb)}, {"gzip", gzip(bomb)}}) {
    EXPECT_LT(packed.size(), 100'000u);
    const auto refused = decode_body(coding, packed, 1'000'000);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::too_large) << coding;
  }
}

TEST(BodyCoding, DamagedBytesAreTheCallersFault) {
  for (const auto& [coding, packed] : {std::pair{"zstd", zstd("hello")}, {"gzip", gzip("hello")}}) {
    for (const std::string& damaged : {std::string(), packed.substr(0, packed.size() - 1),
                                       packed.substr(1), packed + "x", std::string("{}")}) {
      const auto refused = decode_body(coding, damaged, 1000);
      ASSERT_FALSE(refused.ok()) << coding << " " << damaged.size();
      EXPECT_EQ(refused.error().kind, ErrorKind::bad_request);
    }
  }
}

TEST(BodyCoding, AWindowOfManyMegabytesIsNotGranted) {
  const std::string text(std::size_t{40} << 20, 'x');
  EXPECT_FALSE(decode_body("zstd", zstd(text, 27), text.size()).ok());
}

TEST(BodyCoding, AnotherCodingIsNamed) {
  for (const char* coding : {"br", "deflate", "gzip, zstd", "compress"}) {
    const auto refused = decode_body(coding, "x", 1000);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::not_supported);
  }
}

}  // namespace
}  // namespace adjudge::serve
