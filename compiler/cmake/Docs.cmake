# heddle-doc: a page a dialect (ops, types, attributes) and one for each file of passes, in
# build/doc, made from ODS and not kept in git. `heddle explain` has them compiled in.
file(GLOB_RECURSE HEDDLE_DEFINITIONS CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/dialects/*.td ${PROJECT_SOURCE_DIR}/compiler/*.td)
set(HEDDLE_PAGES "")

# heddle_page(NAME FILE.td -gen-...): build/doc/NAME.md
function(heddle_page name td)
  set(page ${PROJECT_BINARY_DIR}/doc/${name}.md)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} -I ${PROJECT_SOURCE_DIR} -I ${MLIR_INCLUDE_DIRS}
            ${PROJECT_SOURCE_DIR}/${td} -o ${page}
    DEPENDS ${HEDDLE_DEFINITIONS}
    COMMENT "doc/${name}.md" VERBATIM)
  set(HEDDLE_PAGES ${HEDDLE_PAGES} ${page} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/doc)
heddle_page(model dialects/Model/IR/ModelOps.td -gen-dialect-doc -dialect=model)
heddle_page(mask dialects/Mask/IR/MaskOps.td -gen-dialect-doc -dialect=mask)
heddle_page(attn dialects/Attn/IR/AttnOps.td -gen-dialect-doc -dialect=attn)
heddle_page(tile dialects/Tile/IR/TileOps.td -gen-dialect-doc -dialect=tile)
heddle_page(card dialects/Card/IR/CardAttrs.td -gen-dialect-doc -dialect=card)
heddle_page(passes-model dialects/Model/Transforms/Passes.td -gen-pass-doc)
heddle_page(passes-mask dialects/Mask/Transforms/Passes.td -gen-pass-doc)
heddle_page(passes-interpreter compiler/Interpreter/Passes.td -gen-pass-doc)
heddle_page(passes-entries compiler/Conversion/ModelToEntries/Passes.td -gen-pass-doc)
heddle_page(passes-plan compiler/Plan/Passes.td -gen-pass-doc)
heddle_page(passes-loops compiler/Conversion/Lowering/Passes.td -gen-pass-doc)
heddle_page(passes-warps compiler/Conversion/Lowering/GPU/Passes.td -gen-pass-doc)
heddle_page(passes-kernels compiler/Conversion/ToKernels/Passes.td -gen-pass-doc)
heddle_page(passes-nvvm compiler/Conversion/TileToNVVM/Passes.td -gen-pass-doc)
add_custom_target(heddle-doc DEPENDS ${HEDDLE_PAGES})
