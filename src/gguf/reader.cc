// Opens the parts of a model and makes one File of them. The first part holds the metadata; all
// parts hold split.no and split.count, which must agree with their place.
#include <unordered_set>

#include "base/size.h"
#include "base/try.h"
#include "gguf/file.h"
#include "gguf/header.h"
#include "gguf/quoted.h"
#include "gguf/split_name.h"

namespace adjudge::gguf {

namespace {

constexpr const char* kSplitCount = "split.count";
constexpr const char* kSplitNumber = "split.no";
constexpr const char* kSplitTensorCount = "split.tensors.count";
constexpr int kPartsMax = 65535;  // split.count is 16 bits wide

Error bad_file(const std::string& path, const std::string& message) {
  return Error{ErrorKind::bad_model, path + ": " + message};
}

template <class T>
Result<T> in_file(const std::string& path, Result<T> result) {
  if (result.ok()) return result;
  return bad_file(path, result.error().message());
}

}  // namespace

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(new File()) { file_->path_ = path; }

  Result<std::unique_ptr<File>> read() && {
    const std::string& path = file_->path_;
    ADJ_TRY(file_->metadata_, add_part(path));
    ADJ_TRY(const int part_count, check_first_part());
    ADJ_TRY(file_->architecture_, in_file(path, file_->metadata_.string("general.architecture")));
    for (int part = 2; part <= part_count; ++part) ADJ_TRY_DONE(add_later_part(part, part_count));
    if (part_count > 1) ADJ_TRY_DONE(check_tensor_count());
    return std::move(file_);
  }

 private:
  // Maps a file, checks its header and takes its tensors; the metadata remains.
  Result<Metadata> add_part(const std::string& path) {
    ADJ_TRY(MappedFile mapped, MappedFile::open(path));
    ADJ_TRY(Header header, in_file(path, parse_header(mapped.bytes())));
    for (TensorEntry& entry : header.tensors) {
      if (!names_.emplace(entry.name).second) {
        return bad_file(path, "tensor " + quoted(entry.name) + ": found in an earlier part too");
      }
      add_tensor(std::move(entry));
    }
    file_->parts_.push_back(std::move(mapped));
    file_->header_bytes_.push_back(header.bytes);
    return std::move(header.metadata);
  }

  void add_tensor(TensorEntry entry) {
    std::string name(entry.name);
    if (find_dtype(entry.type) == nullptr) {
      file_->foreign_tensors_.emplace_back(std::move(name), entry.type);
      return;
    }
    file_->index_.emplace(name, file_->tensors_.size());
    file_->tensors_.push_back(
        {std::move(name), static_cast<DType>(entry.type), std::move(entry.shape), entry.bytes});
  }

  // The number of parts, when the file is the first of them or the only one.
  Result<int> check_first_part() const {
    const std::string& path = file_->path_;
    const Metadata& metadata = file_->metadata_;
    if (!metadata.has(kSplitCount)) return 1;
    ADJ_TRY(const int part_count, in_file(path, metadata.integer(kSplitCount, 0, kPartsMax)));
    if (part_count <= 1) return 1;
    ADJ_TRY(const int number, in_file(path, metadata.integer(kSplitNumber, 0, part_count - 1)));
    const std::string place =
        "this is part " + std::to_string(number + 1) + " of " + std::to_string(part_count);
    const std::optional<std::string> first = part_path(path, 1, part_count);
    if (!first.has_value()) {
      return bad_file(path, place + ", expected a name that ends in " +
                                part_suffix(number + 1, part_count) + " to find the others by");
    }
    if (number != 0) return bad_file(path, place + ", open the first instead: " + *first);
    if (*first != path) return bad_file(path, place + ", expected the name " + *first);
    return part_count;
  }

  Status add_later_part(int part, int part_count) {
    const std::string path = *part_path(file_->path_, part, part_count);
    ADJ_TRY(const Metadata metadata, add_part(path));
    ADJ_TRY_DONE(in_file(path, metadata.integer(kSplitNumber, part - 1, part - 1)));
    ADJ_TRY_DONE(in_file(path, metadata.integer(kSplitCount, part_count, part_count)));
    return Done{};
  }

  Status check_tensor_count() const {
    const int count = count_of(names_);
    ADJ_TRY_DONE(in_file(file_->path_, file_->metadata_.integer(kSplitTensorCount, count, count)));
    return Done{};
  }

  std::unique_ptr<File> file_;
  std::unordered_set<std::string> names_;
};

Result<std::unique_ptr<File>> File::open(const std::string& path) { return Reader(path).read(); }

}  // namespace adjudge::gguf
