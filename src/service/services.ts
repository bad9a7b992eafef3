/** What the HTTP layer asks of the service, without HTTP. */
import type { OperationName } from '../messages.ts'

/** One request as the service sees it: how long it may take, and whether anybody still waits. */
export interface RequestContext {
  /** True once the client is gone. */
  readonly aborted: boolean
  /** Milliseconds since the epoch after which the answer comes too late. */
  readonly deadlineMs: number
}

export interface ServiceAnswer {
  /** The body. */
  readonly json: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>
}

/** Who signs here, as `GET /.well-known/attester.json` says it. */
export interface Identity {
  /** Checksummed. */
  readonly attester: string
  readonly purpose: 'development' | 'staging' | 'production'
  readonly version: string
  readonly commit: string
  readonly chains: readonly {
    readonly chainId: number
    readonly name: string
    readonly registry: string
    readonly schemaRegistry: string
    readonly schemas: Readonly<Record<'numeric' | 'boolean' | 'verify', string>>
  }[]
  readonly retired: readonly string[]
}

export interface Services {
  /**
   * Runs one compute operation.
   *
   * @throws {ProblemError} whatever the client has to be told
   */
  compute(operation: OperationName, body: Uint8Array, context: RequestContext): Promise<ServiceAnswer>
  readiness(): Readiness
  readonly identity: Identity
}
