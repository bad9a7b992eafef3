import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pageName, problemPages } from '../../src/http/problem-pages.ts'
import { PROBLEMS } from '../../src/problem.ts'

const source = resolve(import.meta.dirname, '../../src')
const pages = problemPages({ baseUrl: 'http://a', errorTypeBase: 'http://a/errors' })
const names = pages.map(({ name }) => name)

/** Every text that stands as the message of a refusal of the record API somewhere in the code. */
function messages(): string[] {
  const found = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('explanations'))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      return [
        ...text.matchAll(/recordProblem\(\s*['`]([^'`]+)['`]/g),
        ...(file.startsWith('service/sync') ? text.matchAll(/refusal\(\s*'([^']+)'/g) : []),
        ...(file.startsWith('service/sync') ? text.matchAll(/'((?:Sync|Revocation check) is already running)'/g) : []),
        ...text.matchAll(/\bmessage: '([A-Z][^']+)',?\s+(?:detail|error)/g),
      ].map(([, message]) => message!)
    })
  return [...new Set(found)].flatMap((message) =>
    message.includes('${')
      ? ['limit', 'offset', 'cursor'].map((name) => message.replace(/\$\{\w+\}/, name))
      : [message],
  )
}

describe('pages of errors', () => {
  it('are there for each problem type, under the last part of its type', () => {
    for (const [type, { title, status }] of Object.entries(PROBLEMS)) {
      expect(pages.find(({ name }) => name === type)).toMatchObject({ title, status, type: `http://a/errors/${type}` })
    }
  })

  it('are there for each message of the record API', () => {
    const found = messages()
    expect(found.length).toBeGreaterThan(20)
    const titles = Object.values(PROBLEMS).map(({ title }) => pageName(title))
    expect(found.filter((message) => ![...names, ...titles].includes(pageName(message)))).toEqual([])
  })

  it('have a name each, and a refusal that says what it is', () => {
    expect(new Set(names).size).toBe(names.length)
    for (const { title, status, cause, remedy, example } of pages) {
      expect(cause.length).toBeGreaterThan(20)
      expect(remedy.length).toBeGreaterThan(10)
      expect(example.request.length).toBeGreaterThan(10)
      const answer = example.answer as Record<string, unknown>
      if (answer['status'] === 'error') expect(answer['message']).toBe(title)
      else expect(answer).toMatchObject({ title, status })
    }
  })
})
