import type { Chain } from '../../attest/chains.ts'
import { SCHEMA_STRINGS, type SchemaKind } from '../../attest/schemas.ts'
import { ZERO_UID } from '../../attest/uid.ts'
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import type { ChainResult, Hex } from '../../wire/values.ts'

interface ChainPolicyParts {
  readonly chains: ReadonlyMap<number, Chain>
  /** UIDs used when a request names no schema. */
  readonly schemas: Readonly<Record<SchemaKind, Hex>>
  /** The kind of every schema UID that is computed from our schema strings or configured for one of them. */
  readonly builtInKinds: ReadonlyMap<string, SchemaKind>
  readonly allowAnySchema: boolean
  /** Undefined if no RPC is configured. */
  readonly chainClient: ChainClient | undefined
}

/** Decides which chains and schemas a request may name (decisions 17 and 84). */
export class ChainPolicy {
  readonly #parts: ChainPolicyParts

  constructor(parts: ChainPolicyParts) {
    this.#parts = parts
  }

  defaultSchema(kind: SchemaKind): Hex {
    return this.#parts.schemas[kind]
  }

  /**
   * Returns a supported chain.
   *
   * @param path pointer of the chain in the request; by default `chainId`
   * @throws {ProblemError} `invalid-input` with the list of supported chains
   */
  require(chainId: number, path: readonly string[] = ['chainId']): Chain {
    const chain = this.#requireKnown(chainId, path)
    const refusalReason = this.#parts.chainClient?.refusalReason(chainId)
    if (refusalReason === undefined) return chain
    throw this.#unsupported(chainId, path, `is refused: ${refusalReason}`)
  }

  /**
   * Checks the chain of a whole batch. A chain that is refused because of its RPC passes: it fails only the items that are signed
   * for it.
   *
   * @throws {ProblemError} `invalid-input` with the list of supported chains
   */
  requireForBatch(chainId: number): void {
    this.#requireKnown(chainId, ['chainId'])
  }

  #requireKnown(chainId: number, path: readonly string[]): Chain {
    const chain = this.#parts.chains.get(chainId)
    if (chain === undefined) throw this.#unsupported(chainId, path, 'is not supported')
    return chain
  }

  #unsupported(chainId: number, path: readonly string[], reason: string): ProblemError {
    const { chains, chainClient } = this.#parts
    const supported = [...chains.values()].filter(({ id }) => chainClient?.refusalReason(id) === undefined)
    return problemAt('invalid-input', path, `chain ${chainId} ${reason}; ${supportedChains(supported)}`, {
      code: 'unsupported-chain',
    })
  }

  /**
   * Checks the schema of a result that the service submits itself. The operator pays only for attestations under schemas of this
   * service, so that no contract of someone else runs at the operator's expense: a schema may name one.
   *
   * @throws {ProblemError} `invalid-input`
   */
  requireOwnSchema(kind: SchemaKind, schema: string | undefined): void {
    if (schema === undefined || this.#parts.builtInKinds.get(schema) === kind) return
    throw problemAt('invalid-input', ['schema'], 'is not a schema of this service, and submitOnchain takes no other', {
      code: 'foreign-schema',
      hint: 'leave schema out, or leave submitOnchain out and submit the delegated attestation yourself',
    })
  }

  /** @throws {ProblemError} if our signature under `schema` could be read as a statement other than the result */
  async requireSchema(chain: Chain, kind: SchemaKind, schema: string | undefined): Promise<void> {
    if (schema === undefined) return
    const { builtInKinds, allowAnySchema, chainClient } = this.#parts
    const builtInKind = builtInKinds.get(schema)
    if (builtInKind === kind) return
    if (schema === ZERO_UID) throw schemaProblem('is zero: no schema can have this UID')
    if (builtInKind !== undefined) throw schemaProblem(`is the schema of ${builtInKind} data, the result is ${kind}`)
    if (chain.rpcUrls.length === 0 || chainClient === undefined) {
      if (!allowAnySchema) throw schemaProblem('is not a schema of this service')
      return
    }
    const registered = await readSchemaString(chainClient, chain.id, schema as Hex)
    if (registered === undefined) {
      if (!allowAnySchema) throw schemaProblem(`is not registered on chain ${chain.id}`)
      return
    }
    // Spaces in the schema string change the UID but not the encoding.
    if (normalise(registered) !== normalise(SCHEMA_STRINGS[kind])) {
      throw schemaProblem(`is registered on chain ${chain.id}, but not for the data of a ${kind} result`)
    }
  }
}

/** Returns the end of an error text: `supported chains: 8453 (base), …`. */
export function supportedChains(chains: Iterable<Chain>): string {
  return `supported chains: ${[...chains].map(({ id, name }) => `${id} (${name})`).join(', ')}`
}

async function readSchemaString(client: ChainClient, chainId: number, schema: Hex): Promise<string | undefined> {
  const reply = await client.schemaString(chainId, schema)
  if (reply.ok) return reply.value
  throw chainProblem(chainId, reply, 'the schema could not be looked up')
}

/** Makes the problem for an RPC that did not answer, or whose answer is wrong (500). The detail tells the operator which. */
export function chainProblem(
  chainId: number,
  { cause, reason }: Extract<ChainResult<unknown>, { ok: false }>,
  consequence: string,
): ProblemError {
  return new ProblemError({
    type: 'internal',
    detail:
      cause === 'wrong'
        ? `the RPC of chain ${chainId} gives wrong answers (${reason}): ${consequence}`
        : `chain unreachable: ${consequence}`,
    retryAfterSeconds: 5,
  })
}

function schemaProblem(detail: string): ProblemError {
  return problemAt('invalid-input', ['schema'], detail, {
    code: 'schema-mismatch',
    hint: 'leave schema out to use the default of this service',
  })
}

function normalise(schema: string): string {
  return schema
    .trim()
    .replace(/\s*,\s*/g, ',')
    .replace(/\s+/g, ' ')
}
