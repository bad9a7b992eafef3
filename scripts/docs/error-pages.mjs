import { escapeHtml } from './html.mjs'
import { codeBlock } from './markdown.mjs'
import { shortJson } from './short-json.mjs'

/** `/errors` and a page for each refusal, of what the service itself says about them. */
export function errorPages(problems) {
  const ofTypes = problems.filter(
    ({ example }) => example.answer.status !== 'error' || example.answer.message === 'Forbidden',
  )
  const ofRecords = problems.filter((problem) => !ofTypes.includes(problem))
  const list = (some) =>
    `<ul class="problems">${some
      .map(
        ({ name, title, status, cause }) =>
          `<li><a href="/errors/${name}"><span class="status bad">${status}</span><strong>${escapeHtml(title)}</strong><span>${escapeHtml(cause)}</span></a></li>`,
      )
      .join('')}</ul>`
  const index = {
    path: '/errors',
    title: 'Errors',
    description: 'Every refusal with its cause and what to do.',
    kind: 'prose',
    headings: [
      { id: 'problem-types', text: 'Problem types', depth: 2 },
      { id: 'record-api', text: 'Messages of the record API', depth: 2 },
    ],
    body: `<article class="prose"><h1>Errors</h1><p class="lead">A refusal says what was found, where, and what would do. Below <code>/verify</code> and <code>/compute</code> it is problem details (RFC 9457) whose <code>type</code> leads here; below <code>/api</code> it has <code>message</code> and <code>detail</code>.</p>
<h2 id="problem-types">Problem types</h2>${list(ofTypes)}<h2 id="record-api">Messages of the record API</h2>${list(ofRecords)}</article>`,
  }
  return [index, ...problems.map(problemPage)]
}

function problemPage({ name, type: _, title, status, cause, remedy, example }) {
  const { request, answer } = example
  const asked = request.startsWith('curl ')
    ? codeBlock(request.replace(/ (?=-[HdX] )/g, ' \\\n  '), 'sh')
    : `<p>${escapeHtml(request)}</p>`
  return {
    path: `/errors/${name}`,
    title,
    description: cause,
    kind: 'prose',
    body: `<article class="prose problem"><p class="eyebrow"><a href="/errors">Errors</a></p><h1><span class="status bad">${status}</span> ${escapeHtml(title)}</h1>
<h2>Cause</h2><p>${escapeHtml(cause)}</p><h2>What to do</h2><p>${escapeHtml(remedy)}</p>
<h2>For example</h2>${asked}<p class="label">Answer, ${status}</p>${codeBlock(shortJson(answer, 76), 'json')}</article>`,
  }
}
