/**
 * Measures the steps of one signed attestation on one thread, compared with viem: numeric data with two references. Before
 * anything is timed, both implementations must give the same bytes.
 */
import { randomBytes } from 'node:crypto'
import { Bench } from 'tinybench'
import { encodeAbiParameters, hashTypedData, keccak256, parseAbiParameters, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainTable } from '../src/attest/chains.ts'
import { decodeNumeric, encodeNumeric } from '../src/attest/data.ts'
import { createLeafHasher } from '../src/attest/merkle-proof.ts'
import { createNonces } from '../src/attest/nonces.ts'
import { SCHEMA_STRINGS, schemaKinds, schemaUids } from '../src/attest/schemas.ts'
import { createSigner } from '../src/attest/signer.ts'
import { createAttestDigest } from '../src/attest/typed-data.ts'
import { createMerkleTree, createProofWriter } from '../src/compute/merkle-tree.ts'
import { readConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { Secp256k1, Secp256k1Backend } from '../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import type { Hex } from '../src/wire/values.ts'
import { ATTEST_V1 } from './eas-v1.ts'

const MILLISECONDS_PER_TASK = 300
const BACKENDS: readonly Secp256k1Backend[] = ['system', 'native', 'libauth', 'noble']
const MERKLE_LEAVES = 1000
/** An upper bound for the bytes of a proof's text. */
const PROOF_BYTES = 4096
const NOW_SECONDS = 1_700_000_000
const CHAIN_ID = 84532
const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
const RECIPIENT: Hex = '0x00112233445566778899aabbccddeeff00112233'

/** Prints the microseconds and operations per second of each step, and returns them by name. */
export async function run(): Promise<object> {
  const config = readConfig({}, 1)
  const chain = chainTable(config).get(CHAIN_ID)!
  const schema = schemaUids(config).numeric
  const privateKey = randomBytes(32)
  const account = privateKeyToAccount(toHex(privateKey))
  const keccaks = { wasm: await createKeccak('wasm'), javascript: await createKeccak('javascript') }
  const attestDigest = createAttestDigest(chain, keccaks.wasm)
  const refs: Hex[] = [toHex(randomBytes(32)), toHex(randomBytes(32))]
  const parameters = parseAbiParameters(SCHEMA_STRINGS.numeric)
  const encode = () => encodeNumeric(34_355_606n, 'centimeters', refs, NOW_SECONDS, 'distance')
  const viemEncode = () =>
    encodeAbiParameters(parameters, [34_355_606n, 'centimeters', refs, BigInt(NOW_SECONDS), 'distance'])
  const data = encode()
  const bytes = Buffer.from(data.slice(2), 'hex')
  const deadlineSeconds = NOW_SECONDS + config.attestationTtlSeconds
  const attester = account.address.toLowerCase()
  const digest = () =>
    attestDigest({
      attester,
      schema,
      recipient: RECIPIENT,
      expirationTimeSeconds: 0,
      revocable: true,
      refUID: ZERO_UID,
      data: bytes,
      nonce: 0,
      deadlineSeconds,
    })
  const typedData = (signed: Hex) => ({
    domain: { name: 'EAS', version: chain.easVersion, chainId: chain.id, verifyingContract: chain.easAddress },
    types: {
      Attest: ATTEST_V1,
    } as const,
    primaryType: 'Attest' as const,
    message: {
      schema,
      recipient: RECIPIENT,
      expirationTime: 0n,
      revocable: true,
      refUID: ZERO_UID,
      data: signed,
      value: 0n,
      nonce: 0n,
      deadline: BigInt(deadlineSeconds),
    },
  })
  const signerWith = (secp256k1: Secp256k1) =>
    createSigner({
      secp256k1,
      keccak: keccaks.wasm,
      privateKey,
      chains: chainTable(config),
      schemaKinds: schemaKinds(config),
      nonces: createNonces({
        read: async () => ({ ok: false, refusalReason: undefined }),
        readable: new Set(),
        maxAgeMs: 0,
        timeoutMs: 0,
        now: () => 0,
        after: () => {},
      }),
      ttlSeconds: config.attestationTtlSeconds,
      nowSeconds: () => NOW_SECONDS,
    })
  const payload = () => ({ kind: 'numeric', chainId: CHAIN_ID, schema, recipient: RECIPIENT, data: encode() }) as const
  const viemSignedAttestation = () => account.signTypedData(typedData(viemEncode()))

  const bench = new Bench({ time: MILLISECONDS_PER_TASK, warmupTime: 50 })
  requireEqual('data', encode(), viemEncode())
  requireEqual('digest', toHex(digest()), hashTypedData(typedData(data)))
  bench.add('keccak of 384 B, WebAssembly', () => void keccaks.wasm.hash(bytes))
  bench.add('keccak of 384 B, JavaScript', () => void keccaks.javascript.hash(bytes))
  bench.add('keccak of 384 B, viem', () => void keccak256(bytes))
  bench.add('encode, by hand', () => void encode())
  bench.add('encode, viem', () => void viemEncode())
  bench.add('decode strictly', () => void decodeNumeric(data))
  bench.add('digest, by hand', () => void digest())
  bench.add('digest, viem', () => void hashTypedData(typedData(data)))
  for (const name of BACKENDS) {
    const secp256k1 = await loadSecp256k1([name]).catch(() => undefined)
    if (secp256k1 === undefined) {
      console.log(`skipped: secp256k1 backend ${name} does not load here`)
      continue
    }
    const hash = digest()
    const signature = secp256k1.sign(hash, privateKey)
    const signer = signerWith(secp256k1)
    const signed = await signer.sign(payload())
    requireEqual(
      `signature by ${name}`,
      signed.ok ? signed.signature : signed.problem.detail,
      await viemSignedAttestation(),
    )
    bench.add(`sign, ${name}`, () => void secp256k1.sign(hash, privateKey))
    bench.add(`recover, ${name}`, () => void secp256k1.recover(hash, signature))
    bench.add(`whole signed attestation, ${name}`, () => void signer.sign(payload()))
  }
  const hashLeaf = createLeafHasher(keccaks.wasm)
  const leaves = Array.from({ length: MERKLE_LEAVES }, () => randomBytes(32))
  const buffer = Buffer.alloc(PROOF_BYTES + createProofWriter(createMerkleTree(leaves, keccaks.wasm)).scratchBytes)
  bench.add('leaf of a Merkle tree', () => void hashLeaf({ schema, recipient: RECIPIENT, data }))
  bench.add(`Merkle tree over ${MERKLE_LEAVES} leaves, with every proof`, () => {
    const proofs = createProofWriter(createMerkleTree(leaves, keccaks.wasm))
    proofs.prepare(buffer, PROOF_BYTES)
    for (let index = 0; index < MERKLE_LEAVES; index++) proofs.write(buffer, 0, index)
  })
  bench.add('whole signed attestation, viem', async () => void (await viemSignedAttestation()))
  await bench.run()
  return report(bench)
}

function report(bench: Bench): object {
  const rows: Record<string, { microseconds: number; perSecond: number }> = {}
  for (const { name, result } of bench.tasks) {
    if (result.state !== 'completed') throw new Error(`${name} did not complete`)
    const microseconds = result.latency.mean * 1000
    rows[name] = { microseconds: Number(microseconds.toFixed(2)), perSecond: Math.round(1e6 / microseconds) }
  }
  console.table(rows)
  return rows
}

function requireEqual(what: string, actual: string, expected: string): void {
  if (actual !== expected) throw new Error(`${what} differs: ${actual}, expected ${expected}`)
}
