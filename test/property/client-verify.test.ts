import { describe, expect, it } from 'vitest'
import { createRecompute } from '../../src/client/recompute.ts'
import type { Verdict, VerifyResultOptions } from '../../src/client/verify/verdict.ts'
import { verifyResult } from '../../src/client/verify/verify-result.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { NOW_SECONDS, RECIPIENT, TTL_SECONDS } from '../attest-parts.ts'
import { createAnswers } from '../client-answers.ts'
import { type Loose, signed, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { stride } from '../scale.ts'

const answers = await createAnswers()
const { attester } = answers
const defaults: VerifyResultOptions = { chainId: 84532, attester, nowSeconds: NOW_SECONDS }
const verify = (answer: unknown, options: VerifyResultOptions = {}) => verifyResult(answer, { ...defaults, ...options })
const failedChecks = ({ checks }: Verdict) => checks.filter(({ status }) => status === 'fail').map(({ id }) => id)
const checkStatus = ({ checks }: Verdict, id: string) => checks.find((check) => check.id === id)?.status
const editJson = (text: string, edit: (answer: Loose) => void) => {
  const answer = JSON.parse(text)
  edit(answer)
  return answer
}

describe('verifyResult on a line of a job', () => {
  it('checks the signature without a nonce, and recomputes', async () => {
    const verdict = await verify(answers.jobLine, {
      inputs: [EIFFEL_TOWER, TOWN_HALL],
      recompute: createRecompute(),
    })
    expect(verdict).toMatchObject({ kind: 'signed-result', ok: true, signer: attester, chainId: 84532 })
    expect(verdict.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'form pass',
      'signer pass',
      'signature pass',
      'chain pass',
      'schema pass',
      'data pass',
      'deadline pass',
      'values pass',
      'time pass',
      'inputs pass',
      'recomputed pass',
      'id skip',
    ])
    expect(await verify(answers.jobLine, { chainId: undefined })).toMatchObject({ ok: true, chainId: 84532 })
  })

  it('fails the check of each member that is changed', async () => {
    const line = JSON.parse(answers.jobLine)
    const signature = line.resultSignature
    const failed = async (members: object, options: VerifyResultOptions = {}) =>
      failedChecks(await verify({ ...line, ...members }, options))
    const failedSignature = (members: object) => failed({ resultSignature: { ...signature, ...members } })
    const other = `0x${'1'.repeat(40)}`
    expect(await failed({ result: 1 })).toEqual(['values'])
    expect(await failed({ recipient: other })).toEqual(['signature'])
    expect(await failed({ extra: 1 })).toEqual(['form'])
    expect(await failedSignature({ salt: `0x${'1'.repeat(64)}` })).toEqual(['signature'])
    expect(await failedSignature({ attester: other })).toEqual(['signer', 'signature'])
    expect(await failedSignature({ deadline: signature.deadline - 1 })).toEqual(['signature'])
    expect(await failedSignature({ salt: undefined })).toEqual(['form'])
    expect(await failed({}, { chainId: 8453 })).toEqual(['signature'])
    expect(await failed({}, { nowSeconds: NOW_SECONDS + TTL_SECONDS + 1 })).toEqual(['deadline'])
  })
})

describe('verifyResult on a compute answer', () => {
  it('lists the status of every check, and states the result in a sentence', async () => {
    const verdict = await verify(answers.numeric, { inputs: [EIFFEL_TOWER, TOWN_HALL] })
    expect(verdict).toMatchObject({ kind: 'compute', ok: true, signer: attester, chainId: 84532 })
    expect(verdict.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'form pass',
      'signer pass',
      'signature pass',
      'chain pass',
      'schema pass',
      'data pass',
      'deadline pass',
      'values pass',
      'time pass',
      'inputs pass',
    ])
    expect(verdict.statement).toBe(
      `the distance between 0xc8dd0bd4… and 0x58bfba04… is 4,238.77 m, computed 2023-11-14T22:13:20Z, for ${RECIPIENT}`,
    )
    const boolean = await verify(JSON.parse(answers.boolean))
    expect(boolean.ok).toBe(true)
    expect(boolean.statement).toContain('is within 5,000.00 m of')
  })

  it('finds the chain by the signature when no chain is given', async () => {
    for (const chainId of [84532, 42161, 42220]) {
      const { numeric } = await createAnswers(chainId)
      expect(await verify(numeric, { chainId: undefined })).toMatchObject({ ok: true, chainId })
    }
    const other = await verify(answers.numeric, { chainId: 8453 })
    expect(failedChecks(other)).toEqual(['signature'])
    expect(other.chainId).toBeUndefined()
  })

  it('skips the check of the signer when no attester is given', async () => {
    const verdict = await verify(answers.numeric, { attester: undefined })
    expect(verdict.ok).toBe(true)
    expect(checkStatus(verdict, 'signer')).toBe('skip')
    expect(failedChecks(await verify(answers.numeric, { attester: RECIPIENT }))).toEqual(['signer'])
    expect((await verify(answers.numeric, { attester: [RECIPIENT, attester.toLowerCase()] })).ok).toBe(true)
  })

  it('fails an expired deadline unless that is allowed, and skips a deadline that is not signed', async () => {
    const nowSeconds = NOW_SECONDS + TTL_SECONDS + 1
    expect(failedChecks(await verify(answers.numeric, { nowSeconds }))).toEqual(['deadline'])
    expect((await verify(answers.numeric, { nowSeconds, allowExpired: true })).ok).toBe(true)
    const legacy = await createAnswers(42161)
    const verdict = await verify(legacy.numeric, { chainId: 42161, nowSeconds })
    expect(verdict.ok).toBe(true)
    expect(checkStatus(verdict, 'deadline')).toBe('skip')
  })

  it('refuses an answer from the future', async () => {
    expect(failedChecks(await verify(answers.numeric, { nowSeconds: NOW_SECONDS - 301 }))).toEqual(['time'])
  })

  it('finds members that differ from what was signed', async () => {
    expect(failedChecks(await verify(answers.lying))).toEqual(['values'])
  })

  it.each([
    ['another geometry', [EIFFEL_TOWER, EIFFEL_TOWER]],
    ['another order', [TOWN_HALL, EIFFEL_TOWER]],
    ['one too few', [EIFFEL_TOWER]],
    ['a latitude out of range', [EIFFEL_TOWER, { type: 'Point', coordinates: [2, 95] }]],
    ['a UID in place of a geometry', [EIFFEL_TOWER, `0x${'1'.repeat(64)}`]],
    ['a string that is not a geometry', [EIFFEL_TOWER, 'Paris']],
  ])('finds inputs that are %s', async (_, inputs) => {
    expect(failedChecks(await verify(answers.numeric, { inputs: inputs as Geometry[] }))).toEqual(['inputs'])
  })

  it('uses the geometry of a Feature and ignores its other members', async () => {
    const feature = { type: 'Feature', properties: { name: 'x' }, geometry: { ...EIFFEL_TOWER, crs: 'y' } } as const
    expect((await verify(answers.numeric, { inputs: [feature, TOWN_HALL] })).ok).toBe(true)
  })

  it('computes the result again with the WebAssembly kernel of the service', async () => {
    const recompute = createRecompute()
    const inputs = [EIFFEL_TOWER, TOWN_HALL]
    for (const text of [answers.numeric, answers.boolean]) {
      const verdict = await verify(text, { inputs, recompute })
      expect(verdict.ok).toBe(true)
      expect(checkStatus(verdict, 'recomputed')).toBe('pass')
    }
    expect(
      failedChecks(await verify(answers.numeric, { inputs, recompute: () => ({ ok: true, result: 1n }) })),
    ).toEqual(['recomputed'])
    const tooComplex = () => ({ ok: false, reason: 'too much work', isTooComplex: true }) as const
    const skipped = await verify(answers.numeric, { inputs, recompute: tooComplex })
    expect([skipped.ok, checkStatus(skipped, 'recomputed')]).toEqual([true, 'skip'])
    expect(recompute('within:423876', inputs)).toEqual({ ok: true, result: false })
    expect(recompute('within:423877', inputs)).toEqual({ ok: true, result: true })
    expect(recompute('area', [EIFFEL_TOWER])).toMatchObject({ ok: false })
    expect(recompute('constructor', [EIFFEL_TOWER])).toMatchObject({ ok: false })
  })

  it('takes the attester, retired attesters and the registry from the issuer document', async () => {
    const schemas = { numeric: `0x${'1'.repeat(64)}`, boolean: `0x${'2'.repeat(64)}`, verify: '', merkleRoot: '' }
    const chain = { chainId: 84532, name: 'base-sepolia', profile: 'v1', easVersion: '1.2.0', schemas } as const
    const registry = '0x4200000000000000000000000000000000000021'
    const issuer = {
      address: attester,
      purpose: 'staging',
      chains: [{ ...chain, registry, schemaRegistry: registry }],
      retired: [],
    }
    expect((await verify(answers.numeric, { attester: undefined, issuer })).ok).toBe(true)
    const otherIssuer = { ...issuer, address: RECIPIENT }
    expect(failedChecks(await verify(answers.numeric, { attester: undefined, issuer: otherIssuer }))).toEqual([
      'signer',
    ])
    const retiredIssuer = { ...otherIssuer, retired: [attester] }
    expect((await verify(answers.numeric, { attester: undefined, issuer: retiredIssuer })).ok).toBe(true)
    const otherRegistry = { ...issuer, chains: [{ ...issuer.chains[0]!, registry: RECIPIENT }] }
    expect(failedChecks(await verify(answers.numeric, { attester: undefined, issuer: otherRegistry }))).toEqual([
      'signature',
    ])
  })

  it.each([
    ['a problem', { error: { title: 'x' }, operation: 'area' }, 'signature'],
    ['an unsigned result', { result: 1, operation: 'area' }, 'signature'],
    ['text', '{', 'form'],
    ['nothing', null, 'form'],
    ['a list', [], 'form'],
    ['an empty object', {}, 'form'],
    ['half an answer', { attestation: {} }, 'form'],
    ['a verified proof of nothing', { proof: {}, attestation: {} }, 'form'],
    ['a stamp of nothing', { plugin: 'x', signatures: [] }, 'form'],
    ['a batch with an invalid chain ID', { results: [{}], chainId: 'x' }, 'chain'],
  ])('does not verify %s', async (_, answer, id) => {
    const verdict = await verify(answer)
    expect(verdict.ok).toBe(false)
    expect(failedChecks(verdict)).toContain(id)
  })

  it('rejects invalid options', async () => {
    await expect(verify(answers.numeric, { chainId: 1 })).rejects.toThrow(/chain 1 is not known/)
    await expect(verify(answers.numeric, { attester: '0x12' })).rejects.toThrow(/not an address/)
  })
})

describe('every byte of an answer', () => {
  /** Replaces a hex digit by the next one, and flips the lowest bit of any other character. The meaning always changes. */
  const alter = (character: string) =>
    /[0-9a-f]/.test(character)
      ? ((Number.parseInt(character, 16) + 1) % 16).toString(16)
      : String.fromCharCode(character.charCodeAt(0) ^ 1)

  async function alterEach(text: string, options: VerifyResultOptions = {}) {
    const seen = new Map<string, number>()
    expect((await verify(text, options)).ok).toBe(true)
    for (let index = 0; index < text.length; index += stride) {
      const verdict = await verify(text.slice(0, index) + alter(text[index]!) + text.slice(index + 1), options)
      const [first] = failedChecks(verdict)
      if (verdict.ok || first === undefined) throw new Error(`byte ${index} of ${text.slice(index - 20, index + 20)}`)
      seen.set(first, (seen.get(first) ?? 0) + 1)
    }
    return seen
  }

  it.each([
    ['a number', answers.numeric],
    ['a truth value', answers.boolean],
    ['a result with a signature for contracts', answers.withResultSignature],
  ])('of %s is covered by a named check', async (_, text) => {
    const seen = await alterEach(text)
    for (const id of ['form', 'signature', 'values']) expect(seen.get(id), id).toBeGreaterThan(0)
  })

  it('of an item under a Merkle root is covered, and of the root', async () => {
    const { merkle, results } = await answers.merkleBatch()
    for (const item of results) await alterEach(JSON.stringify(item), { merkle })
    await alterEach(JSON.stringify(merkle))
  })

  it('of the signed members of a verified proof is covered', async () => {
    const { credibility, evaluationMethod, evaluatedAt, ...signedMembers } = await answers.verifiedProof()
    const inner = JSON.stringify(signedMembers).slice(1)
    const text = `{"credibility":${JSON.stringify(credibility)},"evaluationMethod":"${evaluationMethod}","evaluatedAt":${evaluatedAt},${inner}`
    expect((await verify(text)).ok).toBe(true)
    for (let index = text.length - inner.length; index < text.length; index += stride) {
      const verdict = await verify(text.slice(0, index) + alter(text[index]!) + text.slice(index + 1))
      if (failedChecks(verdict).length === 0) throw new Error(`byte ${index} of ${text.slice(index - 20, index + 20)}`)
    }
  })
})

describe('verifyResult on other answers', () => {
  it('ignores the case of hex digits, but checks the checksum of an address', async () => {
    const upper = editJson(answers.numeric, (answer) => {
      answer['attestation'].data = `0x${answer['attestation'].data.slice(2).toUpperCase()}`
      answer['attestation'].attester = answer['attestation'].attester.toLowerCase()
    })
    expect((await verify(upper)).ok).toBe(true)
    const flipped = attester.replace(/[A-F]/, (letter) => letter.toLowerCase())
    expect(
      failedChecks(await verify(editJson(answers.numeric, (answer) => (answer['attestation'].attester = flipped)))),
    ).toEqual(['form'])
  })

  it('reports whether all items of a batch are verified', async () => {
    const batch = await answers.merkleBatch()
    expect(await verify(batch)).toMatchObject({ kind: 'batch', ok: true, signer: attester })
    const withFailedItem = {
      ...batch,
      results: [...batch.results, { error: { title: 'Invalid Input' } }],
      count: 3,
      failed: 1,
    }
    expect((await verify(withFailedItem)).ok).toBe(true)
    expect(failedChecks(await verify({ ...withFailedItem, failed: 0 }))).toContain('items')
    const [first, second] = batch.results
    const swapped = { ...batch, results: [{ ...first, proof: second!.proof }, second] }
    expect((await verify(swapped)).checks[0]!.detail).toMatch(/^item 0: proof/)
    expect((await verify({ ...batch, merkle: null })).ok).toBe(false)
    expect((await verify({ ...batch, results: [], count: 0 })).ok).toBe(false)
  })

  it('makes no batch valid while a check that was asked for is not made', async () => {
    const batch = await answers.merkleBatch()
    const recompute = createRecompute()
    const wrong = [EIFFEL_TOWER, EIFFEL_TOWER]
    expect(failedChecks(await verify(batch, { inputs: wrong, recompute }))).toEqual(['inputs'])
    expect(checkStatus(await verify(batch, { recompute }), 'recomputed')).toBe('skip')
    const each = { chainId: 84532, attest: 'each', results: [JSON.parse(answers.numeric)], count: 1, failed: 0 }
    expect((await verify(each)).ok).toBe(true)
    expect(failedChecks(await verify(each, { inputs: wrong }))).toEqual(['inputs'])
    let calls = 0
    const dead = {
      rpcUrl: 'http://127.0.0.1:1',
      fetch: async () => {
        calls++
        throw new TypeError('no connection')
      },
    }
    for (const answer of [batch, each]) {
      const verdict = await verify(answer, dead)
      expect(failedChecks(verdict)).toEqual(['items', 'signature', ...(answer === batch ? ['rpc'] : [])])
      expect(verdict.checks[0]!.detail).toContain('item 0: rpc: eth_chainId: the RPC does not answer')
    }
    // The results of a batch share the calls that are the same for all.
    expect(calls).toBe(2)
  })

  it('checks a root with its submission, as a job has it, and no other members', async () => {
    const { merkle } = await answers.merkleBatch()
    const submission = { id: 'ab', status: 'mined', chainId: 84532, uid: `0x${'12'.repeat(32)}`, time: 1 }
    for (const given of [{ merkle }, merkle]) {
      const verdict = await verify({ ...given, submission })
      expect([verdict.kind, verdict.ok, checkStatus(verdict, 'submission')]).toEqual(['merkle-root', true, 'skip'])
      expect(checkStatus(await verify(given), 'submission')).toBeUndefined()
    }
    const { root: _, ...withoutRoot } = merkle
    for (const given of [
      { merkle, root: merkle.root },
      { merkle: withoutRoot, root: merkle.root },
      { ...merkle, merkle: withoutRoot },
      { merkle: { ...merkle, submission }, submission },
      { merkle, submission: { ...submission, uid: 'x' } },
      { merkle, submission: { ...submission, extra: 1 } },
      { merkle, submission: null },
    ])
      expect(failedChecks(await verify(given))).toEqual(['form'])
  })

  it('takes only results as items of a batch', async () => {
    const inner = await answers.merkleBatch()
    const results = [JSON.parse(answers.numeric), inner]
    const verdict = await verify({ chainId: 84532, attest: 'each', results, count: 2, failed: 0 })
    expect(failedChecks(verdict)).toEqual(['items', 'signature'])
    expect(verdict.checks[0]!.detail).toBe('item 1: form: is not a result of a batch')
  })

  it('skips the id of an item and its proof inputs, because they are not signed', async () => {
    const { merkle, results } = await answers.merkleBatch()
    const proofInputs = [{ ref: results[0]!.inputRefs[0], credibility: {} }]
    for (const answer of [JSON.parse(answers.numeric), results[0]]) {
      const verdict = await verify({ ...answer, id: 7, proofInputs }, { merkle })
      expect(verdict.ok).toBe(true)
      expect([checkStatus(verdict, 'id'), checkStatus(verdict, 'proof-inputs')]).toEqual(['skip', 'skip'])
    }
  })

  it('fails an item whose batch is not given', async () => {
    const { results } = await answers.merkleBatch()
    expect(failedChecks(await verify(results[0]))).toEqual(['signature'])
  })

  it('compares the numbers of a verified proof with those that were signed', async () => {
    const answer = await answers.verifiedProof()
    const verdict = await verify(answer)
    expect(verdict).toMatchObject({ kind: 'verified-proof', ok: true })
    expect(checkStatus(verdict, 'credibility')).toBe('skip')
    const { spatial } = answer.credibility.dimensions
    const better = { ...spatial, meanDistanceMeters: 11 }
    const dimensions = { ...answer.credibility.dimensions, spatial: better }
    expect(failedChecks(await verify({ ...answer, credibility: { ...answer.credibility, dimensions } }))).toEqual([
      'measures',
    ])
    expect(failedChecks(await verify({ ...answer, chainId: 42220 }))).toContain('chain')
  })

  it('verifies a re-signed attestation without its result', async () => {
    const { attestation, delegatedAttestation } = JSON.parse(answers.numeric)
    expect(await verify({ attestation, delegatedAttestation })).toMatchObject({ kind: 'attestation', ok: true })
  })

  it('checks who signed a stamp, and skips its signals', async () => {
    const stamp = signed(stampOf('gpsd'))
    const verdict = await verify(stamp)
    expect(verdict).toMatchObject({ kind: 'stamp', ok: true })
    expect(checkStatus(verdict, 'signals')).toBe('skip')
    expect(failedChecks(await verify({ ...stamp, pluginVersion: '0.1.1' }))).toEqual(['signature'])
    expect(failedChecks(await verify({ ...stamp, lpVersion: '0.3' }))).toEqual(['form'])
  })
})
