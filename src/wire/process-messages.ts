/** Messages between the processes of one machine: the supervisor, the data process and the HTTP processes. They are plain data. */
import type { RelayState } from './relay-messages.ts'

/** The first message of a connection to the data process. It says what the connection is for. */
export interface Hello {
  readonly type: 'hello'
  /** `store` and `chains` work as with their threads; `nonces` is a port of the signer; `limits` carries `CountReport`s. */
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

/**
 * Sent over a `limits` connection: to the data process with the counts of the sender, and from it with the counts of all other
 * processes.
 */
export interface CountReport {
  readonly type: 'counts'
  readonly counts: readonly Counts[]
}

/** What a node tells the database about one client, and what it asks for. */
export interface HourChange {
  readonly kind: CountKind
  readonly subject: string
  /** Requests per hour of the client; 0 for costs. */
  readonly limit: number
  /** Requests that the node wants to answer. A negative number returns requests that were granted and not used. */
  readonly want: number
  /** What the node has answered or charged without asking. */
  readonly amounts: readonly number[]
}

/** The hour of one client in the database, after a change. */
export interface HourState {
  readonly kind: CountKind
  readonly subject: string
  /** Requests that the node may answer, of those that it wanted. */
  readonly granted: number
  /** What all nodes have used, including what they were granted. */
  readonly amounts: readonly number[]
  /** Seconds until the hour ends, by the clock of the database. */
  readonly secondsLeft: number
}

/** The hours of clients that all nodes of a database share. */
export interface ClientHours {
  /** Applies changes, at most one for each client and kind. */
  change(changes: readonly HourChange[]): Promise<readonly HourState[]>
  /** Returns how many nodes share the hours now. */
  countNodes(): Promise<number>
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
  /** How many HTTP processes answer, and how many there should be. */
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
  /** The process listens for messages. A message sent before this one would be lost. */
  | { readonly type: 'listening' }
  /** `facts` for the banner, from HTTP processes. */
  | { readonly type: 'ready'; readonly facts: unknown }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  /** Asks for the metrics of all processes. */
  | { readonly type: 'ask-metrics'; readonly id: number }
