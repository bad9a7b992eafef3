/** The page of accounts, with a wallet that signs: sign-in, limits, keys, usage, sign-out, and what it says when something is missing. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { NO_LOCAL_CALLERS, startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, numberOf, shoot, signed, THEMES, visit } from './page.ts'
import { runDuringTests } from './running.ts'
import { addWallet } from './test-wallet.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)
const DISTANCE = { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL }
const MARKUP = '<img src=x onerror=alert(1)>'
/** Each test has an account of its own. */
let accounts = 0
const newAccount = () => privateKeyToAccount(`0x${(++accounts).toString(16).padStart(64, '5')}`)

describe.skipIf(WHY_NOT !== undefined)('the page of accounts', () => {
  const settings = { RECORDS: '1', USAGE_FLUSH_MS: '50', MAX_KEYS_PER_ACCOUNT: '3' }
  const token = `tier=internal,chain=84532,token=0x${'5f'.repeat(20)},balance=1`
  const running = runDuringTests({
    service: () => startTestService(settings),
    // A sign-in takes two requests of the address, and each new key one of the account.
    limited: () =>
      startTestService({ ...settings, ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '20', RATE_LIMIT_DEVELOPER: '2' }),
    // Gives a higher tier to holders, but its chain does not answer.
    holders: () =>
      startTestService({ ...settings, WALLET_TIER_TOKEN: token, RPC_URL_84532: 'http://127.0.0.1:1', SYNC: '0' }),
  })
  beforeAll(async () => {
    for (const { lines } of [running.service, running.limited, running.holders])
      await eventually(() => expect(lines.join('\n')).toContain('"store open"'))
  })

  /** Opens the page with a wallet. */
  async function open(options: Parameters<typeof visit>[3] = {}, { url } = running.service, path = '/account') {
    const account = newAccount()
    const opened = await visit(running.browser, url, '/status', options)
    const wallet = await addWallet(opened.context, account)
    await opened.page.goto(`${url}/explore${path}`)
    return { ...opened, account, wallet }
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.getByText('You have no keys yet.').waitFor()
  }

  async function createKey(page: Page, name: string): Promise<string> {
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Create the key' }).click()
    return readKey(page)
  }

  /** Returns the key that is shown once, and puts it away. */
  async function readKey(page: Page): Promise<string> {
    const key = (await page.textContent('.key-text'))!
    await page.getByRole('button', { name: 'I have stored it' }).click()
    expect(await page.locator('.key-text').count()).toBe(0)
    return key
  }

  const compute = (key: string) => running.service.post('/compute/v0/distance', DISTANCE, { 'X-API-Key': key })
  const untilStatus = (key: string, status: number) =>
    eventually(async () => expect((await compute(key)).status).toBe(status))

  it('signs in, makes a key for signed requests, shows their usage, rotates, revokes and signs out', async () => {
    const { page, context, faults, account, wallet } = await open()
    await signIn(page)
    expect(wallet.calls).toEqual(['eth_requestAccounts', 'eth_chainId', 'personal_sign'])
    const { host } = new URL(running.service.url)
    expect(wallet.messages[0]).toMatch(new RegExp(`^${host} wants you to sign in .*\n${account.address}\n`))
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Your account')
    expect(await page.locator(`button[title="Copy ${account.address}"]`).count()).toBe(1)
    expect(await page.textContent('.account-page .facts')).toContain('Developer: 1,000 requests an hour')

    const key = await createKey(page, 'shop')
    expect(key).toMatch(/^tp_dev_/)
    await untilStatus(key, 200)
    const response = await compute(key)
    expect(response.body).toMatchObject({ result: 4238.77, attestation: { attester: running.service.attester } })
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      expect(await page.textContent('.usage-legend')).toContain('distance')
    })
    // Requests with the key count for the account. What the page reads does not.
    const left = (await page.textContent('.limit-list li'))!
    expect(numberOf(/([\d,]+) left of 1,000/.exec(left)![1]!)).toBeLessThanOrEqual(998)
    await page.getByText('All numbers as a table').click()
    const row = page.locator('.usage-table tr', { hasText: 'distance' })
    expect(Number(await row.locator('td').nth(2).textContent())).toBeGreaterThanOrEqual(2)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/)
    expect(readFileSync(await file.path(), 'utf8')).toMatch(
      /^day,kind,requests,.*\r\n(?:.*\r\n)*\d{4}-\d\d-\d\d,distance,/,
    )

    await page.getByRole('button', { name: 'Rotate shop' }).click()
    await page.getByLabel('The old key stays valid').selectOption({ label: 'No longer: it ends at once' })
    await page.getByRole('button', { name: 'Rotate the key' }).click()
    const rotated = await readKey(page)
    expect(rotated).not.toBe(key)
    await untilStatus(rotated, 200)
    await untilStatus(key, 401)

    await page.getByRole('button', { name: 'Revoke shop' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await compute(rotated)).status).toBe(200)
    await page.getByRole('button', { name: 'Revoke shop' }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('You have no keys yet.').waitFor()
    await untilStatus(rotated, 401)

    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.url().endsWith('/auth/sign-out')),
      page.getByRole('button', { name: 'Sign out' }).click(),
    ])
    await page.getByText('You are signed out.').waitFor()
    const { authorization } = await request.allHeaders()
    await eventually(async () => {
      const answer = await fetch(`${running.service.url}/account`, { headers: { authorization: authorization! } })
      expect(answer.status).toBe(401)
    })
    // Neither the storage, the cookies nor the address has a token.
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    expect(stored + page.url()).not.toMatch(/tps_|tpr_|tp_dev_/)
    expect(await context.cookies()).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  it.each(THEMES)('makes a key for some pages and addresses only (%s, %d px)', async (theme, width) => {
    const { page, context, faults } = await open({ theme, width })
    await signIn(page)
    await page.getByText('Where it may be used').click()
    const origins = page.getByLabel('Origins of web pages')
    const addresses = page.getByLabel('Network addresses')
    await origins.fill('https://shop.example\nhttps://shop.example/cart')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByText('is not an origin').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    // What was entered stays, so that it can be corrected.
    await origins.fill('https://shop.example\n http://localhost:8080, ')
    await addresses.fill('127.0.0.0/8')
    await page.evaluate(() => document.querySelector('.key-form')!.scrollIntoView({ block: 'center' }))
    await shoot(page, `account-key-places-${theme}`)
    const key = await createKey(page, 'shop')
    await page
      .getByText('only from pages of https://shop.example, http://localhost:8080 · only from 127.0.0.0/8')
      .waitFor()
    expect(await origins.inputValue()).toBe('')
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    expect(await axeFindings(page)).toEqual([])
    const status = async (origin: string) =>
      (await running.service.post('/compute/v0/distance', DISTANCE, { 'X-API-Key': key, Origin: origin })).status
    await eventually(async () => expect(await status('https://shop.example')).toBe(200))
    expect(await status('https://other.example')).toBe(403)
    expect(faults).toEqual([expect.stringContaining('400 (Bad Request)')])
    await context.close()
  })

  it.each(THEMES)('says why the account does not have a higher tier (%s, %d px)', async (theme, width) => {
    const { page, context } = await open({ theme, width }, running.holders)
    await signIn(page)
    const note = page.locator('.account-card .note', { hasText: 'No higher tier' })
    expect(await note.textContent()).toBe('No higher tier: chain 84532 cannot be asked now: refresh the session later.')
    await shoot(page, `account-tier-note-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    expect(await note.count()).toBe(0)
    await context.close()
  })

  it('uses a new key in the other pages of the tab, until it is revoked', async () => {
    const { page, context } = await open()
    await signIn(page)
    await page.getByRole('button', { name: 'Create the key' }).click()
    const key = (await page.textContent('.key-text'))!
    await untilStatus(key, 200)
    await page.getByRole('button', { name: 'Copy the key' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
    await page.getByRole('button', { name: 'Use it in this tab' }).click()
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST' && sent.url().includes('/compute/v0/')),
      page.getByRole('link', { name: 'Compute', exact: true }).click(),
    ])
    expect((await request.allHeaders())['x-api-key']).toBe(key)
    await signed(page)
    // The session and the key that is shown stay while another page is shown.
    await page.getByRole('link', { name: 'Account', exact: true }).click()
    expect(await page.textContent('.key-text')).toBe(key)
    await page.getByRole('button', { name: /^Revoke unnamed/ }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('You have no keys yet.').waitFor()
    expect(await page.locator('.key-text').count()).toBe(0)
    expect(await page.evaluate(() => sessionStorage.getItem('trigpoint-key'))).toBeNull()
    await context.close()
  })

  it.each(THEMES)('shows names as text, and at most as many keys as are allowed (%s, %d px)', async (theme, width) => {
    const { page, context, faults } = await open({ theme, width })
    await shoot(page, `account-sign-in-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await signIn(page)
    await page.getByLabel('Name').fill(`\u202e${MARKUP}`)
    await page.getByLabel('Verify').uncheck()
    await page.getByLabel('Valid', { exact: true }).selectOption({ label: '30 days' })
    await page.getByRole('button', { name: 'Create the key' }).click()
    const key = (await page.textContent('.key-text'))!
    await page.locator('.key-list li').waitFor()
    await page.locator('.new-key').scrollIntoViewIfNeeded()
    await shoot(page, `account-new-key-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await readKey(page)
    const text = (await page.textContent('.key-list'))!
    expect(text).toContain(`\\u202e${MARKUP}`)
    expect(text).toContain('for compute, records, jobs')
    expect(text).toMatch(/ends \d+ \w+ \d{4}/)
    expect(await page.locator('.key-list img').count()).toBe(0)
    await createKey(page, 'W'.repeat(200))
    await createKey(page, 'the third')
    await page.getByText('This is the most that an account may have.').waitFor()
    expect(await page.getByRole('button', { name: 'Create the key' }).isDisabled()).toBe(true)

    await untilStatus(key, 200)
    const { batch, ...others } = {
      batch: { items: [{ op: 'distance', from: EIFFEL_TOWER, to: TOWN_HALL }] },
      length: { geometry: { type: 'LineString', coordinates: [EIFFEL_TOWER.coordinates, TOWN_HALL.coordinates] } },
      intersects: { geometry1: EIFFEL_TOWER, geometry2: TOWN_HALL },
      distance: DISTANCE,
      area: { geometry: EIFFEL_TOWER },
    }
    for (const [name, body] of Object.entries({ batch, ...others }))
      await running.service.post(`/compute/v0/${name}`, { chainId: 84532, ...body }, { 'X-API-Key': key })
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      expect(await page.locator('.usage-legend li').count()).toBe(5)
    })
    await page.getByText('All numbers as a table').click()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    expect(await axeFindings(page)).toEqual([])
    await page.evaluate(() => scrollTo(0, 0))
    await shoot(page, `account-keys-${theme}`)
    await page.locator('.usage-chart').scrollIntoViewIfNeeded()
    await page.evaluate(() => document.querySelector('.usage-table')!.scrollIntoView({ block: 'end' }))
    await shoot(page, `account-usage-${theme}`)

    for (const [name, answer] of [
      ['Rotate the third', 'Rotate the key'],
      ['Revoke the third', 'Revoke the key'],
    ] as const) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('button', { name: answer }).waitFor()
      await shoot(page, `account-${name.split(' ')[0]!.toLowerCase()}-${theme}`)
      expect(await axeFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      // The focus goes back to the button that opened the dialog.
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(
        new RegExp(`^${name}`),
      )
    }
    expect(faults).toEqual([])
    await context.close()
  })

  /** Holds the responses to requests. `arrived` resolves with the first one, and `release` lets them through. */
  async function hold(page: Page, path: string, method: string) {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    await page.route(path, async (route) => {
      if (route.request().method() !== method) return route.continue()
      const response = await route.fetch()
      arrive()
      await held
      return route.fulfill({ response })
    })
    return { arrived, release: () => release() }
  }

  // Regression: an action that was confirmed while another one was under way was dropped.
  it('carries out all confirmed actions, in their order', async () => {
    const { page, context } = await open()
    await signIn(page)
    for (const name of ['one', 'two']) {
      await createKey(page, name)
      await page.locator('.key-list li', { hasText: name }).waitFor()
    }
    const { release } = await hold(page, '**/account/keys/*', 'DELETE')
    for (const name of ['one', 'two']) {
      await page.getByRole('button', { name: `Revoke ${name}` }).click()
      await page.getByRole('button', { name: 'Revoke the key' }).click()
    }
    release()
    await page.getByText('You have no keys yet.').waitFor()
    await context.close()
  })

  // Regression: the key was shown to the account that signed in next.
  it('does not show a key that arrives after its session', async () => {
    const { page, context } = await open()
    await signIn(page)
    const { arrived, release } = await hold(page, '**/account/keys', 'POST')
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/account/keys'),
    )
    await page.getByRole('button', { name: 'Create the key' }).click()
    await arrived
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.locator('.key-list li').waitFor()
    release()
    await (await answered).finished()
    // The next response shows that the page has handled the late one.
    await page.getByLabel('Name', { exact: true }).fill('second')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.waitForResponse((response) => response.url().includes('/account/usage'))
    expect(await page.locator('.new-key').count()).toBe(0)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('second')
    await context.close()
  })

  // Regression: a rejected request of the session before it ended the next session.
  it.each(['/account', '/account/keys', '/account/usage'])(
    'ignores that %s of an earlier session is rejected',
    async (path) => {
      const { page, context } = await open()
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      let isFirst = true
      await page.route(
        (url) => url.pathname === path,
        async (route) => {
          if (!isFirst) return route.continue()
          isFirst = false
          await held
          return route.continue()
        },
      )
      const sent = page.waitForRequest((request) => new URL(request.url()).pathname === path)
      await page.getByRole('button', { name: 'Test wallet' }).click()
      const late = await sent
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('You are signed out.').waitFor()
      await signIn(page)
      release()
      expect((await late.response())!.status()).toBe(401)
      await Promise.all([
        page.waitForResponse((response) => response.url().includes('/account/usage')),
        page.getByRole('button', { name: 'Refresh' }).click(),
      ])
      expect(await page.getByText('Your session has ended.').count()).toBe(0)
      await context.close()
    },
  )

  it('works with the keyboard', async () => {
    const { page, context } = await open()
    const press = async (name: string, role: 'button' | 'link' = 'button') => {
      await page.getByRole(role, { name }).focus()
      await page.keyboard.press('Enter')
    }
    await press('Test wallet')
    await page.getByText('You have no keys yet.').waitFor()
    await page.getByLabel('Name').focus()
    await page.keyboard.type('typed')
    await page.keyboard.press('Enter')
    await page.locator('.key-text').waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Your new key')
    await press('I have stored it')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('API keys')
    await press('Revoke typed')
    await page.getByRole('button', { name: 'Revoke the key' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('You have no keys yet.').waitFor()
    await context.close()
  })

  it.each(THEMES)('says that the wallet rejected the signature, and tries again (%s, %d px)', async (theme, width) => {
    const { page, context, wallet } = await open({ theme, width })
    wallet.rejections.set('eth_requestAccounts', -32002)
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('The wallet has a question open already.').waitFor()
    wallet.rejections.clear()
    wallet.rejections.set('personal_sign', 4001)
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('Not signed in. You rejected it in the wallet.').waitFor()
    await shoot(page, `account-rejected-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    expect(wallet.messages).toEqual([])
    wallet.rejections.clear()
    await signIn(page)
    await context.close()
  })

  it('shows what the service says of a signature by another key', async () => {
    const { page, context, account } = await open()
    await page.route('**/auth/siwe', async (route) => {
      const { message } = route.request().postDataJSON()
      const signature = await newAccount().signMessage({ message })
      await route.continue({ postData: JSON.stringify({ message, signature }) })
    })
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText(`the signature is not one of this message by ${account.address}`).waitFor()
    await shoot(page, 'account-wrong-signature-light')
    await context.close()
  })

  it.each(THEMES)('asks for another sign-in when the session was ended elsewhere (%s, %d px)', async (theme, width) => {
    const { page, context } = await open({ theme, width })
    const [request] = await Promise.all([page.waitForRequest((sent) => sent.url().endsWith('/account')), signIn(page)])
    const headers = { authorization: (await request.allHeaders())['authorization']! }
    expect((await fetch(`${running.service.url}/auth/sign-out`, { method: 'POST', headers })).status).toBe(204)
    await eventually(async () => expect((await fetch(`${running.service.url}/account`, { headers })).status).toBe(401))
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByText('Your session has ended.').waitFor()
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
    await shoot(page, `account-ended-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await signIn(page)
    await context.close()
  })

  it.each(THEMES)('says when requests are possible again (%s, %d px)', async (theme, width) => {
    const { page, context } = await open({ theme, width }, running.limited)
    await signIn(page)
    const note = page.locator('.note.limit').first()
    for (const name of ['one', 'two']) await createKey(page, name)
    await page.getByLabel('Name').fill('three')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await note.waitFor()
    expect(await note.textContent()).toMatch(/Too many requests for now: .*Try again at/)
    expect(await page.textContent('.limit-list li')).toContain('0 left of 2')
    await note.scrollIntoViewIfNeeded()
    await shoot(page, `account-limit-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await context.close()
  })

  it('says when a sign-in is possible again', async () => {
    await eventually(async () =>
      expect((await fetch(`${running.limited.url}/auth/nonce`, { method: 'POST' })).status).toBe(429),
    )
    const { page, context, wallet } = await open({}, running.limited)
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.locator('.sign-in .note.limit').waitFor()
    expect(wallet.messages).toEqual([])
    await shoot(page, 'account-sign-in-limit-light')
    expect(await axeFindings(page)).toEqual([])
    await context.close()
  })

  it.each(THEMES)('says that no wallet was found, or that the sign-in is off (%s, %d px)', async (theme, width) => {
    const off = await startTestService()
    for (const [url, words, name] of [
      [running.service.url, 'No wallet was found.', 'no-wallet'],
      [off.url, 'This service has no sign-in.', 'off'],
    ] as const) {
      const { page, context, faults } = await visit(running.browser, url, '/account', { theme, width })
      await page.getByText(words).waitFor()
      await shoot(page, `account-${name}-${theme}`)
      expect(await axeFindings(page)).toEqual([])
      expect(faults).toEqual([])
      await context.close()
    }
    await off.stop()
  })

  it('lists every wallet with its name as text, without loading its picture from elsewhere', async () => {
    const { page, context, faults } = await open()
    await addWallet(context, newAccount(), { name: MARKUP, icon: 'https://tracker.example/icon.png' })
    await addWallet(context, newAccount(), { name: `${'Long name of a wallet '.repeat(10)}` })
    await page.reload()
    await page.locator('.wallet-list li').nth(2).waitFor()
    expect(await page.locator('.wallet-name').allTextContents()).toEqual(
      expect.arrayContaining(['Test wallet', MARKUP, expect.stringMatching(/^Long name .*…$/)]),
    )
    expect(
      await page
        .locator('.wallet-list img')
        .evaluateAll((list) => list.map((image) => (image as HTMLImageElement).src.slice(0, 11))),
    ).toEqual(['data:image/', 'data:image/'])
    await shoot(page, 'account-wallets-light')
    expect(faults).toEqual([])
    await context.close()
  })
})
