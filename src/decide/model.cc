#include "decide/model.h"

#include <algorithm>
#include <filesystem>

#include "base/os/build_id.h"
#include "base/try.h"
#include "family/sidecar.h"
#include "json/print.h"

namespace adjudge {

namespace {

constexpr const char* kPrecisionNames[] = {"auto", "f32", "bf16", "int8"};

const BackboneEntry* backbone_for(const gguf::File& file) {
  return find_backbone(file.architecture());
}

Error no_backbone(const gguf::File& file) {
  std::string known;
  for (const BackboneEntry& entry : backbones())
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  return Error{ErrorKind::bad_model, file.path() + ": general.architecture is \"" +
                                         std::string(file.architecture()) +
                                         "\"; this program runs " + known};
}

Result<const Family*> family_for(const gguf::File& file, const std::string& asked,
                                 const std::optional<json::Value>& sidecar) {
  std::string name = asked;
  if (name.empty() && sidecar) name = sidecar_family(*sidecar);
  if (name.empty()) return claiming_family(file.metadata());
  if (const Family* family = find_family(name)) return family;
  std::string known;
  for (const Family* family : families())
    known += (known.empty() ? "" : ", ") + std::string(family->name());
  return Error{ErrorKind::bad_model, "no family \"" + name + "\"; there are " + known};
}

Result<std::string> checked_isa(const std::string& isa) {
  const kernel::LevelNames levels = kernel::available_levels();
  std::string known;
  for (int i = 0; i < levels.count; ++i) {
    if (isa == levels.names[i]) return isa;
    known += (known.empty() ? "" : ", ") + std::string(levels.names[i]);
  }
  if (isa.empty()) return isa;
  return Error{ErrorKind::not_supported,
               "instruction set \"" + isa + "\": this machine has " + known};
}

}  // namespace

const char* precision_name(Precision precision) {
  return kPrecisionNames[static_cast<int>(precision)];
}

Result<Precision> parse_precision(std::string_view name) {
  const auto* found = std::ranges::find(kPrecisionNames, name);
  if (found == std::end(kPrecisionNames)) {
    return Error{ErrorKind::bad_request,
                 "precision \"" + std::string(name) + "\": expected auto, f32, bf16 or int8"};
  }
  return static_cast<Precision>(found - std::begin(kPrecisionNames));
}

std::vector<FormatArithmetic> describe_arithmetic(const gguf::File& file,
                                                  const kernel::Table& kernels,
                                                  Precision precision) {
  constexpr const char* kArithmeticNames[] = {"f32", "bf16", "int8"};
  std::vector<FormatArithmetic> formats;
  for (const gguf::Tensor& tensor : file.tensors()) {
    const char* name = gguf::traits_of(tensor.type).name;
    const auto known = std::ranges::find(formats, name, &FormatArithmetic::format);
    if (tensor.shape.size() < 2 || known != formats.end()) continue;
    const kernel::Arithmetic arithmetic = arithmetic_of(kernels, precision, tensor.type);
    formats.push_back({name, kArithmeticNames[static_cast<int>(arithmetic)]});
  }
  return formats;
}

Result<std::unique_ptr<ModelFile>> ModelFile::open(const std::string& path,
                                                   const ModelOptions& options) {
  std::unique_ptr<ModelFile> model(new ModelFile);
  // Clients and metrics want UTF-8; names of files may be anything.
  model->name_ = json::valid_utf8(std::filesystem::path(path).stem().string());
  ADJ_TRY(model->file_, gguf::File::open(path));
  const gguf::File& file = *model->file_;
  model->fingerprint_ = file.fingerprint();
  model->entry_ = backbone_for(file);
  if (model->entry_ == nullptr) return no_backbone(file);
  ADJ_TRY(model->traits_, model->entry_->read_traits(file.metadata()));
  ADJ_TRY(model->tokenizer_, text::Tokenizer::open(file.metadata(), options.split));
  model->weights_ = make_mapped_weights(file);

  ADJ_TRY(model->sidecar_, read_sidecar(path));
  ADJ_TRY(const Family* family, family_for(file, options.family, model->sidecar_));
  ADJ_TRY(model->compiler_,
          family->open({model->file_.get(), model->tokenizer_.get(), model->weights_.get(),
                        model->traits_.width, model->sidecar_ ? &*model->sidecar_ : nullptr}));
  return model;
}

Result<std::unique_ptr<Model>> Model::open(const std::string& path, Runtime& runtime,
                                           const ModelOptions& options) {
  ADJ_TRY(const std::string isa, checked_isa(options.isa));
  std::unique_ptr<Model> model(new Model);
  ADJ_TRY(model->file_, ModelFile::open(path, options));
  model->kernels_ = kernel::make_table(isa.empty() ? nullptr : isa.c_str());
  model->runtime_ = &runtime;
  model->snapshot_owner_ = runtime.snapshots().new_owner();
  model->net_ = {&model->kernels_, &runtime.workers(), &model->file_->weights(), options.precision};
  ADJ_TRY(model->backbone_,
          model->file_->backbone_entry().open(model->file_->file().metadata(), model->net_, {}));
  const std::size_t bytes = model->file_->weights().bytes() + model->backbone_->scratch_bytes();
  ADJ_TRY(model->lease_, runtime.take_memory(bytes, path + " beside the file"));
  if (!model->intact()) {
    return Error{ErrorKind::bad_model, path + ": was changed or cut off while it was opened"};
  }
  return model;
}

Model::~Model() {
  if (runtime_ != nullptr) runtime_->snapshots().forget(snapshot_owner_);
}

std::optional<std::size_t> Model::pass_bytes_max() const {
  const MemoryBudget& memory = runtime_->memory();
  const std::size_t limit = memory.bytes_max();
  if (limit == 0) return std::nullopt;
  const std::size_t staying = memory.bytes_staying() + (lease_.stays() ? 0 : lease_.bytes());
  return limit - std::min(limit, staying);
}

SnapshotFile Model::snapshot_file(const std::string& folder) const {
  const std::string name =
      file_->fingerprint() + "-" + precision_name(net_.precision) + "-" + net_.kernels->isa;
  // The fingerprint samples the file; the time it was written tells of what lies between.
  return {folder + "/" + name + ".snapshots",
          name + "-" + file_->file().written_at() + "-" + ADJ_VERSION + "-" + build_id()};
}

Status Model::save_snapshots(const std::string& folder) const {
  if (!intact()) return Done{};  // whoever opens the file again would take them for its own
  return adjudge::save_snapshots(snapshot_file(folder), runtime_->snapshots(), snapshot_owner_);
}

Result<int> Model::load_snapshots(const std::string& folder) const {
  return adjudge::load_snapshots(snapshot_file(folder), *backbone_, runtime_->snapshots(),
                                 snapshot_owner_);
}

}  // namespace adjudge
