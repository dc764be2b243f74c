# Dot products of bytes in 512-bit vectors: x86 servers since 2019, Zen 4.
set(isa_order 40)
set(isa_flags -mavx512vnni -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mf16c)
set(isa_processors "x86_64|AMD64|amd64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 raises the first two inside immintrin.h; at -O0 its intrinsics are macros that trip the third.
  list(APPEND isa_flags -Wno-uninitialized -Wno-maybe-uninitialized -Wno-conversion)
endif()
