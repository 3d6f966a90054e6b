# find_package(Heddle): where the compiler is, and a target for a compiled model.
cmake_minimum_required(VERSION 3.20) # DEPFILE with every generator, its paths as they are
get_filename_component(HEDDLE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(HEDDLE_COMPILER "${HEDDLE_PREFIX}/bin/heddle")
set(HEDDLE_INCLUDE_DIR "${HEDDLE_PREFIX}/include")

# heddle_compile(name MODEL [OPTIONS...]): the target heddle-name and the binary `name`, made from a description or a
# Hugging Face directory (relative to the source folder) whenever one of its files changes, one comes or goes, or Heddle
# itself is another.
function(heddle_compile name model)
  get_filename_component(model "${model}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(binary "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(whole "${model}")
  if(model STREQUAL CMAKE_CURRENT_BINARY_DIR) # the binary itself changes the folder
    set(whole)
  endif()
  file(GLOB archives "${HEDDLE_PREFIX}/lib/libheddle_*.a")
  add_custom_command(OUTPUT "${binary}"
    COMMAND "${HEDDLE_COMPILER}" compile "${model}" -o "${binary}" --depfile "${binary}.d" ${ARGN}
    DEPENDS ${whole} "${HEDDLE_COMPILER}" ${archives}
    DEPFILE "${binary}.d" VERBATIM)
  add_custom_target(heddle-${name} ALL DEPENDS "${binary}")
endfunction()
