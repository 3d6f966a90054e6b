// Every browser unpacks gzip; the page is not kept in another form.
#include "runtime/Serve/Page.h"

#include "Page.inc" // kPage, kPolicy

namespace heddle::serve {

std::string pageBytes() { return {reinterpret_cast<const char *>(kPage), sizeof kPage}; }

std::string pageFields() {
  return "Content-Encoding: gzip\r\nContent-Security-Policy: " + std::string(kPolicy) +
         "\r\nReferrer-Policy: no-referrer\r\n";
}

} // namespace heddle::serve
