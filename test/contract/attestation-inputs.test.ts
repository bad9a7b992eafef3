/** Off-chain attestations as inputs: the same answers as for their geometries, under the UIDs of the attestations. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, verifyResult } from '../../src/client/client.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { cliFolder, runCli } from '../cli-runner.ts'
import { EAST, EIFFEL_TOWER, ROAD, ROME, SQUARE } from '../fixtures.ts'
import { attestOffchain, locationData, OTHER_ATTESTER } from '../offchain-maker.ts'
import { startTestService, type TestService } from '../service.ts'

const CHAIN = 84532

type Request = readonly [operation: string, inputs: Readonly<Record<string, Geometry>>, rest?: object]

/** Every operation, with its inputs and parameters. */
const REQUESTS: readonly Request[] = [
  ['distance', { from: EIFFEL_TOWER, to: ROME }],
  ['distance', { from: SQUARE, to: ROME }],
  ['area', { geometry: SQUARE }],
  ['length', { geometry: ROAD }],
  ['contains', { container: SQUARE, containee: EIFFEL_TOWER }],
  ['contains', { container: SQUARE, containee: EIFFEL_TOWER }, { edges: 'geodesic' }],
  ['within', { geometry: EIFFEL_TOWER, target: SQUARE }, { radius: 50_000 }],
  ['intersects', { geometry1: SQUARE, geometry2: EAST }],
  ['relate', { geometry1: SQUARE, geometry2: EAST }, { pattern: 'T********' }],
  ['relate', { geometry1: SQUARE, geometry2: EAST }],
  ...['equals', 'disjoint', 'touches', 'crosses', 'overlaps', 'covers', 'coveredBy'].map(
    (name): Request => [name, { geometry1: SQUARE, geometry2: EAST }],
  ),
  ['direct', { from: EIFFEL_TOWER }, { azimuthDegrees: 90, distanceMeters: 1000 }],
  ['waypoints', { from: EIFFEL_TOWER, to: ROME }, { everyMeters: 100_000 }],
  ['nearest', { from: EIFFEL_TOWER, to: EAST }],
  ['buffer', { geometry: EIFFEL_TOWER }, { radius: 100 }],
  ['repair', { geometry: SQUARE }],
]

describe('off-chain attestations as inputs', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })
  const post = (operation: string, members: object) =>
    service.post(`/compute/v0/${operation}`, { chainId: CHAIN, ...members })

  it.each(REQUESTS.map((request, index) => ({ name: request[0], index })))(
    'give the answer of $name to their geometries',
    async ({ index: at }) => {
      const [operation, inputs, rest = {}] = REQUESTS[at]!
      const plain = await post(operation, { ...inputs, ...rest })
      const signed = await Promise.all(
        Object.values(inputs).map((geometry, index) => attestOffchain(geometry, { version: index === 0 ? 2 : 1 })),
      )
      const attested = Object.fromEntries(
        Object.keys(inputs).map((name, index) => [name, { attestation: signed[index]! }]),
      )
      const { status, body } = await post(operation, { ...attested, ...rest })
      expect([status, body.detail]).toEqual([200, undefined])
      const uids = signed.map(({ sig }) => sig.uid)
      expect(body.inputRefs).toEqual(uids)
      // This service has no RPC.
      const unchecked = uids.map((ref) => ({ code: 'revocation-unchecked', chainId: CHAIN, ref }))
      expect(body.notes).toEqual([...(plain.body.notes ?? []), ...unchecked])
      const { timestamp, inputRefs, notes, attestation, delegatedAttestation, ...facts } = body
      const expected = { ...plain.body }
      for (const name of ['timestamp', 'inputRefs', 'notes', 'attestation', 'delegatedAttestation'])
        delete expected[name]
      expect(facts).toEqual(expected)
      if (attestation !== undefined)
        for (const uid of uids) expect(attestation.data).toContain(uid.slice(2).toLowerCase())
    },
  )

  it('may be signed for another chain than the result', async () => {
    const signed = await attestOffchain(EIFFEL_TOWER, {
      chain: { id: 8453, easAddress: '0x4200000000000000000000000000000000000021', easVersion: '1.0.1' },
    })
    const { status, body } = await post('distance', { from: { attestation: signed }, to: ROME })
    expect(status).toBe(200)
    expect(body.notes).toEqual([{ code: 'revocation-unchecked', chainId: 8453, ref: signed.sig.uid }])
  })

  it('cannot have a salt, because their UID is public', async () => {
    const attestation = await attestOffchain(EIFFEL_TOWER)
    const salted = await post('distance', { from: { input: { attestation }, salt: 'random' }, to: ROME })
    expect([salted.status, salted.body.errors[0].code]).toEqual([400, 'salted-attestation'])
    const beside = await post('distance', { from: { attestation, salt: 'random' }, to: ROME })
    expect([beside.status, beside.body.errors[0].code]).toEqual([400, 'salt-without-input'])
  })

  it('cannot be named in a batch, where each use of the name would be checked again', async () => {
    const attestation = await attestOffchain(EIFFEL_TOWER)
    const items = [{ op: 'distance', from: { named: 'place' }, to: ROME }]
    const { status, body } = await service.post('/compute/v0/batch', {
      chainId: CHAIN,
      geometries: { place: { attestation } },
      items,
    })
    expect([status, body.errors[0]]).toMatchObject([400, { pointer: '#/geometries/place', code: 'name-of-evidence' }])
  })

  it('are exactly one form of input', async () => {
    const attestation = await attestOffchain(EIFFEL_TOWER)
    for (const other of [
      { uid: attestation.sig.uid },
      { verifiedProof: {} },
      { ref: attestation.sig.uid },
      EIFFEL_TOWER,
    ]) {
      const { status, body } = await post('distance', { from: { attestation, ...other }, to: ROME })
      expect([status, body.errors[0].code]).toEqual([400, 'ambiguous-input'])
    }
  })

  it('are rejected at the member that is wrong, and what they contain as geometries are', async () => {
    const good = await attestOffchain(EIFFEL_TOWER)
    const deep = `${'{"type":"Feature","geometry":'.repeat(40)}${JSON.stringify(EIFFEL_TOWER)}${'}'.repeat(40)}`
    const data = '#/from/attestation/sig/message/data'
    const cases: readonly (readonly [attestation: unknown, pointer: string, code: string])[] = [
      [{ ...good, signer: OTHER_ATTESTER.address }, '#/from/attestation/signer', 'attestation-signer'],
      [{ ...good, sig: { ...good.sig, uid: `0x${'1'.repeat(64)}` } }, '#/from/attestation/sig/uid', 'attestation-uid'],
      [await attestOffchain({ type: 'Point', coordinates: [200, 0] }), data, 'longitude-range'],
      [await attestOffchain('{"type":"Point"', {}), data, 'attestation-unreadable'],
      [await attestOffchain(deep), data, 'attestation-unreadable'],
      [await attestOffchain('', { data: locationData('POINT(1', 'wkt') }), data, 'attestation-unreadable'],
    ]
    for (const [attestation, pointer, code] of cases) {
      const { status, body } = await post('distance', { from: { attestation }, to: ROME })
      expect([status, body.errors?.[0].code]).toEqual([400, code])
      expect(body.errors[0].pointer.startsWith(pointer)).toBe(true)
    }
    const huge = { ...good, sig: { ...good.sig, message: { ...good.sig.message, data: `0x${'00'.repeat(600_000)}` } } }
    expect((await post('distance', { from: { attestation: huge }, to: ROME })).status).toBe(413)
    const nested = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
    const tooDeep = await post('distance', { from: { attestation: { ...good, nested } }, to: ROME })
    expect([tooDeep.status, tooDeep.body.errors[0].code]).toEqual([400, 'json-depth'])
  })

  it('work in batches with every kind of attestation, each item by itself', async () => {
    const client = createClient({ baseUrl: service.url, chainId: CHAIN })
    const attestation = await attestOffchain(EIFFEL_TOWER)
    const plain = (await post('distance', { from: EIFFEL_TOWER, to: ROME })).body.result
    for (const attest of ['each', 'merkle', 'none'] as const) {
      const items = [
        { op: 'distance', from: { attestation }, to: ROME },
        { op: 'distance', from: { attestation: { ...attestation, signer: OTHER_ATTESTER.address } }, to: ROME },
        { op: 'distance', from: EIFFEL_TOWER, to: ROME },
      ] as never[]
      // biome-ignore lint/suspicious/noExplicitAny: results of several kinds
      const { results, merkle } = (await client.batch.run(items, { attest })) as any
      expect(results[0]).toMatchObject({ result: plain, inputRefs: [attestation.sig.uid, expect.any(String)] })
      expect(results[0].notes[0].code).toBe('revocation-unchecked')
      expect(results[1].error.errors[0].pointer).toBe('#/items/1/from/attestation/signer')
      expect(results[2]).not.toHaveProperty('notes')
      if (attest === 'none') continue
      const options = { attester: service.attester, chainId: CHAIN, inputs: [{ attestation }, ROME] }
      const verdict = await verifyResult(results[0], { ...options, ...(merkle && { merkle }) } as never)
      expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
    }
    const response = await fetch(`${service.url}/compute/v0/batch?chainId=${CHAIN}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify({ op: 'distance', id: 1, from: { attestation }, to: ROME })}\n`,
    })
    expect(await response.text()).toContain(attestation.sig.uid)
  })

  it('are read by the command line from a file of an EAS tool, and verified from it', async () => {
    const folder = cliFolder()
    const attestation = await attestOffchain(EIFFEL_TOWER)
    const [signed, answer] = [join(folder.path, 'signed.json'), join(folder.path, 'answer.json')]
    writeFileSync(signed, JSON.stringify(attestation, null, 2))
    const inputs = [signed, '12.4964,41.9028']
    for (const salt of [[], ['--salt']]) {
      const argv = ['compute', 'distance', ...inputs, ...salt, '--json', '--url', service.url]
      const { exitCode, out } = await runCli(argv, { nowMs: Date.now() })
      expect([exitCode, JSON.parse(out).inputRefs[0]]).toEqual([0, attestation.sig.uid])
      writeFileSync(answer, out)
      const geometries = inputs.flatMap((input) => ['--geometry', input])
      const verify = ['verify', answer, ...geometries, '--issuer', service.url]
      expect((await runCli(verify, { nowMs: Date.now() })).exitCode).toBe(0)
    }
    const text = await runCli(['compute', 'distance', ...inputs, '--url', service.url], { nowMs: Date.now() })
    expect(text.out).toContain('cannot ask chain 84532 whether an off-chain attestation is revoked')
    folder.remove()
  })

  it('are sent by the client as the EAS SDK returns them, with bigints, and are verified', async () => {
    const client = createClient({ baseUrl: service.url, chainId: CHAIN })
    const { sig, signer } = await attestOffchain(EIFFEL_TOWER)
    const message = { ...sig.message, time: BigInt(String(sig.message['time'])), expirationTime: 0n }
    const attestation = { sig: { ...sig, domain: { ...sig.domain, chainId: BigInt(CHAIN) }, message }, signer }
    const answer = await client.compute.distance({ attestation }, ROME)
    const inputsCheck = async (first: object) => {
      const { checks } = await verifyResult(answer, {
        attester: service.attester,
        chainId: CHAIN,
        inputs: [first as Geometry, ROME],
      })
      return checks.find(({ id }) => id === 'inputs')?.status
    }
    expect(await inputsCheck({ attestation })).toBe('pass')
    expect(await inputsCheck({ attestation: { ...sig, signer } })).toBe('pass')
    expect(await inputsCheck({ uid: sig.uid })).toBe('pass')
    for (const wrong of [
      await attestOffchain(ROME),
      { sig, signer: OTHER_ATTESTER.address },
      { sig },
      { sig: { ...sig, message: { ...sig.message, revocable: false } }, signer },
      { sig: { ...sig, message: 1 }, signer },
      {},
    ])
      expect(await inputsCheck({ attestation: wrong })).toBe('fail')
  })
})

describe('off-chain attestations in jobs', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ RECORDS: '1' })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it('are inputs of operations', async () => {
    const client = createClient({ baseUrl: service.url, chainId: CHAIN, apiKey: service.developerKey })
    const attestation = await attestOffchain(EIFFEL_TOWER)
    const operations = [{ op: 'distance', id: 'one', from: { attestation }, to: ROME }] as never[]
    const job = await client.jobs.create(operations, { attest: 'each' })
    expect(await client.jobs.wait(job.id)).toMatchObject({ state: 'done', failed: 0 })
    // biome-ignore lint/suspicious/noExplicitAny: results of several kinds
    const results: any[] = []
    for await (const answer of client.jobs.results(job.id)) results.push(answer)
    expect(results[0].inputRefs[0]).toBe(attestation.sig.uid)
    expect(results[0].notes[0].code).toBe('revocation-unchecked')
  })
})
