import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'

/** No message is larger. A page of records has at most 16 MB. */
const MAX_MESSAGE_BYTES = 256 * 1_048_576
const LENGTH_BYTES = 4

/**
 * Messages between processes over a socket, with the methods of a `MessagePort`. A message is the length of its bytes and its
 * structured clone, so everything that threads send each other may be sent, except for ports.
 */
export class SocketPort {
  readonly #socket: Socket
  #listeners: ((message: never) => void)[] = []
  /** Messages that arrived before the first listener. */
  #early: unknown[] = []
  #pieces: Buffer[] = []
  #bytes = 0
  /** Bytes of the message that is arriving, with its length; undefined until the length has arrived. */
  #wanted: number | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (piece: Buffer) => this.#take(piece))
    // The event `close` follows.
    socket.on('error', () => {})
  }

  on(event: 'message', listener: (message: never) => void): void
  on(event: 'close', listener: () => void): void
  on(event: 'message' | 'close', listener: (message: never) => void): void {
    if (event === 'close') {
      this.#socket.on('close', listener as () => void)
      return
    }
    this.#listeners.push(listener)
    for (const message of this.#early.splice(0)) listener(message as never)
  }

  postMessage(message: unknown): void {
    if (!this.#socket.writable) return
    const bytes = serialize(message)
    const length = Buffer.allocUnsafe(LENGTH_BYTES)
    length.writeUInt32BE(bytes.length)
    this.#socket.cork()
    this.#socket.write(length)
    this.#socket.write(bytes)
    this.#socket.uncork()
  }

  /** Closes the connection after what was posted. */
  close(): void {
    this.#socket.end()
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    while (this.#bytes >= (this.#wanted ?? LENGTH_BYTES)) {
      // Joined once for each message, not for each piece.
      const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#bytes)
      this.#pieces = [bytes]
      this.#wanted ??= LENGTH_BYTES + bytes.readUInt32BE()
      if (this.#wanted > MAX_MESSAGE_BYTES) {
        this.destroy()
        return
      }
      if (bytes.length < this.#wanted) return
      // Byte arrays of a message are views of what it is read from. Their receiver may free that memory, so it has nothing else in it.
      const message: unknown = deserialize(new Uint8Array(bytes.subarray(LENGTH_BYTES, this.#wanted)))
      const rest = bytes.subarray(this.#wanted)
      this.#pieces = rest.length === 0 ? [] : [rest]
      this.#bytes = rest.length
      this.#wanted = undefined
      if (this.#listeners.length === 0) this.#early.push(message)
      // A copy, because the first message of a connection decides who listens to the others.
      for (const listener of [...this.#listeners]) listener(message as never)
    }
  }
}
