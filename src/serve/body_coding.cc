#include "serve/body_coding.h"

#include <zlib.h>
#include <zstd.h>

#include <memory>

#include "base/check.h"
#include "protocol/error_body.h"

namespace adjudge::serve {

namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;
// zlib: 15 bits of window, and 16 says gzip.
constexpr int kGzipWindowBits = 15 + 16;
// A frame may ask for a window of gigabytes; 8 MiB is what the format asks every reader to take.
constexpr int kZstdWindowLogMax = 23;

Error not_of(const char* coding) {
  return {ErrorKind::bad_request, std::string("the body is not whole ") + coding};
}

Error over(std::size_t bytes_max) {
  return {ErrorKind::too_large,
          {{{}, "too_long", "the unpacked body is over " + std::to_string(bytes_max) + " bytes"}}};
}

// Grows `text` by a step and says where the new bytes lie.
char* grow(std::string& text, std::size_t used) {
  text.resize(used + kStepBytes);
  return text.data() + used;
}

Result<std::string> decode_zstd(const std::string& body, std::size_t bytes_max) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  CHECK(context != nullptr);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  ZSTD_inBuffer in{body.data(), body.size(), 0};
  std::string text;
  std::size_t used = 0;
  std::size_t left = 1;  // zero at the end of a frame
  while (left != 0 || in.pos < in.size) {
    ZSTD_outBuffer out{grow(text, used), kStepBytes, 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left)) return not_of("zstd");
    used += out.pos;
    if (used > bytes_max) return over(bytes_max);
    const bool wants_more = left != 0 && in.pos == in.size && out.pos < out.size;
    if (wants_more) return not_of("zstd");
  }
  text.resize(used);
  return text;
}

Result<std::string> decode_gzip(std::string& body, std::size_t bytes_max) {
  z_stream stream{};
  CHECK(inflateInit2(&stream, kGzipWindowBits) == Z_OK);
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ends(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(body.data());
  stream.avail_in = static_cast<uInt>(body.size());
  std::string text;
  std::size_t used = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    stream.next_out = reinterpret_cast<Bytef*>(grow(text, used));
    stream.avail_out = kStepBytes;
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) return not_of("gzip");
    used += kStepBytes - stream.avail_out;
    if (used > bytes_max) return over(bytes_max);
  }
  if (stream.avail_in != 0) return not_of("gzip");
  text.resize(used);
  return text;
}

}  // namespace

Result<std::string> decode_body(std::string_view coding, std::string body, std::size_t bytes_max) {
  if (coding.empty() || coding == "identity") return body;
  if (coding == "zstd") return decode_zstd(body, bytes_max);
  if (coding == "gzip" || coding == "x-gzip") return decode_gzip(body, bytes_max);
  return Error{
      ErrorKind::not_supported,
      {{{}, kMediaTypeFault, std::string("the body's coding is none of ") + kBodyCodings}}};
}

}  // namespace adjudge::serve
