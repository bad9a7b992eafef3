import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createReceipt, ReceiptError, readReceipt, verifyReceipt, verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import { hiddenText, operationOf, shownInputs } from '../../web/explorer/receipt/shown-inputs.ts'
import { NOW_SECONDS } from '../attest-parts.ts'
import { createAnswers } from '../client-answers.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { seededRandom } from '../random-geometry.ts'

const baseUrl = 'https://geo.example.org'
const inputs = [EIFFEL_TOWER, TOWN_HALL]
const answers = await createAnswers()
const { attester } = answers
const answer = JSON.parse(answers.numeric)
const recompute = createRecompute()
const nowSeconds = Number(NOW_SECONDS)
const options = { attester, recompute, nowSeconds }

const prefix = `${baseUrl}/verify#r=`
const bytesIn = (address: string) => Buffer.from(address.slice(prefix.length), 'base64url')
const contentOf = (address: string) => JSON.parse(inflateRawSync(bytesIn(address).subarray(5)).toString())

/** Makes the address of any bytes, with a valid checksum. */
function addressOfPacked(packed: Uint8Array, version = 1): string {
  const sum = javascriptKeccak().hash(packed).subarray(0, 4)
  return prefix + Buffer.concat([Uint8Array.of(version), sum, packed]).toString('base64url')
}
const addressOf = (content: unknown) => addressOfPacked(deflateRawSync(JSON.stringify(content)))

describe('a receipt', () => {
  it('carries every kind of answer with a signature of its own, and what it carries is valid', async () => {
    const { attestation, delegatedAttestation } = answer
    const cases = [
      [answer, inputs],
      [answer, undefined],
      [JSON.parse(answers.boolean), inputs],
      [JSON.parse(answers.withResultSignature), inputs],
      [JSON.parse(answers.jobLine), inputs],
      [{ attestation, delegatedAttestation }, inputs],
      [await answers.verifiedProof(), undefined],
    ] as const
    for (const [response, given] of cases) {
      const address = await createReceipt(response, { baseUrl, inputs: given })
      expect(address).toMatch(/^https:\/\/geo\.example\.org\/verify#r=[\w-]+$/)
      const receipt = await readReceipt(address)
      const { id: _, ...signed } = response
      expect({ ...receipt, issuer: receipt.issuer.toLowerCase() }).toEqual({
        issuer: attester.toLowerCase(),
        response: signed,
        inputs: given,
      })
      const verdict = await verifyReceipt(address, options)
      expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
      expect(verdict).toMatchObject({ ok: true, status: 'valid' })
      const expected = await verifyResult(signed, { ...options, inputs: given, allowExpired: true })
      expect(verdict).toEqual({ ...expected, status: 'valid' })
    }
  })

  it('fits in a QR code with two points, and is read after its deadline', async () => {
    const address = await createReceipt(answer, { baseUrl: `${baseUrl}/`, inputs })
    expect(address.length).toBeLessThan(1500)
    const late = await verifyReceipt(address, { ...options, nowSeconds: nowSeconds + 10 ** 8 })
    expect(late.status).toBe('valid')
    expect(late.checks).toContainEqual(expect.objectContaining({ id: 'deadline', status: 'skip' }))
  })

  it('leaves out what is not signed, and reads inputs in every form', async () => {
    const unsigned = { id: 7, notes: [{ code: 'x' }], proofInputs: {} }
    const uid = `0x${'ab'.repeat(32)}`
    const feature = { type: 'Feature', geometry: EIFFEL_TOWER, properties: { name: 'tower' } } as const
    const address = await createReceipt({ ...answer, ...unsigned }, { baseUrl, inputs: [feature, uid] })
    expect(contentOf(address)).toEqual({ response: answer, inputs: [EIFFEL_TOWER, { uid }] })
  })

  it('is not made of an answer that has no signature of its own', async () => {
    const { attestation: _, ...bare } = answer
    const batch = await answers.merkleBatch()
    const make = (response: object, more: object = {}) => createReceipt(response, { baseUrl, ...more })
    await expect(make(bare)).rejects.toThrow('has no signature')
    await expect(make(batch)).rejects.toThrow('together with others')
    await expect(make(batch.results[0])).rejects.toThrow('together with others')
    await expect(make({ matrix: '212101212' })).rejects.toThrow('not a kind of answer')
    await expect(make(answer, { inputs: [1] })).rejects.toThrow(TypeError)
    await expect(make(answer, { inputs: [...inputs, EIFFEL_TOWER] })).rejects.toThrow('at most 2')
    await expect(make(answer, { baseUrl: 'javascript:alert(1)' })).rejects.toThrow('http(s)')
    // The hash of a stored geometry is not the reference of the geometry with a salt.
    const [stored, salt] = [{ ref: `0x${'ab'.repeat(32)}` }, `0x${'5a'.repeat(32)}`]
    const salted = { ...answer, inputSalts: [salt, null] }
    await expect(make(salted, { inputs: [stored, TOWN_HALL] })).rejects.toThrow('give its geometry')
    await expect(make(answer, { inputs: [{ input: stored, salt }, TOWN_HALL] })).rejects.toThrow(TypeError)
    // The signed reference itself names an input without showing it.
    await expect(make(salted, { inputs: [{ ref: answer.inputRefs[0] }, TOWN_HALL] })).resolves.toContain('#r=')
    await expect(make(salted, { inputs: [EIFFEL_TOWER, stored] })).resolves.toContain('#r=')
    const large = { type: 'MultiPoint', coordinates: Array.from({ length: 60_000 }, (_, i) => [i / 1e3, i / 1e4 - 9]) }
    await expect(make(answer, { inputs: [large] })).rejects.toThrow(RangeError)
  })
})

describe('the issuer of a receipt', () => {
  it('is never trusted because the receipt names it', async () => {
    const address = await createReceipt(answer, { baseUrl, inputs })
    expect((await verifyReceipt(address, { nowSeconds })).status).toBe('unknown-issuer')
    const other = `0x${'12'.repeat(20)}`
    const verdict = await verifyReceipt(address, { ...options, attester: other })
    expect(verdict).toMatchObject({ status: 'unknown-issuer', ok: false })
    expect((await verifyReceipt(address, { ...options, attester: [other, attester] })).status).toBe('valid')
  })

  it('cannot be claimed without its key', async () => {
    const { attestation, delegatedAttestation } = JSON.parse(answers.boolean)
    for (const forged of [
      { ...answer, attestation, delegatedAttestation },
      JSON.parse(answers.lying),
      { ...answer, attestation: { ...answer.attestation, attester: `0x${'12'.repeat(20)}` } },
    ]) {
      for (const trusted of [options, { nowSeconds }]) {
        expect((await verifyReceipt(addressOf({ response: forged, inputs }), trusted)).status).toBe('invalid')
      }
    }
  })

  it('did not sign other inputs', async () => {
    for (const given of [[TOWN_HALL, EIFFEL_TOWER], [EIFFEL_TOWER], [], [{ uid: `0x${'ab'.repeat(32)}` }, TOWN_HALL]]) {
      const { status, checks } = await verifyReceipt(addressOf({ response: answer, inputs: given }), options)
      expect(status).toBe('invalid')
      expect(checks).toContainEqual(expect.objectContaining({ id: 'inputs', status: 'fail' }))
    }
  })
})

describe('an input of a receipt', () => {
  const [first] = answer.inputRefs as [string]
  const elsewhere = { type: 'Point', coordinates: [0, 0] }
  const verdictOf = (given: readonly unknown[], response: object = answer) =>
    verifyReceipt(addressOf({ response, inputs: given }), options)

  it('is not shown in place of a reference that it also has', async () => {
    const proof = { attestation: { uid: first }, proof: { claim: { location: EIFFEL_TOWER } } }
    for (const reference of [{ uid: first }, { ref: first }, { verifiedProof: proof }]) {
      const both = { ...reference, ...elsewhere } as never
      expect((await verdictOf([both, TOWN_HALL])).status).toBe('invalid')
      expect(shownInputs([both, TOWN_HALL], answer)).toEqual([{ letter: 'B', geometry: TOWN_HALL }])
    }
  })

  it('is said to be only a reference if it is one', async () => {
    const { status, checks } = await verdictOf([{ ref: first }, { uid: answer.inputRefs[1] }])
    expect(status).toBe('valid')
    const detail = 'the references match the given inputs; only the reference of input 1 and of input 2 is given'
    expect(checks).toContainEqual({ id: 'inputs', status: 'pass', detail })
    expect(hiddenText({ ref: first })).toContain('only its hash')
    expect(hiddenText({ uid: first })).toContain('only its UID')
    expect(hiddenText({ verifiedProof: {} } as never)).toContain('a verified proof')
    expect(hiddenText({ type: 'Feature', geometry: 5 } as never)).toContain('not a geometry')
  })

  it('is a verified proof only if its reference covers the claimed location', async () => {
    const { proof, attestation } = await answers.verifiedProof()
    const moved = { ...proof, claim: { ...proof.claim, location: elsewhere } }
    const attested = await answers.distanceFrom(attestation.uid)
    expect((await verdictOf([{ verifiedProof: { proof, attestation } }, TOWN_HALL], attested)).status).toBe('valid')
    for (const verifiedProof of [
      { proof: moved, attestation },
      { proof: moved, attestation: { uid: attestation.uid } },
      { proof, attestation: { ...attestation, time: attestation.time + 1 } },
      { proof: { claim: { location: EIFFEL_TOWER } }, attestation },
    ]) {
      const { status, checks } = await verdictOf([{ verifiedProof }, TOWN_HALL], attested)
      expect(status).toBe('invalid')
      expect(checks).toContainEqual(expect.objectContaining({ id: 'inputs', status: 'fail' }))
    }
  })

  it('of any form is reported, without an exception', async () => {
    for (const input of [
      { verifiedProof: null },
      { verifiedProof: 5 },
      { verifiedProof: { proof: null } },
      { verifiedProof: { proof: { claim: null } } },
      { verifiedProof: { proof: {}, attestation: null } },
      { verifiedProof: { proof: {}, attestation: { uid: 5 } } },
      { uid: {} },
      { ref: null },
      { type: 'Feature', geometry: 5 },
    ]) {
      expect((await verdictOf([input, TOWN_HALL])).status, JSON.stringify(input)).toBe('invalid')
      expect(shownInputs([input as never, TOWN_HALL], answer)).toHaveLength(1)
    }
  })

  it('belongs to no answer whose data has no references', async () => {
    const { merkle } = await answers.merkleBatch()
    const { attestation, delegatedAttestation } = merkle
    for (const response of [{ attestation, delegatedAttestation }, await answers.verifiedProof()]) {
      expect((await verdictOf([elsewhere], response)).status).toBe('invalid')
      expect((await verifyReceipt(addressOf({ response }), options)).status).toBe('valid')
    }
  })
})

describe('a verified proof in a receipt', () => {
  it('has a time of evaluation that is possible, but not checked', async () => {
    const response = await answers.verifiedProof()
    const timeOf = async (evaluatedAt: number) => {
      const { checks } = await verifyReceipt(addressOf({ response: { ...response, evaluatedAt } }), options)
      return checks.find(({ id }) => id === 'time')?.status
    }
    expect(await timeOf(nowSeconds)).toBe('skip')
    expect(await timeOf(1)).toBe('skip')
    expect(await timeOf(nowSeconds + 1e6)).toBe('fail')
  })
})

describe('a damaged receipt', () => {
  it('is refused, whichever bit, character or length is wrong', async () => {
    const address = await createReceipt(answer, { baseUrl, inputs })
    const text = address.slice(prefix.length)
    const random = seededRandom(20261127)
    const below = (count: number) => Math.floor(random() * count)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=.%<> é'
    const mutated = new Set<string>()
    while (mutated.size < 500) {
      const at = below(text.length)
      const character = alphabet[below(alphabet.length)]!
      const bytes = bytesIn(address)
      bytes[below(bytes.length)]! ^= 1 << below(8)
      const changed = [
        text.slice(0, at) + character + text.slice(at + 1),
        text.slice(0, at),
        text.slice(0, at) + text.slice(at + 1),
        `${text.slice(0, at)}${character}${text.slice(at)}`,
        bytes.toString('base64url'),
      ][below(5)]!
      if (changed.trim() !== text) mutated.add(changed)
    }
    for (const changed of mutated) {
      await expect(readReceipt(prefix + changed), changed).rejects.toThrow(ReceiptError)
      expect((await verifyReceipt(prefix + changed, options)).status, changed).toBe('invalid')
    }
  })

  it('is never valid, whichever signed member was changed and packed again', async () => {
    const random = seededRandom(8)
    const below = (count: number) => Math.floor(random() * count)
    const tried = new Set<string>()
    const original = JSON.stringify({ response: JSON.parse(answers.withResultSignature), inputs })
    while (tried.size < 500) {
      const at = below(original.length)
      // Another digit; the case of a letter of hex would be the same value.
      const digit = '0123456789'[below(10)]!
      if (!/\d/.test(original[at]!) || original[at] === digit) continue
      tried.add(original.slice(0, at) + digit + original.slice(at + 1))
    }
    for (const changed of tried) {
      const { status } = await verifyReceipt(addressOfPacked(deflateRawSync(changed)), { ...options, chainId: 84532 })
      expect(status, changed).toBe('invalid')
    }
  }, 120_000)

  it('is refused with the place of the problem', async () => {
    const address = await createReceipt(answer, { baseUrl, inputs })
    const packed = bytesIn(address).subarray(5)
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const cases: readonly (readonly [string, string])[] = [
      [`${baseUrl}/verify`, 'there is no #r= in it'],
      [prefix, 'cut off'],
      [`${prefix}AQ<img>`, 'character 3 of the receipt, "<", is not base64url'],
      [`${prefix}AQ👻`, 'character 3 of the receipt, "👻"'],
      [address.slice(0, -8), 'is cut off or was changed'],
      [`${prefix}AR`, 'its last character has bits of no byte'],
      [`${prefix}AQAAA`, 'its last character stands alone'],
      [addressOfPacked(packed, 2), 'version 2; this program reads version 1'],
      [addressOfPacked(packed.subarray(0, -20)), 'cannot be decompressed'],
      [addressOfPacked(Buffer.alloc(40, 0xff)), 'cannot be decompressed'],
      [addressOfPacked(deflateRawSync('{"response"')), 'is not JSON'],
      [addressOfPacked(deflateRawSync(Uint8Array.of(0x22, 0xff, 0x22))), 'is not UTF-8'],
      [addressOfPacked(deflateRawSync(Buffer.alloc(2 ** 20 + 1, 0x20))), 'larger than 1 MiB'],
      [addressOfPacked(deflateRawSync(deep)), 'nested more than 64 deep'],
      [prefix + 'A'.repeat(1_400_001), 'more than 1400000 characters'],
      [addressOf([]), 'not an object'],
      [addressOf({ response: answer, issuer: '0x' }), '"issuer" is not a member'],
      [addressOf({ inputs }), 'the member response is not a kind of answer'],
      [addressOf({ response: { operation: 'area', attestation: { attester: '<b>' } } }), 'has no signature'],
      [addressOf({ response: answer, inputs: 'all' }), 'the member inputs'],
      [addressOf({ response: answer, inputs: [null] }), 'the member inputs'],
    ]
    for (const [given, message] of cases) {
      await expect(readReceipt(given), message).rejects.toThrow(message)
      const verdict = await verifyReceipt(given, options)
      expect(verdict).toMatchObject({ ok: false, status: 'invalid', checks: [{ id: 'form', status: 'fail' }] })
    }
  })

  it('does not make the memory grow with what it would expand to', async () => {
    const bomb = addressOfPacked(deflateRawSync(Buffer.alloc(2 ** 29)))
    const before = process.memoryUsage().arrayBuffers
    await expect(readReceipt(bomb)).rejects.toThrow('larger than 1 MiB')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 26)
  })

  it('is read in time that grows as its length does', async () => {
    // Finding where texts end by trying each quotation mark would take a day.
    const unclosed = `"${'\\"'.repeat(500_000)}`
    await expect(readReceipt(addressOfPacked(deflateRawSync(unclosed)))).rejects.toThrow('is not JSON')
    const brackets = JSON.stringify({ response: answer, inputs: [{ ...EIFFEL_TOWER, note: `\\"${'['.repeat(99)}` }] })
    expect((await readReceipt(addressOfPacked(deflateRawSync(brackets)))).response).toEqual(answer)
  })

  it('with members of the wrong types is reported, without an exception', async () => {
    for (const hostile of [
      { ...answer, attestation: { attester } },
      { ...answer, inputRefs: { length: 2 } },
      { ...answer, operation: '<script>alert(1)</script>' },
      { ...answer, delegatedAttestation: null },
      { operation: 1, resultSignature: { attester } },
      { ...answer, __proto__: { attestation: 1 }, extra: '<img src=x onerror=alert(1)>' },
    ]) {
      const { status } = await verifyReceipt(addressOf({ response: hostile, inputs: [{ type: 'Evil' }, {}] }), options)
      expect(status).toBe('invalid')
    }
  })
})

describe('the map of a receipt', () => {
  it('reads edges as the signed operation does, also of a bare attestation', () => {
    const { attestation, delegatedAttestation } = answer
    expect(operationOf(answer)).toBe('distance')
    expect(operationOf({ attestation, delegatedAttestation })).toBe('distance')
    expect(operationOf({ attestation: JSON.parse(answers.boolean).attestation })).toBe('within:500000')
    for (const other of [{}, { attestation: null }, { attestation: { data: 5 } }, { attestation: { data: '0x' } }])
      expect(operationOf(other)).toBeUndefined()
  })

  it('shows geometries without foreign members, and no location that no signature covers', () => {
    const uid = `0x${'ab'.repeat(32)}`
    const proof = { verifiedProof: { proof: { claim: { location: EIFFEL_TOWER } }, attestation: { uid } } }
    const named = { ...TOWN_HALL, name: '<b>' }
    expect(shownInputs([proof as never, named], answer)).toEqual([{ letter: 'B', geometry: TOWN_HALL }])
    expect(shownInputs([{ uid }, { type: 'Evil' } as never], answer)).toEqual([])
    const verified = { proof: { claim: { location: EIFFEL_TOWER } } }
    expect(shownInputs([TOWN_HALL], verified)).toEqual([{ letter: 'A', geometry: EIFFEL_TOWER }])
    expect(shownInputs([TOWN_HALL], { proof: null })).toEqual([])
  })
})
