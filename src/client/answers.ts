/** Responses that have no schema in `schemas/`. They may have more members than these. */

/** `GET /health`. */
export interface Health {
  readonly status: 'ok'
  readonly message: string
  readonly database: 'connected' | 'disconnected'
  /** Why the database is disconnected, or why records cannot be written; absent if both work. */
  readonly detail?: string
  readonly commit: string
}

/** `GET /ready`. */
export interface Readiness {
  readonly status: 'ready' | 'not ready'
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly [name: string]: unknown }>>
}

/** `GET /`. */
export interface ServiceInfo {
  readonly title: string
  readonly description: string
  readonly version: string
  readonly links: readonly { readonly rel: string; readonly href: string; readonly type: string }[]
  /** Path → method and summary. */
  readonly endpoints: Readonly<Record<string, string>>
  readonly attester: string
  readonly commit: string
}

/** A chain for whose contracts the service signs. */
export interface IssuerChain {
  readonly chainId: number
  readonly name: string
  /**
   * Whether the service has an RPC endpoint of the chain. Without one, it signs with the last known nonce or 0. Absent in documents of
   * older services.
   */
  readonly rpc?: boolean
  readonly profile: 'legacy' | 'v1' | 'v2'
  readonly easVersion: string
  /** Address of the EAS contract. */
  readonly registry: string
  readonly schemaRegistry: string
  readonly schemas: {
    readonly numeric: string
    readonly boolean: string
    readonly verify: string
    readonly merkleRoot: string
  }
}

/** `GET /.well-known/attester.json`: the address that signs, and the contracts it signs for. */
export interface Issuer {
  readonly address: string
  readonly purpose: string
  readonly chains: readonly IssuerChain[]
  /** Addresses that the service signed with earlier. */
  readonly retired: readonly string[]
  readonly statement?: string
}

/** A plugin: the rules for one kind of stamp. */
export interface Plugin {
  readonly name: string
  readonly version: string
  readonly environments: readonly string[]
  readonly description: string
}

/** The response of the sync endpoints that start or stop something. */
export interface SyncResponse {
  readonly status: 'success'
  readonly message: string
  readonly chain?: string
  readonly count?: number
}

/** `GET /api/sync/status`. */
export interface SyncStatus {
  readonly status: 'ok'
  readonly worker: Readonly<Record<string, boolean | number | string | null>>
  readonly attestations: {
    readonly totalIngested: number
    readonly byChain: Readonly<Record<string, number>>
    readonly lastRunIngested: Readonly<Record<string, number>>
  }
  readonly revocationChecks: {
    readonly lastRun: string | null
    readonly totalChecked: number
    readonly totalRevoked: number
  }
  readonly supportedChains: readonly string[]
  readonly recentErrors: readonly { readonly timestamp: string; readonly message: string; readonly chain: string }[]
}
