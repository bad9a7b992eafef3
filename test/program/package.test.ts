import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForBrowser, startApplication } from '../browser/application.ts'
import { openBrowser, WHY_NOT } from '../browser/chromium.ts'
import { endsWithFile } from '../children.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-package-'))
/** Where the tarball of the client alone is installed. Not in the other folder, whose packages it would find. */
const clientFolder = mkdtempSync(join(tmpdir(), 'trigpoint-client-'))
/** What a package exports, by the name of its bundle. */
const MODULES = { client: 'trigpoint/client', recompute: 'trigpoint/client/recompute' }
const LIBRARY = { geodesy: 'trigpoint/geodesy', topology: 'trigpoint/topology' }
const MAX_LIBRARY_GZIPPED_KB = 150
const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

let url: string
let stop: (() => Promise<void>) | undefined

beforeAll(async () => {
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder], root).trim()
  // Without the optional packages, which are large; the service has to run without them.
  install(folder, tarball, '--omit=optional')
  const clientTarball = run(process.execPath, [join(root, 'scripts/pack-client.mjs'), folder], root).trim()
  install(clientFolder, join(folder, clientTarball))
  for (const file of [tarball, clientTarball]) console.log(`${file}: ${statSync(join(folder, file)).size} bytes`)
  ;({ url, stop } = await serve())
})
afterAll(async () => {
  await stop?.()
  for (const path of [folder, clientFolder]) rmSync(path, { recursive: true, force: true })
})

/** Installs a tarball in an empty folder. */
function install(cwd: string, tarball: string, ...flags: string[]): void {
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }')
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...flags, tarball], cwd)
}

/** Starts the installed program. Returns its address, and what stops it and waits until it no longer writes to its folder. */
async function serve(): Promise<{ url: string; stop(): Promise<void> }> {
  const started = spawn('npx', ['--no-install', 'trigpoint', 'serve', '--log-format', 'json'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const child = endsWithFile(started)
  let output = ''
  const url = await new Promise<string>((done, fail) => {
    child.on('exit', (code) => fail(new Error(`exited with ${code}: ${output}`)))
    started.stderr.on('data', (data) => {
      output += data
      const ready = /^.*"event":"ready".*$/m.exec(output)?.[0]
      if (ready !== undefined) done(JSON.parse(ready).url)
    })
  })
  // npx may exit before the service. The pipe closes when the last process that holds it has ended.
  const ended = once(started, 'close')
  return {
    url,
    async stop() {
      process.kill(-started.pid!, 'SIGTERM')
      await ended
    },
  }
}

/** A program that computes a distance, verifies the response, and prints `4238.77 true`. */
const ask = (url: string, client = MODULES.client) => `
  import { createClient, verifyResult } from '${client}'
  const client = createClient({ baseUrl: '${url}', chainId: 84532 })
  const inputs = [{ type: 'Point', coordinates: [2.2945, 48.8584] }, { type: 'Point', coordinates: [2.3522, 48.8566] }]
  const answer = await client.compute.distance(...inputs)
  console.log(answer.result, (await verifyResult(answer, { inputs, issuer: await client.issuer() })).ok)`

describe('the package, installed in an empty folder', () => {
  it('has what runs, and no sources, tests or tools', () => {
    const installed = join(folder, 'node_modules/trigpoint')
    for (const path of [
      'dist/src/main.js',
      'dist/web/explore/index.html',
      'dist/web/docs/index.html',
      'LICENSE',
      'CONTRIBUTING.md',
    ]) {
      expect(existsSync(join(installed, path)), path).toBe(true)
    }
    for (const path of [
      'src',
      'test',
      'dist/bench',
      'dist/test',
      'dist/src/main.js.map',
      'scripts/start.mjs',
      'contracts/vendor',
    ]) {
      expect(existsSync(join(installed, path)), path).toBe(false)
    }
    for (const name of ['vite', 'maplibre-gl', 'assemblyscript', '@foundry-rs']) {
      expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false)
    }
  })

  it('serves signed results and the pages, and keeps its data in the current folder', async () => {
    for (const page of ['/explore', '/docs']) expect((await fetch(url + page)).status, page).toBe(200)
    writeFileSync(join(folder, 'ask.js'), ask(url))
    expect(run(process.execPath, ['ask.js'])).toBe('4238.77 true\n')
    expect(JSON.parse(readFileSync(join(folder, '.data/dev-signer.json'), 'utf8'))).toHaveProperty('address')
  })

  it('has the types of the client', () => {
    expect(checkTypes(folder, MODULES)).toBe('')
  })

  it('has the pages and files that its pages link to', () => {
    const installed = join(folder, 'node_modules/trigpoint')
    const isPage = (file: string) => file.endsWith('.md')
    const docs = readdirSync(join(installed, 'docs'), { recursive: true, encoding: 'utf8' }).filter(isPage)
    const pages = ['README.md', 'CONTRIBUTING.md', 'contracts/README.md', ...docs.map((file) => `docs/${file}`)]
    const links = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .filter(([, target]) => !target!.includes(':'))
        .map(([, target]) => join(dirname(page), target!)),
    )
    expect(links.length).toBeGreaterThan(200)
    // The tests and their examples are only in the repository.
    const missing = links.filter((link) => !link.startsWith('test/') && !existsSync(join(installed, link)))
    expect(missing).toEqual([])
  })

  it('has contracts that another contract can import, and the interfaces of those that can be deployed', () => {
    const contract = `pragma solidity ^0.8.0;
      import {GeoResult} from "trigpoint/contracts/GeoResult.sol";
      contract Mine { function read(bytes memory data) public pure { GeoResult.decodeBoolean(data); } }`
    const solc = createRequire(import.meta.url)('solc')
    const resolver = createRequire(join(folder, 'index.js'))
    const input = {
      language: 'Solidity',
      sources: { 'Mine.sol': { content: contract } },
      settings: { outputSelection: { '*': { '*': ['abi'] } } },
    }
    const { errors = [], contracts } = JSON.parse(
      solc.compile(JSON.stringify(input), {
        import: (path: string) => ({ contents: readFileSync(resolver.resolve(path), 'utf8') }),
      }),
    )
    expect(errors.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([])
    expect(contracts['Mine.sol'].Mine.abi).toContainEqual(expect.objectContaining({ type: 'function', name: 'read' }))
    expect(resolver('trigpoint/contracts/compiled/GeoVerifier.json').abi.length).toBeGreaterThan(0)
  })

  it('has a client that bundles to the sizes that docs/client.md names', async () => {
    const actual = await bundleSizes(folder, MODULES)
    const page = readFileSync(join(root, 'docs/client.md'), 'utf8')
    const documented = [...page.matchAll(/(\d+) kB\s\((\d+) kB with gzip\)/g)].map(([, plain, gzipped]) => ({
      plain: Number(plain),
      gzipped: Number(gzipped),
    }))
    console.log('sizes in kB of the client, and of the client with recompute:', JSON.stringify(actual))
    expect(documented).toHaveLength(2)
    for (const [index, { plain, gzipped }] of documented.entries()) {
      expect(Math.abs(actual[index]!.plain / plain - 1), `${plain} kB`).toBeLessThan(0.1)
      expect(Math.abs(actual[index]!.gzipped / gzipped - 1), `${gzipped} kB`).toBeLessThan(0.1)
    }
  })

  it.skipIf(WHY_NOT !== undefined)('has a client that works in a browser, on a page of another origin', async () => {
    const browser = await openBrowser()
    const application = await startApplication(browser, await bundle(folder, MODULES, 'client'))
    try {
      expect(await application.run(ask(url))).toEqual(['4238.77 true', 'the end'])
    } finally {
      application.close()
      await browser.close()
    }
  })
})

describe('the library of the package', () => {
  /** A program that prints `4238.77 false`. */
  const ASK = `
    import { distance } from '${LIBRARY.geodesy}'
    import { contains } from '${LIBRARY.topology}'
    const [a, b] = [[2.2945, 48.8584], [2.3522, 48.8566]].map((coordinates) => ({ type: 'Point', coordinates }))
    console.log(distance(a, b).toFixed(2), contains(a, b))`

  it('computes in Node.js, without optional packages', () => {
    writeFileSync(join(folder, 'library.js'), ASK)
    expect(run(process.execPath, ['library.js'])).toBe('4238.77 false\n')
  })

  it('has types that accept those of @types/geojson', () => {
    const program = `
      import { distance, type GeometryInput } from '${LIBRARY.geodesy}'
      import { relate } from '${LIBRARY.topology}'
      declare const feature: { type: 'Feature'; properties: { name: string }; geometry: { type: 'Point'; coordinates: number[] } }
      export const inputs: GeometryInput[] = [feature, feature.geometry]
      export const [metres, matrix]: [number, string] = [distance(feature, feature), relate(feature, feature)]
      // @ts-expect-error: a position is no geometry
      distance([1, 2], feature)\n`
    expect(compile(folder, program)).toBe('')
  })

  it('bundles to the size that docs/library.md names, below the limit', async () => {
    const { plain, gzipped } = sizesOf(await bundle(folder, LIBRARY, 'geodesy', 'topology'))
    console.log(`sizes in kB of the library: ${plain}, with gzip ${gzipped}`)
    expect(gzipped).toBeLessThan(MAX_LIBRARY_GZIPPED_KB)
    const page = readFileSync(join(root, 'docs/library.md'), 'utf8')
    const [, documented, documentedGzipped] = page.match(/(\d+)\skB\s\((\d+)\skB\swith\sgzip\)/)!
    expect(Math.abs(plain / Number(documented) - 1)).toBeLessThan(0.1)
    expect(Math.abs(gzipped / Number(documentedGzipped) - 1)).toBeLessThan(0.1)
  })

  it.skipIf(WHY_NOT !== undefined)('computes in a browser', async () => {
    const browser = await openBrowser()
    const application = await startApplication(browser, await bundle(folder, LIBRARY, 'geodesy', 'topology'))
    try {
      expect(await application.run(ASK)).toEqual(['4238.77 false', 'the end'])
    } finally {
      application.close()
      await browser.close()
    }
  })
})

describe('the client alone, installed in an empty folder', () => {
  it('brings only what it imports', () => {
    const packages = readdirSync(join(clientFolder, 'node_modules')).filter((name) => !name.startsWith('.'))
    expect(packages).toEqual(['@noble', 'robust-predicates', 'trigpoint'])
  })

  it('computes with a service, verifies the response, and recomputes it', () => {
    writeFileSync(join(clientFolder, 'ask.js'), ask(url, MODULES.client))
    expect(run(process.execPath, ['ask.js'], clientFolder)).toBe('4238.77 true\n')
    const again = ask(url, MODULES.client)
      .replace('import', `import { createRecompute } from '${MODULES.recompute}'; import`)
      .replace('issuer:', 'recompute: createRecompute(), issuer:')
    writeFileSync(join(clientFolder, 'again.js'), again)
    expect(run(process.execPath, ['again.js'], clientFolder)).toBe('4238.77 true\n')
  })

  it('has types', () => {
    expect(checkTypes(clientFolder, MODULES)).toBe('')
  })

  it('has the same size in a browser as the client of the whole package', async () => {
    expect(await bundleSizes(clientFolder, MODULES)).toEqual(await bundleSizes(folder, MODULES))
  })
})

type Modules<Name extends string = keyof typeof MODULES> = Readonly<Record<Name, string>>

/** Bundles modules of an installed package. */
async function bundle<Name extends string>(cwd: string, modules: Modules<Name>, ...names: Name[]) {
  for (const name of names) writeFileSync(join(cwd, `${name}.js`), `export * from '${modules[name]}'\n`)
  return bundleForBrowser(cwd, Object.fromEntries(names.map((name) => [name, `${name}.js`])))
}

/** Returns the sizes of the client, and of the client with recompute. */
async function bundleSizes(cwd: string, modules: Modules) {
  return [await bundle(cwd, modules, 'client'), await bundle(cwd, modules, 'client', 'recompute')].map(sizesOf)
}

/** Returns what the compiler says about a program that uses the client; nothing if it has the types. */
function checkTypes(cwd: string, modules: Modules): string {
  const program = `
    import { createClient } from '${modules.client}'
    import { createRecompute } from '${modules.recompute}'
    export const client = createClient({ baseUrl: 'http://127.0.0.1', chainId: 1 })
    export const recompute = createRecompute()
    // @ts-expect-error: the types say that this is text
    createClient({ baseUrl: 1 })\n`
  return compile(cwd, program)
}

function compile(cwd: string, program: string): string {
  writeFileSync(join(cwd, 'types.ts'), program)
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', 'types.ts']
  return run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...flags], cwd)
}

/** Returns the size of all files in kB (1000 bytes), as they are and with gzip. */
function sizesOf(files: ReadonlyMap<string, string>): { plain: number; gzipped: number } {
  const sum = (size: (code: string) => number) =>
    Math.round([...files.values()].reduce((total, code) => total + size(code), 0) / 1000)
  return { plain: sum(Buffer.byteLength), gzipped: sum((code) => gzipSync(code).byteLength) }
}
