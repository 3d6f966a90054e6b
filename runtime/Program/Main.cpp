//===- Main.cpp - main() of every compiled model --------------------------===//
//
// In a file by itself, so that a program with its own main, such as a test, can
// link the rest.
//
//===----------------------------------------------------------------------===//
#include "heddle/image.h"

int main(int argc, char **argv) { return heddle::rt::runProgram(heddle::rt::linkedImage(), argc, argv); }
