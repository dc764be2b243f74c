#include "app/server_models.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/catalogue.h"
#include "base/size.h"
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

// A file to be served, and what is said of it before it is loaded.
struct ServedFile {
  std::string given;  // to --model: the file, the name of a pulled model, or a folder
  std::string path;
  serve::ModelCard card;
  bool pinned = false;
};

Result<std::vector<ServedFile>> find_files(const std::vector<std::string>& models) {
  std::vector<ServedFile> found;
  for (const std::string& model : models) {
    std::error_code ignored;
    if (std::filesystem::is_directory(model, ignored)) {
      ADJ_TRY(const std::vector<std::string> files, files_in(model));
      for (const std::string& file : files) found.push_back({.given = model, .path = file});
      continue;
    }
    ADJ_TRY(std::string path, resolve_model(model));
    found.push_back({.given = model, .path = std::move(path)});
  }
  return found;
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

Status pin(const std::string& name, std::vector<ServedFile>& files) {
  std::vector<serve::ModelCard> cards;
  for (const ServedFile& file : files) cards.push_back(file.card);
  const int meant = serve::find_card(cards, name);
  if (meant >= 0) files[at(meant)].pinned = true;
  bool found = meant >= 0;
  std::string known;
  for (ServedFile& file : files) {
    known += (known.empty() ? "" : ", ") + file.card.id;
    if (name == file.given || name == file.path) file.pinned = found = true;
  }
  if (found) return Done{};
  return Error{ErrorKind::bad_request,
               "--pin " + name + ": no model here is called so, or was given so to --model; " +
                   "there are " + known};
}

Result<std::shared_ptr<const serve::Decider>> load(const ServedFile& file,
                                                   const ServedModelOptions& options) {
  ADJ_TRY(std::unique_ptr<Model> model, Model::open(file.path, Runtime::process(), options.model));
  if (file.pinned) model->stay();
  if (model->file().fingerprint() != file.card.fingerprint) {
    return Error{ErrorKind::bad_model,
                 file.path + ": is another model than when the server started; start it again"};
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
  ADJ_TRY(std::vector<ServedFile> files, find_files(models));
  std::set<std::string> ids;
  for (ServedFile& served : files) {
    ADJ_TRY(const std::unique_ptr<ModelFile> file, ModelFile::open(served.path, options.model));
    served.card = serve::card_of(*file, options.model.precision);
    served.card.other_names = names_in_catalogue(served.path);
    if (ids.insert(served.card.id).second) continue;
    return Error{ErrorKind::bad_request,
                 served.path + ": there is another model named " + served.card.id};
  }
  for (const std::string& name : options.pinned) ADJ_TRY_DONE(pin(name, files));
  std::vector<serve::ShelfEntry> entries;
  for (const ServedFile& file : files) {
    entries.push_back({file.card, [=] { return load(file, options); }, file.pinned});
  }
  return entries;
}

}  // namespace adjudge::app
