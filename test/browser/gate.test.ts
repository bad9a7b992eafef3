/** The page of gates on the local chain, with a wallet that forwards to it: deployment, points, and what it says when something fails. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createPublicClient, encodeAbiParameters, hexToBigInt, http, keccak256, toHex } from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChainService, startChainService } from '../local-chain-service.ts'
import { skipReason } from '../onchain/anvil.ts'
import { startTestService } from '../service.ts'
import { openBrowser, WHY_NOT } from './chromium.ts'
import { axeFindings, mapReady, numberOf, shoot, THEMES, visit } from './page.ts'
import { addWallet } from './test-wallet.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'
const LOCAL = 31_337
const INSIDE = '48.8590° N, 2.2945° E' // 67 m from the centre of the first example, whose radius is 500 m
const OUTSIDE = '48.8584° N, 2.3522° E' // 4.2 km from it
/** The local chain signs for ten accounts, of which the first two have other tasks. */
let opened = 0
const newAccount = () => {
  const { privateKey } = mnemonicToAccount(MNEMONIC, { addressIndex: 2 + (opened++ % 8) }).getHdKey()
  return privateKeyToAccount(`0x${Buffer.from(privateKey!).toString('hex')}`)
}

describe.skipIf(WHY_NOT !== undefined || skipReason() !== undefined)('the page of gates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-gate-'))
  let browser: Browser
  let service: ChainService
  beforeAll(async () => {
    ;[browser, service] = await Promise.all([openBrowser(), startChainService(join(folder, 'data'))])
  })
  afterAll(async () => {
    await browser?.close()
    await service?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  /** Opens the page with a wallet on the local chain. */
  async function open(
    { chainId = LOCAL, ...options }: Parameters<typeof visit>[3] & { chainId?: number } = {},
    account = newAccount(),
    path = '/gate',
  ) {
    const url = service.facts['url']!
    const opened = await visit(browser, url, '/account', options)
    const wallet = await addWallet(opened.context, account, { chainId, rpcUrl: service.facts['rpcUrl']! })
    await opened.page.goto(`${url}/explore${path}`)
    return { ...opened, account, wallet }
  }

  const connect = async (page: Page) => {
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('Chain of the wallet').waitFor()
  }
  const deploy = async (page: Page) => {
    await page.getByRole('button', { name: 'Deploy the gate' }).click()
    await page.getByRole('button', { name: 'Deploy the gate' }).waitFor({ state: 'hidden' })
    await page.waitForSelector('.gate-steps li:nth-child(2)[data-state=done]')
    await state(page, 'Closed')
  }
  const send = async (page: Page, point: string) => {
    await page.getByLabel('Point P', { exact: true }).fill(point)
    await page.getByRole('button', { name: 'Send to the gate' }).click()
  }
  const state = (page: Page, words: string) => page.locator('.gate .figure', { hasText: words }).waitFor()
  const factOf = async (page: Page, name: string) =>
    numberOf((await page.locator('.gate .facts dt', { hasText: name }).locator('+ dd').textContent())!)

  it('deploys a gate, which stays closed for a point outside and opens for a point inside', async () => {
    const { page, context, faults, account, wallet } = await open()
    await mapReady(page)
    await connect(page)
    await deploy(page)
    const link = page.url()
    const gate = /gate=(0x[0-9a-f]{40})/.exec(link)![1] as `0x${string}`
    // The rows of docs/solidity.md; the chain of this test has the same EAS and compiler.
    expect(await factOf(page, 'Gas of the deployment')).toBeGreaterThan(1_400_000)

    await send(page, OUTSIDE)
    await page.locator('.note.bad', { hasText: 'ResultIsFalse' }).waitFor()
    expect(await page.locator('.note.bad').textContent()).toContain('outside of the zone')
    await state(page, 'Closed')
    expect(await page.textContent('.sentence')).toContain('It rejected the last result with ResultIsFalse.')

    await send(page, INSIDE)
    await state(page, 'Open')
    expect(await page.textContent('.sentence')).toMatch(/is open for .* until \d\d:\d\d:\d\d UTC/)
    const callGas = await factOf(page, 'Gas of the last call')

    // The chain says the same as the page.
    const chain = createPublicClient({ transport: http(service.facts['rpcUrl']!) })
    const abi = [
      {
        type: 'function',
        name: 'isAdmitted',
        stateMutability: 'view',
        inputs: [{ name: 'person', type: 'address' }],
        outputs: [{ name: '', type: 'bool' }],
      },
    ] as const
    const isAdmitted = (person: `0x${string}`) =>
      chain.readContract({ address: gate, abi, functionName: 'isAdmitted', args: [person] })
    expect(await isAdmitted(account.address)).toBe(true)
    expect(await isAdmitted(service.facts['attester'] as `0x${string}`)).toBe(false)
    const { transactions } = await chain.getBlock()
    expect(Number((await chain.getTransactionReceipt({ hash: transactions[0]! })).gasUsed)).toBe(callGas)
    const sent = wallet.calls.filter((method) => method === 'eth_sendTransaction')
    expect(sent).toHaveLength(5) // deployment, schema, two locations, one result: the false result was not sent

    // A later result from outside is rejected, and the earlier one still counts.
    await send(page, OUTSIDE)
    await page.locator('.note.bad', { hasText: 'ResultIsFalse' }).waitFor()
    await state(page, 'Open')
    expect(await page.textContent('.sentence')).toContain('An earlier result still counts.')

    // The address of the page holds the zone and the gate.
    await page.reload()
    expect(page.url()).toBe(link)
    await connect(page)
    await state(page, 'Open')
    expect(faults).toEqual([])
    await context.close()
  })

  it.each(THEMES)('has no accessibility fault at any step (%s, %d px)', async (theme, width) => {
    const { page, context, faults } = await open({ theme, width })
    await mapReady(page)
    expect(await axeFindings(page)).toEqual([])
    await shoot(page, `gate-first-${theme}-${width}`)
    await connect(page)
    await deploy(page)
    expect(await axeFindings(page)).toEqual([])
    await send(page, OUTSIDE)
    await page.locator('.note.bad', { hasText: 'ResultIsFalse' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await shoot(page, `gate-closed-${theme}-${width}`)
    await send(page, INSIDE)
    await state(page, 'Open')
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Send to the gate' }).scrollIntoViewIfNeeded()
    await shoot(page, `gate-open-${theme}-${width}`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    expect(faults).toEqual([])
    await context.close()
  })

  it('goes on where a person rejected a transaction', async () => {
    const { page, context, wallet } = await open()
    await connect(page)
    wallet.rejections.set('eth_sendTransaction', 4001)
    await page.getByRole('button', { name: 'Deploy the gate' }).click()
    await page.locator('.note.bad', { hasText: 'You rejected it in the wallet.' }).waitFor()
    expect(await page.textContent('#announcer')).toBe('Deploy the contract. Failed.')
    await state(page, 'No gate yet')
    expect(page.url()).not.toContain('gate=0x')
    wallet.rejections.clear()
    await deploy(page)
    const link = page.url()
    wallet.rejections.set('eth_sendTransaction', 4001)
    await send(page, INSIDE)
    await page.locator('.note.bad', { hasText: 'You rejected it in the wallet.' }).waitFor()
    await state(page, 'Closed')
    wallet.rejections.clear()
    await send(page, INSIDE)
    await state(page, 'Open')
    expect(page.url()).toBe(link)
    await context.close()
  })

  it('registers the schema of a gate whose registration was rejected', async () => {
    const { page, context, wallet } = await open()
    await connect(page)
    // The wallet confirms the deployment, and rejects the registration.
    wallet.rejectAfter('eth_sendTransaction', 1)
    await page.getByRole('button', { name: 'Deploy the gate' }).click()
    await page.locator('.note.bad', { hasText: 'You rejected it in the wallet.' }).waitFor()
    expect(await page.getByRole('button', { name: 'Send to the gate' }).isDisabled()).toBe(true)
    wallet.rejections.clear()
    await page.reload()
    await connect(page)
    await page.getByRole('button', { name: 'Finish the gate' }).click()
    await send(page, INSIDE)
    await state(page, 'Open')
    await context.close()
  })

  it('offers to switch a wallet that is on another chain', async () => {
    const { page, context, wallet } = await open({ chainId: 1 })
    await connect(page)
    await page.getByText('The wallet is on another chain.').waitFor()
    await page.getByRole('button', { name: 'Deploy the gate' }).click()
    await page
      .locator('.note.bad', { hasText: 'The wallet is on chain 1, and the gate is for local (31337).' })
      .waitFor()
    expect(wallet.calls).not.toContain('eth_sendTransaction')
    wallet.rejections.set('wallet_switchEthereumChain', 4902)
    await page.getByRole('button', { name: 'Switch to local' }).click()
    await page.locator('.note.bad', { hasText: 'The wallet does not know chain 31337.' }).waitFor()
    wallet.rejections.clear()
    await page.getByRole('button', { name: 'Switch to local' }).click()
    await page.getByText('The wallet is on another chain.').waitFor({ state: 'hidden' })
    await deploy(page)
    await context.close()
  })

  it('says that a chain has no EAS contract, and that a gate is for another zone or missing', async () => {
    const { page, context, wallet } = await open()
    await connect(page)
    wallet.answers.set('eth_getCode', '0x')
    await page.getByRole('button', { name: 'Deploy the gate' }).click()
    await page.locator('.note.bad', { hasText: 'has no EAS contract at 0x4200' }).waitFor()
    wallet.answers.clear()
    await deploy(page)
    const link = page.url()
    await page.goto('about:blank')
    await page.goto(link.replace('radius=500', 'radius=501'))
    await connect(page)
    await page.locator('.note.bad', { hasText: 'is for another zone than the one on the map' }).waitFor()
    expect(await page.getByRole('button', { name: 'Finish the gate' }).isDisabled()).toBe(true)
    await page.goto('about:blank')
    await page.goto(link.replace(/gate=0x[0-9a-f]{40}/, `gate=0x${'12'.repeat(20)}`))
    await connect(page)
    await page.locator('.note.bad', { hasText: 'has no contract at 0x1212' }).waitFor()
    expect(await page.getByRole('button', { name: 'Finish the gate' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'New gate' }).click()
    await state(page, 'No gate yet')
    await context.close()
  })

  describe('with a link to a contract that is no gate', () => {
    const setOnChain = async (method: string, params: readonly unknown[]): Promise<unknown> => {
      const response = await fetch(service.facts['rpcUrl']!, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
      expect(error, method).toBeUndefined()
      return result
    }
    let link: string
    let gate: string
    let code: string
    let account: ReturnType<typeof newAccount>
    beforeAll(async () => {
      const made = await open()
      ;({ account } = made)
      await connect(made.page)
      await deploy(made.page)
      link = made.page.url()
      gate = /gate=(0x[0-9a-f]{40})/.exec(link)![1]!
      code = (await setOnChain('eth_getCode', [gate, 'latest'])) as string
      await made.context.close()
    })
    const other = `0x${'34'.repeat(20)}`

    it.each([
      ['EAS', () => '0x4200000000000000000000000000000000000021', () => ''],
      // It answers every question with 1, so it says of itself whatever a page hopes for.
      ['a contract that says yes', () => other, () => '0x600160005260206000f3'],
      // Its immutable schema is that of the gate whose code it is, so EAS would not ask it.
      ['a copy of another gate', () => other, () => code],
    ])('says that %s is none, and asks it nothing', async (_, addressOf, codeOf) => {
      if (codeOf() !== '') await setOnChain('anvil_setCode', [addressOf(), codeOf()])
      const { page, context, wallet } = await open({}, account, link.replace(gate, addressOf()).split('/explore')[1]!)
      await connect(page)
      await page.locator('.note.bad', { hasText: 'its code is not that of WithinGate' }).waitFor()
      await state(page, 'Unknown')
      expect(await page.textContent('.sentence')).toContain('The page cannot use this contract')
      expect(wallet.calls).toContain('eth_getCode')
      expect(wallet.calls).not.toContain('eth_call')
      expect(await page.getByRole('button', { name: 'Finish the gate' }).isDisabled()).toBe(true)
      expect(await page.getByRole('button', { name: 'Send to the gate' }).isDisabled()).toBe(true)
      expect(await page.textContent('#announcer')).toBe('The wallet is connected.')
      await context.close()
    })

    it('does not believe an admission that nobody was given', async () => {
      // Whoever deploys a contract can write its first state: here an admission of the account, with a location of its own.
      const slot = hexToBigInt(
        keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [account.address, 4n])),
      )
      const location = await service.attest(account.address, 2.2945, 48.859)
      const words = [location, location, `0x${'0'.repeat(54)}ffffffffff`]
      for (const [index, word] of words.entries())
        await setOnChain('anvil_setStorageAt', [gate, toHex(slot + BigInt(index), { size: 32 }), word])
      const { page, context, wallet } = await open({}, account, link.split('/explore')[1]!)
      await connect(page)
      await page.locator('.note.bad', { hasText: 'but EAS has no result that opened it' }).waitFor()
      await state(page, 'Unknown')
      expect(wallet.calls).toContain('eth_call')
      await context.close()
    })

    it('names the part of a link that is not valid', async () => {
      const { page, context } = await open({}, account, link.replace(gate, '0x1234').split('/explore')[1]!)
      await page.locator('.toast', { hasText: 'The gate in this link is not an address' }).waitFor()
      await context.close()
    })
  })

  it('asks a person whom the gate does not trust for the UID of a location attestation', async () => {
    const owner = await open()
    await connect(owner.page)
    await deploy(owner.page)
    const visitor = newAccount()
    const other = await open({}, visitor, owner.page.url().split('/explore')[1]!)
    await connect(other.page)
    const field = other.page.getByLabel('UID of your location attestation')
    // Attested by the visitor, whom the gate does not trust.
    await field.fill(await service.attest(visitor.address, 2.2945, 48.859))
    await other.page.getByRole('button', { name: 'Send to the gate' }).click()
    await other.page.locator('.note.bad', { hasText: 'AttestationHasOtherAttester' }).waitFor()
    await state(other.page, 'Closed')
    await Promise.all([owner.context.close(), other.context.close()])
  })

  it('says what is missing: a wallet, or a chain that the service reads', async () => {
    const bare = await visit(browser, service.facts['url']!, '/gate')
    await bare.page.getByText('No wallet was found.').waitFor()
    expect(await axeFindings(bare.page)).toEqual([])
    await bare.context.close()
    const offline = await startTestService()
    try {
      const { page, context } = await visit(browser, offline.url, '/gate')
      await page.getByText('This service reads no chain.').waitFor()
      expect(await page.getByRole('button', { name: 'Deploy the gate' }).isDisabled()).toBe(true)
      await context.close()
    } finally {
      await offline.stop()
    }
  })
})
