/**
 * Requests whose end two servers in a row could see at different offsets. Each hides a second request, `hidden`, in bytes
 * that one interpretation takes for the body of the first.
 */
export interface FramingCase {
  readonly name: string
  /** @param hidden a complete GET request; @param id header line that identifies the first request */
  readonly bytes: (hidden: string, id: string) => string
}

const POST = 'POST /compute/v0/distance HTTP/1.1\r\nHost: a\r\n'
const TE = 'Transfer-Encoding: chunked\r\n'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const END = '0\r\n\r\n'
const length = (text: string) => `Content-Length: ${text.length}\r\n`

/** The header lines of the first request after its id, and the bytes after the header block. */
const framed = (name: string, headers: (body: string) => string, body: (hidden: string) => string): FramingCase => ({
  name,
  bytes: (hidden, id) => `${POST}${id}A: b\r\n${headers(body(hidden))}\r\n${body(hidden)}`,
})

/** Header lines about chunks that one server may accept and another not, combined with the full length and with length zero. */
const ambiguous = (name: string, line: string): FramingCase[] => [
  framed(
    `${name}, chunks end first`,
    (body) => line + length(body),
    (hidden) => END + hidden,
  ),
  framed(
    `${name}, length ends first`,
    () => `Content-Length: 4\r\n${line}`,
    (hidden) => chunk(hidden) + END,
  ),
  framed(
    `${name}, without a length`,
    () => line,
    (hidden) => END + hidden,
  ),
]

export const FRAMING_CASES: readonly FramingCase[] = [
  ...ambiguous('Transfer-Encoding', TE),
  ...ambiguous('Transfer-Encoding in capitals', 'TRANSFER-ENCODING: CHUNKED\r\n'),
  ...ambiguous('Transfer-Encoding twice', `${TE}${TE}`),
  ...ambiguous('Transfer-Encoding twice and different', `${TE}Transfer-Encoding: identity\r\n`),
  ...ambiguous('Transfer-Encoding: xchunked', 'Transfer-Encoding: xchunked\r\n'),
  ...ambiguous('Transfer-Encoding: identity', 'Transfer-Encoding: identity\r\n'),
  ...ambiguous('Transfer-Encoding: chunked, identity', 'Transfer-Encoding: chunked, identity\r\n'),
  ...ambiguous('Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: gzip, chunked\r\n'),
  ...ambiguous('Transfer-Encoding in quotes', 'Transfer-Encoding: "chunked"\r\n'),
  ...ambiguous('Transfer-Encoding with a parameter', 'Transfer-Encoding: chunked;a=b\r\n'),
  ...ambiguous('Transfer-Encoding behind a tab', 'Transfer-Encoding:\tchunked\r\n'),
  ...ambiguous('Transfer-Encoding behind a vertical tab', 'Transfer-Encoding:\x0bchunked\r\n'),
  ...ambiguous('Transfer-Encoding before a space', 'Transfer-Encoding: chunked \r\n'),
  ...ambiguous('a space before the colon', 'Transfer-Encoding : chunked\r\n'),
  ...ambiguous('a space before the name', ' Transfer-Encoding: chunked\r\n'),
  ...ambiguous('an underscore in the name', 'Transfer_Encoding: chunked\r\n'),
  ...ambiguous('a folded line', 'Transfer-Encoding:\r\n chunked\r\n'),
  ...ambiguous('a folded line before it', 'X: y\r\n Transfer-Encoding: chunked\r\n'),
  ...ambiguous('a line that ends in LF', 'X: y\nTransfer-Encoding: chunked\r\n'),
  ...ambiguous('a line that ends in CR', 'X: y\rTransfer-Encoding: chunked\r\n'),
  ...ambiguous('NUL in a value', 'X: y\0\r\nTransfer-Encoding: chunked\r\n'),
  ...ambiguous('named as hop by hop', `Connection: Transfer-Encoding\r\n${TE}`),

  framed(
    'two lengths, the first of nothing',
    (body) => `Content-Length: 0\r\n${length(body)}`,
    (hidden) => hidden,
  ),
  framed(
    'two lengths, the last of nothing',
    (body) => `${length(body)}Content-Length: 0\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'two equal lengths',
    (body) => length(body) + length(body),
    (hidden) => hidden,
  ),
  framed(
    'a list of lengths',
    (body) => `Content-Length: 0, ${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length with a sign',
    (body) => `Content-Length: +${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length in hex',
    (body) => `Content-Length: 0x${body.length.toString(16)}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length with a zero before it',
    (body) => `Content-Length: 0${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length with a space in it',
    (body) => `Content-Length: 0 ${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length beyond 2⁶⁴',
    (body) => `Content-Length: ${2n ** 64n + BigInt(body.length)}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length on a folded line',
    (body) => `Content-Length:\r\n ${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'an underscore in Content_Length',
    (body) => `Content_Length: ${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a space before the colon of a length',
    (body) => `Content-Length : ${body.length}\r\n`,
    (hidden) => hidden,
  ),
  framed(
    'a length named as hop by hop',
    (body) => `Connection: Content-Length\r\n${length(body)}`,
    (hidden) => hidden,
  ),
  framed(
    'an empty length',
    () => 'Content-Length: \r\n',
    (hidden) => hidden,
  ),
  framed(
    'no length',
    () => '',
    (hidden) => hidden,
  ),
  framed(
    'an expectation',
    (body) => `Expect: 100-continue\r\n${length(body)}`,
    (hidden) => hidden,
  ),

  framed(
    'a chunk longer than its size',
    () => TE,
    (hidden) => `2\r\n{}${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk size in hex notation',
    () => TE,
    (hidden) => `0x${hidden.length.toString(16)}\r\n${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk size beyond 2⁶⁴',
    () => TE,
    (hidden) => `10000000000000000\r\n${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk size of all ones',
    () => TE,
    (hidden) => `ffffffffffffffff\r\n${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk size with a sign',
    () => TE,
    (hidden) => `-1\r\n${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk size behind zeros',
    () => TE,
    (hidden) => `${'0'.repeat(40)}${chunk(hidden)}${END}`,
  ),
  framed(
    'a chunk size before a space',
    () => TE,
    (hidden) => `${hidden.length.toString(16)} \r\n${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk size that is empty',
    () => TE,
    (hidden) => `\r\n${hidden}\r\n${END}`,
  ),
  framed(
    'a chunk extension',
    () => TE,
    (hidden) => `2;a=b\r\n{}\r\n${END}${hidden}`,
  ),
  framed(
    'a chunk extension in quotes',
    () => TE,
    (hidden) => `2;a="\r\n${hidden}"\r\n{}\r\n${END}`,
  ),
  framed(
    'a chunk extension behind LF',
    () => TE,
    (hidden) => `2;\n{}\r\n0\r\n\r\n${hidden}`,
  ),
  framed(
    'a chunk extension of the last chunk',
    () => TE,
    (hidden) => `2\r\n{}\r\n0;a=b\r\n\r\n${hidden}`,
  ),
  framed(
    'chunk lines that end in LF',
    () => TE,
    (hidden) => `2\n{}\n0\n\n${hidden}`,
  ),
  framed(
    'chunk lines that end in CR',
    () => TE,
    (hidden) => `2\r{}\r0\r\r${hidden}`,
  ),
  framed(
    'a chunk without its line break',
    () => TE,
    (hidden) => `2\r\n{}0\r\n\r\n${hidden}`,
  ),
  framed(
    'trailers that are a request',
    () => TE,
    (hidden) => `0\r\n${hidden}`,
  ),
  framed(
    'a length in trailers',
    () => TE,
    (hidden) => `0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ),
  framed(
    'a host in trailers',
    () => TE,
    (hidden) => `0\r\nHost: b\r\n\r\n${hidden}`,
  ),
  framed(
    'chunks that end as they should',
    () => TE,
    (hidden) => chunk('{}') + END + hidden,
  ),
  framed(
    'a hidden request in a chunk',
    () => TE,
    (hidden) => chunk(hidden) + END,
  ),

  {
    name: 'chunks in HTTP/1.0',
    bytes: (hidden, id) => `POST /compute/v0/distance HTTP/1.0\r\nHost: a\r\n${id}${TE}\r\n${END}${hidden}`,
  },
  {
    name: 'HTTP/1.0 kept alive',
    bytes: (hidden, id) => `GET /health HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n${id}\r\n${hidden}`,
  },
  {
    name: 'a body on GET',
    bytes: (hidden, id) => `GET /health HTTP/1.1\r\nHost: a\r\n${id}${length(hidden)}\r\n${hidden}`,
  },
  {
    name: 'chunks on GET',
    bytes: (hidden, id) => `GET /health HTTP/1.1\r\nHost: a\r\n${id}${TE}\r\n${chunk(hidden)}${END}`,
  },
  {
    name: 'a body on HEAD',
    bytes: (hidden, id) => `HEAD /health HTTP/1.1\r\nHost: a\r\n${id}${length(hidden)}\r\n${hidden}`,
  },
  {
    name: 'an upgrade to HTTP/2',
    bytes: (hidden, id) =>
      `GET /health HTTP/1.1\r\nHost: a\r\n${id}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n${hidden}`,
  },
  {
    name: 'an upgrade to a web socket',
    bytes: (hidden, id) =>
      `GET /health HTTP/1.1\r\nHost: a\r\n${id}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n${hidden}`,
  },
  {
    name: 'an absolute target of another host',
    bytes: (hidden, id) => `GET http://b/health HTTP/1.1\r\nHost: a\r\n${id}\r\n${hidden}`,
  },
  {
    name: 'a refused body',
    bytes: (hidden, id) => `POST /nowhere HTTP/1.1\r\nHost: a\r\n${id}${length(hidden)}\r\n${hidden}`,
  },
  {
    name: 'a refused body in chunks',
    bytes: (hidden, id) => `POST /nowhere HTTP/1.1\r\nHost: a\r\n${id}${TE}\r\n${chunk(hidden)}${END}`,
  },
  { name: 'a header block that ends in LF', bytes: (hidden, id) => `GET /health HTTP/1.1\nHost: a\n${id}\n${hidden}` },
  {
    name: 'a method in mixed case',
    bytes: (hidden, id) => `PoST /health HTTP/1.1\r\nHost: a\r\n${id}${length(hidden)}\r\n${hidden}`,
  },
]
