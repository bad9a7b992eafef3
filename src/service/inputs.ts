import { decodeLocation } from '../attest/decode.ts'
import type { LocationLayout } from '../config.ts'
import { foreignEpsgCode, isReadableLocation } from '../geometry/attested-location.ts'
import type { ChainAttestation, Hex, Input, ResolvedInput } from '../messages.ts'
import { problemAt } from '../problem.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import { chainProblem } from './chain-policy.ts'
import type { RequestContext } from './services.ts'
import type { ProofReader } from './verified-proof.ts'

/** Most characters of a location type that an error shows. */
const MOST_SHOWN = 60

/** What a compute thread needs of the inputs it cannot see itself, and what the answer says about proofs. */
export interface Resolution {
  readonly resolved: readonly ResolvedInput[]
  /** JSON texts. */
  readonly proofInputs: readonly string[]
}

export interface InputResolver {
  /**
   * @param inputs of form `onchain` or `proof`
   * @throws {ProblemError} `invalid-input` that says why it cannot be used; `internal` when the chain is unreachable
   */
  resolve(chainId: number, inputs: readonly Input[], context: RequestContext): Promise<Resolution>
}

export interface InputResolverParts {
  readonly chainClient: ChainClient | undefined
  /** Of location attestations. */
  readonly locations: ReadonlyMap<Hex, LocationLayout>
  readonly readProof: ProofReader
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createInputResolver({ chainClient, locations, readProof, now }: InputResolverParts): InputResolver {
  return {
    async resolve(chainId, inputs, context) {
      const parts = await Promise.all(
        inputs.map(async (input): Promise<{ resolved: ResolvedInput; proofInput?: string | undefined }> => {
          switch (input.form) {
            case 'onchain':
              return { resolved: await resolveOnchain(chainId, input.uid as Hex, input.path) }
            case 'proof': {
              const { proofInput, ...found } = await readProof(input.verifiedProof, input.path, context)
              return { resolved: { field: String(input.path[0]), ...found }, proofInput }
            }
            default:
              throw new RangeError('a geometry needs no resolution')
          }
        }),
      )
      return {
        resolved: parts.map(({ resolved }) => resolved),
        proofInputs: parts.flatMap(({ proofInput }) => (proofInput === undefined ? [] : [proofInput])),
      }
    },
  }

  async function resolveOnchain(chainId: number, uid: Hex, path: Input['path']): Promise<ResolvedInput> {
    const attestation = await readAttestation(chainId, uid, path)
    const refuse = refuser(path, uid)
    if (attestation === undefined) throw refuse(`was not found on chain ${chainId}`, 'uid-not-found')
    const layout = locations.get(attestation.schema)
    if (layout === undefined) throw refuse('is not a location attestation', 'uid-not-a-location')
    if (attestation.revocationTimeSeconds !== 0) throw refuse('is revoked', 'uid-revoked')
    const expires = attestation.expirationTimeSeconds
    if (expires !== 0 && expires * 1000 <= now()) throw refuse('has expired', 'uid-expired')
    const location = decodeLocation(attestation.data, layout)
    if (!location.ok) throw refuse(`cannot be decoded: ${location.reason}`, 'uid-undecodable')
    const { srs, locationType, location: geometry } = location.value
    const code = foreignEpsgCode(srs)
    if (code !== undefined) throw refuse(`holds a location in EPSG:${code}; coordinates are WGS 84 here`, 'uid-srs')
    if (isReadableLocation(locationType, geometry)) {
      return { field: String(path[0]), ref: uid, geometry, locationType }
    }
    const shown = JSON.stringify(locationType.slice(0, MOST_SHOWN))
    throw refuse(`holds a location of the type ${shown}, which is not understood`, 'uid-unknown-location-type')
  }

  async function readAttestation(
    chainId: number,
    uid: Hex,
    path: Input['path'],
  ): Promise<ChainAttestation | undefined> {
    if (chainClient === undefined || !chainClient.serves(chainId)) {
      throw problemAt('invalid-input', path, `chain ${chainId} cannot be read: this service has no RPC for it`, {
        code: 'no-rpc',
        hint: `send the geometry itself, or set RPC_URL_${chainId} on the service`,
      })
    }
    const found = await chainClient.attestation(chainId, uid)
    if (found.ok) return found.value
    throw chainProblem(chainId, found, `${uid} could not be read`)
  }
}

function refuser(path: Input['path'], uid: Hex) {
  return (why: string, code: string) =>
    problemAt('invalid-input', [...path, 'uid'], `attestation ${uid.slice(0, 10)}… ${why}`, { code })
}
