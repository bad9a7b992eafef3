import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createClient, type VerifyResultOptions, verifyResult } from '../../src/client/client.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { cliFolder, runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { line, lines } from '../job-lines.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, sharedService, startTestService, type TestService } from '../service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
type Loose = any

/** More than two chunks. */
const OPERATIONS = 9000
/** Removes what differs between two computations of the same operation: times, salts and ids of requests. */
const comparable = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((json) => {
      const result = JSON.parse(json)
      if (result.error !== undefined) return { ...result, error: { ...result.error, instance: '', requestId: '' } }
      return { ...result, timestamp: 0, data: '', resultSignature: '' }
    })

describe('jobs', () => {
  let service: TestService
  const ask = (path: string, init: RequestInit & { key?: string } = {}) =>
    fetch(`${service.url}/compute/v0/jobs${path}`, {
      ...init,
      headers: { 'x-api-key': init.key ?? service.developerKey, ...(init.headers as Record<string, string>) },
    })
  const upload = async (body: string, query = 'chainId=84532&attest=none', headers: Record<string, string> = {}) => {
    const response = await ask(`?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', ...headers },
      body,
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Loose }
  }
  const state = async (id: string) => (await (await ask(`/${id}`)).json()) as Loose
  const untilDone = (id: string) =>
    eventually(async () => {
      const job = await state(id)
      expect(job.state).toBe('done')
      return job
    })
  const results = async (id: string, query = '') => (await ask(`/${id}/results${query}`)).text()

  beforeAll(async () => {
    service = await startTestService({
      ...NO_LOCAL_CALLERS,
      RECORDS: '1',
      JOB_POLL_MS: '20',
      JOB_MAX_OPERATIONS: '20000',
    })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  })
  afterAll(() => service?.stop())

  it('gives the results that a stream gives', async () => {
    const body = lines(0, OPERATIONS)
    const created = await upload(body)
    expect(created.status).toBe(202)
    expect(created.headers.get('location')).toBe(`/compute/v0/jobs/${created.body.id}`)
    expect(created.body).toMatchObject({ total: OPERATIONS, received: OPERATIONS, attest: 'none', chainId: 84532 })
    const job = await untilDone(created.body.id)
    expect(job).toMatchObject({ done: OPERATIONS, failed: 9, errors: { 'invalid-input': 9 }, secondsLeft: 0 })
    const text = await results(job.id)
    const stream = await fetch(`${service.url}/compute/v0/batch?chainId=84532&attest=none`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': service.internalKey },
      body,
    })
    expect(comparable(text)).toEqual(comparable(await stream.text()))
    // Any operation can be the first one.
    for (const from of [1, 4095, 4096, 8999, 9000])
      expect(await results(job.id, `?from=${from}`)).toBe(text.split('\n').slice(from).join('\n'))
    const error = JSON.parse(text.split('\n')[7]!).error
    expect(error).toMatchObject({ requestId: job.id, status: 400 })
  })

  it('takes a JSON batch, and operations with line breaks in them', async () => {
    const items = [JSON.parse(line(0)), { op: 'area', geometry: 1 }]
    const body = JSON.stringify({ chainId: 84532, attest: 'none', items }, undefined, 2)
    const created = await ask('', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(created.status).toBe(202)
    const { id } = (await created.json()) as { id: string }
    expect(await untilDone(id)).toMatchObject({ done: 2, failed: 1 })
    expect(comparable(await results(id))).toHaveLength(2)
  })

  it('counts a line that is too long as an operation that fails', async () => {
    const { body } = await upload(`${line(0)}\n${'x'.repeat(1_100_000)}\n${line(1)}\n`)
    await untilDone(body.id)
    const [first, long, last] = comparable(await results(body.id))
    expect([first.id, long.error.errors[0].code, last.id]).toEqual([0, 'line-too-long', 1])
  })

  it('signs each result without a nonce', async () => {
    const { body } = await upload(lines(0, 10), 'chainId=84532')
    expect(body.attest).toBe('each')
    expect(await untilDone(body.id)).toMatchObject({ failed: 1 })
    const signed = (await results(body.id))
      .split('\n')
      .slice(0, 2)
      .map((text) => JSON.parse(text))
    for (const result of signed) {
      expect(result).not.toHaveProperty('delegatedAttestation')
      expect(result.resultSignature).toMatchObject({ attester: service.attester })
      expect(result.resultSignature.signature).toMatch(/^0x[0-9a-f]{130}$/)
    }
    expect(signed[0].resultSignature.salt).not.toBe(signed[1].resultSignature.salt)
    const trusted = { attester: service.attester, chainId: 84532 }
    expect(await verifyResult(signed[0], trusted)).toMatchObject({
      kind: 'signed-result',
      ok: true,
      signer: service.attester,
    })
    expect(await verifyResult({ ...signed[0], result: 1 }, trusted)).toMatchObject({ ok: false })
  })

  it('is seen only with the key that created it', async () => {
    const { body } = await upload(lines(0, 1))
    for (const path of ['', '/results', '/events', '/attestation', '/results/0/proof']) {
      expect((await ask(`/${body.id}${path}`, { key: service.internalKey })).status).toBe(404)
      expect((await ask(`/${body.id}${path}`, { key: 'wrong' })).status).toBe(401)
      expect((await fetch(`${service.url}/compute/v0/jobs/${body.id}${path}`)).status).toBe(401)
    }
    expect((await ask(`/${body.id}`, { method: 'DELETE', key: service.internalKey })).status).toBe(404)
    const listed = async (key: string) => ((await (await ask('', { key })).json()) as { jobs: { id: string }[] }).jobs
    expect((await listed(service.developerKey))[0]!.id).toBe(body.id)
    expect(await listed(service.internalKey)).toEqual([])
    expect((await upload(lines(0, 1), undefined, { 'x-api-key': '' })).status).toBe(401)
  })

  it('makes a repeated upload the same job', async () => {
    const headers = { 'idempotency-key': 'one' }
    const first = await upload(lines(0, 3), undefined, headers)
    const again = await upload(lines(0, 3), undefined, headers)
    expect([again.status, again.body.id, again.body.total]).toEqual([202, first.body.id, 3])
    expect((await upload(lines(0, 3), 'chainId=84532', headers)).status).toBe(409)
    // More than the service holds of a stream, so what it skips must not stay in its memory.
    const large = `${'x'.repeat(900_000)}\n`.repeat(12)
    const long = await upload(large, undefined, { 'idempotency-key': 'large' })
    const repeated = await upload(large, undefined, { 'idempotency-key': 'large' })
    expect([repeated.status, repeated.body.id, repeated.body.total]).toEqual([202, long.body.id, 12])
    expect((await upload(lines(0, 3), undefined, { 'idempotency-key': 'a b' })).status).toBe(400)
  })

  it('cancels', async () => {
    const { body } = await upload(lines(0, OPERATIONS))
    const cancelled = await ask(`/${body.id}`, { method: 'DELETE' })
    expect(cancelled.status).toBe(200)
    const job = (await cancelled.json()) as { state: string }
    expect(['cancelled', 'done']).toContain(job.state)
    expect((await state(body.id)).state).toBe(job.state)
    const put = (from: number, text: string, type = 'application/x-ndjson') =>
      ask(`/${body.id}/input?from=${from}`, { method: 'PUT', headers: { 'content-type': type }, body: text })
    const repeated = await put(OPERATIONS - 1, lines(0, 1))
    expect([repeated.status, await repeated.json()]).toMatchObject([202, { received: OPERATIONS }])
    // A JSON batch is one line for a reader of lines.
    const json = await put(0, '{"items":[]}', 'application/json')
    expect([json.status, ((await json.json()) as Loose).detail]).toEqual([415, expect.stringContaining('x-ndjson')])
    // Operations that it does not have must not be lost silently.
    expect((await put(OPERATIONS, lines(0, 1))).status).toBe(409)
    expect((await put(OPERATIONS - 1, lines(0, 2))).status).toBe(409)
    expect((await put(OPERATIONS + 1, lines(0, 1))).status).toBe(409)
  })

  it('reports its progress as events, and its results as they come', async () => {
    const { body } = await upload(lines(0, OPERATIONS))
    const [events, followed] = await Promise.all([
      ask(`/${body.id}/events`).then((response) => response.text()),
      results(body.id, '?follow=true'),
    ])
    const states = events.match(/^data: .*$/gm)!.map((data) => JSON.parse(data.slice(6)))
    expect(states.at(-1)).toMatchObject({ state: 'done', done: OPERATIONS })
    expect(followed.split('\n').filter((text) => text !== '')).toHaveLength(OPERATIONS)
  })

  it('rejects faulty options and parameters', async () => {
    expect((await upload(lines(0, 1), 'chainId=1&attest=none')).status).toBe(400)
    expect((await upload(lines(0, 1), 'attest=merkle')).body.errors[0].pointer).toBe('#/chainId')
    expect((await upload(lines(0, 1), 'chainId=84532&sequence=consecutive')).body.errors[0].code).toBe('not-for-jobs')
    const { body } = await upload(lines(0, 1))
    expect((await ask(`/${body.id}/results?from=x`)).status).toBe(400)
    expect((await ask(`/${body.id}/results?form=1`)).status).toBe(400)
    const beyond = await ask(`/${body.id}/results?from=2`)
    expect([beyond.status, ((await beyond.json()) as Loose).detail]).toEqual([
      404,
      'the job has 1 operations: from must be at most 1, which is the end',
    ])
    expect([(await ask(`/${body.id}/results?from=1`)).status, await results(body.id, '?from=1')]).toEqual([200, ''])
    expect((await ask(`/${body.id}/attestation`)).status).toBe(409)
    expect((await ask('/nothing')).status).toBe(404)
    expect((await ask('', { method: 'PATCH' })).status).toBe(405)
    for (const path of ['', '/results', '/events'])
      expect((await ask(`/${body.id}${path}`, { method: 'HEAD' })).status).toBe(200)
    const large = await upload(lines(0, 20_001))
    expect([large.status, large.body.detail]).toEqual([413, expect.stringContaining('at most 20000 operations')])
    const { jobs } = (await (await ask('')).json()) as Loose
    expect(jobs[0].state).toBe('failed')
    // Where the chunks end depends on how the bytes arrive.
    expect(jobs[0].received).toBeGreaterThan(0)
    expect(jobs[0].received).toBeLessThanOrEqual(20_000)
  })

  it('attests a Merkle root over all results, with a proof of each', async () => {
    const count = 5000 // two chunks
    const { body } = await upload(lines(0, count), 'chainId=84532&attest=merkle')
    await untilDone(body.id)
    const { merkle } = (await (await ask(`/${body.id}/attestation`)).json()) as Loose
    expect(merkle).toMatchObject({ leafCount: count - 5, attestation: { attester: service.attester } })
    const keccak = await createKeccak()
    const items = (await results(body.id))
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    for (const index of [0, 5, 4095, 4096, 4999]) {
      const { proof, root, leaf } = (await (await ask(`/${body.id}/results/${index}/proof`)).json()) as Loose
      expect([root, leaf.length]).toEqual([merkle.root, 66])
      expect(verifyMerkleProof(items[index], proof, root, keccak)).toBe(true)
      expect(verifyMerkleProof(items[index + (index === 4999 ? -1 : 1)], proof, root, keccak)).toBe(false)
    }
    for (const index of ['7', '5000', 'x']) expect((await ask(`/${body.id}/results/${index}/proof`)).status).toBe(404)
    // Signed for each request.
    const again = ((await (await ask(`/${body.id}/attestation`)).json()) as Loose).merkle
    expect(again.root).toBe(merkle.root)
  })

  it('has lines that verify with their proof and the attestation of the job, as HTTP returns them', async () => {
    const { body } = await upload(lines(0, 20), 'chainId=84532&attest=merkle')
    await untilDone(body.id)
    const [first, second] = (await results(body.id)).split('\n') as [string, string]
    const json = async (path: string) => (await (await ask(`/${body.id}${path}`)).json()) as Loose
    const [proof, attestation] = [await json('/results/0/proof'), await json('/attestation')]
    const client = createClient({ baseUrl: service.url, apiKey: service.developerKey })
    const trusted = { attester: service.attester, chainId: 84532 }
    const failures = async (line: string, options: VerifyResultOptions) => {
      const verdict = await verifyResult(line, { ...trusted, ...options })
      const failed = verdict.checks
        .filter(({ status }) => status === 'fail')
        .map(({ id, detail }) => `${id}: ${detail}`)
      expect(verdict.ok).toBe(failed.length === 0)
      return failed
    }
    expect(await failures(first, { proof, merkle: attestation })).toEqual([])
    expect(await failures(first, { proof, merkle: attestation.merkle })).toEqual([])
    const own = { proof: await client.jobs.proof(body.id, 0), merkle: await client.jobs.attestation(body.id) }
    expect(await failures(first, own)).toEqual([])
    expect(await failures(JSON.stringify(attestation), {})).toEqual([])
    expect(await failures(JSON.stringify({ ...attestation, extra: 1 }), {})).toEqual([
      expect.stringMatching(/^form: extra is an unknown member/),
    ])
    expect(await failures(second, { proof, merkle: attestation })).toEqual([
      expect.stringMatching(/^proof: the proof is that of operation 0 .* which is another line/),
    ])
    const otherRoot = { ...proof, root: `0x${'1'.repeat(64)}` }
    expect(await failures(first, { proof: otherRoot, merkle: attestation })).toEqual([
      expect.stringMatching(/^proof: the proof leads to the root 0x1+ of another job/),
    ])
    expect(await failures(first, { proof: { ...proof, leaf: undefined }, merkle: attestation })).toEqual([
      expect.stringMatching(/^form: proof.leaf is not/),
    ])
    expect(await failures(first, { proof })).toEqual([
      expect.stringMatching(/^signature: .* the attestation of the job/),
    ])
    expect(await failures(first, { merkle: attestation })).toEqual([expect.stringMatching(/results\/\{n\}\/proof/)])
    expect(await failures(JSON.stringify(attestation), { proof })).toEqual([expect.stringMatching(/is not used/)])

    const folder = cliFolder()
    try {
      const file = (name: string, value: unknown) => {
        writeFileSync(join(folder.path, name), JSON.stringify(value))
        return join(folder.path, name)
      }
      const batch = ['--batch', file('attestation.json', attestation), '--attester', service.attester]
      const verify = (input: string, ...more: readonly string[]) =>
        runCli(['verify', '-', ...batch, ...more], { input, nowMs: Date.now() })
      const withProof = ['--proof', file('proof.json', proof)]
      const good = await verify(first, ...withProof)
      expect([good.exitCode, good.out]).toEqual([0, expect.stringContaining('✓ proof')])
      const both = await verify(`${first}\n${second}`, ...withProof)
      expect([both.exitCode, both.err]).toEqual([2, expect.stringContaining('--proof is the proof of one line')])
      const bare = await verify(`${first}\n${second}`)
      expect([bare.exitCode, bare.out]).toEqual([1, expect.stringContaining('as --proof')])
      expect((await verify(JSON.stringify(attestation))).exitCode).toBe(0)
    } finally {
      folder.remove()
    }
  })

  it('never signs a matrix or a geometry, which have no leaf under the root', async () => {
    const point = '{"type":"Point","coordinates":[2,3]}'
    const pair = `"geometry1":${point},"geometry2":${point}`
    const operations = [
      `{"op":"relate",${pair}}`,
      `{"op":"relate",${pair},"pattern":"T********"}`,
      `{"op":"equals",${pair}}`,
      `{"op":"direct","from":${point},"azimuthDegrees":0,"distanceMeters":0}`,
    ]
    for (const attest of ['none', 'each', 'merkle']) {
      const { body } = await upload(`${operations.join('\n')}\n`, `chainId=84532&attest=${attest}`)
      expect(await untilDone(body.id)).toMatchObject({ done: 4, failed: 0 })
      const [matrix, pattern, equals, direct] = (await results(body.id))
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text))
      expect(Object.keys(matrix)).toEqual(['matrix', 'operation', 'timestamp', 'inputRefs'])
      expect([matrix.matrix, pattern.operation, equals.result]).toEqual(['0FFFFFFF2', 'relate:T********', true])
      expect(Object.keys(direct)).toEqual(['geometry', 'ref', 'azimuthDegrees', 'operation', 'timestamp', 'inputRefs'])
      expect(direct.ref).toBe(direct.inputRefs[0])
      if (attest === 'each') expect(equals.resultSignature.attester).toBe(service.attester)
      if (attest !== 'merkle') continue
      const { merkle } = (await (await ask(`/${body.id}/attestation`)).json()) as Loose
      expect(merkle.leafCount).toBe(2)
      for (const index of [0, 3]) expect((await ask(`/${body.id}/results/${index}/proof`)).status).toBe(404)
      const { proof, root } = (await (await ask(`/${body.id}/results/2/proof`)).json()) as Loose
      expect(verifyMerkleProof(equals, proof, root, await createKeccak())).toBe(true)
    }
  })

  it('is used through the client, which continues an upload that was cut into requests', async () => {
    const client = createClient({ baseUrl: service.url, apiKey: service.developerKey, chainId: 84532 })
    const from = { type: 'Point', coordinates: [1, 2] } as const
    const operations = Array.from({ length: 3 }, (_, id) => ({ op: 'distance' as const, id, from, to: from }))
    const options = { attest: 'none', idempotencyKey: 'of-the-client' } as const
    // The first part of the upload, as of a program that was ended.
    const body = operations.slice(0, 2).map((item) => `${JSON.stringify(item)}\n`)
    const begun = await upload(body.join(''), 'chainId=84532&attest=none&more=true', {
      'idempotency-key': 'of-the-client',
    })
    expect(begun.body).toMatchObject({ state: 'receiving', received: 2, total: null })
    const job = await client.jobs.create(operations, options)
    expect([job.id, job.total]).toEqual([begun.body.id, 3])
    expect(await client.jobs.wait(job.id)).toMatchObject({ state: 'done', failed: 0 })
    const ids: unknown[] = []
    for await (const { id, result } of client.jobs.results(job.id, { from: 1 })) ids.push([id, result])
    expect(ids).toEqual([
      [1, 0],
      [2, 0],
    ])
    expect((await client.jobs.list())[0]!.id).toBe(job.id)
    expect((await client.jobs.create([], { attest: 'none' })).state).toBe('done')
  })
})

describe('jobs of a service without a store', () => {
  it('are 501, with what to do instead', async () => {
    const service = await sharedService(ADAPTERS[0]!)
    const answer = await service.post('/compute/v0/jobs', '', { 'content-type': 'application/x-ndjson' })
    expect([answer.status, answer.body.detail]).toEqual([501, expect.stringContaining('RECORDS=0')])
  })
})
