/**
 * Measures how many stamps one thread verifies per second of processor time: one EIP-191 signature, and the form and the signals
 * of a satellite fix. All stamps are different, and every result must be `valid`.
 */
import { readConfig } from '../src/config/config.ts'
import { publicKeyAddress } from '../src/crypto/address.ts'
import { canonicalBytes } from '../src/crypto/canonical.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { Secp256k1Backend } from '../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { formatSignature, personalMessage } from '../src/crypto/signature.ts'
import { createVerifyEngine } from '../src/verify/engine.ts'
import { runVerifyTask } from '../src/verify/task.ts'
import { loadKernel } from '../src/wasm/loader.ts'

const STAMPS = 512
const SECONDS = 2
const BACKENDS: readonly Secp256k1Backend[] = ['system', 'native', 'libauth']
const NOW_SECONDS = 1_760_000_000

/** Prints and returns the stamps per second by backend, and the microseconds of a proof with four stamps. */
export async function run(): Promise<object> {
  const keccak = await createKeccak()
  const kernel = loadKernel()
  const limits = { ...readConfig({}, 1).limits, chainIds: [] }
  const results: Record<string, number> = {}
  for (const backend of BACKENDS) {
    const secp256k1 = await loadSecp256k1([backend]).catch(() => undefined)
    if (secp256k1 === undefined) {
      console.log(`${backend.padEnd(8)} is not available on this machine`)
      continue
    }
    const engine = await createVerifyEngine({ kernel, keccak, limits }, { allowMock: false }, secp256k1)
    const stamps = Array.from({ length: STAMPS }, (_, index) => signedStamp(index))
    const bodies = stamps.map((stamp) => Buffer.from(JSON.stringify({ stamp })))
    const verify = async (kind: 'stamp' | 'proof', body: Uint8Array) => {
      const result = await runVerifyTask({ kind, body, nowSeconds: NOW_SECONDS + 60 }, engine, limits)
      const isValid = result.ok && !result.members.includes('"signaturesValid":false')
      if (!isValid || (kind === 'stamp' && !result.members.startsWith('"valid":true')))
        throw new Error('a generated stamp or proof was not accepted')
    }
    const stampsPerSecond = await measureRate(bodies, (body) => verify('stamp', body))
    const proofs = stamps.slice(0, 64).map((_, index) => {
      const proof = { claim, stamps: stamps.slice(index, index + 4) }
      return Buffer.from(JSON.stringify({ proof }))
    })
    const proofsPerSecond = await measureRate(proofs, (body) => verify('proof', body))
    results[`${backend}StampsPerSecond`] = Math.round(stampsPerSecond)
    results[`${backend}ProofMicroseconds`] = Math.round(1e6 / proofsPerSecond)
    const perStamp = (1e6 / stampsPerSecond).toFixed(1)
    console.log(
      `${backend.padEnd(8)} ${Math.round(stampsPerSecond)} stamps per second of processor time (${perStamp} µs each), ` +
        `a proof of 4 stamps ${Math.round(1e6 / proofsPerSecond)} µs`,
    )

    /** Creates a fix of a satellite receiver, signed as client libraries sign it. */
    function signedStamp(index: number): object {
      const privateKey = Buffer.from((index + 1).toString(16).padStart(64, '0'), 'hex')
      const [lon, lat] = [2.2945 + index * 1e-7, 48.8584]
      const unsigned = {
        lpVersion: '0.2',
        locationType: 'geojson-point',
        location: { type: 'Point', coordinates: [lon, lat] },
        srs: 'EPSG:4326',
        temporalFootprint: { start: NOW_SECONDS, end: NOW_SECONDS + 60 },
        plugin: 'gpsd',
        pluginVersion: '0.1.0',
        signals: { source: 'gpsd', accuracyMeters: 8, mode: 3, altitudeMeters: 35 },
      }
      const digest = keccak.hash(personalMessage(canonicalBytes(unsigned)))
      const value = publicKeyAddress(secp256k1!.publicKey(privateKey), keccak)
      const signature = formatSignature(secp256k1!.sign(digest, privateKey))
      const signer = { scheme: 'eth-address', value }
      const signatures = [{ signer, algorithm: 'secp256k1', value: signature, timestamp: NOW_SECONDS }]
      return { ...unsigned, signatures }
    }
  }
  return results
}

const claim = {
  lpVersion: '0.2',
  locationType: 'geojson-point',
  location: { type: 'Point', coordinates: [2.2945, 48.8584] },
  srs: 'EPSG:4326',
  subject: { scheme: 'eth-address', value: `0x${'11'.repeat(20)}` },
  radius: 100,
  time: { start: NOW_SECONDS - 1800, end: NOW_SECONDS + 1800 },
}

/** Calls per second of processor time, which other processes on the machine affect less than wall-clock time. */
async function measureRate(
  bodies: readonly Uint8Array[],
  verify: (body: Uint8Array) => Promise<void>,
): Promise<number> {
  for (let round = 0; round < 4; round++) for (const body of bodies) await verify(body)
  const start = performance.now()
  const before = process.cpuUsage()
  let count = 0
  while (performance.now() - start < SECONDS * 1000) {
    await verify(bodies[count++ % bodies.length]!)
  }
  const { user, system } = process.cpuUsage(before)
  return (count * 1e6) / (user + system)
}
