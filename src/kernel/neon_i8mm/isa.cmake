# Products of byte matrices, 2 x 8 by 8 x 2: Neoverse V1 and N2 on, Apple's since 2021.
set(isa_order 30)
set(isa_flags -march=armv8.2-a+i8mm)
set(isa_processors "aarch64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 moves loads up before it has given out registers, and then has none left for the sums.
  list(APPEND isa_flags -fno-schedule-insns)
endif()
