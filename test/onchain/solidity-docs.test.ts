import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  type Abi,
  type BaseError,
  ContractFunctionRevertedError,
  encodeAbiParameters,
  keccak256,
  parseAbiParameters,
  parseSignature,
  stringToHex,
  type TransactionReceipt,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCHEMA_STRINGS } from '../../src/attest/schemas.ts'
import type { Hex } from '../../src/wire/values.ts'
import type { Loose } from '../evidence.ts'
import { type ChainService, startChainService } from '../local-chain-service.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { type Contract, compile, contractSources, deploy } from './solidity.ts'
import { uids } from './within-fixture.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/solidity.md'), 'utf8')
const TARGET = keccak256(stringToHex('{"coordinates":[2.2945,48.8584],"type":"Point"}'))
const LARGEST_DIFFERENCE = 0.005

/** Returns the text of a fenced block, without the indentation of a list. */
function block(name: string): string {
  const found = new RegExp(`( *)\`\`\`\\w+ ${name.replace('.', '\\.')}\\n([\\s\\S]*?)\`\`\``).exec(page)
  if (found === null) throw new Error(`docs/solidity.md has no block ${name}`)
  return found[2]!.replaceAll(new RegExp(`^${found[1]}`, 'gm'), '')
}

/** Returns the contracts of the page with all imports, and the terms in a form that can be read from outside. */
function pageSource(): string {
  const files = ['GeoAttestation', 'GeoMerkle', 'GeoSignature', 'GeoWithin', 'GeoResult', 'WithinGate', 'IEAS']
  return [
    '// SPDX-License-Identifier: Apache-2.0\npragma solidity ^0.8.20;',
    ...files.map((name) => `import "./${name}.sol";`),
    ...['naive', 'club', 'signed', 'fare'].map(block),
    `contract Terms { function make(address locationAttester) external pure returns (WithinTerms memory) {
      ${block('terms')} return terms; } }`,
  ].join('\n')
}

describe.skipIf(skipReason())('docs/solidity.md', () => {
  let local: LocalChain
  let isChainUp = false
  let service: TestService
  let contracts: Record<string, Contract>
  let [locator, person, stranger]: Hex[] = []
  let terms: unknown
  const gas = new Map<string, bigint>()

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    isChainUp = true
    ;[, locator, person, stranger] = (await local.client.getAddresses()) as Hex[]
    const names = [
      'Nearest',
      'NaiveEntry',
      'Club',
      'SignedEntry',
      'Fare',
      'Terms',
      'WithinGate',
      'WithinEntry',
      'GeoVerifier',
    ]
    const nearest = block('Nearest.sol').replaceAll('"trigpoint/contracts/', '"./')
    contracts = compile([{ ...contractSources(), 'Page.sol': pageSource(), 'Nearest.sol': nearest }], names)[0]!
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
    const { address } = await deployed('Terms', [])
    terms = await read({ address, abi: contracts['Terms']!.abi }, 'make', [locator])
    // The first submitted result pays for the attester's first nonce; all results below come later.
    await submit(await requestSigned(createFooledRequest(person!)))
  })
  afterAll(async () => {
    await service?.stop()
    if (isChainUp) await local.stop()
  })

  const read = (at: { address: Hex; abi: Abi }, functionName: string, args: readonly unknown[] = [], account?: Hex) =>
    local.client.readContract({ ...at, functionName, args, ...(account === undefined ? {} : { account }) })
  const createFooledRequest = (recipient: Hex) => ({ ...JSON.parse(block('fooled')), recipient })

  async function deployed(name: string, args: readonly unknown[]) {
    const { address, gasUsed } = await deploy(local, contracts[name]!, args)
    if (['WithinGate', 'WithinEntry', 'GeoVerifier'].includes(name)) gas.set(`deploy \`${name}\``, gasUsed)
    return { address, abi: contracts[name]!.abi }
  }

  async function requestSigned(body: object, headers: Record<string, string> = {}, path = 'within') {
    const { status, body: answer } = await service.post(`/compute/v0/${path}`, body, headers)
    expect(status, JSON.stringify(answer)).toBe(200)
    return answer
  }

  /** Sends a call of the page as the submitter; returns the gas and the UID. */
  async function submit(answer: object) {
    const account = local.submitter
    const writeContract = (call: object) => local.client.writeContract({ ...call, account, chain: null } as never)
    const given = {
      parseSignature,
      chain: local.client,
      wallet: { account, writeContract },
      eas: local.chain.easAddress,
      abi: local.easAbi,
      answer,
    }
    const run = new Function(...Object.keys(given), `return (async () => {${block('submit')}})()`)
    const receipt: TransactionReceipt = await run(...Object.values(given))
    expect(receipt.status).toBe('success')
    return { gasUsed: receipt.gasUsed, uid: receipt.logs[0]!.data.slice(0, 66) as Hex }
  }

  /** Attests where a person is, by the trusted attester: 220 m from the place. */
  async function location(recipient: Hex): Promise<Hex> {
    const { timestamp } = await local.client.getBlock()
    const geometryText = '{"coordinates":[2.2945,48.8604],"type":"Point"}'
    const fields = parseAbiParameters(SCHEMA_STRINGS.location)
    const data = encodeAbiParameters(fields, [
      timestamp,
      'EPSG:4326',
      'geojson-point',
      geometryText,
      [],
      [],
      [],
      [],
      '',
    ])
    return local.attest(uids.location, data, 0n, { from: locator!, recipient })
  }

  /** Sends a call unless it would revert; returns the name of the error, or the gas. */
  async function send(at: { address: Hex; abi: Abi }, account: Hex, functionName: string, args: readonly unknown[]) {
    const call = { ...at, account, functionName, args }
    try {
      await local.client.simulateContract(call)
    } catch (error) {
      const reverted = (error as BaseError).walk((cause) => cause instanceof ContractFunctionRevertedError)
      if (!(reverted instanceof ContractFunctionRevertedError)) throw error
      return reverted.data?.errorName === 'Error' ? reverted.reason : reverted.data?.errorName
    }
    const hash = await local.client.writeContract({ ...call, chain: null })
    return (await local.client.waitForTransactionReceipt({ hash })).gasUsed
  }

  it('shows a gate that lets the person in', async () => {
    const gate = await deployed('WithinGate', [local.chain.easAddress, service.attester, terms])
    await local.registerSchema((await read(gate, 'SCHEMA')) as string, gate.address)
    const schema = (await read(gate, 'schema')) as Hex
    const uid = await location(person!)
    const request = JSON.parse(block('request'))
    const answer = await requestSigned({ ...request, geometry: { uid }, recipient: person!, schema })
    expect(answer.result).toBe(true)
    expect(answer.inputRefs).toEqual([uid, TARGET])
    const { gasUsed } = await submit(answer)
    gas.set('`attestByDelegation`, resolved by `WithinGate`', gasUsed)
    const eas = { address: local.chain.easAddress, abi: local.easAbi }
    gas.set('`getAttestation` of the location', (await send(eas, person!, 'getAttestation', [uid])) as bigint)
    const club = await deployed('Club', [gate.address])
    expect(await read(club, 'order', [], person)).toBe('a coffee')
    await expect(read(club, 'order', [], stranger)).rejects.toThrow('come closer')
  })

  it('shows a mistake that lets in an absent person, whom the gate rejects', async () => {
    const args = [local.chain.easAddress, uids.boolean, service.attester]
    const naive = await deployed('NaiveEntry', [...args, TARGET])
    const entry = await deployed('WithinEntry', [...args, terms])
    const { uid, gasUsed } = await submit(await requestSigned(createFooledRequest(stranger!)))
    gas.set('`attestByDelegation`, without a resolver', gasUsed)
    expect(typeof (await send(naive, stranger!, 'enter', [uid]))).toBe('bigint')
    expect(await send(entry, stranger!, 'enter', [uid])).toBe('AttestationNotFound')

    const { schema: _, ...request } = JSON.parse(block('request'))
    const own = await submit(
      await requestSigned({ ...request, geometry: { uid: await location(person!) }, recipient: person! }),
    )
    const used = await send(entry, person!, 'enter', [own.uid])
    expect(typeof used).toBe('bigint')
    gas.set('`WithinEntry.enter`', used as bigint)
    expect(await send(entry, person!, 'enter', [own.uid])).toBe('ResultAlreadyUsed')
  })

  it('accepts a signed result once, whatever its salt', async () => {
    const entry = await deployed('SignedEntry', [local.chain.easAddress, uids.boolean, service.attester, terms])
    const { schema: _, ...request } = JSON.parse(block('request'))
    const body = { ...request, geometry: { uid: await location(person!) }, recipient: person! }
    const signed = async (sent: object) => {
      const { attestation, resultSignature } = await requestSigned(sent, { prefer: 'result-signature' })
      const { schema, recipient, data } = attestation
      const { deadline, salt, signature } = resultSignature
      return { schema, recipient, data, deadline: BigInt(deadline), salt, signature }
    }
    let [result, twin] = await Promise.all([signed(body), signed(body)])
    // Results of one second have the same content.
    while (result.data !== twin.data) [result, twin] = await Promise.all([signed(body), signed(body)])
    expect(result.salt).not.toBe(twin.salt)
    expect(await send(entry, stranger!, 'enter', [result])).toBe('not this result')
    const used = await send(entry, person!, 'enter', [result])
    expect(typeof used).toBe('bigint')
    gas.set('`SignedEntry.enter`', used as bigint)
    expect(await send(entry, person!, 'enter', [result])).toBe('used')
    expect(await send(entry, person!, 'enter', [twin])).toBe('used')
    expect(await send(entry, stranger!, 'enter', [await signed(createFooledRequest(stranger!))])).toBe(
      'AttestationNotFound',
    )

    const verifier = await deployed('GeoVerifier', [local.chain.easAddress, uids['merkle-root'], service.attester])
    gas.set('`GeoVerifier.useResult`', (await send(verifier, person!, 'useResult', [result])) as bigint)
  })

  it('uses a number under a root as a fare', async () => {
    const args = [local.chain.easAddress, uids['merkle-root'], uids.numeric, service.attester]
    const fare = await deployed('Fare', args)
    const geometryText = (lon: number) => ({ type: 'Point', coordinates: [lon, 48.8584] })
    const items = Array.from({ length: 1000 }, (_, id) => ({
      op: 'distance',
      id,
      from: geometryText(2.2945),
      to: geometryText(3 + id / 1000),
    }))
    const square = [
      [2, 48],
      [2.001, 48],
      [2.001, 48.001],
      [2, 48],
    ]
    items[1] = { op: 'area', id: 1, geometry: { type: 'Polygon', coordinates: [square] } } as never
    const { results, merkle } = await requestSigned({ chainId: 84532, attest: 'merkle', items }, {}, 'batch')
    const { uid, gasUsed } = await submit(merkle)
    gas.set('`attestByDelegation` of a root over any number of results', gasUsed)
    const call = (index: number) => {
      const { inputRefs, proof, ...item } = results[index]
      return [uid, item, proof, inputRefs[0], inputRefs[1] ?? inputRefs[0]]
    }
    expect(await read(fare, 'fareOf', call(7))).toBe(BigInt(Math.ceil(results[7].result / 1000)))
    await expect(read(fare, 'fareOf', call(1))).rejects.toThrow('not a distance')
    const verifier = await deployed('GeoVerifier', [args[0], args[1], args[3]])
    // Of 1,000 leaves, 24 are one level higher; their hashes decide which.
    const deep = [...results.keys()].filter((index) => results[index].proof.length === 10)
    const used: bigint[] = []
    // The hashes also decide on which side each step of a proof is, which changes the gas of one proof by up to 1 %.
    for (const index of deep.slice(0, 9))
      used.push((await send(verifier, person!, 'verifyItem', call(index).slice(0, 3))) as bigint)
    used.sort((a, b) => Number(a - b))
    gas.set('`GeoVerifier.verifyItem`, one of 1,000', used[4]!)
  })

  it('states the gas costs', () => {
    const rows = [...gas].map(([name, used]) => `| ${name} | ${used.toLocaleString('en')} |`)
    console.log(`\n${rows.join('\n')}\n`)
    for (const [name, used] of gas) {
      const row = page.split('\n').find((line) => line.startsWith(`| ${name} |`))
      const documentedGas = Number(row?.split('|')[2]?.replaceAll(',', ''))
      expect(
        Math.abs(documentedGas / Number(used) - 1),
        `${name}: ${used}, the page says ${documentedGas}`,
      ).toBeLessThan(LARGEST_DIFFERENCE)
    }
    expect(gas.size).toBe(page.slice(page.indexOf('| transaction | gas |')).match(/^\| (?!---|transaction)/gm)?.length)
  })

  it('shows a contract that reads only the distance between the two places that the caller names', async () => {
    const place = (longitude: number) => ({ type: 'Point', coordinates: [longitude, 48.8584] })
    const issuer = (await (await fetch(`${service.url}/.well-known/attester.json`)).json()) as Loose
    const { numeric } = issuer['chains'].find(({ chainId }: { chainId: number }) => chainId === local.chain.id).schemas
    const nearest = await deployed('Nearest', [service.attester, numeric])
    const body = { chainId: local.chain.id, from: place(2.2945), to: place(2.3522) }
    const answer = await requestSigned(body, { Prefer: 'result-signature' }, 'distance')
    const { schema, recipient, data } = answer.attestation
    const { deadline, salt, signature } = answer.resultSignature
    const result = { schema, recipient, data, deadline: BigInt(deadline), salt, signature }
    const call = (changed: object, references = answer.inputRefs) =>
      read(nearest, 'distanceCm', [{ ...result, ...changed }, ...references])
    expect(await call({})).toBe(BigInt(Math.round(answer.result * 100)))
    await expect(call({}, answer.inputRefs.toReversed())).rejects.toThrow()
    await expect(call({ data: data.replace(/1/, '2') })).rejects.toThrow('ResultHasOtherSigner')
  })
})

describe.skipIf(skipReason())('the scripts of docs/solidity.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-solidity-docs-'))
  const project = join(folder, 'nearest')
  let service: ChainService
  beforeAll(async () => {
    service = await startChainService(join(folder, 'data'))
    mkdirSync(join(project, 'node_modules'), { recursive: true })
    // `npm install` of the page makes the same link to the checkout, and installs the other two.
    symlinkSync(root, join(project, 'node_modules/trigpoint'))
    for (const name of ['viem', 'solc'])
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))
  })
  afterAll(async () => {
    await service?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  it.each([
    ['nearest.mjs', 2],
    ['gate.mjs', 4],
  ])('%s runs as it is beside `npm start -- --chain`, and prints what the page says', async (name, lines) => {
    const script = block(name)
      .replaceAll('http://127.0.0.1:3000', service.facts['url']!)
      .replaceAll('http://127.0.0.1:8545', service.facts['rpcUrl']!)
    writeFileSync(join(project, 'Nearest.sol'), block('Nearest.sol'))
    writeFileSync(join(project, name), script)
    const { stdout } = await promisify(execFile)(process.execPath, [name], { cwd: project })
    const promised = [...script.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
    expect(promised).toHaveLength(lines)
    // A zero byte of an address costs 12 gas less than another one, and the attester of this service is a random one.
    const gas = /\b\d+(?=n gas)/
    const printed = stdout.trimEnd().split('\n')
    expect(printed.map((line) => line.replace(gas, ''))).toEqual(promised.map((line) => line.replace(gas, '')))
    for (const [index, line] of printed.entries()) {
      const [used, promisedGas] = [line, promised[index]!].map((text) => Number(gas.exec(text)?.[0] ?? 1))
      expect(Math.abs(used! / promisedGas! - 1), line).toBeLessThan(LARGEST_DIFFERENCE)
    }
  })

  it('installs the versions that the tests use', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(page).toContain(`npm install viem@${dependencies.viem} solc@${devDependencies.solc} ../trigpoint`)
  })
})
