/** Responses signed in this process, byte for byte as the service writes them, for tests of the client's verification. */

import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../src/attest/data.ts'
import { buildMerkleTree } from '../src/compute/merkle-tree.ts'
import { computeResponseJson, leafJson, resultMembers, resultSignatureMember } from '../src/compute/response-text.ts'
import { checksumAddress } from '../src/crypto/address.ts'
import { canonicalGeometry } from '../src/crypto/canonical.ts'
import type { Hex } from '../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT } from './attest-parts.ts'
import { canonicalJson } from './canonical-json.ts'
import { EIFFEL_TOWER, TOWN_HALL } from './fixtures.ts'

/** The distance in the README, as GeographicLib computes it: 4238.7667 m. */
export const DISTANCE_CM = 423_877n
const SALT: Hex = `0x${'5a17'.repeat(16)}`

export async function createAnswers(chainId = 84532) {
  const { signer, schemas, keccak, chains, signProof } = await createTestSigner()
  const refs = [EIFFEL_TOWER, TOWN_HALL].map((geometry) => keccak.hashHex(Buffer.from(canonicalGeometry(geometry))))
  const facts = { timestampSeconds: NOW_SECONDS, inputRefs: refs }

  async function answer(kind: 'numeric' | 'boolean', data: Hex, members: string, withResult: boolean): Promise<string> {
    const payload = { chainId, schema: schemas[kind], recipient: RECIPIENT, data }
    const signed = await signer.sign({ kind, ...payload })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const plain = await signer.sign({ kind: 'result', dataKind: kind, salt: SALT, ...payload })
    if (!plain.ok) throw new Error(plain.problem.detail)
    const { signature, deadlineSeconds } = plain
    return computeResponseJson({
      ...payload,
      ...signed,
      attester: checksumAddress(signer.address),
      members,
      proofInputs: [],
      resultSignature: withResult ? { signature, deadlineSeconds, salt: SALT } : undefined,
    } as never)
  }

  /** A line of a job with `attest=each`. */
  async function jobLine(members: string, data: Hex): Promise<string> {
    const payload = { chainId, schema: schemas.numeric, recipient: RECIPIENT, data }
    const signed = await signer.sign({ kind: 'result', dataKind: 'numeric', salt: SALT, ...payload })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const { signature, deadlineSeconds } = signed
    const member = resultSignatureMember({
      attester: checksumAddress(signer.address),
      resultSignature: { signature, deadlineSeconds, salt: SALT },
    })
    return `{"id":7,${members},${leafJson(payload.schema, RECIPIENT, data)}${member}}`
  }

  const numericData = encodeNumeric(DISTANCE_CM, 'centimeters', refs, NOW_SECONDS, 'distance')
  const numericMembers = resultMembers({ result: 4238.77, units: 'meters', operation: 'distance', ...facts })
  const booleanData = encodeBoolean(true, refs, NOW_SECONDS, 'within:500000')
  const booleanMembers = resultMembers({ result: true, units: undefined, operation: 'within:500000', ...facts })

  /** The distance of the README, whose first input is named by another reference. */
  async function distanceFrom(ref: string) {
    const inputRefs = [ref as Hex, refs[1]!]
    const data = encodeNumeric(DISTANCE_CM, 'centimeters', inputRefs, NOW_SECONDS, 'distance')
    const stated = { result: 4238.77, units: 'meters', operation: 'distance', timestampSeconds: NOW_SECONDS }
    return JSON.parse(await answer('numeric', data, resultMembers({ ...stated, inputRefs }), false))
  }

  /** Two results under one root, as in the response of `POST /compute/v0/batch` with `attest: 'merkle'`. */
  async function merkleBatch() {
    const items = [
      { schema: schemas.numeric, recipient: RECIPIENT, data: numericData },
      { schema: schemas.boolean, recipient: RECIPIENT, data: booleanData },
    ]
    const tree = buildMerkleTree(items, keccak)
    const leafCount = items.length
    const data = encodeMerkleRoot({ merkleRoot: tree.root, leafCount, timestampSeconds: NOW_SECONDS })
    const payload = { chainId, schema: schemas['merkle-root'], recipient: RECIPIENT, data }
    const signed = await signer.sign({ kind: 'merkle-root', ...payload })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const root = JSON.parse(
      computeResponseJson({
        ...payload,
        ...signed,
        attester: checksumAddress(signer.address),
        members: '"x":0',
        proofInputs: [],
      } as never),
    )
    const results = items.map((item, index) => {
      const members = [numericMembers, booleanMembers][index]
      return { ...JSON.parse(`{${members}}`), ...item, proof: tree.proof(index) }
    })
    const { attestation, delegatedAttestation } = root
    const merkle = { root: tree.root, leafCount, attestation, delegatedAttestation }
    return { chainId, attest: 'merkle', merkle, results, count: results.length, failed: 0 }
  }

  /** The response of `POST /verify/v0/proof`; its numbers are those that `signProof` signs. */
  async function verifiedProof() {
    const proof = { claim: { location: EIFFEL_TOWER, radius: 100 }, stamps: [{ plugin: 'a' }, { plugin: 'b' }] }
    const proofHash = keccak.hashHex(Buffer.from(canonicalJson(proof)))
    const signed = await signProof(chains.get(chainId)!, { proofHash })
    const dimensions = {
      spatial: { meanDistanceMeters: 12.4, maxDistanceMeters: 24.9, withinRadiusFraction: 1 },
      temporal: { meanOverlap: 0.85, minOverlap: 0.8, fullyOverlappingFraction: 0.5 },
      validity: { signaturesValidFraction: 1, structureValidFraction: 1, signalsConsistentFraction: 0.9 },
      independence: { uniquePluginRatio: 0.5, spatialAgreement: 1, pluginNames: ['a', 'b'] },
    }
    const meta = { stampCount: 2, evaluatedAt: NOW_SECONDS, evaluationMode: 'local' }
    const credibility = { dimensions, stampResults: [], meta, extensions: {} }
    const told = { evaluationMethod: 'multifactor-v0', evaluatedAt: NOW_SECONDS, chainId }
    return { proof, credibility, ...told, ...signed }
  }

  return {
    attester: checksumAddress(signer.address),
    schemas,
    /** As JSON text. */
    numeric: await answer('numeric', numericData, numericMembers, false),
    boolean: await answer('boolean', booleanData, booleanMembers, false),
    jobLine: await jobLine(numericMembers, numericData),
    withResultSignature: await answer('numeric', numericData, numericMembers, true),
    /** The signature is valid for its fields, but other members of the response contradict it. */
    lying: await answer('numeric', numericData, numericMembers.replace('4238.77', '4238.78'), false),
    distanceFrom,
    merkleBatch,
    verifiedProof,
  }
}
