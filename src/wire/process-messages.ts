/** Messages between the processes of one machine: the supervisor, the data process and the HTTP processes. They are plain data. */
import type { RelayState } from './relay-messages.ts'

/** The first message of a connection to the data process: what it is connected to. */
export interface Hello {
  readonly type: 'hello'
  /** `store` and `chains` are answered as by their threads; `nonces` is a port of the signer; `limits` carries `CountReport`s. */
  readonly to: 'store' | 'chains' | 'nonces' | 'limits'
}

/** From the data process over a `chains` connection, besides the messages of the sync thread. */
export interface RelayStateMessage {
  readonly type: 'relay'
  readonly chainId: number
  readonly state: RelayState
}

/** What is counted for a client: its requests, or what these cost, each for one hour. */
export type CountKind = 'requests' | 'costs'

/** The counts of one client in one hour. `amounts` has one number for requests, and one for each resource for costs. */
export interface Counts {
  readonly kind: CountKind
  readonly subject: number | string
  /** When the hour ends, in Unix seconds. */
  readonly endSeconds: number
  readonly amounts: readonly number[]
}

/** Over a `limits` connection: to the data process what a process has counted itself, from it what all others have counted. */
export interface CountReport {
  readonly type: 'counts'
  readonly counts: readonly Counts[]
}

/** From the supervisor to a process. */
export type SupervisorMessage =
  | ProcessStart
  /** The process ends when open requests are answered. `isReplaced`: another process answers on the port meanwhile. */
  | { readonly type: 'stop'; readonly isReplaced: boolean }
  /** Asks for the metrics of this process. */
  | { readonly type: 'metrics'; readonly id: number }
  /** The metrics of all processes, by name of the process. */
  | { readonly type: 'all-metrics'; readonly id: number; readonly texts: readonly (readonly [string, string])[] }
  /** How many HTTP processes answer, of how many. */
  | { readonly type: 'running'; readonly running: number; readonly expected: number }

/** The first message to a process. */
export interface ProcessStart {
  readonly type: 'start'
  readonly role: 'http' | 'data'
  /** `1` and so on for an HTTP process, `data` for the data process: in log lines and metrics. */
  readonly name: string
  /** Path of the Unix socket of the data process. */
  readonly socketPath: string
  /** The file descriptor from which the signer thread reads the key; undefined if the process does not sign. */
  readonly keyDescriptor: number | undefined
  readonly build: { readonly version: string; readonly commit: string }
}

/** From a process to the supervisor. */
export type ProcessMessage =
  /** It listens. A message that is sent earlier would be lost. */
  | { readonly type: 'listening' }
  /** `facts` for the banner, from HTTP processes. */
  | { readonly type: 'ready'; readonly facts: unknown }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  /** Asks for the metrics of all processes. */
  | { readonly type: 'ask-metrics'; readonly id: number }
