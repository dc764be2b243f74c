# 256-bit vectors with fused multiply-add and half-precision conversion: x86 processors since 2013.
set(isa_order 10)
set(isa_flags -mavx2 -mfma -mf16c)
set(isa_processors "x86_64|AMD64|amd64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 raises the first two inside immintrin.h; at -O0 its intrinsics are macros that trip the third.
  list(APPEND isa_flags -Wno-uninitialized -Wno-maybe-uninitialized -Wno-conversion)
endif()
