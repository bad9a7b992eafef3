/** The Markdown pages of the repository, parsed for tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** A fenced block. */
export interface Block {
  readonly page: string
  /** Line of its opening fence, from 1. */
  readonly line: number
  /** First word after the fence; empty when there is none. */
  readonly language: string
  readonly code: string
  /** Index among the blocks of the page. */
  readonly index: number
  /** True when only blank lines separate this block from the previous one. */
  readonly follows: boolean
}

/** The paths of all pages for readers, relative to the root. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'contracts/README.md',
  'web/reference/introduction.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort(),
]

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** Returns the blocks of a page in order, without the indentation of a list. */
export function blocksOf(page: string): Block[] {
  const lines = readPage(page).split('\n')
  const blocks: Block[] = []
  let lastEnd = Number.NEGATIVE_INFINITY
  for (let at = 0; at < lines.length; at++) {
    const opening = /^( *)```(\S*)/.exec(lines[at]!)
    if (opening === null) continue
    const [, indent, language] = opening as unknown as [string, string, string]
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```')
    if (end < 0) throw new Error(`${page}:${at + 1} is a block that is never closed`)
    const code = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    const follows = lines.slice(lastEnd + 1, at).every((line) => line.trim() === '') && lastEnd >= 0
    blocks.push({ page, line: at + 1, language, code: code.join('\n'), index: blocks.length, follows })
    lastEnd = end
    at = end
  }
  return blocks
}
