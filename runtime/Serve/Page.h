// The page of the server, for people: one HTML file that talks to this server alone. Page.html is packed, and its
// policy made, by the build (PackPage.cmake).
#ifndef HEDDLE_RUNTIME_SERVE_PAGE_H
#define HEDDLE_RUNTIME_SERVE_PAGE_H

#include <string>

namespace heddle::serve {

/// The page, packed by gzip.
std::string pageBytes();
/// Lines for the head of its answer: the coding, and what the page may do.
std::string pageFields();

} // namespace heddle::serve

#endif
