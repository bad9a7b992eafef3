import { concatHex, getContractAddress, type Hex, hashMessage, keccak256, serializeErc6492Signature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

/**
 * Creation code of an account whose `isValidSignature` (ERC-1271) takes the signed digest itself as the signature: it returns
 * 0x1626ba7e if the first word of the signature is the digest, and else 0.
 */
const ACCOUNT_CODE: Hex = '0x601880600b6000396000f360043560643514631626ba7e0260e01b60005260206000f3'
/** The deterministic deployment proxy, which anvil has from the start: it takes a salt and creation code. */
const FACTORY: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const saltOf = (digit: string): Hex => `0x${digit.repeat(64)}`
const addressOf = (salt: Hex) =>
  getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt, bytecodeHash: keccak256(ACCOUNT_CODE) })
const OWNER = privateKeyToAccount(`0x${'c3'.repeat(32)}`)

describe.skipIf(skipReason())('sign-in of accounts that are contracts', () => {
  let local: LocalChain
  let service: TestService
  let isChainStopped = false

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    service = await startTestService({ RECORDS: '1', ...local.environment, MAX_SIGN_IN_NONCES_PER_CLIENT: '1000' })
    await eventually(async () => expect((await service.post('/auth/nonce', {})).status).toBe(200))
  })
  afterAll(async () => {
    await service?.stop()
    if (!isChainStopped) await local?.stop()
  })

  async function signIn(address: Hex, sign: (message: string) => Hex | Promise<Hex>, chainId = local.chain.id) {
    const { nonce } = (await service.post('/auth/nonce', {})).body
    const { host } = new URL(service.url)
    const fields = { domain: host, uri: service.url, version: '1', nonce, issuedAt: new Date() } as const
    const message = createSiweMessage({ ...fields, address, chainId })
    return service.post('/auth/siwe', { message, signature: await sign(message) })
  }

  const accountOf = async (token: string) =>
    (await fetch(`${service.url}/account`, { headers: { authorization: `Bearer ${token}` } })).json() as Promise<
      Record<string, unknown>
    >

  it('asks the contract at the address (ERC-1271)', async () => {
    const salt = saltOf('1')
    const address = addressOf(salt)
    const account = local.submitter
    const hash = await local.client.sendTransaction({
      account,
      chain: null,
      to: FACTORY,
      data: concatHex([salt, ACCOUNT_CODE]),
    })
    await local.client.waitForTransactionReceipt({ hash })
    const answer = await signIn(address, hashMessage)
    expect(answer).toMatchObject({ status: 200 })
    expect(await accountOf(answer.body.token)).toMatchObject({
      account: `eip155:${local.chain.id}:${address.toLowerCase()}`,
      address,
      chainId: local.chain.id,
    })
    expect(await signIn(address, () => hashMessage('something else'))).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('no contract there') },
    })
    // Another chain has no such contract, and here no endpoint to ask.
    expect(await signIn(address, hashMessage, 42161)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('no RPC') },
    })
  })

  it('asks the contract that would be deployed at the address (ERC-6492), and deploys nothing', async () => {
    const salt = saltOf('2')
    const address = addressOf(salt)
    const wrap = (signature: Hex) =>
      serializeErc6492Signature({ address: FACTORY, data: concatHex([salt, ACCOUNT_CODE]), signature })
    expect(await signIn(address, (message) => wrap(hashMessage(message)))).toMatchObject({ status: 200 })
    expect(await local.client.getCode({ address })).toBeUndefined()
    expect(await signIn(address, () => wrap(hashMessage('something else')))).toMatchObject({ status: 401 })
    // The code would be at another address.
    expect(await signIn(addressOf(saltOf('3')), (message) => wrap(hashMessage(message)))).toMatchObject({ status: 401 })
  })

  it('rejects what a contract does not take, and takes the key of an address on all chains', async () => {
    expect(await signIn(OWNER.address, (message) => hashMessage(message))).toMatchObject({ status: 401 })
    expect(await signIn(local.chain.easAddress, (message) => hashMessage(message))).toMatchObject({ status: 401 })
    const accounts = []
    for (const chainId of [local.chain.id, 42161]) {
      const { body } = await signIn(OWNER.address, (message) => OWNER.signMessage({ message }), chainId)
      accounts.push((await accountOf(body.token))['account'])
    }
    expect(accounts).toEqual(Array(2).fill(`eip155:0:${OWNER.address.toLowerCase()}`))
  })

  it('does not call a signature wrong because the chain does not answer', async () => {
    isChainStopped = true
    await local.stop()
    expect(await signIn(addressOf(saltOf('1')), hashMessage)).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining('cannot be asked') },
    })
  })
})
