#include "serve/request_id.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>

namespace adjudge::serve {

namespace {

constexpr std::size_t kPlainIdBytesMax = 128;

}  // namespace

RequestIds::RequestIds() {
  std::random_device device;
  process_ = (std::uint64_t{device()} << 32) | device();
}

std::string RequestIds::next() {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "req_%016llx%016llx",
                static_cast<unsigned long long>(process_),
                static_cast<unsigned long long>(count_++));
  return text.data();
}

bool is_plain_id(std::string_view id) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !id.empty() && id.size() <= kPlainIdBytesMax && std::ranges::all_of(id, plain);
}

}  // namespace adjudge::serve
