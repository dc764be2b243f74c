#include "app/server_models.h"

#include <algorithm>
#include <filesystem>

#include "app/catalogue.h"
#include "base/try.h"
#include "serve/model_decider.h"

namespace adjudge::app {

namespace {

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path().string());
  }
  if (failed) return Error{ErrorKind::bad_request, folder + ": " + failed.message()};
  if (files.empty()) return Error{ErrorKind::bad_request, folder + ": no .gguf file in it"};
  std::ranges::sort(files);
  return files;
}

Result<std::vector<std::string>> paths_of(const std::vector<std::string>& models) {
  std::vector<std::string> paths;
  for (const std::string& model : models) {
    std::error_code ignored;
    if (std::filesystem::is_directory(model, ignored)) {
      ADJ_TRY(const std::vector<std::string> files, files_in(model));
      paths.insert(paths.end(), files.begin(), files.end());
      continue;
    }
    ADJ_TRY(std::string path, resolve_model(model));
    paths.push_back(std::move(path));
  }
  return paths;
}

Status check_pinned(const std::vector<std::string>& names,
                    const std::vector<serve::ShelfEntry>& entries) {
  for (const std::string& name : names) {
    const auto named = [&](const serve::ShelfEntry& entry) { return entry.card.id == name; };
    if (std::ranges::any_of(entries, named)) continue;
    return Error{ErrorKind::bad_request, "--pin " + name + ": no model here has that name"};
  }
  return Done{};
}

// What `adjudge models` and the other commands call a file of the catalogue.
std::vector<std::string> names_in_catalogue(const std::string& path) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue().entries) {
    if (std::filesystem::path(path).filename() != entry.file) continue;
    names.push_back(entry.name);
    if (&entry == catalogue().find(kDefaultModel)) names.push_back(kDefaultModel);
  }
  return names;
}

// What was said of a file before it is loaded.
struct ShownModel {
  std::string fingerprint;
  bool pinned = false;
};

Result<std::shared_ptr<const serve::Decider>> load(const std::string& path, const ShownModel& shown,
                                                   const ServedModelOptions& options) {
  ADJ_TRY(std::unique_ptr<Model> model, Model::open(path, Runtime::process(), options.model));
  if (shown.pinned) model->stay();
  if (model->file().fingerprint() != shown.fingerprint) {
    return Error{ErrorKind::bad_model,
                 path + ": is another model than when the server started; start it again"};
  }
  const std::string& folder = options.snapshot_folder;
  if (folder.empty()) {
    return std::shared_ptr<const serve::Decider>(
        std::make_shared<serve::ModelDecider>(std::move(model), options.compile));
  }
  const Result<int> loaded = model->load_snapshots(folder);
  if (!loaded.ok()) options.report(loaded.error().message());
  const auto put_away = [folder, report = options.report](const serve::ModelDecider* decider) {
    const Status saved = decider->model().save_snapshots(folder);
    if (!saved.ok()) report(saved.error().message());
    delete decider;
  };
  return std::shared_ptr<const serve::Decider>(
      new serve::ModelDecider(std::move(model), options.compile), put_away);
}

}  // namespace

Result<std::vector<serve::ShelfEntry>> shelf_entries(const std::vector<std::string>& models,
                                                     const ServedModelOptions& options) {
  ADJ_TRY(const std::vector<std::string> paths, paths_of(models));
  std::vector<serve::ShelfEntry> entries;
  for (const std::string& path : paths) {
    ADJ_TRY(const std::unique_ptr<ModelFile> file, ModelFile::open(path, options.model));
    serve::ModelCard card = serve::card_of(*file, options.model.precision);
    card.other_names = names_in_catalogue(path);
    for (const serve::ShelfEntry& other : entries) {
      if (other.card.id != card.id) continue;
      return Error{ErrorKind::bad_request, path + ": there is another model named " + card.id};
    }
    const ShownModel shown{card.fingerprint, std::ranges::count(options.pinned, card.id) > 0};
    const auto load_it = [=] { return load(path, shown, options); };
    entries.push_back({std::move(card), load_it, shown.pinned});
  }
  ADJ_TRY_DONE(check_pinned(options.pinned, entries));
  return entries;
}

}  // namespace adjudge::app
