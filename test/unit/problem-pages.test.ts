import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROBLEMS } from '../../src/base/problem.ts'
import { pageName, problemPages } from '../../src/http/pages/problem-pages.ts'

const source = resolve(import.meta.dirname, '../../src')
const pages = problemPages({ baseUrl: 'http://a', errorTypeBase: 'http://a/errors' })
const names = pages.map(({ name }) => name)

/** Returns every message with which the code rejects a request to the record API. */
function messages(): string[] {
  const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('explanations'))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8')
      return [
        ...text.matchAll(/recordProblem\(\s*['`]([^'`]+)['`]/g),
        ...(file === 'service/chains/sync.ts' ? text.matchAll(/invalidInput\(\s*'([^']+)'/g) : []),
        ...(file === 'service/chains/sync.ts'
          ? text.matchAll(/'((?:Sync|Revocation check) is already running)'/g)
          : []),
        ...text.matchAll(/\bmessage: '([A-Z][^']+)',?\s+(?:detail|error)/g),
      ].map(([, message]) => message!)
    })
  return [...new Set(texts)].flatMap((message) =>
    message.includes('${')
      ? ['limit', 'offset', 'cursor'].map((name) => message.replace(/\$\{\w+\}/, name))
      : [message],
  )
}

describe('problem pages', () => {
  it('exist for each problem type, under the last part of its URL', () => {
    for (const [type, { title, status }] of Object.entries(PROBLEMS)) {
      expect(pages.find(({ name }) => name === type)).toMatchObject({ title, status, type: `http://a/errors/${type}` })
    }
  })

  it('exist for each message of the record API', () => {
    const texts = messages()
    expect(texts.length).toBeGreaterThan(20)
    const titles = Object.values(PROBLEMS).map(({ title }) => pageName(title))
    expect(texts.filter((message) => ![...names, ...titles].includes(pageName(message)))).toEqual([])
  })

  it('have unique names and an example response that matches', () => {
    expect(new Set(names).size).toBe(names.length)
    for (const { title, status, cause, remedy, example } of pages) {
      expect(cause.length).toBeGreaterThan(20)
      expect(remedy.length).toBeGreaterThan(10)
      expect(example.request.length).toBeGreaterThan(10)
      const response = example.answer as Record<string, unknown>
      if (response['status'] === 'error') expect(response['message']).toBe(title)
      else expect(response).toMatchObject({ title, status })
    }
  })
})
