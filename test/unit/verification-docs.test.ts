import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  decodeAbiParameters,
  encodePacked,
  type Hex,
  hashMessage,
  keccak256,
  parseAbiParameters,
  recoverMessageAddress,
  stringToHex,
} from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { createVerifier } from '../verify-runner.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/verification.md'), 'utf8')

/** Returns the text of a fenced block, without the indent of a list. */
function block(name: string): string {
  const match = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\`\`\``).exec(page)
  if (match === null) throw new Error(`docs/verification.md has no block ${name}`)
  return match[1]!
    .split('\n')
    .map((line) => (name === 'stamp' || name === 'claim' ? line : line.trim()))
    .join('\n')
    .trim()
}

const EVALUATED_AT = 1_760_000_060
const stamp = JSON.parse(block('stamp'))
const proof = { claim: JSON.parse(block('claim')), stamps: [stamp] }
const data: Hex = `0x${block('data').replaceAll('\n', '')}`

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

/** Serialises values like these as RFC 8785 says, independently of the code under test. No number here needs special care. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${sortedJson((value as Record<string, unknown>)[name])}`).join()}}`
}

describe('docs/verification.md', () => {
  it('shows the bytes that are signed, their digest and the signer', async () => {
    const { signatures, ...unsigned } = stamp
    expect(sortedJson(unsigned)).toBe(block('message'))
    expect(page).toContain(`these ${Buffer.byteLength(block('message'))} bytes`)
    expect(hashMessage(block('message'))).toBe(block('digest'))
    const signer = await recoverMessageAddress({ message: block('message'), signature: signatures[0].value })
    expect(signer.toLowerCase()).toBe(signatures[0].signer.value)
    expect(await verifier.stamp(stamp, EVALUATED_AT)).toMatchObject({ valid: true })
  })

  it('shows the data that is attested for them', async () => {
    expect((await verifier.proof(proof, {}, EVALUATED_AT))['data']).toBe(data)
    const values = decodeAbiParameters(parseAbiParameters(block('schema')), data)
    expect(values).toEqual([keccak256(stringToHex(sortedJson(proof))), 0, 0, ...Array(7).fill(10_000), 1])
  })

  it('shows the UID that EAS would compute', () => {
    const [schema, attester] = [/schema\n\s+`(0x\w{64})`/, /attester `(0x\w{40})`/].map(
      (pattern) => pattern.exec(page)![1] as Hex,
    )
    const zero = (bytes: number): Hex => `0x${'0'.repeat(2 * bytes)}`
    const types = ['bytes32', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'uint32'] as const
    const packed = encodePacked(types, [
      schema!,
      zero(20),
      attester!,
      BigInt(EVALUATED_AT),
      0n,
      true,
      zero(32),
      data,
      0,
    ])
    expect(keccak256(packed)).toBe(block('uid'))
  })

  it('lists every reason for a signature, and no other', () => {
    const readSource = (file: string) => readFileSync(resolve(import.meta.dirname, '../../src', file), 'utf8')
    const signatures = readSource('verify/signatures.ts')
    const parser = [...readSource('crypto/signature.ts').matchAll(/reason: (?:'|`)(.*?)(?:'|`) \}/g)].map(
      ([, text]) => `signature ${text!.replace(/\$\{v\}/, '<v>')}`,
    )
    const refusals = [...signatures.matchAll(/refused\('(.*?)'\)/g)].map(([, text]) => text!)
    const named = [...signatures.matchAll(/(?:reason: |, reason: |\[)'([a-z0-9-]+)'/g)].map(([, text]) => text!)
    const table = /`reason` is one of these[\s\S]*?\n\n(\|[\s\S]*?)\n\n/.exec(page)![1]!
    const listed = table
      .split('\n')
      .slice(2)
      .flatMap((row) => [...row.split('|')[1]!.matchAll(/`(.*?)`/g)].map(([, text]) => text!))
    expect(parser.length).toBeGreaterThanOrEqual(5)
    expect(refusals.length).toBeGreaterThan(8)
    expect([...new Set([...parser, ...refusals, ...named])].sort()).toEqual(listed.sort())
  })

  it('lists every structure check of a stamp', () => {
    const source = readFileSync(resolve(import.meta.dirname, '../../src/verify/stamp.ts'), 'utf8')
    const checkStructure = /^function checkStructure\([\s\S]*?^}/m.exec(source)![0]
    const checkIds = [...checkStructure.matchAll(/checks\.(?:fail|warn|info)\('([\w-]+)'/g)].map(([, id]) => id!)
    const table = /`structureValid` requires[\s\S]*?\n\n(\|[\s\S]*?)\n\n/.exec(page)![1]!
    const rows = table.split('\n').slice(2)
    const listed = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`(.*?)`/g)].map(([, id]) => id!))
    expect(checkIds.length).toBeGreaterThan(7)
    expect(listed.sort()).toEqual(checkIds.sort())
  })

  it('names every code with which a verified proof is rejected', () => {
    const sources = ['src/service/verify/verified-proof.ts', 'src/verify/task.ts', 'src/attest/authenticate.ts']
    const text = sources.map((file) => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8')).join()
    const codes = ['complete', 'chain', 'schema', 'attester', 'signature', 'uid', 'revoked', 'age', 'time']
    for (const code of [...codes, 'hash', 'measures', 'credibility', 'on-chain']) {
      expect(text, code).toContain(`'${code}'`)
      expect(page).toContain(`proof-${code}\``)
    }
  })
})
