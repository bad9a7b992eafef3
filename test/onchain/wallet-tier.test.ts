/** The tier of wallets that hold a token or an attestation, on a chain with the real EAS contracts and small tokens. */
import { concatHex, encodeFunctionData, getContractAddress, type Hex, hashMessage, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { type Contract, compile, deploy } from './solidity.ts'

const TOKENS = {
  'Tokens.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Coin {
  mapping(address => uint256) public balanceOf;
  function mint(address to, uint256 amount) external { balanceOf[to] += amount; }
  function transfer(address to, uint256 amount) external returns (bool) {
    balanceOf[msg.sender] -= amount;
    balanceOf[to] += amount;
    return true;
  }
  function burn(address from) external { balanceOf[from] = 0; }
}
contract Pass {
  mapping(uint256 => address) public ownerOf;
  mapping(address => uint256) internal count;
  function mint(address to, uint256 id) external { ownerOf[id] = to; count[to]++; }
  function balanceOf(address holder) external view returns (uint256) {
    require(holder != address(0), "ERC721: zero address");
    return count[holder];
  }
}
contract Broken {
  function balanceOf(address) external pure returns (uint256) { revert("broken"); }
}`,
}
const HOLDER = privateKeyToAccount(`0x${'d4'.repeat(32)}`)
const OTHER = privateKeyToAccount(`0x${'e5'.repeat(32)}`)
const DISTANCE = {
  from: { type: 'Point', coordinates: [2.35, 48.85] },
  to: { type: 'Point', coordinates: [13.4, 52.52] },
}
/** As in `sign-in.test.ts`: an account whose contract takes the digest itself as the signature. */
const ACCOUNT_CODE: Hex = '0x601880600b6000396000f360043560643514631626ba7e0260e01b60005260206000f3'
const FACTORY: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const SCHEMA = schemaUids(readConfig({}, 1)).location

describe.skipIf(skipReason())('the tier of wallets that hold a token or an attestation', () => {
  let local: LocalChain
  let contracts: Record<string, Contract>
  const services: TestService[] = []

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await local.registerSchema(SCHEMA_STRINGS.location)
    contracts = compile([TOKENS], ['Coin', 'Pass', 'Broken'])[0]!
  })
  afterAll(async () => {
    for (const service of services) await service.stop()
    await local?.stop()
  })

  async function start(rule: string, environment: Record<string, string> = {}): Promise<TestService> {
    const service = await startTestService({
      RECORDS: '1',
      ...NO_LOCAL_CALLERS,
      ...local.environment,
      SYNC: '0',
      RPC_TIMEOUT_MS: '5000',
      WALLET_TIER_TOKEN_MS: '10000',
      WALLET_TIER_TOKEN: rule,
      MAX_SIGN_IN_NONCES_PER_CLIENT: '1000',
      ...environment,
    })
    services.push(service)
    await eventually(async () => expect((await service.post('/auth/nonce', {})).status).toBe(200))
    return service
  }

  const ruleOf = (rest: string) => `tier=internal,chain=${local.chain.id},${rest}`
  const send = (contract: string, address: Hex, functionName: string, args: unknown[]) =>
    local.client
      .sendTransaction({
        account: local.submitter,
        chain: null,
        to: address,
        data: encodeFunctionData({ abi: contracts[contract]!.abi, functionName, args }),
      })
      .then((hash) => local.client.waitForTransactionReceipt({ hash }))
      .then(({ status }) => expect(status).toBe('success'))

  async function signIn(service: TestService, signer = HOLDER, more: object = {}) {
    const { nonce } = (await service.post('/auth/nonce', {})).body
    const { host } = new URL(service.url)
    const fields = { domain: host, uri: service.url, version: '1', nonce, issuedAt: new Date() } as const
    // The chain of the message is not the one of the token: the address has one key on all chains.
    const message = createSiweMessage({ ...fields, address: signer.address, chainId: 42161 })
    return service.post('/auth/siwe', { message, signature: await signer.signMessage({ message }), ...more })
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const accountOf = async (service: TestService, token: string) =>
    (await fetch(`${service.url}/account`, { headers: bearer(token) })).json() as Promise<Record<string, unknown>>
  const limitOf = async (service: TestService, token: string) => {
    const body = { chainId: local.chain.id, ...DISTANCE }
    const response = await service.post('/compute/v0/distance', body, bearer(token))
    expect(response.status).toBe(200)
    return Number(response.headers.get('x-ratelimit-limit'))
  }

  it('is higher from the smallest balance on, and is found again with each refresh', async () => {
    const { address: coin } = await deploy(local, contracts['Coin']!)
    const service = await start(ruleOf(`token=${coin},balance=1000`))
    await send('Coin', coin, 'mint', [HOLDER.address, 999n])
    const below = await signIn(service)
    expect(below).toMatchObject({
      status: 200,
      body: { tier: 'developer', tierNote: expect.stringMatching(/holds 999 of token 0x.*less than 1000/) },
    })
    await send('Coin', coin, 'mint', [HOLDER.address, 1n])
    // A token keeps the tier with which it was made.
    expect(await limitOf(service, below.body.token)).toBe(1000)
    const { body: held } = await service.post('/auth/refresh', { refreshToken: below.body.refreshToken })
    expect(held).toMatchObject({ tier: 'internal' })
    expect(held.tierNote).toBeUndefined()
    expect(await limitOf(service, held.token)).toBe(10_000)
    expect(await accountOf(service, held.token)).toMatchObject({
      tier: 'internal',
      requestsPerHour: 10_000,
      addressRequestsPerHour: 10_000,
    })
    // Keys live longer than a balance is known, so they have the tier of all wallets.
    const made = await service.post('/account/keys', {}, bearer(held.token))
    expect(made.body.properties.tier).toBe('developer')
    expect(await signIn(service, OTHER)).toMatchObject({ status: 200, body: { tier: 'developer' } })
    await send('Coin', coin, 'burn', [HOLDER.address])
    const { body: sold } = await service.post('/auth/refresh', { refreshToken: held.refreshToken })
    expect(sold).toMatchObject({ tier: 'developer', tierNote: expect.stringContaining('holds 0 of token') })
    expect(await limitOf(service, sold.token)).toBe(1000)
  })

  it('is higher for who holds one piece of an ERC-721, and not for a contract of another chain', async () => {
    const { address: pass } = await deploy(local, contracts['Pass']!)
    const service = await start(ruleOf(`token=${pass},balance=1`))
    await send('Pass', pass, 'mint', [HOLDER.address, 7n])
    expect(await signIn(service)).toMatchObject({ status: 200, body: { tier: 'internal' } })
    expect(await signIn(service, OTHER)).toMatchObject({ status: 200, body: { tier: 'developer' } })
    // An account that is a contract of this chain may hold it.
    const salt: Hex = `0x${'1'.repeat(64)}`
    const address = getContractAddress({
      opcode: 'CREATE2',
      from: FACTORY,
      salt,
      bytecodeHash: keccak256(ACCOUNT_CODE),
    })
    const data = concatHex([salt, ACCOUNT_CODE])
    const hash = await local.client.sendTransaction({ account: local.submitter, chain: null, to: FACTORY, data })
    await local.client.waitForTransactionReceipt({ hash })
    await send('Pass', pass, 'mint', [address, 8n])
    const { nonce } = (await service.post('/auth/nonce', {})).body
    const { host } = new URL(service.url)
    const fields = { domain: host, uri: service.url, version: '1', nonce, issuedAt: new Date() } as const
    const message = createSiweMessage({ ...fields, address, chainId: local.chain.id })
    expect(await service.post('/auth/siwe', { message, signature: hashMessage(message) })).toMatchObject({
      status: 200,
      body: { tier: 'internal' },
    })
  })

  it('is higher with a valid attestation of the attester, and with no other', async () => {
    const attester = local.submitter
    const service = await start(ruleOf(`schema=${SCHEMA},attester=${attester}`))
    const [, second] = await local.client.getAddresses()
    const uidOf = (recipient: Hex, from?: Hex) =>
      local.attest(SCHEMA, '0x', 0n, { recipient, ...(from === undefined ? {} : { from }) })
    const tierOf = async (attestation: Hex | undefined, signer = HOLDER) =>
      (await signIn(service, signer, attestation === undefined ? {} : { attestation })).body
    const valid = await uidOf(HOLDER.address)
    const signed = await tierOf(valid)
    expect(signed).toMatchObject({ tier: 'internal' })
    expect(await tierOf(undefined)).toMatchObject({
      tier: 'developer',
      tierNote: expect.stringContaining('name the UID'),
    })
    expect(await tierOf(valid, OTHER)).toMatchObject({
      tier: 'developer',
      tierNote: expect.stringContaining('not for this account'),
    })
    expect(await tierOf(await uidOf(HOLDER.address, second!))).toMatchObject({
      tier: 'developer',
      tierNote: expect.stringContaining('not by 0x'),
    })
    expect(await tierOf(`0x${'7'.repeat(64)}`)).toMatchObject({
      tier: 'developer',
      tierNote: expect.stringContaining('does not exist'),
    })
    expect(await signIn(service, HOLDER, { attestation: '0x12' })).toMatchObject({ status: 400 })
    // The session remembers the attestation, and a revocation shows with the next refresh.
    const { body: again } = await service.post('/auth/refresh', { refreshToken: signed.refreshToken })
    expect(again).toMatchObject({ tier: 'internal' })
    await local.revoke(SCHEMA, valid)
    const { body: revoked } = await service.post('/auth/refresh', { refreshToken: again.refreshToken })
    expect(revoked).toMatchObject({ tier: 'developer', tierNote: expect.stringContaining('was revoked') })
  })

  it('is that of all wallets while the chain does not say, with a note and a line in the log', async () => {
    const { address: broken } = await deploy(local, contracts['Broken']!)
    const service = await start(ruleOf(`token=${broken},balance=1`))
    const answer = await signIn(service)
    expect(answer).toMatchObject({
      status: 200,
      body: { tier: 'developer', tierNote: expect.stringContaining('cannot be asked now') },
    })
    expect(await limitOf(service, answer.body.token)).toBe(1000)
    expect((await signIn(service, OTHER)).body.tier).toBe('developer')
    expect(service.lines.filter((line) => line.includes('cannot see who may have the tier internal'))).toHaveLength(1)
    // Neither is an RPC that is away an error.
    const gone = await start(ruleOf(`token=${broken},balance=1`), {
      [`RPC_URL_${local.chain.id}`]: 'http://127.0.0.1:9',
    })
    expect(await signIn(gone)).toMatchObject({
      status: 200,
      body: { tier: 'developer', tierNote: expect.stringContaining('cannot be asked now') },
    })
  })

  it('needs an RPC endpoint of the chain at the start', async () => {
    await expect(start(`tier=internal,chain=42161,token=${OTHER.address},balance=1`)).rejects.toThrow(
      /WALLET_TIER_TOKEN needs RPC_URL_42161/,
    )
  })
})
