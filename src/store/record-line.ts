import type { MessagePort } from 'node:worker_threads'
import { Requester } from '../wire/request-port.ts'
import { type RecordStore, type StoreOperations, storeFault } from '../wire/store-messages.ts'

/** The store as a thread other than main uses it, over ports that `StoreClient.connect` makes. */
export class RecordLine {
  readonly #requests = new Requester<StoreOperations>({
    notConnected: 'the store is not open',
    ended: 'the store is restarting',
    toError: storeFault,
  })

  /** The operations. They are rejected as `unavailable` while there is no connection. */
  readonly store: RecordStore = new Proxy({} as RecordStore, {
    // The operations are named only in their types; each name becomes a method that asks for it.
    get: (_, operation) => (argument: never) => this.#requests.ask(operation as keyof StoreOperations, argument),
  })

  /** Uses this port from now on; called again each time the store restarts. */
  connect(port: MessagePort): void {
    this.#requests.connect(port)
  }
}
