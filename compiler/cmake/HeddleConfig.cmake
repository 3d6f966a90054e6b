# find_package(Heddle): where the compiler is, and a target for a compiled model.
get_filename_component(HEDDLE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(HEDDLE_COMPILER "${HEDDLE_PREFIX}/bin/heddle")
set(HEDDLE_INCLUDE_DIR "${HEDDLE_PREFIX}/include")

# heddle_compile(name MODEL [OPTIONS...]): the target heddle-name and the binary `name`, made from a description or a
# Hugging Face directory whenever it changes.
function(heddle_compile name model)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}
    COMMAND ${HEDDLE_COMPILER} compile ${model} -o ${CMAKE_CURRENT_BINARY_DIR}/${name} ${ARGN}
    DEPENDS ${model} VERBATIM)
  add_custom_target(heddle-${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()
