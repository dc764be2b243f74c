# Dot products of bytes in 256-bit vectors: Alder Lake and what followed without AVX-512, Zen 5.
set(isa_order 20)
set(isa_flags -mavxvnni -mavx2 -mfma -mf16c)
set(isa_processors "x86_64|AMD64|amd64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 raises the first two inside immintrin.h; at -O0 its intrinsics are macros that trip the third.
  list(APPEND isa_flags -Wno-uninitialized -Wno-maybe-uninitialized -Wno-conversion)
endif()
