// The page of /graphql in a browser: an editor, variables, the result, and the schema by introspection.
const [form, query, variables, status, result, schema] = [
  'form',
  'query',
  'variables',
  'status',
  'result',
  'schema',
].map((id) => document.getElementById(id))

const TYPE = 'name kind ofType { name kind ofType { name kind ofType { name kind } } }'
const INTROSPECTION = `{ __schema { types { name kind description fields {
  name description type { ${TYPE} } args { name description defaultValue type { ${TYPE} } }
} } } }`

async function send(request) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(request),
  })
  return { code: response.status, answer: await response.json() }
}

// A link to a query, as programs send it with GET.
const link = new URLSearchParams(location.search)
const linked = link.get('query')
if (linked !== null) {
  query.value = linked
  variables.value = link.get('variables') ?? ''
}

async function run() {
  status.textContent = 'running'
  try {
    const text = variables.value.trim()
    const { code, answer } = await send({
      query: query.value,
      variables: text === '' ? {} : JSON.parse(text),
      operationName: query.value === linked ? (link.get('operationName') ?? undefined) : undefined,
    })
    status.textContent = `(${code})`
    result.value = visibleJson(JSON.stringify(answer, null, 2))
  } catch (error) {
    status.textContent = '(failed)'
    result.value = String(error)
  }
}

/** Escapes characters that cannot be seen or that change the direction of text, as JSON allows: a record may contain any of them. */
function visibleJson(json) {
  return json.replace(
    /[\u007f-\u009f\u00ad\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function typeText({ name, kind, ofType }) {
  if (kind === 'NON_NULL') return `${typeText(ofType)}!`
  return kind === 'LIST' ? `[${typeText(ofType)}]` : name
}

function element(name, text, ...children) {
  const made = document.createElement(name)
  made.append(...(text === '' ? [] : [text]), ...children)
  return made
}

function fieldItem({ name, description, type, args }) {
  const rows = args.map((arg) =>
    element('li', '', element('code', `${arg.name}: ${typeText(arg.type)}`), ` ${arg.description ?? ''}`),
  )
  const list = rows.length === 0 ? [] : [element('ul', '', ...rows)]
  return element('li', '', element('code', `${name}: ${typeText(type)}`), ` ${description ?? ''}`, ...list)
}

async function showSchema() {
  const { answer } = await send({ query: INTROSPECTION })
  const types = answer.data.__schema.types.filter(({ kind, name }) => kind === 'OBJECT' && !name.startsWith('__'))
  for (const { name, description, fields } of types) {
    const list = element('ul', '', ...fields.map(fieldItem))
    const about = description === null ? [] : [element('p', description)]
    const details = element('details', '', element('summary', name), ...about, list)
    details.open = name === 'Query'
    schema.append(details)
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void run()
})
form.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run()
})
showSchema().catch((error) => schema.append(`The schema cannot be read: ${error}`))
