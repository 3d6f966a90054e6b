# `cmake --install` and find_package(Heddle): filled in where the tools are known.
