# Writes OUT from the page FILE: its bytes, packed by gzip, and the Content-Security-Policy that allows its one script and
# its one style by their SHA-256 and nothing else. WORK: a file that may be written on the way.
file(READ ${FILE} text)
string(LENGTH "${text}" length)
if(length GREATER 24576)
  message(FATAL_ERROR "${FILE} has ${length} bytes; 24576 are its bound")
endif()

# RESULT: the SHA-256 of what stands in the one element TAG, in base64: three hexadecimal digits are two letters.
set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
function(digest tag result)
  string(REGEX MATCHALL "<${tag}[ >]" all "${text}")
  list(LENGTH all count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${FILE} has ${count} elements ${tag}; one, without attributes, is expected")
  endif()
  string(FIND "${text}" "<${tag}>" begin)
  string(FIND "${text}" "</${tag}>" end)
  string(LENGTH "<${tag}>" skipped)
  math(EXPR begin "${begin} + ${skipped}")
  math(EXPR size "${end} - ${begin}")
  string(SUBSTRING "${text}" ${begin} ${size} inside)
  string(SHA256 hex "${inside}")
  set(out "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hex}00" ${at} 3 three) # 64 digits: the last three are one digit and two of nothing
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING "${letters}" ${high} 1 high)
    string(SUBSTRING "${letters}" ${low} 1 low)
    string(APPEND out "${high}${low}")
  endforeach()
  string(SUBSTRING "${out}" 0 43 out)
  set(${result} "sha256-${out}=" PARENT_SCOPE)
endfunction()
digest(script script)
digest(style style)

file(ARCHIVE_CREATE OUTPUT ${WORK} PATHS ${FILE} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
file(READ ${WORK} hex HEX)
# Bytes 4 to 7 of gzip are a time, which two builds should not differ by.
string(SUBSTRING "${hex}" 0 8 begin)
string(SUBSTRING "${hex}" 16 -1 rest)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${begin}00000000${rest}")
file(WRITE ${OUT} "static constexpr unsigned char kPage[] = {${bytes}};
static constexpr char kPolicy[] = \"default-src 'none'; script-src '${script}'; style-src '${style}'; connect-src 'self'; \"
                                  \"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\";
")
