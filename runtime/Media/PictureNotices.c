/*===- PictureNotices.c - Of libpng and libjpeg-turbo ---------------------===//
//
// Named by PictureFile.c, so that it is linked into the binaries that those
// libraries are linked into, and into no others.
//
//===----------------------------------------------------------------------===*/
#include "runtime/Media/PictureFile.h"

const char heddle_picture_notices[] = "\n== libpng\n\n"
                                      "Copyright (c) 1995-2022 The PNG Reference Library Authors.\n"
                                      "Copyright (c) 2018-2022 Cosmin Truta\n"
                                      "Copyright (c) 1998-2018 Glenn Randers-Pehrson\n"
                                      "Copyright (c) 1996-1997 Andreas Dilger\n"
                                      "Copyright (c) 1995-1996 Guy Eric Schalnat, Group 42, Inc.\n\n"
                                      "The PNG Reference Library is supplied \"AS IS\". The Contributing Authors\n"
                                      "and Group 42, Inc. disclaim all warranties, expressed or implied,\n"
                                      "including, without limitation, the warranties of merchantability and of\n"
                                      "fitness for any purpose.\n"
                                      "\n== libjpeg-turbo\n\n"
                                      "This software is based in part on the work of the Independent JPEG Group.\n"
                                      "Copyright (C) 1991-2020, Thomas G. Lane, Guido Vollbeding.\n"
                                      "Copyright (C) 2009-2023, D. R. Commander.\n\n"
                                      "Redistribution and use in source and binary forms, with or without\n"
                                      "modification, are permitted provided that the following conditions are\n"
                                      "met:\n\n"
                                      "- Redistributions of source code must retain the above copyright notice,\n"
                                      "  this list of conditions and the following disclaimer.\n"
                                      "- Redistributions in binary form must reproduce the above copyright\n"
                                      "  notice, this list of conditions and the following disclaimer in the\n"
                                      "  documentation and/or other materials provided with the distribution.\n"
                                      "- Neither the name of the libjpeg-turbo Project nor the names of its\n"
                                      "  contributors may be used to endorse or promote products derived from\n"
                                      "  this software without specific prior written permission.\n\n"
                                      "THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS\n"
                                      "\"AS IS\", AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT\n"
                                      "LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A\n"
                                      "PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS\n"
                                      "OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL,\n"
                                      "EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO,\n"
                                      "PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR\n"
                                      "PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF\n"
                                      "LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING\n"
                                      "NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS\n"
                                      "SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.\n";
