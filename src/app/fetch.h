// Brings a catalogue entry into the models folder: continues what is there, tries the sources in
// order, and gives the file its name only when size and checksum are right.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "app/catalogue.h"

namespace adjudge::app {

// The path of the file. Free of cost when it is there and was checked before. Says on standard
// error what it does.
Result<std::string> fetch_model(const CatalogueEntry& entry, const std::string& folder);

}  // namespace adjudge::app
