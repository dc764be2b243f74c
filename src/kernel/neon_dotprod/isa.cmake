# Dot products of bytes, by lane: Cortex-A75 and Neoverse N1 on, Apple's since 2018.
set(isa_order 20)
set(isa_flags -march=armv8.2-a+dotprod)
set(isa_processors "aarch64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 moves loads up before it has given out registers, and then has none left for the sums.
  list(APPEND isa_flags -fno-schedule-insns)
endif()
