// Continues a file from a URL, with libcurl: proxies, certificates and the like are the user's.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "app/progress.h"
#include "base/os/part_file.h"

namespace adjudge::app {

// Appends what is missing of `bytes_total`; begins anew where the server cannot continue. Gives up
// on a server that does not answer in ten seconds or falls silent for thirty.
Status download(const std::string& url, std::size_t bytes_total, PartFile& file,
                Progress& progress);

}  // namespace adjudge::app
