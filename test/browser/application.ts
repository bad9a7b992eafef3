/** The page of an application that uses the package: bundled, and served on an origin of its own. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Browser } from 'playwright-core'

/** The page imports the package under the names that the documentation uses. */
const PAGE = `<!doctype html><title>an application</title><link rel="icon" href="data:,">
<script type="importmap">{"imports": {"trigpoint/client": "/client.js", "trigpoint/client/recompute": "/recompute.js",
  "trigpoint/geodesy": "/geodesy.js", "trigpoint/topology": "/topology.js"}}</script>
<script type="module" src="/code.js"></script>`

/**
 * Bundles and minifies modules with Vite, as an application does. What several of them import is in files that they share.
 *
 * @param root folder of the entries, in which packages are looked up
 * @param entries files by the names of their bundles
 * @returns the code of each file by its path, such as `/client.js`
 */
export async function bundleForBrowser(
  root: string,
  entries: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const { build } = await import('vite')
  const outputs = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, resolve(root, file)])),
        preserveEntrySignatures: 'strict', // otherwise all that no entry uses itself would be removed
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  const files = [outputs].flat().flatMap((one) => ('output' in one ? one.output : []))
  return new Map(files.flatMap((file) => (file.type === 'chunk' ? [[`/${file.fileName}`, file.code] as const] : [])))
}

export interface Application {
  /** Runs a module as the page's script, and returns what it prints. */
  run(code: string): Promise<string[]>
  close(): void
}

/** Serves the bundles on a free port, which is another origin than that of the service. */
export async function startApplication(browser: Browser, bundles: ReadonlyMap<string, string>): Promise<Application> {
  const files = new Map(bundles)
  const server = createServer(({ url }, response) => {
    const file = url === '/' ? PAGE : files.get(url!)
    response.setHeader('content-type', url === '/' ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8')
    response.writeHead(file === undefined ? 404 : 200).end(file)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    async run(code) {
      files.set('/code.js', `${code}\nconsole.log('the end')`)
      const page = await browser.newPage()
      const printed: string[] = []
      const ended = new Promise<void>((done, fail) => {
        page.on('console', (message) => {
          printed.push(message.text())
          if (message.text() === 'the end') done()
        })
        page.on('pageerror', fail)
      })
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      await ended
      await page.close()
      return printed
    },
    close: () => void server.close(),
  }
}
