#include "base/os/vanished_page.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

struct Slot {
  std::atomic<bool> taken;
  std::atomic<bool> vanished;
  std::atomic<std::uintptr_t> begin;  // zero: nothing to survive here
  std::atomic<std::uintptr_t> end;
};

// Global and changing, because a signal's handler reaches nothing else, and may take no lock.
std::array<Slot, 1024> slots;

Slot* slot_of(std::uintptr_t address) {
  for (Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin;
    if (begin != 0 && address >= begin && address < slot.end) return &slot;
  }
  return nullptr;
}

// Zeros from there to the mapping's end: a file that was cut off has nothing behind that either.
bool put_zeros(std::uintptr_t address, std::uintptr_t end) {
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = address / page_bytes * page_bytes;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  // Without the C library's function, which tools replace by one that a handler may not call.
  return ::syscall(SYS_mmap, begin, end - begin, PROT_READ, kFlags, -1, 0) != -1;
}

void on_bus_error(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Slot* slot = info->si_code == BUS_ADRERR ? slot_of(address) : nullptr;
  if (slot != nullptr) {
    slot->vanished = true;  // before anything can be read
    if (put_zeros(address, slot->end)) return;
  }
  std::signal(SIGBUS, SIG_DFL);  // it happens again, and this time it ends us
}

}  // namespace

void survive_vanished_pages() {
  struct sigaction action{};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  CHECK(::sigaction(SIGBUS, &action, nullptr) == 0);
}

WatchedMapping::WatchedMapping(const void* begin, std::size_t bytes) {
  for (int i = 0; i < count_of(slots) && slot_ < 0; ++i) {
    if (!slots[at(i)].taken.exchange(true)) slot_ = i;
  }
  if (slot_ < 0) return;
  Slot& slot = slots[at(slot_)];
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  slot.vanished = false;
  slot.end = address + bytes;
  slot.begin = address;  // last: from here on the handler sees it
}

WatchedMapping::~WatchedMapping() {
  if (slot_ < 0) return;
  slots[at(slot_)].begin = 0;
  slots[at(slot_)].taken = false;
}

bool WatchedMapping::vanished() const { return slot_ >= 0 && slots[at(slot_)].vanished; }

}  // namespace adjudge
