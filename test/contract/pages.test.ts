import { beforeAll, describe, expect, it } from 'vitest'
import { PAGE_POLICY } from '../../src/http/pages/assets.ts'
import { problemPages } from '../../src/http/pages/problem-pages.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const HTML = { Accept: 'text/html,application/xhtml+xml' }

describe.each(ADAPTERS)('the pages over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })

  const page = (path: string) => fetch(service.url + path, { headers: HTML })

  it('have no dead links, and load nothing from other origins', async () => {
    const seen = new Map<string, string>()
    const open = ['/docs', '/docs/guide', '/errors']
    const dead: string[] = []
    for (const path of open) {
      const response = await page(path)
      const text = await response.text()
      if (response.status !== 200) dead.push(`${path}: ${response.status}`)
      seen.set(path, text)
      if (!response.headers.get('content-type')!.startsWith('text/html')) continue
      if (path.startsWith('/explore') || path === '/') continue
      expect(response.headers.get('content-security-policy'), path).toBe(PAGE_POLICY)
      for (const [, source] of text.matchAll(/(?:src|<link[^>]* href)="([^"]*)"/g)) expect(source, path).toMatch(/^\//)
      for (const [, href] of text.matchAll(/(?:href|src)="(\/[^"#]*)(?:#[^"]*)?"/g)) {
        if (!open.includes(href!)) open.push(href!)
      }
    }
    expect(dead).toEqual([])
    expect(open.length).toBeGreaterThan(80)
    // The anchors within the pages.
    for (const [path, text] of seen) {
      if (!/^\/(docs|errors)/.test(path) || !text.startsWith('<!doctype')) continue
      for (const [, target, anchor] of text.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
        const targetText = target === '' ? text : (seen.get(target!) ?? '')
        if (!targetText.includes(`id="${anchor}"`)) dead.push(`${path} → ${target}#${anchor}`)
      }
    }
    expect(dead).toEqual([])
  })

  // Regression: `eip155:<chain>:<address>` in the description of a member became an element of the page.
  it('show tags in descriptions as text', async () => {
    expect(await (await page('/docs/schemas')).text()).toContain(
      'eip155:&#60;chain&#62;:&#60;address&#62;, in lower case',
    )
  })

  it('describe each problem type as HTML and as JSON', async () => {
    const list = (await (await fetch(`${service.url}/errors`)).json()) as { problems: unknown[] }
    const known = problemPages({ baseUrl: service.url, errorTypeBase: `${service.url}/errors` })
    expect(list.problems.length).toBe(known.length)
    for (const { name, status, title, example } of known) {
      const json = await fetch(`${service.url}/errors/${name}`)
      expect(json.headers.get('vary')).toBe('Accept')
      expect(await json.json()).toMatchObject({ status, title, type: `${service.url}/errors/${name}`, example })
      const html = await page(`/errors/${name}`)
      expect(html.headers.get('vary')).toBe('Accept, Accept-Encoding')
      expect(html.headers.get('content-security-policy')).toBe(PAGE_POLICY)
      expect(await html.text()).toContain('<h2>What to do</h2>')
    }
    expect((await page('/errors/no-such-type')).status).toBe(404)
  })

  it('answer unknown paths, but only for a browser outside the APIs', async () => {
    const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'If-None-Match': '*' }
    for (const path of ['/nowhere', '/docs/nowhere', '/explore/nowhere.js', '/errors/no-such-type']) {
      const { status, headers } = await fetch(service.url + path, { headers: browser })
      expect([status, headers.get('content-type')], path).toEqual([404, 'text/html; charset=utf-8'])
    }
    const response = await fetch(`${service.url}/nowhere`, { headers: browser })
    const html = await response.text()
    expect(html).toContain('There is nothing at <code>/nowhere</code>.')
    for (const link of ['/explore', '/docs', '/docs/guide']) expect(html).toContain(`<li><a href="${link}">`)
    expect(response.headers.get('content-security-policy')).toBe(PAGE_POLICY)
    expect([response.headers.get('cache-control'), response.headers.get('etag')]).toEqual(['no-store', null])
    const json = 'application/problem+json; charset=utf-8'
    const fetchContentType = async (path: string, init: RequestInit) => {
      const missing = await fetch(service.url + path, init)
      expect(missing.status).toBe(404)
      return missing.headers.get('content-type')
    }
    for (const Accept of ['*/*', 'application/json, text/html;q=0.9', 'text/html;q=0'])
      expect(await fetchContentType('/nowhere', { headers: { Accept } }), Accept).toBe(json)
    expect(await fetchContentType('/nowhere', { headers: HTML, method: 'POST' })).toBe(json)
    expect(await fetchContentType('/compute/v0/nowhere', { headers: HTML })).toBe(json)
    expect(await fetchContentType('/api/v0/nowhere', { headers: HTML })).toBe('application/json; charset=utf-8')
  })

  it('contain every operation of the OpenAPI document with a request to copy', async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; tags: string[] }>>
    }
    for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
      const text = await (await page(`/docs/${operation.tags[0]!.toLowerCase().replaceAll(' ', '-')}`)).text()
      const section = text.split(`<section class="operation" id="${operation.operationId}"`)[1]?.split('</section>')[0]
      expect(section, operation.operationId).toContain('curl')
    }
  })

  it('include llms.txt and favicon.ico at the root', async () => {
    const llms = await fetch(`${service.url}/llms.txt`)
    expect(llms.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await llms.text()
    expect(text).toMatch(/^# Trigpoint\n/)
    for (const [, path] of text.matchAll(/\]\((\/[^)]*)\)/g))
      expect((await fetch(service.url + path)).status, path).toBe(200)
    const icon = await fetch(`${service.url}/favicon.ico`)
    expect(icon.headers.get('content-type')).toBe('image/x-icon')
    expect([...new Uint8Array(await icon.arrayBuffer()).subarray(0, 4)]).toEqual([0, 0, 1, 0])
  })
})
