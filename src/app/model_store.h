// The models folder: which catalogue entries are in it, and whether their bytes were checked. A
// file that was checked gets a receipt beside it, so that nobody hashes a gigabyte twice.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "app/catalogue.h"

namespace adjudge::app {

enum class Presence {
  absent,
  started,     // a part of it is here; pull goes on from there
  unverified,  // here, not checked since it last changed
  verified,
};
const char* presence_name(Presence presence);

std::string path_of(const CatalogueEntry& entry, const std::string& folder);
std::string part_path_of(const CatalogueEntry& entry, const std::string& folder);

// Looks at names, sizes and receipts; reads no weights.
Presence presence_of(const CatalogueEntry& entry, const std::string& folder);

// For whoever has just checked the file.
void leave_receipt(const CatalogueEntry& entry, const std::string& folder);

// Reads the whole file; leaves a receipt when it is what the catalogue says.
Status verify(const CatalogueEntry& entry, const std::string& folder);

}  // namespace adjudge::app
