# 128-bit vectors with fused multiply-add: every 64-bit Arm processor. (Linux calls them aarch64, and probes ask Linux.)
set(isa_order 10)
set(isa_flags "")
set(isa_processors "aarch64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 moves loads up before it has given out registers, and then has none left for the sums.
  list(APPEND isa_flags -fno-schedule-insns)
endif()
