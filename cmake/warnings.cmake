# The warnings we keep silent code under, per compiler, with the reason for each exception.
set(adj_warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ means narrowing only; clang's -Wconversion includes every change of sign.
  list(APPEND adj_warnings -Wconversion)
  # g++ 12 sees overlapping copies in std::string::operator+ where there are none (GCC bug 105651).
  list(APPEND adj_warnings -Wno-restrict)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # g++ notes where its calling convention was another before version 10.1; nothing here is that old.
    list(APPEND adj_warnings -Wno-psabi)
  endif()
  if(ADJ_SANITIZE MATCHES "thread")
    # Asio's fences are invisible to g++'s thread sanitizer, which says so; its locks are not.
    list(APPEND adj_warnings -Wno-tsan)
  endif()
  # Designated initialisers leave out what has a default on purpose.
  list(APPEND adj_warnings -Wno-missing-field-initializers)
else()
  list(APPEND adj_warnings -Wno-missing-field-initializers -Wno-missing-designated-field-initializers)
  # libstdc++'s own stable algorithms use a function that it calls deprecated; g++ looks at our code.
  list(APPEND adj_warnings -Wno-deprecated-declarations)
endif()
if(ADJ_WERROR)
  list(APPEND adj_warnings -Werror)
endif()
