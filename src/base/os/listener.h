// How a listening TCP socket ends without losing whoever has just got in.
#pragma once

namespace adjudge {

// From now on nobody new begins to connect; handshakes that have begun may still end, and whoever
// is connected can be accepted. Without it a peer that connects between the last accept and the
// close is reset, although it was let in. False where the machine has no such means.
bool refuse_new_handshakes(int listening_descriptor);

}  // namespace adjudge
