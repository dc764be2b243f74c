#include "base/os/listener.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace adjudge {

namespace {

// Of a TCP header, which a socket's filter sees first.
constexpr std::uint32_t kFlagsOffset = 13;
constexpr std::uint32_t kSyn = 0x02;
constexpr std::uint32_t kSynAndAck = 0x12;
constexpr std::uint32_t kWhole = 0xffffffff;

}  // namespace

bool refuse_new_handshakes(int listening_descriptor) {
  // A SYN is dropped, as on a busy network: its sender tries again, and finds the socket closed.
  std::array<sock_filter, 5> steps = {{
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlagsOffset),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSynAndAck),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kSyn, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, kWhole),
  }};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return ::setsockopt(listening_descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program,
                      sizeof(program)) == 0;
}

}  // namespace adjudge
