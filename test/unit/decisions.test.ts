import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPage } from '../markdown-pages.ts'

const root = resolve(import.meta.dirname, '../..')
const PAGE = 'docs/decisions.md'

/** Folders that are not part of the repository. */
const BUILT = ['node_modules', 'dist', 'generated']
/** Files whose numbers are no references: the page itself, and the examples below. */
const NO_REFERENCES = [PAGE, 'test/unit/decisions.test.ts']
const BINARY = /\.(png|ico|jpg|woff2|gz|wasm|pbf|node)$/

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || BUILT.includes(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return listFiles(path)
    return entry.isFile() && !BINARY.test(entry.name) ? [relative(root, path)] : []
  })
}

/** Between a word and a number: blanks, and where a comment goes on in the next line, the mark at its beginning. */
const GAP = String.raw`\s+(?:(?:\*|//|#)\s+)?`
const REFERENCE = new RegExp(
  String.raw`\bdecisions?${GAP}(\d+(?:(?:,|${GAP}(?:and|or))${GAP}(?:and${GAP})?\d+)*)`,
  'gi',
)

/** Returns the numbers in "decision 7", "decisions 7 and 12" and "decisions 7, 12 and 15". */
function findReferences(text: string): number[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, numbers]) => numbers!.match(/\d+/g)!.map(Number))
}

const references = listFiles(root)
  .filter((file) => !NO_REFERENCES.includes(file))
  .flatMap((file) => findReferences(readFileSync(join(root, file), 'utf8')).map((number) => ({ file, number })))
const numbersOnPage = [...readPage(PAGE).matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number))

describe('references to decisions', () => {
  it('are found in lists and across the lines of a comment', () => {
    expect(findReferences('(decision 7). Decisions 12 and 15\n   * and 17; decisions 19, 21, and 24 or 25')).toEqual([
      7, 12, 15, 17, 19, 21, 24, 25,
    ])
    expect(findReferences('the same decision (decision\n * 92), decision\n// 93, a decision. 94 lines')).toEqual([
      92, 93,
    ])
  })

  it('are more than 90, in source and tests', () => {
    expect(references.length).toBeGreaterThan(90)
    const folders = new Set(references.map(({ file }) => file.split('/')[0]))
    expect([...folders]).toEqual(expect.arrayContaining(['src', 'test']))
  })

  it('lead to a number on the page', () => {
    expect(references.filter(({ number }) => !numbersOnPage.includes(number))).toEqual([])
  })
})

describe('the page of decisions', () => {
  it('has only numbers that a file refers to', () => {
    const referred = new Set(references.map(({ number }) => number))
    expect(numbersOnPage.filter((number) => !referred.has(number))).toEqual([])
  })

  it('has each number once, in order', () => {
    expect(numbersOnPage).toEqual([...new Set(numbersOnPage)].sort((a, b) => a - b))
  })

  it('has a number and a text for every heading', () => {
    const sections = readPage(PAGE).split(/^## /m).slice(1)
    expect(sections).toHaveLength(numbersOnPage.length)
    expect(sections.filter((section) => section.split('\n').slice(1).join('').trim().length < 100)).toEqual([])
  })

  it('names files that exist', () => {
    const names = [...readPage(PAGE).matchAll(/`((?:src|workers|test|contracts|schemas)\/[\w./-]+)`/g)].map(
      ([, name]) => name!,
    )
    expect(names.length).toBeGreaterThan(60)
    const files = new Set(listFiles(root))
    expect(names.filter((name) => !files.has(name))).toEqual([])
  })
})
