import { escapeHtml } from './html.mjs'
import { codeBlock } from './markdown.mjs'
import { shortJson } from './short-json.mjs'

/** Builds `/errors` and a page for each problem, from the service's own descriptions. */
export function errorPages(problems) {
  const typedProblems = problems.filter(
    ({ example }) => example.answer.status !== 'error' || example.answer.message === 'Forbidden',
  )
  const recordProblems = problems.filter((problem) => !typedProblems.includes(problem))
  const list = (entries) =>
    `<ul class="problems">${entries
      .map(
        ({ name, title, status, cause }) =>
          `<li><a href="/errors/${name}"><span class="status bad">${status}</span><strong>${escapeHtml(title)}</strong><span>${escapeHtml(cause)}</span></a></li>`,
      )
      .join('')}</ul>`
  const index = {
    path: '/errors',
    title: 'Errors',
    description: 'Every error with its cause and what to do.',
    kind: 'prose',
    headings: [
      { id: 'problem-types', text: 'Problem types', depth: 2 },
      { id: 'record-api', text: 'Messages of the record API', depth: 2 },
    ],
    body: `<article class="prose"><h1>Errors</h1><p class="lead">An error response says what was found, where, and what would work instead. Under <code>/verify</code> and <code>/compute</code> it is a problem (RFC 9457) whose <code>type</code> links to these pages; under <code>/api</code> it has <code>message</code> and <code>detail</code>.</p>
<h2 id="problem-types">Problem types</h2>${list(typedProblems)}<h2 id="record-api">Messages of the record API</h2>${list(recordProblems)}</article>`,
  }
  return [index, ...problems.map(problemPage)]
}

function problemPage({ name, type: _, title, status, cause, remedy, example }) {
  const { request, answer } = example
  const requestHtml = request.startsWith('curl ')
    ? codeBlock(request.replace(/ (?=-[HdX] )/g, ' \\\n  '), 'sh')
    : `<p>${escapeHtml(request)}</p>`
  return {
    path: `/errors/${name}`,
    title,
    description: cause,
    kind: 'prose',
    body: `<article class="prose problem"><p class="eyebrow"><a href="/errors">Errors</a></p><h1><span class="status bad">${status}</span> ${escapeHtml(title)}</h1>
<h2>Cause</h2><p>${escapeHtml(cause)}</p><h2>What to do</h2><p>${escapeHtml(remedy)}</p>
<h2>Example</h2>${requestHtml}<p class="label">Response, ${status}</p>${codeBlock(shortJson(answer, 76), 'json')}</article>`,
  }
}
