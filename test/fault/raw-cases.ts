import type { RawStep } from '../raw-socket.ts'

/**
 * What comes back on the connection: the statuses in their order, then whether it is closed or still in step. An empty
 * list and `closed` is a connection that ended without an answer: nobody can take it for another request's answer.
 */
export type Outcome = `${string} ${'open' | 'closed'}`

/**
 * Bytes and what each transport makes of them. Where the two differ, the transport's own parser decides: llhttp in
 * node:http, and that of uWebSockets.js as it is in the binary for Node 20, which
 * - answers 505 to every request line it does not like, also one that is split over two segments,
 * - answers nothing to header lines it does not like and closes after its ten seconds,
 * - ends a connection on which a second request arrives before the first one is answered,
 * - takes trailers for the next request, and never finishes a body with chunk extensions.
 */
export type RawCase = readonly [name: string, steps: readonly RawStep[], node: Outcome, uws: Outcome]

const GET_OPEN = 'GET /health HTTP/1.1\r\nHost: a\r\n'
const GET = `${GET_OPEN}\r\n`
const POST_OPEN = 'POST /compute/v0/distance HTTP/1.1\r\nHost: a\r\n'

function headerLines(count: number): string {
  return Array.from({ length: count }, (_, index) => `h${index}: 1\r\n`).join('')
}

export const RAW_CASES: readonly RawCase[] = [
  ['a plain GET', [GET], '200 open', '200 open'],
  ['a plain POST', [`${POST_OPEN}Content-Length: 2\r\n\r\n{}`], '200 open', '200 open'],
  [
    'a body in three segments',
    [`${POST_OPEN}Content-Length: 6\r\n\r\n`, 30, 'ab', 30, 'cd', 30, 'ef'],
    '200 open',
    '200 open',
  ],
  [
    'a header line split over two segments',
    ['GET /health HTTP/1.1\r\nHo', 30, 'st: a\r\n\r\n'],
    '200 open',
    '200 open',
  ],
  [
    'a request line split over two segments',
    ['GET /hea', 30, 'lth HTTP/1.1\r\nHost: a\r\n\r\n'],
    '200 open',
    '505 closed',
  ],
  [
    'one byte a segment in the header block',
    ['GET /health HTTP/1.1\r\n', 'H', 5, 'o', 5, 's', 5, 't', 5, ':', 5, ' ', 5, 'a', 5, '\r\n', 5, '\r\n', 5],
    '200 open',
    '200 open',
  ],
  ['two GETs in one segment', [`${GET}${GET}`], '200 200 open', '200 200 open'],
  [
    'three POSTs in one segment, answered later',
    [
      `${POST_OPEN}Content-Length: 1\r\n\r\na${POST_OPEN}Content-Length: 1\r\n\r\nb${POST_OPEN}Content-Length: 1\r\n\r\nc`,
    ],
    '200 200 200 open',
    ' closed',
  ],
  [
    'a GET behind a POST that is still being answered',
    [`${POST_OPEN}Content-Length: 1\r\n\r\na${GET}`],
    '200 200 open',
    ' closed',
  ],
  ['an empty line before the request', [`\r\n${GET}`], '200 open', '505 closed'],
  [
    'chunked, one chunk',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    '200 open',
    '200 open',
  ],
  [
    'chunked in capitals',
    [`${POST_OPEN}Transfer-Encoding: CHUNKED\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    '200 open',
    '200 open',
  ],
  [
    'chunked, three chunks over segments',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n`, 30, '1\r\na\r\n', 30, '2\r\nbc\r\n', 30, '0\r\n\r\n'],
    '200 open',
    '200 open',
  ],
  [
    'Expect: 100-continue',
    [`${POST_OPEN}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`, 50, '{}'],
    '200 open',
    '200 open',
  ],
  [
    'an expectation nobody has defined',
    [`${POST_OPEN}Content-Length: 2\r\nExpect: tea\r\n\r\n{}`],
    '200 open',
    '200 open',
  ],
  ['Content-Length 0', [`${POST_OPEN}Content-Length: 0\r\n\r\n`], '200 open', '200 open'],
  ['no Content-Length and no body', [`${POST_OPEN}\r\n`], '200 open', '200 open'],
  ['HEAD', ['HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n'], '200 open', '200 open'],
  ['Connection: close asked for', [`${GET_OPEN}Connection: close\r\n\r\n`], '200 closed', '200 closed'],
  [
    'a body on GET, then another GET',
    [`${GET_OPEN}Content-Length: 3\r\n\r\nabc${GET}`],
    '200 200 open',
    '200 200 open',
  ],
  [
    'a body on an unknown path, then a GET',
    [`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc${GET}`],
    '404 200 open',
    '404 200 open',
  ],
  [
    'two different Content-Length',
    [`${POST_OPEN}Content-Length: 2\r\nContent-Length: 30\r\n\r\n{}${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'two equal Content-Length',
    [`${POST_OPEN}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${GET}`],
    '400 closed',
    ' closed',
  ],
  ['Content-Length with a list', [`${POST_OPEN}Content-Length: 2, 2\r\n\r\n{}`], '400 closed', '400 closed'],
  ['an empty Content-Length', [`${POST_OPEN}Content-Length: \r\n\r\n${GET}`], '400 closed', ' closed'],
  ['Content-Length +2', [`${POST_OPEN}Content-Length: +2\r\n\r\n{}`], '400 closed', '400 closed'],
  ['Content-Length -1', [`${POST_OPEN}Content-Length: -1\r\n\r\n{}`], '400 closed', '400 closed'],
  ['Content-Length 0x2', [`${POST_OPEN}Content-Length: 0x2\r\n\r\n{}`], '400 closed', '400 closed'],
  ['Content-Length 1e1', [`${POST_OPEN}Content-Length: 1e1\r\n\r\n{}`], '400 closed', '400 closed'],
  [
    'Content-Length of twenty digits',
    [`${POST_OPEN}Content-Length: 18446744073709551618\r\n\r\n{}`],
    '400 closed',
    '400 closed',
  ],
  ['Content-Length beyond the limit', [`${POST_OPEN}Content-Length: 9000000\r\n\r\n{}`], '413 closed', '413 closed'],
  ['Content-Length with a letter behind', [`${POST_OPEN}Content-Length: 2x\r\n\r\n{}`], '400 closed', '400 closed'],
  [
    'Content-Length and Transfer-Encoding',
    [`${POST_OPEN}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    '400 closed',
  ],
  [
    'Transfer-Encoding and Content-Length',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    '400 closed',
  ],
  [
    'Transfer-Encoding: xchunked',
    [`${POST_OPEN}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'Transfer-Encoding: gzip, chunked',
    [`${POST_OPEN}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'Transfer-Encoding: identity',
    [`${POST_OPEN}Transfer-Encoding: identity\r\n\r\n${GET}`],
    '400 closed',
    '400 closed',
  ],
  [
    'Transfer-Encoding twice',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'Transfer-Encoding: chunked, identity',
    [`${POST_OPEN}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    ' closed',
  ],
  ['an empty Transfer-Encoding', [`${POST_OPEN}Transfer-Encoding: \r\n\r\n${GET}`], '400 closed', ' closed'],
  [
    'a space before the colon of Transfer-Encoding',
    [`${POST_OPEN}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'Transfer-Encoding behind a tab',
    [`${POST_OPEN}Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n`],
    '200 open',
    '200 open',
  ],
  [
    'a chunk size that is no number',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n`],
    '400 closed',
    '400 closed',
  ],
  [
    'a negative chunk size',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n-1\r\nab\r\n0\r\n\r\n`],
    '400 closed',
    '400 closed',
  ],
  [
    'a chunk size of seventeen digits',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nab\r\n0\r\n\r\n`],
    '400 closed',
    '400 closed',
  ],
  [
    'a chunk longer than its size, then a GET',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n${GET}`],
    '400 closed',
    '505 closed',
  ],
  [
    'a chunk extension',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n`],
    '200 open',
    '408 closed',
  ],
  [
    'chunk lines that end in LF, then a GET',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'trailers behind the chunks',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n`],
    '200 open',
    '505 closed',
  ],
  [
    'a request hidden in trailers',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n0\r\n${GET}`],
    '400 closed',
    ' closed',
  ],
  [
    'chunked beyond the limit',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n800\r\n${'x'.repeat(2048)}\r\n`],
    '413 closed',
    '413 closed',
  ],
  [
    'Content-Encoding: gzip',
    [`${POST_OPEN}Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}`],
    '415 open',
    '415 open',
  ],
  ['a bare LF in the header block', ['GET /health HTTP/1.1\nHost: a\n\n'], '400 closed', '505 closed'],
  ['a bare CR in a header value', [`${GET_OPEN}X: a\rb\r\n\r\n`], '400 closed', ' closed'],
  ['NUL in a header value', [`${GET_OPEN}X: a\0b\r\n\r\n`], '400 closed', ' closed'],
  ['NUL in the path', ['GET /hea\0lth HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '505 closed'],
  ['a folded header line', [`${GET_OPEN}X: a\r\n b\r\n\r\n`], '400 closed', ' closed'],
  ['a space before the colon', ['GET /health HTTP/1.1\r\nHost : a\r\n\r\n'], '400 closed', ' closed'],
  ['no colon in a header line', [`${GET_OPEN}nonsense\r\n\r\n`], '400 closed', ' closed'],
  ['an underscore in a header name', [`${GET_OPEN}x_y: a\r\n\r\n`], '200 open', ' closed'],
  ['no Host', ['GET /health HTTP/1.1\r\nX: a\r\n\r\n'], '400 closed', '400 closed'],
  ['two Hosts', [`${GET_OPEN}Host: b\r\n\r\n`], '400 closed', '400 closed'],
  ['120 header lines', [`${GET_OPEN}${headerLines(120)}\r\n`], '400 closed', ' closed'],
  ['95 header lines', [`${GET_OPEN}${headerLines(94)}\r\n`], '200 open', '200 open'],
  ['a header line of 20 KB', [`${GET_OPEN}X: ${'y'.repeat(20000)}\r\n\r\n`], '431 closed', '200 open'],
  ['a path of 20 KB', [`GET /${'y'.repeat(20000)} HTTP/1.1\r\nHost: a\r\n\r\n`], '431 closed', '404 open'],
  ['an absolute form', ['GET http://a/health HTTP/1.1\r\nHost: a\r\n\r\n'], '200 open', '505 closed'],
  ['an asterisk form', ['OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'], '404 open', '505 closed'],
  ['CONNECT', ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '505 closed'],
  ['TRACE', ['TRACE /health HTTP/1.1\r\nHost: a\r\n\r\n'], '405 open', '405 open'],
  ['a method in lower case', ['get /health HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '200 open'],
  ['a method nobody knows', ['BREW /health HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '405 open'],
  ['a method with a sign in it', ['G@T /health HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '400 closed'],
  ['HTTP/1.0', ['GET /health HTTP/1.0\r\nHost: a\r\n\r\n'], '200 closed', '505 closed'],
  ['HTTP/0.9', ['GET /health\r\n\r\n'], '400 closed', '505 closed'],
  ['HTTP/2 preface', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], '400 closed', '505 closed'],
  ['HTTP/9.9', ['GET /health HTTP/9.9\r\nHost: a\r\n\r\n'], '400 closed', '505 closed'],
  ['two spaces in the request line', ['GET  /health HTTP/1.1\r\nHost: a\r\n\r\n'], '200 open', '505 closed'],
  ['a tab in the request line', ['GET\t/health HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '505 closed'],
  ['a TLS greeting', ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'], '400 closed', '505 closed'],
  ['random bytes', ['\xff\xfe\x00\x01\x80\x90garbage\r\n\r\n'], '400 closed', '505 closed'],
  [
    'Upgrade: websocket',
    [
      `${GET_OPEN}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    ],
    '200 open',
    '200 open',
  ],
  ['percent signs that decode to nothing', ['GET /%zz%ff%00 HTTP/1.1\r\nHost: a\r\n\r\n'], '404 open', '404 open'],
  ['dots in the path', ['GET /compute/../health HTTP/1.1\r\nHost: a\r\n\r\n'], '404 open', '404 open'],
  ['bytes above 127 in the path', ['GET /h\xe4alth HTTP/1.1\r\nHost: a\r\n\r\n'], '400 closed', '404 open'],
  ['a fragment in the path', ['GET /health#x HTTP/1.1\r\nHost: a\r\n\r\n'], '404 open', '404 open'],
  ['our half closed behind a GET', [GET, 'END'], '200 closed', '200 closed'],
  [
    'our half closed in the middle of a body',
    [`${POST_OPEN}Content-Length: 10\r\n\r\nabc`, 'END'],
    ' closed',
    ' closed',
  ],
  ['our half closed in the header block', ['GET /health HTTP/1.1\r\nHo', 'END'], '400 closed', ' closed'],
  [
    'a body shorter than it said, then silence',
    [`${POST_OPEN}Content-Length: 10\r\n\r\nabc`],
    '408 closed',
    '408 closed',
  ],
  [
    'a chunked body that never ends',
    [`${POST_OPEN}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`],
    '408 closed',
    '408 closed',
  ],
  [
    'a body longer than it said',
    [`${POST_OPEN}Content-Length: 2\r\n\r\n{}GARBAGE\r\n\r\n`],
    '400 closed',
    '505 closed',
  ],
]
