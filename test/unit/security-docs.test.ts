import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPage } from '../markdown-pages.ts'

const root = resolve(import.meta.dirname, '../..')
const PAGE = 'docs/security.md'
const page = readPage(PAGE)
const rows = page
  .slice(page.indexOf('## Threats'), page.indexOf('## What this does not protect'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| threat ') && !line.startsWith('| ---'))
const linkedTests = (text: string) => [...text.matchAll(/\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, file]) => file!)

/** Tests of `test/fault`, `test/flood` and `test/alone` that attack nothing, each with what it is about. */
const NO_ATTACKS: Readonly<Record<string, string>> = {
  'test/fault/cluster-proxy.test.ts': 'the health checks of a balancer',
}

describe('docs/security.md', () => {
  it('has a defence and a test that exists in each row', () => {
    expect(rows.length).toBeGreaterThan(30)
    for (const row of rows) {
      const [, threat, defence, tests] = row.split(' | ').flatMap((cell, index) => (index === 0 ? ['', cell] : [cell]))
      expect(threat?.length, row).toBeGreaterThan(10)
      expect(defence?.length, row).toBeGreaterThan(10)
      expect(linkedTests(tests ?? '').length, row).toBeGreaterThan(0)
    }
    expect(linkedTests(page).filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('links each test under its own name', () => {
    for (const [, name, file] of page.matchAll(/\[([^\]]+)\]\(\.\.\/test\/[\w-]+\/([\w.-]+)\)/g))
      expect(file).toBe(`${name}.test.ts`)
  })

  it.each(['test/fault', 'test/flood', 'test/alone'])(
    'names every test of %s, except those that attack nothing',
    (folder) => {
      const files = readdirSync(join(root, folder)).filter((file) => file.endsWith('.test.ts'))
      const named = new Set([...linkedTests(page), ...Object.keys(NO_ATTACKS)])
      expect(files.map((file) => `${folder}/${file}`).filter((file) => !named.has(file))).toEqual([])
    },
  )

  it('describes the files of the proxies', () => {
    const [nginx, haproxy, caddy] = ['nginx.conf', 'haproxy.cfg', 'Caddyfile'].map((name) => {
      expect(page).toContain(`\`deploy/${name}\``)
      return readFileSync(join(root, 'deploy', name), 'utf8')
    }) as [string, string, string]
    for (const text of [nginx.match(/limit_conn addresses 256;/), haproxy.match(/sc0_conn_cur gt 256/)])
      expect(text).not.toBe(null)
    for (const text of ['client_header_timeout 10s', 'large_client_header_buffers 4 8k', 'client_max_body_size 0'])
      expect(nginx).toContain(text)
    for (const text of ['timeout http-request 10s', 'timeout client 75s', 'ipmask(32,64)'])
      expect(haproxy).toContain(text)
    for (const text of ['read_header 10s', 'max_header_size 8KB', 'read_timeout 75s', 'header_down Connection close'])
      expect(caddy).toContain(text)
  })
})

describe('the packages', () => {
  interface LockedPackage {
    readonly version?: string
    readonly integrity?: string
    readonly resolved?: string
    readonly link?: boolean
    readonly inBundle?: boolean
  }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  // Links lead to packages of this repository.
  const packages = Object.entries(lock.packages as Record<string, LockedPackage>).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
  )

  it('have a checksum each, and come from one registry', () => {
    expect(packages.length).toBeGreaterThan(100)
    const unchecked = packages.filter(([, one]) => one.inBundle !== true && !/^sha512-/.test(one.integrity ?? ''))
    expect(unchecked.map(([path]) => path)).toEqual([])
    const hosts = packages.flatMap(([, { resolved }]) => (resolved === undefined ? [] : [new URL(resolved).host]))
    expect(hosts.filter((host) => host !== 'registry.npmjs.org')).toEqual([])
  })

  it('have exact versions, and run nothing when they are installed', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect(version, name).toMatch(/^(?:npm:[@\w/.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/)
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toContain('ignore-scripts=true\n')
  })
})
