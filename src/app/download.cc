#include "app/download.h"

#include <curl/curl.h>

#include <memory>
#include <optional>

#include "base/check.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

constexpr long kConnectSeconds = 10;
constexpr long kSilenceSeconds = 30;

struct Transfer {
  PartFile& file;
  Progress& progress;
  std::size_t bytes_total;
  std::optional<Error> error;
};

// libcurl's write callback: anything but `count` gives the transfer up.
std::size_t receive(char* data, std::size_t, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (count > transfer.bytes_total - transfer.file.bytes()) {
    transfer.error =
        Error{ErrorKind::bad_model, "more than " + std::to_string(transfer.bytes_total) + " bytes"};
    return 0;
  }
  const Status status = transfer.file.append(std::as_bytes(std::span(data, count)));
  if (!status.ok()) {
    transfer.error = status.error();
    return 0;
  }
  transfer.progress.at(transfer.file.bytes());
  return count;
}

using Handle = std::unique_ptr<CURL, void (*)(CURL*)>;

Handle make_handle(const std::string& url, Transfer& transfer, char* message) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(started == CURLE_OK);
  Handle handle(curl_easy_init(), &curl_easy_cleanup);
  CHECK(handle != nullptr);
  CURL* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "adjudge/" ADJ_VERSION);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilenceSeconds);
  curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.file.bytes()));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
  return handle;
}

}  // namespace

Status download(const std::string& url, std::size_t bytes_total, PartFile& file,
                Progress& progress) {
  Transfer transfer{file, progress, bytes_total, std::nullopt};
  char message[CURL_ERROR_SIZE] = "";
  const Handle handle = make_handle(url, transfer, message);
  const CURLcode code = curl_easy_perform(handle.get());
  if (transfer.error) return *transfer.error;
  if (code == CURLE_RANGE_ERROR && file.bytes() > 0) {
    ADJ_TRY_DONE(file.cut(0));
    return download(url, bytes_total, file, progress);
  }
  if (code != CURLE_OK) {
    return Error{ErrorKind::unavailable, *message ? message : curl_easy_strerror(code)};
  }
  if (file.bytes() != bytes_total) {
    return Error{ErrorKind::unavailable, "only " + std::to_string(file.bytes()) + " of " +
                                             std::to_string(bytes_total) + " bytes came"};
  }
  return Done{};
}

}  // namespace adjudge::app
