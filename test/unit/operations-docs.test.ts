import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { helpText } from '../../src/cli/arguments.ts'
import { runKeygen } from '../../src/cli/commands/keygen.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { readConfig } from '../../src/config/config.ts'
import { blocksOf } from '../markdown-pages.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('docs/operations.md')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text!)

const keygen = (env: Record<string, string>) => {
  const terminal = { env, out: async () => {}, err: () => {} }
  return runKeygen({}, terminal as unknown as Terminal)
}

describe('docs/operations.md', () => {
  it('names only settings that exist', () => {
    const settings = read('docs/configuration.md')
    const settingNames = new Set([...page.matchAll(/`([A-Z][A-Z0-9]+_[A-Z0-9_]+)(?:=\S+)?`/g)].map(([, name]) => name!))
    expect(settingNames.size).toBeGreaterThan(20)
    // NODE_ENV belongs to Node itself and is described in the text below the table.
    for (const name of settingNames) expect(settings).toMatch(new RegExp(`\`${name}\\b|${name}=`))
  })

  it('names only flags and files that exist', () => {
    const flags = blocks('sh').flatMap((text) =>
      [...text.matchAll(/npm start -- (--[a-z-]+)/g)].map(([, flag]) => flag!),
    )
    expect(flags).toEqual(['--backup', '--restore'])
    for (const flag of flags) expect(helpText()).toContain(`${flag} `)
    for (const [, file] of page.matchAll(/\]\(([a-z-]+\.md)/g)) expect(() => read(`docs/${file}`)).not.toThrow()
    const files = [
      'compose.yaml',
      'Dockerfile',
      'deploy/grafana/trigpoint.json',
      'deploy/nginx.conf',
      'deploy/haproxy.cfg',
    ]
    for (const file of files) {
      expect(page).toContain(`\`${file}\``)
      expect(() => read(file)).not.toThrow()
    }
  })

  it('explains the settings of the shipped proxies', () => {
    const nginx = read('deploy/nginx.conf')
    const table = /\| setting of nginx \|[\s\S]*?\n\n/.exec(page)![0]
    const settingNames = [...table.matchAll(/`([a-z_]+)(?: [^`]*)?`/g)].map(([, name]) => name!)
    for (const name of settingNames.filter((text) => text.includes('_')))
      expect(nginx).toMatch(new RegExp(`^ *${name} `, 'm'))
    const { limits } = readConfig({}, 2)
    const timeouts = [
      ...nginx.matchAll(/^ *(?:client_body|send|proxy_send|proxy_read)_timeout (\d+)s;/gm),
      ...read('deploy/haproxy.cfg').matchAll(/^ *timeout (?:client|server) (\d+)s/gm),
    ]
    expect(timeouts).toHaveLength(6)
    for (const [, seconds] of timeouts) expect(Number(seconds) * 1000).toBeGreaterThan(2 * limits.streamIdleMs)
  })

  it('replaces the key with commands that make a second key beside the first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-second-key-'))
    try {
      const commands = blocksOf('docs/operations.md')
        .filter(({ language }) => language === 'sh')
        .flatMap(({ code }) => code.split('\n'))
        .filter((line) => line.startsWith('SIGNER_KEYSTORE=') && line.endsWith(' keygen'))
      expect(commands).toHaveLength(2)
      const environments = commands.map((line) =>
        Object.fromEntries(
          [...line.matchAll(/(SIGNER_\w+)=\/etc\/trigpoint\/(\S+)/g)].map(([, name, file]) => [
            name!,
            join(folder, file!),
          ]),
        ),
      )
      for (const environment of environments) await keygen(environment)
      expect(readdirSync(folder).sort()).toEqual(['password', 'password-2', 'signer-2.json', 'signer.json'])
      const [first, second] = ['password', 'password-2'].map((file) => readFileSync(join(folder, file), 'utf8'))
      expect(second).not.toBe(first)
      // As it was: the old names again.
      await expect(keygen(environments[0]!)).rejects.toThrow(
        /already exists, and keys are never overwritten.*SIGNER_KEYSTORE and SIGNER_PASSWORD_FILE/,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('builds an upgrade as it builds the installation', () => {
    const build = (folder: string) =>
      blocks('sh').flatMap((text) => text.split('\n').filter((line) => line.startsWith(`cd ${folder} && `)))
    const [installed] = build('/opt/trigpoint')
    expect(build('/opt/trigpoint-new')).toEqual([installed!.replace('/opt/trigpoint', '/opt/trigpoint-new')])
  })

  it('lists the exit codes of the service', () => {
    const table = /\| code \|[\s\S]*?\n\n/.exec(page)![0]
    const listed = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
    const main = read('src/main.ts')
    const constants = [...main.matchAll(/const EXIT_\w+ = (\d+)/g)].map(([, code]) => Number(code))
    const literal = [...main.matchAll(/process\.exit\((\d+)\)/g)].map(([, code]) => Number(code))
    expect(listed).toEqual([...new Set([...constants, ...literal])].sort((a, b) => a - b))
  })

  it('states the current times and sizes', () => {
    const { limits } = readConfig({}, 2)
    expect(page).toContain('heartbeats come every 5 s')
    expect(limits.maxBodyBytes).toBe(1_048_576)
    const image = read('Dockerfile')
    expect(image).toContain('--interval=30s')
    expect(image).toContain('HOST=0.0.0.0 PORT=3000')
  })
})
