//===- ReportPage.cpp - one HTML file that asks for nothing ---------------===//

#include "compiler/Report/ReportPage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/SHA256.h"

using namespace heddle;
using namespace heddle::report;
using llvm::StringRef;

namespace {
struct Embedded {
  StringRef name, text;
};
} // namespace

// Written at build time, in the order in which CMakeLists.txt names the files.
static const Embedded kScripts[] = {
#include "compiler/Report/Scripts.inc"
};
static const Embedded kStyles[] = {
#include "compiler/Report/Styles.inc"
};
static const Embedded kSchemas[] = {
#include "compiler/Report/Schemas.inc"
};

StringRef report::schemaText() { return kSchemas[0].text; }

static std::string wholeText(llvm::ArrayRef<Embedded> parts) {
  std::string all;
  for (const Embedded &part : parts)
    all += (part.text + "\n").str();
  return all;
}

/// The word by which a policy allows a script or a style.
static std::string digestOf(StringRef text) {
  return "'sha256-" + llvm::encodeBase64(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text))) + "'";
}

/// Deflated, as DecompressionStream('deflate') reads it.
static std::string packed(StringRef text) {
  llvm::SmallVector<uint8_t, 0> bytes;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(text), bytes);
  return llvm::encodeBase64(bytes);
}

static std::string escapedHtml(StringRef text) {
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::printHTMLEscaped(text, os);
  return out;
}

std::string report::pageOf(const Report &report) {
  std::string style = wholeText(kStyles);
  std::string script = "'use strict';\n(() => {\n" + wholeText(kScripts) + "})();\n";
  std::string page;
  llvm::raw_string_ostream os(page);
  os << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
     << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src " << digestOf(script)
     << "; style-src " << digestOf(style)
     << "; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'\">\n"
     << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
     << "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
     << "<link rel=\"icon\" href=\"data:,\">\n<title>"
     << escapedHtml(report.modelName.empty() ? "model" : report.modelName) << " - Heddle</title>\n<style>" << style
     << "</style></head>\n<body><noscript>This report needs scripts; they are in this file and ask for "
        "nothing.</noscript>\n";
  auto data = [&](StringRef id, const std::string &text) {
    os << "<script type=\"application/json\" id=\"" << id << "\">" << packed(text) << "</script>\n";
  };
  data("first", firstJson(report));
  data("ir", functionsJson(report));
  data("asm", assemblyJson(report));
  os << "<script>" << script << "</script></body></html>\n";
  return page;
}
