import { escapeHtml } from './html.mjs'

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y
const NUMBER = /\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?n?\b|\b0x[0-9a-fA-F]+\b/y
const words = (list) => new RegExp(`\\b(?:${list.replaceAll(' ', '|')})\\b`, 'y')
const SCRIPT =
  'as async await break case catch class const continue default else export extends finally for from function if import in ' +
  'instanceof interface let new of readonly return static switch throw try type typeof undefined var void while yield true false null'
const SOLIDITY =
  'address bool bytes bytes32 calldata constant constructor contract emit enum error event external function if immutable import ' +
  'indexed interface internal is library mapping memory modifier new override payable pragma private public pure require return ' +
  'returns revert solidity storage string struct true false uint256 uint32 uint64 uint8 using view virtual'

/** Rules by language, in the order in which they are tried: a pattern and its class (k key, s string, n number, c comment). */
const RULES = {
  json: [
    [/"(?:[^"\\\n]|\\.)*"(?=\s*:)/y, 'k'],
    [/"(?:[^"\\\n]|\\.)*"/y, 's'],
    [/-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b(?:true|false|null)\b/y, 'n'],
  ],
  js: [
    [/\/\/[^\n]*|\/\*[\s\S]*?\*\//y, 'c'],
    [/`(?:[^`\\]|\\.)*`/y, 's'],
    [STRING, 's'],
    [words(SCRIPT), 'k'],
    [NUMBER, 'n'],
  ],
  solidity: [
    [/\/\/[^\n]*|\/\*[\s\S]*?\*\//y, 'c'],
    [STRING, 's'],
    [words(SOLIDITY), 'k'],
    [NUMBER, 'n'],
  ],
  sh: [
    [/(?<=^|\s)#[^\n]*/my, 'c'],
    [/"(?:[^"\\]|\\.)*"|'[^']*'/y, 's'],
    [/(?<=\s)--?[A-Za-z][\w-]*/y, 'k'],
  ],
  http: [
    [/^[A-Za-z-]+(?=: )/my, 'k'],
    [/"(?:[^"\\\n]|\\.)*"/y, 's'],
  ],
}
const ALIASES = {
  ts: 'js',
  javascript: 'js',
  typescript: 'js',
  mjs: 'js',
  bash: 'sh',
  shell: 'sh',
  sol: 'solidity',
  ndjson: 'json',
  graphql: 'js',
}

/** Converts code to HTML with spans of class k, s, n and c. Code in a language without rules gets no spans. */
export function highlight(code, language = '') {
  const rules = RULES[ALIASES[language] ?? language]
  if (rules === undefined) return escapeHtml(code)
  let html = ''
  let plain = ''
  for (let index = 0; index < code.length; ) {
    const [text, kind] = readToken(code, index, rules)
    if (kind === undefined) plain += text
    else {
      html += `${escapeHtml(plain)}<span class="${kind}">${escapeHtml(text)}</span>`
      plain = ''
    }
    index += text.length
  }
  return html + escapeHtml(plain)
}

function readToken(code, index, rules) {
  for (const [pattern, kind] of rules) {
    pattern.lastIndex = index
    const match = pattern.exec(code)
    if (match !== null && match[0] !== '') return [match[0], kind]
  }
  // Takes a whole word, because a rule must not match in the middle of one.
  const [word] = /^(?:\w+|[\s\S])/.exec(code.slice(index, index + 200))
  return [word, undefined]
}
