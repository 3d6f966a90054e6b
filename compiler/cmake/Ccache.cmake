# What was compiled once is taken from ccache, where that is installed and nobody chose another launcher. Precompiled
# headers need what ccache calls sloppiness: our flags never differ from those of the header, and no source says the time.
if(HEDDLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(HEDDLE_CCACHE_PROGRAM ccache)
  if(HEDDLE_CCACHE_PROGRAM)
    set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${HEDDLE_CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  endif()
endif()
