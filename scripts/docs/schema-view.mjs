import { escapeHtml } from './html.mjs'
import { renderInline } from './markdown.mjs'

/** Depth to which schemas are expanded; deeper ones are links to the page of schemas. */
const MAX_DEPTH = 3

/** Renders a schema as a list of members; members that are objects can be expanded. */
export function schemaView(schema, schemas, depth = 0, seen = []) {
  const { name, target } = resolve(schema, schemas)
  if (name !== undefined && (seen.includes(name) || depth > MAX_DEPTH))
    return `<p class="quiet">${schemaLink(name)}</p>`
  const path = name === undefined ? seen : [...seen, name]
  const choices = target.anyOf ?? target.oneOf
  if (choices !== undefined && target.properties === undefined) {
    return `<div class="choices"><p class="quiet">One of</p><ul>${choices
      .map((choice) => `<li>${memberView(undefined, choice, false, schemas, depth, path)}</li>`)
      .join('')}</ul></div>`
  }
  if (target.type === 'array' && target.items) return schemaView(target.items, schemas, depth, path)
  const members = Object.entries(target.properties ?? {}).filter(([, member]) => member !== false)
  if (members.length === 0) return ''
  const required = target.required ?? []
  return `<ul class="members">${members
    .map(([member, value]) => `<li>${memberView(member, value, required.includes(member), schemas, depth, path)}</li>`)
    .join('')}</ul>`
}

/** Describes a type in one line. */
export function typeText(schema, schemas) {
  const { name, target } = resolve(schema, schemas)
  if (target.const !== undefined) return `<code>${escapeHtml(JSON.stringify(target.const))}</code>`
  if (target.enum !== undefined) {
    return target.enum.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(' or ')
  }
  if (name !== undefined && (target.properties || target.anyOf || target.oneOf)) return schemaLink(name)
  if (target.type === 'array') return `array of ${target.items ? typeText(target.items, schemas) : 'anything'}`
  if (Array.isArray(target.type)) return target.type.join(' or ')
  if (target.anyOf) return target.anyOf.map((choice) => typeText(choice, schemas)).join(' or ')
  return escapeHtml(target.type ?? 'anything')
}

/** Describes the limits of a value. */
export function limitsText(schema, schemas) {
  const { target } = resolve(schema, schemas)
  const limits = [
    target.minimum === undefined ? '' : `≥ ${number(target.minimum)}`,
    target.exclusiveMinimum === undefined ? '' : `> ${number(target.exclusiveMinimum)}`,
    target.maximum === undefined ? '' : `≤ ${number(target.maximum)}`,
    target.minItems === undefined ? '' : `at least ${target.minItems}`,
    target.maxItems === undefined ? '' : `at most ${number(target.maxItems)}`,
    target.minLength === undefined ? '' : `at least ${characters(target.minLength)}`,
    target.maxLength === undefined ? '' : `at most ${characters(target.maxLength)}`,
    target.pattern === undefined ? '' : `<code>${escapeHtml(target.pattern)}</code>`,
    target.default === undefined ? '' : `default ${escapeHtml(JSON.stringify(target.default))}`,
  ]
  return limits.filter((text) => text !== '').join(', ')
}

function characters(count) {
  return count === 1 ? '1 character' : `${number(count)} characters`
}

function number(value) {
  return value === Number.MAX_SAFE_INTEGER
    ? '2⁵³ − 1'
    : value === -Number.MAX_SAFE_INTEGER
      ? '−(2⁵³ − 1)'
      : value.toLocaleString('en')
}

function memberView(name, schema, isRequired, schemas, depth, seen) {
  const { target } = resolve(schema, schemas)
  const description = schema.description ?? target.description
  const limits = limitsText(schema, schemas)
  const inner = depth >= MAX_DEPTH ? '' : schemaView(schema, schemas, depth + 1, seen)
  const isExpandable = inner !== '' && !inner.startsWith('<p class="quiet">')
  // A summary that expands on a click must not contain links, so they are removed from the type.
  const type = isExpandable ? typeText(schema, schemas).replace(/<\/?a\b[^>]*>/g, '') : typeText(schema, schemas)
  const head =
    `${name === undefined ? '' : `<code class="name">${escapeHtml(name)}</code> `}<span class="type">${type}</span>` +
    `${isRequired ? ' <span class="required">required</span>' : ''}${limits === '' ? '' : ` <span class="limits">${limits}</span>`}` +
    `${description === undefined ? '' : `<span class="words">${renderInline(description)}</span>`}`
  return isExpandable
    ? `<details class="member"><summary>${head}</summary>${inner}</details>`
    : `<div class="member">${head}</div>`
}

export function schemaLink(name) {
  return `<a href="/docs/schemas#${name}">${escapeHtml(name)}</a>`
}

/** Resolves a reference. @returns the schema's name, if it has one, and the schema */
export function resolve(schema, schemas) {
  if (schema?.$ref === undefined) return { name: undefined, target: schema ?? {} }
  const name = schema.$ref.split('/').at(-1)
  return { name, target: schemas[name] ?? {} }
}
