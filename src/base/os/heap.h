// What the C library's heap does with freed memory. Left to itself it returns large arrays to the
// system, and new pages have to be found and cleared for the next ones.
#pragma once

namespace adjudge {

// From here on freed memory stays with the process, for all its threads. To be called by a program
// before it starts threads; a library leaves the heap of others alone. False: this heap has its own
// ways.
bool keep_freed_memory();

// Returns what is free now: after something large has gone for good.
void give_back_freed_memory();

}  // namespace adjudge
