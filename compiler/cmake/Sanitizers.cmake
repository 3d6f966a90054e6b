# What is built with sanitizers (test/sanitize.sh), by clang alone. HEDDLE_SANITIZE says with which, as -fsanitize= takes
# them: `address,undefined` or `thread`. Compiled models get them, too, where they are linked with archives so built.
set(HEDDLE_SANITIZE "" CACHE STRING "Build everything with sanitizers: address,undefined or thread")

# heddle_sanitized(NAME): a target whose own code is checked while it runs.
function(heddle_sanitized name)
  if(HEDDLE_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${HEDDLE_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -g1)
    target_link_options(${name} PUBLIC -fsanitize=${HEDDLE_SANITIZE})
  endif()
endfunction()

# heddle_sanitizer_options(FILE): what clang adds to a link line with -fsanitize=, one option a line, for the linker that
# heddle calls itself (targets/Host/Link.h).
function(heddle_sanitizer_options file)
  if(HEDDLE_SANITIZE MATCHES "^address")
    set(archives asan_static asan asan_cxx)
  elseif(HEDDLE_SANITIZE STREQUAL "thread")
    set(archives tsan tsan_cxx)
  else()
    message(FATAL_ERROR "HEDDLE_SANITIZE=${HEDDLE_SANITIZE}: address,undefined or thread")
  endif()
  set(options --whole-archive)
  foreach(archive ${archives})
    set(name libclang_rt.${archive}-${CMAKE_SYSTEM_PROCESSOR}.a)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
      OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "${name} not found: compiler/bootstrap.sh --sanitizers installs it, for clang")
    endif()
    list(APPEND options ${path})
    if(EXISTS ${path}.syms)
      list(APPEND symbols --dynamic-list=${path}.syms)
    endif()
  endforeach()
  list(APPEND options --no-whole-archive ${symbols} -lpthread -lrt -ldl -lresolv -lm)
  list(JOIN options "\n" options)
  file(CONFIGURE OUTPUT ${file} CONTENT "${options}\n" @ONLY)
endfunction()
