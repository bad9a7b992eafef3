import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { afterAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, LOUVRE } from '../fixtures.ts'
import {
  type ChainService,
  EAS_ABI,
  isRunning,
  LOCATION_SCHEMA,
  runToEnd,
  startChainService,
} from '../local-chain-service.ts'
import { skipReason } from './anvil.ts'

const folders: string[] = []
const started: ChainService[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-chain-'))
  folders.push(folder)
  return folder
}
async function start(dataDir: string, environment: Record<string, string> = {}): Promise<ChainService> {
  const service = await startChainService(dataDir, environment)
  started.push(service)
  return service
}
afterAll(async () => {
  await Promise.all(started.map((service) => service.process.exitCode ?? service.end('SIGTERM')))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const WAIT = { interval: 20 }
const records = async (service: ChainService) =>
  (await service.get('/api/v0/location-records?chain=local&limit=1000')).data as { uid: Hex; revoked: boolean }[]
const untilRecords = (service: ChainService, count: number) =>
  eventually(async () => expect(await records(service)).toHaveLength(count), WAIT)
const fundedAccounts = (service: ChainService) => service.facts['fundedAccounts']!.split(',')

describe.skipIf(skipReason())('a service with its own chain', () => {
  const folder = newFolder()
  let service: ChainService

  it('shows the sample attestations of a new chain', async () => {
    service = await start(folder)
    expect(service.facts).toMatchObject({
      rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      chainId: 31337,
      easAddress: '0x4200000000000000000000000000000000000021',
    })
    const { chains } = await service.get('/.well-known/attester.json')
    expect(chains.filter(({ rpc }: { rpc: boolean }) => rpc)).toMatchObject([{ chainId: 31337 }])
    await untilRecords(service, 36)
    expect((await records(service)).filter(({ revoked }) => revoked)).toHaveLength(1)
  })

  it('has a record of each attestation', async () => {
    const [, , , , from] = fundedAccounts(service)
    for (let index = 0; index < 5; index++) {
      const uid = await service.attest(from!, 2.2945 + index, 48.8584)
      const path = `/api/v0/location-records/${uid}`
      await eventually(async () => expect(await service.get(path)).toMatchObject({ uid, revoked: false }), WAIT)
    }
    await untilRecords(service, 41)
  })

  it('computes with attestations as inputs, and its result is accepted on chain', async () => {
    const [, , , , from] = fundedAccounts(service)
    const [paris, louvre] = [await service.attest(from!, 2.2945, 48.8584), await service.attest(from!, 2.3376, 48.8606)]
    const { attestation, delegatedAttestation, ...answer } = await service.post('/compute/v0/distance', {
      chainId: 31337,
      from: { uid: paris },
      to: { uid: louvre },
    })
    // The same points as geometries; the tests of geodesy check that their distance is right.
    const plain = await service.post('/compute/v0/distance', {
      chainId: 31337,
      from: EIFFEL_TOWER,
      to: LOUVRE,
    })
    expect(answer.result).toBe(plain.result)
    expect(answer.inputRefs).toEqual([paris, louvre])
    const { signature, attester, deadline } = delegatedAttestation
    const { recipient, data, revocable, refUID, schema } = attestation
    const receipt = await service.send(from!, 'attestByDelegation', [
      {
        schema,
        data: { recipient, expirationTime: 0n, revocable, refUID, data, value: 0n },
        signature: {
          r: signature.slice(0, 66),
          s: `0x${signature.slice(66, 130)}`,
          v: Number(`0x${signature.slice(130, 132)}`),
        },
        attester,
        deadline: BigInt(deadline),
      },
    ])
    expect(receipt.status).toBe('0x1')
    expect(await readAttester(receipt.logs[0]!.data)).toBe(service.facts['attester'])
  })

  it('submits a verified proof with its initial funds', async () => {
    await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), WAIT)
    // The database takes seconds at each start; that must not be logged as a warning.
    expect(service.lines.filter((line) => line.includes('"relay waits"'))).toEqual([])
    const answer = await service.post('/verify/v0/proof', {
      proof: proofOf([stampOf()], { radius: 100 }),
      options: { chainId: 31337, submitOnchain: true },
    })
    expect(answer, JSON.stringify(answer)).toMatchObject({ submission: { status: 'mined', chainId: 31337 } })
    expect(answer.submission.uid).toBe(answer.attestation.uid)
    expect(await readAttester(answer.attestation.uid)).toBe(service.facts['attester'])
  })

  it('shows a revocation', async () => {
    const [, , , , from] = fundedAccounts(service)
    const uid = await service.attest(from!, 13.4, 52.52)
    await service.send(from!, 'revoke', [{ schema: LOCATION_SCHEMA, data: { uid, value: 0n } }])
    await eventually(
      async () => expect(await service.get(`/api/v0/location-records/${uid}`)).toMatchObject({ revoked: true }),
      WAIT,
    )
  })

  it('restarts a killed chain, and the records follow it', async () => {
    const [, , , , from] = fundedAccounts(service)
    const uidsBeforeRestart = await locationUids(service)
    const nowMs = Date.now()
    const stateFile = join(folder, 'local-chain/state.json')
    await eventually(() => {
      expect(statSync(stateFile).mtimeMs).toBeGreaterThan(nowMs)
      // Anvil overwrites the file in place: it is whole only when the last byte is written.
      JSON.parse(readFileSync(stateFile, 'utf8'))
    }, WAIT)
    process.kill(service.chainPid, 'SIGKILL')
    await eventually(() => {
      const logText = service.lines.join('\n')
      expect(logText).toContain('"the local chain ended"')
      expect(logText).toContain('"the local chain was started again"')
    }, WAIT)
    const uid = await service.attest(from!, 14, 53)
    expect(await locationUids(service)).toEqual([...uidsBeforeRestart, uid])
    await eventually(
      async () => expect(await service.get(`/api/v0/location-records/${uid}`)).toMatchObject({ uid }),
      WAIT,
    )
    await eventually(async () => {
      const onChain = await locationUids(service)
      expect((await records(service)).map((record) => record.uid).toSorted()).toEqual(onChain.toSorted())
    }, WAIT)
  })

  it('leaves no chain behind when it is killed, and resumes where it was', async () => {
    const before = await records(service)
    const chainPid = notedPid()
    expect(isRunning(chainPid)).toBe(true)
    expect(await service.end('SIGKILL')).toBe('SIGKILL')
    await eventually(() => expect(isRunning(chainPid)).toBe(false), WAIT)
    service = await start(folder)
    await eventually(async () => expect(await records(service)).toEqual(before), WAIT)
    await eventually(async () => {
      const { chains } = await service.get('/api/sync/status')
      expect(chains.local.block).toBe(Number(await service.rpc('eth_blockNumber')))
    }, WAIT)
    expect((await service.get('/api/sync/status')).chains.local).toMatchObject({ quarantined: 0 })
    expect(await records(service)).toEqual(before)
    const [, , , , from] = fundedAccounts(service)
    await service.attest(from!, 15, 54)
    await untilRecords(service, before.length + 1)
  })

  it('stops its chain when it is asked to stop', async () => {
    const pid = notedPid()
    expect(await service.end('SIGTERM')).toBe(0)
    expect(isRunning(pid)).toBe(false)
  })

  it.skipIf(process.platform !== 'linux')(
    'ends the chain of a service that was killed together with its guard',
    async () => {
      service = await start(folder)
      const pid = notedPid()
      for (const guard of findGuardProcesses(pid)) process.kill(guard, 'SIGKILL')
      await service.end('SIGKILL')
      expect(isRunning(pid)).toBe(true)
      service = await start(folder)
      expect(isRunning(pid)).toBe(false)
      expect(service.lines.join('\n')).toContain('a local chain that a killed service left running was ended')
      expect(await service.end('SIGTERM')).toBe(0)
    },
  )

  it('kills a chain that hangs, even when the service itself is killed', async () => {
    service = await start(folder)
    const pid = notedPid()
    process.kill(pid, 'SIGSTOP')
    await service.end('SIGKILL')
    await eventually(() => expect(isRunning(pid)).toBe(false), WAIT)
  })

  it('stops its chain when the service cannot start', async () => {
    const server = createServer()
    const port = await new Promise<number>((done) => {
      server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port))
    })
    const environment = { DATA_DIR: newFolder(), PORT: String(port), LOCAL_CHAIN_PORT: '0', RECORDS: '0' }
    const { code, output } = await runToEnd(['--chain'], environment)
    server.close()
    expect(code).toBe(78)
    expect(output).toContain(`port ${port}`)
    expect(existsSync(join(environment.DATA_DIR, 'local-chain/state.json'))).toBe(true)
    expect(existsSync(join(environment.DATA_DIR, 'local-chain/anvil.json'))).toBe(false)
  })

  it('uses the state from before the last start when the newest is damaged', async () => {
    writeFileSync(join(folder, 'local-chain/state.json'), '{"accounts": {"0x')
    service = await start(folder)
    expect(service.lines.join('\n')).toContain('the state of the local chain is damaged')
    await eventually(async () => {
      const onChain = await locationUids(service)
      expect(onChain.length).toBeGreaterThan(36)
      expect((await records(service)).map((record) => record.uid).toSorted()).toEqual(onChain.toSorted())
    }, WAIT)
    expect(await service.end('SIGTERM')).toBe(0)
  })

  it('runs twice on one machine, each with its own chain', async () => {
    // Both ask for the usual port.
    const two = await Promise.all([
      start(newFolder(), { LOCAL_CHAIN_PORT: '' }),
      start(newFolder(), { LOCAL_CHAIN_PORT: '' }),
    ])
    const [left, right] = two
    expect(left.facts['rpcUrl']).not.toBe(right.facts['rpcUrl'])
    await Promise.all(two.map((each) => untilRecords(each, 36)))
    const uid = await left.attest(fundedAccounts(left)[4]!, 1, 2)
    await untilRecords(left, 37)
    expect((await records(right)).map((record) => record.uid)).not.toContain(uid)
    expect(await Promise.all(two.map((each) => each.end('SIGTERM')))).toEqual([0, 0])
  })

  it('reports in one line that its port is in use', async () => {
    const server = createServer()
    const port = await new Promise<number>((done) => {
      server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port))
    })
    const { code, output } = await runToEnd(['--chain'], { DATA_DIR: newFolder(), LOCAL_CHAIN_PORT: String(port) })
    server.close()
    expect([code, output.trim().split('\n')]).toEqual([78, [expect.stringContaining(`LOCAL_CHAIN_PORT=${port}`)]])
  })

  async function locationUids(from: ChainService): Promise<Hex[]> {
    const logs = await from.rpc('eth_getLogs', {
      fromBlock: '0x0',
      // Attested(address,address,bytes32,bytes32)
      topics: ['0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35', null, null, LOCATION_SCHEMA],
    })
    return logs.map(({ data }: { data: Hex }) => data)
  }

  async function readAttester(uid: Hex): Promise<string> {
    const call = { abi: EAS_ABI, functionName: 'getAttestation' }
    const to = service.facts['easAddress']
    const data = await service.rpc('eth_call', { to, data: encodeFunctionData({ ...call, args: [uid] }) }, 'latest')
    return (decodeFunctionResult({ ...call, data }) as { attester: string }).attester
  }

  /** Returns the children of a process; of anvil, which replaced the shell that started it. */
  function findGuardProcesses(pid: number): number[] {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number)
  }

  function notedPid(): number {
    return (JSON.parse(readFileSync(join(folder, 'local-chain/anvil.json'), 'utf8')) as { pid: number }).pid
  }
})
