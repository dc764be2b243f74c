#include "base/os/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace adjudge {

namespace {

struct Search {
  const void* code;   // any address in the object that is looked for
  std::string found;  // hex digits
};

bool holds(const dl_phdr_info& object, const void* code) {
  const auto address = reinterpret_cast<ElfW(Addr)>(code);
  for (const ElfW(Phdr) & header : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
    const ElfW(Addr) begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address - begin < header.p_memsz) {
      return true;
    }
  }
  return false;
}

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// The identifier among the notes of a segment (elf(5)): name and description, each padded.
std::string id_among(std::span<const unsigned char> notes) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name_bytes = padded(note.n_namesz), id_bytes = padded(note.n_descsz);
    const auto after = notes.subspan(sizeof note);
    if (after.size() < name_bytes + id_bytes) break;
    const auto name = after.first(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && name.size() == 4 &&
        std::memcmp(name.data(), "GNU", 4) == 0) {
      std::string id;
      for (const unsigned char byte : after.subspan(name_bytes, note.n_descsz)) {
        id += {kDigits[byte >> 4], kDigits[byte & 15]};
      }
      return id;
    }
    notes = after.subspan(name_bytes + id_bytes);
  }
  return {};
}

int look_at(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!holds(*object, search.code)) return 0;
  for (const ElfW(Phdr) & header : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (header.p_type != PT_NOTE || !search.found.empty()) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + header.p_vaddr);
    search.found = id_among({notes, header.p_memsz});
  }
  return 1;  // enough seen
}

}  // namespace

std::string build_id() {
  Search search{reinterpret_cast<const void*>(&build_id), {}};
  ::dl_iterate_phdr(look_at, &search);
  return search.found;
}

}  // namespace adjudge
