#include "app/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"

namespace adjudge::app {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

std::string hex(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

Result<std::string> sha256_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    return Error{ErrorKind::unavailable, path + ": cannot open: " + std::strerror(errno)};
  }
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  CHECK(hash != nullptr && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1);
  std::vector<char> buffer(kReadBytes);
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    CHECK(EVP_DigestUpdate(hash.get(), buffer.data(), count) == 1);
  }
  if (std::ferror(file.get()) != 0) return Error{ErrorKind::unavailable, path + ": cannot read"};
  std::array<unsigned char, 32> digest{};
  CHECK(EVP_DigestFinal_ex(hash.get(), digest.data(), nullptr) == 1);
  return hex(digest);
}

}  // namespace adjudge::app
