import { decodeLocation } from '../../attest/data.ts'
import { LOCATION_STRINGS } from '../../attest/schemas.ts'
import { type ProblemError, problemAt } from '../../base/problem.ts'
import type { LocationLayout } from '../../config/signer.ts'
import { foreignEpsgCode, isReadableLocation } from '../../geometry/attested-location.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import type { Input, ResolvedInput } from '../../wire/compute-messages.ts'
import type { StoredShape } from '../../wire/stored-messages.ts'
import type { ChainAttestation, Hex } from '../../wire/values.ts'
import { chainProblem } from '../chains/chain-policy.ts'
import type { RequestContext } from '../request.ts'
import type { StoredShapes } from '../stored/geometries.ts'
import type { ProofReader } from '../verify/verified-proof.ts'
import type { AttestedInput, OffchainReader } from './offchain.ts'

/** An error shows at most this many characters of a location type. */
const MAX_SHOWN_CHARACTERS = 60

const NOT_FOUND_HINT =
  'send the UID of an attestation on the chain of chainId; one that is on no chain is sent itself, as {"attestation": {…}}'
const TYPES_HINT =
  'attest it with the location type geojson, wkt, wkb, h3, geohash, or an order of coordinates such as coordinate-decimal+lon-lat'
/** The resolved inputs for a compute thread, and the part of the response about proofs. */
export interface Resolution {
  readonly resolved: readonly ResolvedInput[]
  /** The stored geometries among the inputs. */
  readonly stored: readonly StoredShape[]
  /** JSON summary of each authenticated proof (decision 86). */
  readonly proofInputs: readonly string[]
}

/** The account of a request, and the references that it is known not to have stored. */
export interface Owner {
  readonly account: string | undefined
  readonly missing: ReadonlySet<Hex>
}

export interface InputResolver {
  /**
   * Resolves references to on-chain attestations and stored geometries, off-chain attestations and verified proofs.
   *
   * @param inputs of form `onchain`, `attested`, `proof` or `stored`
   * @param owner whose stored geometries the request may name, and what is known of those
   * @throws {ProblemError} `invalid-input` if an input cannot be used; `internal` if the chain cannot be reached; those of
   *   `StoredShapes.require`
   */
  resolve(chainId: number, inputs: readonly Input[], context: RequestContext, owner: Owner): Promise<Resolution>
}

export interface InputResolverParts {
  readonly chainClient: ChainClient | undefined
  /** Layouts of location attestations by schema UID. */
  readonly locations: ReadonlyMap<Hex, LocationLayout>
  readonly readOffchain: OffchainReader
  readonly readProof: ProofReader
  readonly storedShapes: Pick<StoredShapes, 'require' | 'readText'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createInputResolver(resolverParts: InputResolverParts): InputResolver {
  const { chainClient, locations, readOffchain, readProof, storedShapes, now } = resolverParts
  return {
    async resolve(chainId, inputs, context, { account, missing }) {
      const isShape = (input: Input) => input.form === 'stored' && input.isWhole !== true
      const shapes = inputs.filter(isShape)
      const stored = shapes.length === 0 ? [] : await storedShapes.require(shapes, account, context, missing)
      const others = inputs.filter((input) => !isShape(input))
      const parts = await Promise.all(
        others.map(async (input): Promise<{ resolved: ResolvedInput; proofInput?: string | undefined }> => {
          switch (input.form) {
            case 'onchain':
              return { resolved: await resolveOnchain(chainId, input.uid as Hex, input.path) }
            case 'attested':
              return { resolved: await resolveOffchain(input, context) }
            case 'proof': {
              const { proofInput, ...resolvedProof } = await readProof(input.verifiedProof, input.path, context)
              return { resolved: { field: String(input.path[0]), ...resolvedProof }, proofInput }
            }
            case 'stored': {
              const geometry = await storedShapes.readText(input, account, context)
              return { resolved: { field: String(input.path[0]), ref: input.ref, geometry } }
            }
            default:
              throw new RangeError('a geometry needs no resolution')
          }
        }),
      )
      return {
        resolved: parts.map(({ resolved }) => resolved),
        stored,
        proofInputs: parts.flatMap(({ proofInput }) => (proofInput === undefined ? [] : [proofInput])),
      }
    },
  }

  async function resolveOnchain(chainId: number, uid: Hex, path: Input['path']): Promise<ResolvedInput> {
    const attestation = await readAttestation(chainId, uid, path)
    const problem = problemMaker(path, uid)
    if (attestation === undefined) throw problem(`was not found on chain ${chainId}`, 'uid-not-found', NOT_FOUND_HINT)
    if (!locations.has(attestation.schema))
      throw problem('is not a location attestation', 'uid-not-a-location', schemasHint())
    if (attestation.revocationTimeSeconds !== 0) throw problem('is revoked', 'uid-revoked')
    const expires = attestation.expirationTimeSeconds
    if (expires !== 0 && expires * 1000 <= now()) throw problem('has expired', 'uid-expired')
    return {
      field: String(path[0]),
      ref: uid,
      ...readLocation(attestation, (reason, code, hint) => problem(reason, `uid-${code}`, hint)),
    }
  }

  async function resolveOffchain(input: AttestedInput, context: RequestContext): Promise<ResolvedInput> {
    const { schema, data } = input.attestation.message
    const messagePath = [...input.attestationPath, 'message']
    if (!locations.has(schema as Hex)) {
      throw problemAt('invalid-input', [...messagePath, 'schema'], 'is not a schema of location attestations', {
        code: 'attestation-not-a-location',
        hint: schemasHint(),
      })
    }
    const read = await readOffchain(input, context)
    const location = readLocation({ schema: schema as Hex, data: data as Hex }, (reason, code, hint) =>
      problemAt('invalid-input', [...messagePath, 'data'], reason, { code: `attestation-${code}`, hint }),
    )
    return { field: String(input.path[0]), ...read, ...location }
  }

  function schemasHint(): string {
    return `attest a location under ${[...locations.keys()].join(' or ')}`
  }

  /** Decodes the location of an attestation, on a chain or not. */
  function readLocation(
    { schema, data }: Pick<ChainAttestation, 'schema' | 'data'>,
    problem: (reason: string, code: string, hint: string) => ProblemError,
  ): Pick<ResolvedInput, 'geometry' | 'locationType'> {
    const layout = locations.get(schema)!
    const location = decodeLocation(data, layout)
    if (!location.ok)
      throw problem(`cannot be decoded: ${location.reason}`, 'undecodable', `encode (${LOCATION_STRINGS[layout]})`)
    const { srs, locationType, location: geometry } = location.value
    const code = foreignEpsgCode(srs)
    if (code !== undefined)
      throw problem(`holds a location in EPSG:${code}; coordinates are WGS 84 here`, 'srs', 'attest it as EPSG:4326')
    if (isReadableLocation(locationType, geometry)) return { geometry, locationType }
    const shown = JSON.stringify(locationType.slice(0, MAX_SHOWN_CHARACTERS))
    throw problem(`holds a location of the type ${shown}, which is not understood`, 'unknown-location-type', TYPES_HINT)
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
    const reply = await chainClient.attestation(chainId, uid)
    if (reply.ok) return reply.value
    throw chainProblem(chainId, reply, `${uid} could not be read`)
  }
}

function problemMaker(path: Input['path'], uid: Hex) {
  return (reason: string, code: string, hint?: string) =>
    problemAt('invalid-input', [...path, 'uid'], `attestation ${uid.slice(0, 10)}… ${reason}`, {
      code,
      ...(hint === undefined ? {} : { hint }),
    })
}
