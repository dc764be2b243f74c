#include "gguf/file.h"

#include <algorithm>

#include "base/check.h"
#include "gguf/quoted.h"

namespace adjudge::gguf {

namespace {

std::string shown_shape(std::span<const std::int64_t> shape) {
  std::string text = "{";
  for (const std::int64_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "}";
}

std::span<const std::int64_t> without_ones_at_end(std::span<const std::int64_t> shape) {
  while (!shape.empty() && shape.back() == 1) shape = shape.first(shape.size() - 1);
  return shape;
}

std::string supported_types() {
  std::string text;
  for (const DTypeTraits& traits : all_dtypes()) {
    text += (text.empty() ? "" : ", ") + std::string(traits.name);
  }
  return text;
}

}  // namespace

std::int64_t Tensor::value_count() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::size_t File::bytes() const {
  std::size_t total = 0;
  for (const MappedFile& part : parts_) total += part.bytes().size();
  return total;
}

std::string File::written_at() const {
  std::string times;
  for (const MappedFile& part : parts_) {
    times += (times.empty() ? "" : "+") + std::to_string(part.written_ns());
  }
  return times;
}

bool File::intact() const { return std::ranges::all_of(parts_, &MappedFile::intact); }

bool File::has(std::string_view name) const {
  return index_.contains(std::string(name)) || find_foreign(name) != nullptr;
}

const std::uint32_t* File::find_foreign(std::string_view name) const {
  const auto found = std::find_if(foreign_tensors_.begin(), foreign_tensors_.end(),
                                  [&](const auto& foreign) { return foreign.first == name; });
  return found == foreign_tensors_.end() ? nullptr : &found->second;
}

Result<const Tensor*> File::tensor(std::string_view name) const {
  const auto place = index_.find(std::string(name));
  if (place != index_.end()) return &tensors_[place->second];
  const std::string what = path_ + ": tensor " + quoted(name);
  if (const std::uint32_t* type = find_foreign(name)) {
    return Error{ErrorKind::bad_model, what + ": found type " + dtype_name(*type) + " (code " +
                                           std::to_string(*type) + "), expected one of " +
                                           supported_types()};
  }
  return Error{ErrorKind::bad_model, what + " is missing"};
}

Result<const Tensor*> File::tensor(std::string_view name,
                                   std::initializer_list<std::int64_t> shape) const {
  auto found = tensor(name);
  if (!found.ok()) return found;
  const Tensor& tensor = *found.value();
  const std::span<const std::int64_t> expected(shape.begin(), shape.size());
  if (!std::ranges::equal(without_ones_at_end(tensor.shape), without_ones_at_end(expected))) {
    return Error{ErrorKind::bad_model, path_ + ": tensor " + quoted(name) + ": found shape " +
                                           shown_shape(tensor.shape) + ", expected " +
                                           shown_shape(expected)};
  }
  return found;
}

std::string sidecar_path(const std::string& model_path) {
  constexpr std::string_view kExtension = ".gguf";
  std::string_view stem = model_path;
  if (stem.ends_with(kExtension)) stem.remove_suffix(kExtension.size());
  return std::string(stem) + ".adjudge.json";
}

}  // namespace adjudge::gguf
