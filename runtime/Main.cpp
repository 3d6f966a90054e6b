//===- Main.cpp - main() of every compiled model --------------------------===//
//
// Alone in its file, so that a program with a main of its own can link the
// rest.
//
//===----------------------------------------------------------------------===//
#include "heddle/image.h"

int main(int argc, char **argv) {
  return heddle::rt::runProgram(heddle::rt::linkedImage(), argc, argv);
}
