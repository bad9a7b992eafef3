/** The page `/verify`: what it says about receipts, good and hostile, without a network. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import decodeQR from 'qr/decode.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeNumeric } from '../../src/attest/data.ts'
import { createReceipt, readReceipt } from '../../src/client/client.ts'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { utf8 } from '../../src/crypto/hex.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT } from '../attest-parts.ts'
import { createAnswers } from '../client-answers.ts'
import { COSTLY_SHAPES } from '../costly-shapes.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { writeTestTiles } from '../pmtiles-file.ts'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, mapReady, shoot, signed, type Visit, visit } from './page.ts'
import { runDuringTests } from './running.ts'

const HTML = '<img src=x onerror="window.hacked = true">'
const inputs = [EIFFEL_TOWER, TOWN_HALL]

function fragmentOf(content: unknown): string {
  const packed = deflateRawSync(typeof content === 'string' ? content : JSON.stringify(content))
  const sum = javascriptKeccak().hash(packed).subarray(0, 4)
  return `#r=${Buffer.concat([Uint8Array.of(1), sum, packed]).toString('base64url')}`
}

/** An attestation of another issuer whose signed operation is HTML. */
function signedHtml(): Promise<object> {
  return signedByAnother(encodeNumeric(1n, HTML, [`0x${'ab'.repeat(32)}`], NOW_SECONDS, HTML))
}

async function signedByAnother(data: Hex): Promise<object> {
  const { signer, schemas } = await createTestSigner()
  const payload = { chainId: 84532, schema: schemas.numeric, recipient: RECIPIENT, data }
  const made = await signer.sign({ kind: 'numeric', ...payload })
  if (!made.ok) throw new Error(made.problem.detail)
  const { signature, nonce, deadlineSeconds } = made
  const zero = `0x${'0'.repeat(64)}`
  const { chainId: _, ...fields } = payload
  const common = { signature, attester: signer.address }
  return {
    attestation: { ...fields, ...common, revocable: true, refUID: zero },
    delegatedAttestation: { ...common, deadline: deadlineSeconds, nonce },
  }
}

describe.skipIf(WHY_NOT !== undefined)('the page of receipts', () => {
  const running = runDuringTests({ service: startTestService })
  let address: string
  let opened: Visit
  let page: Page

  const answer = async (path: string, body: object) =>
    (await running.service.post(`/compute/v0/${path}`, { chainId: 84532, ...body })).body
  const receiptOf = (response: object, given?: typeof inputs) =>
    createReceipt(response, { baseUrl: running.service.url, inputs: given })

  /** Opens a fragment in the open page, and returns its verdict and the words for it. */
  async function open(fragment: string): Promise<readonly [state: string, text: string]> {
    await page.evaluate((hash) => {
      location.hash = ''
      location.hash = hash
    }, fragment)
    await page.waitForFunction(() => !/^(?:Checking|No receipt)/.test(document.querySelector('.verdict')!.textContent!))
    const state = await page.getAttribute('.receipt', 'data-verdict')
    return [state!, (await page.textContent('.verdict'))!]
  }

  beforeAll(async () => {
    const [from, to] = inputs
    address = await receiptOf(await answer('distance', { from, to }), inputs)
    opened = await visit(running.browser, running.service.url, '/verify')
    ;({ page } = opened)
    await page.goto(address)
    await page.waitForSelector('.receipt[data-verdict=good] .check.pass >> text=recomputed')
    await mapReady(page)
    await page.waitForLoadState('networkidle')
  })
  afterAll(() => opened.context.close())

  it('checks a receipt of this service and shows its facts and its code', async () => {
    expect(await page.title()).toBe('Receipt – Trigpoint')
    expect(await page.textContent('.verdict')).toContain(`Valid. Signed by the attester of this service`)
    const facts = (await page.textContent('.facts'))!
    expect(facts).toContain('is 4,238.77 m')
    expect(facts).toContain('Point, 48.8584° N, 2.2945° E: matches the signed reference')
    expect(await page.textContent('.receipt')).toContain('Not asked. This browser has no wallet to ask.')
    await shoot(page, 'receipt-1440')
    expect(opened.faults).toEqual([])
  })

  it('draws a QR code that has the address', async () => {
    const { size, path } = await page.evaluate(() => {
      const code = document.querySelector('.qr')!
      return {
        size: Number(code.getAttribute('viewBox')!.split(' ')[2]),
        path: code.firstElementChild!.getAttribute('d')!,
      }
    })
    const scale = 4
    const data = new Uint8Array((size * scale) ** 2 * 4).fill(255)
    for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)/g)) {
      for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
        const start = row * size * scale + Number(x) * scale
        for (let at = start; at < start + Number(width) * scale; at++) data.fill(0, at * 4, at * 4 + 3)
      }
    }
    expect(decodeQR({ width: size * scale, height: size * scale, data })).toBe(address)
  })

  it('prints one sheet', async () => {
    const pdf = await page.pdf({ preferCSSPageSize: true })
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.map-slot').isVisible()).toBe(false)
    expect(await page.locator('.qr').isVisible()).toBe(true)
    await shoot(page, 'receipt-print')
    await page.emulateMedia({ media: null })
  })

  it('asks the chain only on a click, through a wallet on that chain', async () => {
    await page.evaluate(() => {
      const state = { chainId: '0x1', calls: [] as string[] }
      const request = async ({ method }: { method: string }) => {
        state.calls.push(method)
        if (method === 'eth_chainId') return state.chainId
        throw Object.assign(new Error('the node is down'), { code: -32603 })
      }
      Object.assign(window, { wallet: state, ethereum: { request } })
    })
    const fragment = new URL(address).hash
    expect((await open(fragment))[0]).toBe('good')
    const calls = () => page.evaluate(() => (window as unknown as { wallet: { calls: string[] } }).wallet.calls)
    expect(await calls()).toEqual([])
    const ask = page.getByRole('button', { name: 'Ask the chain with the wallet' })
    await ask.click()
    await page.waitForSelector('text=the wallet is on chain 1, and the receipt is for chain 84532')
    await page.evaluate(() => Object.assign((window as unknown as { wallet: object }).wallet, { chainId: '0x14a34' }))
    await open(fragment)
    await ask.click()
    await page.waitForSelector('.check.fail >> text=the node is down')
    expect(await page.getAttribute('.receipt', 'data-verdict')).toBe('good')
    expect(await calls()).toEqual(['eth_chainId', 'eth_chainId', 'eth_chainId', 'eth_call'])
    await page.evaluate(() => Reflect.deleteProperty(window, 'ethereum'))
  })

  describe('without a network', () => {
    const requests: string[] = []
    beforeAll(async () => {
      await opened.context.route('**', (route) => route.abort())
      await opened.context.setOffline(true)
      page.on('request', (request) => {
        // Chromium asks for the icon again when the address changes.
        if (!request.url().endsWith('/favicon.svg')) requests.push(request.url())
      })
      page.on('dialog', (dialog) => void dialog.dismiss())
    })
    afterAll(async () => {
      await opened.context.unroute('**')
      await opened.context.setOffline(false)
    })

    it('still checks receipts', async () => {
      const answers = await createAnswers()
      const { hash } = new URL(await receiptOf(JSON.parse(answers.numeric), inputs))
      await open(hash)
      expect((await open(new URL(address).hash))[0]).toBe('good')
      expect(requests).toEqual([])
    })

    it('trusts another issuer only when its address is typed', async () => {
      const answers = await createAnswers()
      const { hash } = new URL(await receiptOf(JSON.parse(answers.numeric), inputs))
      const [state, text] = await open(hash)
      expect(state).toBe('unknown')
      expect(text).toContain('not trusted here')
      expect(text).toContain(`It is not the attester of this service, ${running.service.attester}`)
      expect(text).not.toMatch(/\bvalid\b/i)
      const field = page.getByLabel('Address of an issuer that you trust')
      await field.fill('0x12')
      await page.waitForSelector('#trusted-issuer[aria-invalid=true]')
      await field.fill(answers.attester)
      await page.waitForSelector('.receipt[data-verdict=good]')
      expect(await page.textContent('.verdict')).toContain('Valid. Signed by the issuer that you typed')
      await field.fill('')
      await page.waitForSelector('.receipt[data-verdict=unknown]')
    })

    it('does not compute a result again that needs much work', async () => {
      // Without the limit of the page, it stood still for 20 seconds.
      const costly = COSTLY_SHAPES.find(({ name }) => name === 'zigzags near the antipode')!.pair(4000)
      const keccak = javascriptKeccak()
      const refs = costly.map((geometry) => keccak.hashHex(utf8(canonicalGeometry(geometry))))
      const data = encodeNumeric(1n, 'centimeters', refs, NOW_SECONDS, 'distance')
      const fragment = fragmentOf({ response: await signedByAnother(data), inputs: costly })
      expect((await open(fragment))[0]).toBe('unknown')
      expect(await page.textContent('.check.pass >> text=inputs')).toBeTruthy()
      expect(await page.textContent('.check.skip:has-text("recomputed")')).toContain('needs too much work')
      expect(requests).toEqual([])
    })

    it('never calls a hostile receipt valid, and runs nothing in it', async () => {
      const { response } = await readReceipt(address)
      const { hash } = new URL(address)
      const { attestation } = response as { attestation: object }
      const proof = await (await createAnswers()).verifiedProof()
      const hostile: Readonly<Record<string, string>> = {
        truncated: hash.slice(0, -40),
        'a flipped bit': hash.slice(0, 60) + (hash[60] === 'A' ? 'B' : 'A') + hash.slice(61),
        'HTML as the text': `#r=${HTML}`,
        'too much content': fragmentOf(' '.repeat(2 ** 20 + 1)),
        'deep nesting': fragmentOf('['.repeat(5000)),
        'HTML as the result': fragmentOf({ response: { ...response, result: HTML, operation: HTML } }),
        'HTML as a member': fragmentOf({ response: { ...response, [HTML]: HTML } }),
        'HTML in inputs': fragmentOf({ response, inputs: [{ type: HTML }, { uid: HTML }] }),
        'other inputs': fragmentOf({ response, inputs: [TOWN_HALL, EIFFEL_TOWER] }),
        'another result': fragmentOf({ response: { ...response, result: 1 }, inputs }),
        'a forged signature': fragmentOf({
          response: { ...response, attestation: { ...attestation, signature: `0x${'1b'.repeat(65)}` } },
        }),
        'another attester': fragmentOf({
          response: { ...response, attestation: { ...attestation, attester: `0x${'12'.repeat(20)}` } },
        }),
        'HTML in a proof': fragmentOf({ response: { ...proof, proof: { claim: { location: HTML }, stamps: [HTML] } } }),
        'signed HTML': fragmentOf({ response: await signedHtml() }),
      }
      for (const [name, fragment] of Object.entries(hostile)) {
        const [state, text] = await open(fragment)
        expect(state, name).toBe(name === 'signed HTML' ? 'unknown' : 'bad')
        expect(text, name).not.toMatch(/\bvalid\b/i)
        if (state === 'bad') expect(await page.locator('.qr').count(), name).toBe(0)
        expect(await page.locator('.receipt img, .receipt script').count(), name).toBe(0)
      }
      expect(await page.textContent('.facts')).toContain('onerror') // as text
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false)
      expect(requests).toEqual([])
    })
  })

  it('checks a receipt that is pasted after the network has gone', async () => {
    const { page: bare, context } = await visit(running.browser, running.service.url, '/verify')
    // The page is at `/verify` alone; so far no receipt has loaded what a check needs.
    await bare.goto(`${running.service.url}/verify`)
    await bare.waitForSelector('.verdict >> text=No receipt.')
    await bare.waitForLoadState('networkidle')
    await context.setOffline(true)
    const errors: string[] = []
    bare.on('pageerror', ({ message }) => errors.push(message))
    await bare.getByLabel('Address of a receipt').fill(address)
    await bare.getByRole('button', { name: 'Check', exact: true }).click()
    await bare.waitForSelector('.receipt[data-verdict=good] .check.pass >> text=recomputed')
    expect(errors).toEqual([])
    await context.close()
  })

  it('says that a file of the page did not load, and tries again', async () => {
    const context = await running.browser.newContext()
    const bare = await context.newPage()
    await context.route(/secp256k1/, (route) => route.abort())
    await bare.goto(address)
    await bare.waitForSelector('text=The page could not be loaded.')
    await context.unroute(/secp256k1/)
    await bare.getByRole('button', { name: 'Try again' }).click()
    await bare.waitForSelector('.receipt[data-verdict=good] .check.pass >> text=recomputed')
    await context.close()
  })

  it('checks the same address again', async () => {
    const { page: own, context } = await visit(running.browser, running.service.url, '/verify')
    await own.goto(address)
    await own.waitForSelector('.receipt[data-verdict=good] .check.pass >> text=recomputed')
    // A check that cannot be done says so, and not that the receipt does not hold.
    await own.evaluate(() => {
      const { subarray } = Uint8Array.prototype
      Uint8Array.prototype.subarray = () => {
        throw new RangeError('no memory is left')
      }
      Object.assign(window, { mend: () => Object.assign(Uint8Array.prototype, { subarray }) })
    })
    await own.getByLabel('Address of a receipt').fill(address)
    await own.getByRole('button', { name: 'Check', exact: true }).click()
    await own.waitForSelector('.receipt[data-verdict=none] >> text=no memory is left')
    await own.evaluate(() => (window as unknown as { mend(): void }).mend())
    await own.getByRole('button', { name: 'Try again' }).click()
    await own.waitForSelector('.receipt[data-verdict=good] .check.pass >> text=recomputed')
    await context.close()
  })

  it('opens from the button beside a signed result, and from the proof lab', async () => {
    const compute = await visit(running.browser, running.service.url, '/compute')
    await mapReady(compute.page)
    await signed(compute.page)
    await compute.page.getByRole('button', { name: 'Receipt', exact: true }).click()
    await compute.page.waitForSelector('.receipt[data-verdict=good] .check.pass >> text=recomputed')
    expect(compute.page.url()).toMatch(/\/verify#r=/)
    await compute.page.goBack()
    await signed(compute.page)
    await compute.page.goto(`${running.service.url}/explore/proof`)
    await compute.page.getByRole('button', { name: 'Receipt', exact: true }).click()
    await compute.page.waitForSelector('.receipt[data-verdict=good] >> text=verify data')
    expect(compute.faults).toEqual([])
    await compute.context.close()
  })

  it.each(['light', 'dark'] as const)(
    'has no accessibility violation, wide or narrow, in the %s theme',
    async (theme) => {
      const { response } = await readReceipt(address)
      const other = await receiptOf(JSON.parse((await createAnswers()).numeric), inputs)
      const states = [
        ['none', ''],
        ['good', new URL(address).hash],
        ['unknown', new URL(other).hash],
        ['bad', fragmentOf({ response: { ...response, result: 1 }, inputs })],
      ] as const
      for (const width of [1440, 390]) {
        const narrow = await visit(running.browser, running.service.url, '/verify', { width, theme })
        for (const [state, hash] of states) {
          await narrow.page.goto(`${running.service.url}/verify${hash}`)
          await narrow.page.waitForSelector(`.receipt[data-verdict=${state}]`)
          await narrow.page.evaluate(() => {
            for (const details of document.querySelectorAll('details')) details.open = true
          })
          const overflow = await narrow.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect(overflow, `${state} at ${width}`).toBeLessThanOrEqual(0)
          expect(await axeFindings(narrow.page), `${state} at ${width}`).toEqual([])
          await shoot(narrow.page, `receipt-${state}-${width}-${theme}`)
        }
        await narrow.context.close()
      }
    },
  )
})

/** The tiles that a map requests say which place it shows, and a receipt may have private inputs. */
describe.skipIf(WHY_NOT !== undefined)('the page of receipts of a service with map tiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-tiles-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const running = runDuringTests({
    service() {
      writeTestTiles(join(folder, 'city.pmtiles'))
      return startTestService({ MAP_TILES: join(folder, 'city.pmtiles') })
    },
  })
  /** Two places in Porto, 280 km from Lisbon. */
  const places = [
    { type: 'Point' as const, coordinates: [-8.6291, 41.1579] as [number, number] },
    { type: 'Point' as const, coordinates: [-8.6301, 41.1584] as [number, number] },
  ]
  /** Waits until the map shows less than a kilometre. */
  const isNear = (page: Page) =>
    page.waitForFunction(() => /^\d+ m$/.test(document.querySelector('.map-scale')?.textContent ?? ''))
  const tilesIn = (requests: readonly string[]) => requests.filter((url) => new URL(url).pathname.startsWith('/tiles'))

  /** Whether a tile of a city is north of 40 degrees, as Porto is and Lisbon is not. */
  const isNorth = (url: string) => {
    const [zoom, , row] = /(\d+)\/(\d+)\/(\d+)\.mvt/.exec(url)?.slice(1).map(Number) ?? [0, 0, 0]
    return zoom! >= 9 && Math.atan(Math.sinh(Math.PI * (1 - (2 * row!) / 2 ** zoom!))) > (40 * Math.PI) / 180
  }

  async function salted(): Promise<{ readonly body: object; readonly receipt: string }> {
    const [from, to] = places.map((input) => ({ input, salt: 'random' }))
    const { body } = await running.service.post('/compute/v0/distance', { chainId: 84532, from, to })
    return { body, receipt: await createReceipt(body, { baseUrl: running.service.url, inputs: places }) }
  }

  /** Opens an address, and returns the page with its requests so far and later. */
  async function watch(url: string) {
    const context = await running.browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(url)
    return { page, context, requests }
  }

  it.each(['good', 'bad'])('does not tell the server where the inputs of a %s receipt are', async (verdict) => {
    const { body, receipt } = await salted()
    const forged = fragmentOf({ response: { ...body, result: 1 }, inputs: places })
    const url = verdict === 'good' ? receipt : `${running.service.url}/verify${forged}`
    const { page, context, requests } = await watch(url)
    await page.waitForSelector(`.receipt[data-verdict=${verdict}]`)
    await mapReady(page)
    await isNear(page)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Show everything' }).click()
    await page.waitForLoadState('networkidle')
    expect(requests.some((other) => other.includes('/land-50m'))).toBe(true) // the map was near, and could request
    expect(tilesIn(requests)).toEqual([])
    await context.close()
  })

  it('does not tell it when other pages have shown streets before, or show them after', async () => {
    const { receipt } = await salted()
    const { page, context, requests } = await watch(`${running.service.url}/explore/compute`)
    await mapReady(page)
    const input = page.getByRole('combobox', { name: 'Find a city or coordinates' })
    await input.fill('lisbon')
    await page.waitForSelector('#place-list >> text=Lisbon')
    await input.press('Shift+Enter')
    await page.waitForSelector('html[data-streets=ready]')
    await expect.poll(() => tilesIn(requests).length, { timeout: 60_000 }).toBeGreaterThan(1)
    await page.evaluate((hash) => {
      history.pushState(null, '', `/verify${hash}`)
      window.dispatchEvent(new PopStateEvent('popstate'))
    }, new URL(receipt).hash)
    await page.waitForSelector('.receipt[data-verdict=good]')
    await isNear(page)
    await page.waitForSelector('html:not([data-streets])')
    await page.locator('#theme').click()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Show everything' }).click()
    await isNear(page)
    expect(tilesIn(requests).filter(isNorth)).toEqual([])
    await page.goBack()
    await page.waitForSelector('html[data-streets=ready]')
    const before = tilesIn(requests).length
    await input.fill('casablanca')
    await page.waitForSelector('#place-list >> text=Casablanca')
    await input.press('Shift+Enter')
    await expect.poll(() => tilesIn(requests).length, { timeout: 60_000 }).toBeGreaterThan(before)
    expect(tilesIn(requests).filter(isNorth)).toEqual([])
    await context.close()
  })
})
