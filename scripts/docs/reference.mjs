import { anchorOf, escapeHtml } from './html.mjs'
import { codeBlock, renderInline, renderMarkdown } from './markdown.mjs'
import { limitsText, schemaView, typeText } from './schema-view.mjs'
import { shortJson } from './short-json.mjs'

const BASE = 'http://127.0.0.1:3000'
/** Returns the CSS class of a status. */
const statusClass = (status) => (status < '300' ? 'good' : status < '400' ? 'plain' : 'bad')

/** Returns the path of a tag's page. */
export const tagPath = (tag) => `/docs/${anchorOf(tag)}`

/** Lists the tags, each with its operations, their methods and paths. */
export function operationsOf(document) {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
  return document.tags.map((tag) => ({ ...tag, operations: all.filter(({ tags }) => tags.includes(tag.name)) }))
}

/** Builds the first page: the introduction, and a list of all operations. */
export function overviewPage(document, introduction) {
  const { html, headings } = renderMarkdown(introduction)
  const lists = operationsOf(document)
    .map(
      ({ name, description, operations }) =>
        `<h3 id="${anchorOf(name)}"><a href="${tagPath(name)}">${escapeHtml(name)}</a></h3><p>${renderInline(description)}</p>
<ul class="routes">${operations
          .map(
            ({ method, path, summary, operationId }) =>
              `<li><a href="${tagPath(name)}#${operationId}">${badge(method)}<code>${escapeHtml(path)}</code><span>${escapeHtml(summary)}</span></a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('')
  return {
    path: '/docs',
    title: 'Reference',
    description: document.info.summary,
    kind: 'prose',
    headings: [...headings, { id: 'every-route', text: 'Every route', depth: 2 }],
    body: `<article class="prose"><h1>Reference</h1><p class="lead">${renderInline(document.info.description)}</p>${html}<h2 id="every-route">Every route</h2>${lists}</article>`,
  }
}

/** Builds a page for each tag. */
export function tagPages(document) {
  return operationsOf(document).map(({ name, description, operations }) => ({
    path: tagPath(name),
    title: name,
    description,
    kind: 'reference',
    body: `<header class="page-head"><h1>${escapeHtml(name)}</h1><p class="lead">${renderInline(description)}</p></header>${operations
      .map((operation) => operationSection(operation, document))
      .join('')}`,
  }))
}

/** Builds the page of all schemas, sorted by name. */
export function schemasPage({ components: { schemas } }) {
  const names = Object.keys(schemas).sort()
  return {
    path: '/docs/schemas',
    title: 'Schemas',
    description: 'Every schema of requests and responses.',
    kind: 'prose',
    body: `<article class="prose schemas"><h1>Schemas</h1><p class="lead">The schemas of requests and responses: JSON Schema 2020-12, from the files of <code>schemas/</code>.</p>${names
      .map((name) => {
        const schema = schemas[name]
        const view =
          schemaView(schema, schemas, 0, [name]) ||
          `<p class="type">${typeText(schema, schemas)} ${limitsText(schema, schemas)}</p>`
        return `<section id="${name}"><h2>${escapeHtml(name)}<a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a></h2>${
          schema.description === undefined ? '' : `<p>${renderInline(schema.description)}</p>`
        }${view}</section>`
      })
      .join('')}</article>`,
  }
}

function badge(method) {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`
}

function operationSection(operation, document) {
  const {
    operationId,
    method,
    path,
    summary,
    description,
    parameters = [],
    requestBody,
    deprecated,
    security,
  } = operation
  const { schemas } = document.components
  const notes = [
    deprecated ? '<span class="tag warn">Deprecated</span>' : '',
    security?.some(({ apiKey }) => apiKey) ? '<span class="tag">Counts towards the hourly limit</span>' : '',
    security?.some(({ cronSecret }) => cronSecret) ? '<span class="tag warn">For the operator only</span>' : '',
  ].join('')
  const body = Object.entries(requestBody?.content ?? {})
  return `<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<div class="about">
<h2 id="${operationId}-title">${escapeHtml(summary)}<a class="anchor" href="#${operationId}" aria-label="Link to ${escapeHtml(summary)}">#</a></h2>
<p class="route">${badge(method)}<code>${escapeHtml(path).replace(/\{\w+\}/g, '<em>$&</em>')}</code></p>
${notes === '' ? '' : `<p class="row">${notes}</p>`}
${description === undefined ? '' : `<p>${renderInline(description)}</p>`}
${parameters.length === 0 ? '' : `<h3>Parameters</h3>${parametersView(parameters, schemas)}`}
${body.map(([type, { schema }]) => `<h3>Body <span class="media">${escapeHtml(type)}</span></h3>${schemaView(schema, schemas) || `<p>${escapeHtml(schema.description ?? '')}</p>`}`).join('')}
<h3>Responses</h3>${responsesView(operation, document)}
</div>
${panel(operation)}
</section>`
}

function parametersView(parameters, schemas) {
  return `<ul class="members">${parameters
    .map(
      ({ name, in: location, required, description, schema }) =>
        `<li><div class="member"><code class="name">${escapeHtml(name)}</code> <span class="type">${location === 'query' ? '' : `${location}, `}${typeText(schema, schemas)}</span>${
          required ? ' <span class="required">required</span>' : ''
        } <span class="limits">${limitsText(schema, schemas)}</span><span class="words">${renderInline(description)}</span></div></li>`,
    )
    .join('')}</ul>`
}

function responsesView({ responses }, { components }) {
  return `<ul class="answers">${Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, response]) => {
      const {
        description,
        content = {},
        headers = {},
      } = response.$ref === undefined ? response : components.responses[response.$ref.split('/').at(-1)]
      const head = `<span class="status ${statusClass(status)}">${status}</span> <span class="words">${problemLinks(response, description)}</span>`
      if (response.$ref !== undefined) return `<li>${head}</li>`
      const views = Object.entries(content)
        .map(([type, { schema }]) => {
          const view = schema === undefined ? '' : schemaView(schema, components.schemas)
          return `<p class="media">${escapeHtml(type)} ${schema?.$ref ? typeText(schema, components.schemas) : ''}</p>${view}`
        })
        .join('')
      const specificHeaders = Object.keys(headers).filter((name) => !/^X-(RateLimit|Request)/.test(name))
      const headerList =
        specificHeaders.length === 0
          ? ''
          : `<p class="media">Headers</p><ul class="members">${specificHeaders
              .map((name) => {
                const { description: words } = components.headers[name]
                return `<li><div class="member"><code class="name">${name}</code><span class="words">${renderInline(words)}</span></div></li>`
              })
              .join('')}</ul>`
      return views + headerList === ''
        ? `<li>${head}</li>`
        : `<li><details><summary>${head}</summary>${views}${headerList}</details></li>`
    })
    .join('')}</ul>`
}

/** Renders a response's description; in shared error responses, names of problem types become links to their pages. */
function problemLinks(response, description) {
  if (response.$ref === undefined) return renderInline(description)
  return description
    .split(', ')
    .map((name) => (/^[a-z-]+$/.test(name) ? `<a href="/errors/${name}">${name}</a>` : escapeHtml(name)))
    .join(' or ')
}

/** Renders example requests with their responses, and a form that sends a request. */
function panel(operation) {
  const examples = listExamples(operation)
  const choice =
    examples.length < 2
      ? ''
      : `<label class="choose">Example <select class="select">${examples
          .map(({ name, summary }) => `<option value="${name}">${escapeHtml(summary)}</option>`)
          .join('')}</select></label>`
  const articles = examples
    .map(
      ({ name, request, answer }, index) =>
        `<article class="example" data-example="${name}"${index === 0 ? '' : ' hidden'}>${codeBlock(curlText(operation, request), 'sh')}${
          answer === undefined ? '' : `<p class="label">Response</p>${codeBlock(shortJson(answer, 64), 'json')}`
        }</article>`,
    )
    .join('')
  return `<div class="panel">${choice}${articles}${tryForm(operation, examples)}</div>`
}

function listExamples({ requestBody, responses }) {
  const requests = requestBody?.content?.['application/json']?.examples ?? {}
  const responseExamples = Object.assign(
    {},
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content = {} }]) => Object.values(content).map(({ examples = {} }) => examples)),
  )
  const names = [...new Set([...Object.keys(requests), ...Object.keys(responseExamples)])]
  if (names.length === 0) return [{ name: 'request', summary: 'Request' }]
  return names.map((name) => ({
    name,
    summary: (requests[name] ?? responseExamples[name]).summary,
    request: requests[name]?.value,
    answer: responseExamples[name]?.value,
  }))
}

function curlText({ method, path, requestBody, parameters = [] }, request) {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined && request === undefined)
    .map(({ name, example }) => `${name}=${encodeURIComponent(example)}`)
  const address = `${BASE}${path}${query.length > 0 && requestBody === undefined ? `?${query.join('&')}` : ''}`
  const lines = [`curl -s '${address}'`]
  if (requestBody !== undefined) {
    lines.push("-H 'content-type: application/json'")
    lines.push(`-d '${request === undefined ? '…' : shortJson(request, 64)}'`)
  } else if (method === 'POST') lines.push('-X POST')
  return lines.join(' \\\n  ')
}

function tryForm({ method, path, parameters = [], requestBody, operationId, responses }, examples) {
  if (Object.keys(responses['200']?.content ?? {}).some((type) => /event-stream|html|\*/.test(type))) return ''
  const inputs = parameters
    .filter(({ in: location }) => location !== 'header')
    .map(({ name, in: location, required, schema, example }) => {
      const id = `${operationId}-${name}`
      const value = location === 'path' && example !== undefined ? ` value="${escapeHtml(example)}"` : ''
      const hint = example ?? schema.default ?? schema.enum?.join(' | ') ?? ''
      return `<div class="field"><label for="${id}">${escapeHtml(name)}</label><input class="input mono" id="${id}" name="${escapeHtml(name)}" data-in="${location}"${value} placeholder="${escapeHtml(String(hint))}"${required ? ' required' : ''} autocomplete="off" spellcheck="false"></div>`
    })
    .join('')
  const body =
    requestBody?.content?.['application/json'] === undefined
      ? ''
      : `<div class="field"><label for="${operationId}-body">Body</label><textarea class="textarea" id="${operationId}-body" name="body" spellcheck="false">${escapeHtml(
          examples[0]?.request === undefined ? '{}' : shortJson(examples[0].request, 48),
        )}</textarea></div>`
  return `<details class="try"><summary>Try it here</summary><form data-method="${method}" data-path="${escapeHtml(path)}">${inputs}${body}
<div class="row"><button class="button primary" type="submit">Send</button><output class="quiet"></output></div><div class="reply" hidden></div></form></details>`
}
