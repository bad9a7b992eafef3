// An attacker as a process of its own, with a bounded share of one core. It reads its orders from the first line of standard input,
// as `startAttack` in attacks.ts writes them, and prints what it has done so far as a line of JSON every 100 ms. It ends when
// standard input ends. Plain JavaScript, so that tests and benches start the same file without a build.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const TICK_MS = 5
const REPORT_MS = 100
/** Pause before a connection that the service has closed or refused is opened again. */
const AGAIN_MS = 50
/** Processor time that was not used is not saved up for longer than this. */
const MAX_SAVED_MS = 100

createInterface({ input: process.stdin })
  .once('line', (line) => attack(JSON.parse(line)))
  .once('close', () => process.exit(0))

function attack(orders) {
  const counts = { opened: 0, held: 0, sent: 0, answers: {}, closed: 0, failed: 0, coreShare: 0 }
  const budget = new Budget(orders.share)
  setInterval(() => {
    counts.coreShare = budget.usedShare()
    process.stdout.write(`${JSON.stringify(counts)}\n`)
  }, REPORT_MS)
  if (orders.burns) {
    budget.onTick(() => budget.isLeft())
    return
  }
  const openings = orders.openings.map((text) => Buffer.from(text, 'base64'))
  const drip = orders.drip === undefined ? undefined : Buffer.from(orders.drip, 'base64')
  const due = []
  budget.onTick(() => {
    const isDue = due.length > 0 && budget.isLeft()
    if (isDue) due.shift()()
    return isDue
  })
  const parts = { orders, openings, counts, due }
  const connections = Array.from({ length: orders.connections }, () => new Connection(parts))
  for (const connection of connections) due.push(() => connection.open())
  if (drip === undefined) return
  setInterval(() => {
    // With more steps than connections waiting, the processor time does not suffice for another round.
    if (due.length < connections.length) for (const connection of connections) due.push(() => connection.send(drip))
  }, orders.dripMs)
}

/** Allows work only while this process has used less than its share of one core. */
class Budget {
  #share
  #startMs = performance.now()
  #startCpuMs = cpuMs()
  #tickMs = performance.now()
  #tickCpuMs = cpuMs()
  #leftMs = 0

  constructor(share) {
    this.#share = share
  }

  usedShare() {
    return (cpuMs() - this.#startCpuMs) / (performance.now() - this.#startMs)
  }

  isLeft() {
    return cpuMs() - this.#tickCpuMs < this.#leftMs
  }

  /** @param step does one step of work; returns false when there is none or no time is left for it */
  onTick(step) {
    setInterval(() => {
      const [nowMs, usedMs] = [performance.now(), cpuMs()]
      const grantedMs = this.#share * (nowMs - this.#tickMs)
      this.#leftMs = Math.min(this.#leftMs + grantedMs - (usedMs - this.#tickCpuMs), this.#share * MAX_SAVED_MS)
      this.#tickMs = nowMs
      this.#tickCpuMs = usedMs
      while (step());
    }, TICK_MS)
  }
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

let nextOpening = 0

/** One connection of the attacker, opened again whenever it ends. */
class Connection {
  #parts
  #socket
  #reader = new ResponseReader()

  constructor(parts) {
    this.#parts = parts
  }

  open() {
    const { orders, counts } = this.#parts
    const { host, port, address } = orders
    const socket = connect({ port, host, localAddress: address })
    this.#socket = socket
    this.#reader = new ResponseReader()
    let isOpen = false
    socket.on('connect', () => {
      isOpen = true
      counts.opened++
      counts.held++
      this.#sendOpening()
    })
    socket.on('data', (bytes) => this.#take(bytes))
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      if (isOpen) counts.held--
      if (socket !== this.#socket) return
      if (isOpen) counts.closed++
      else counts.failed++
      this.#socket = undefined
      setTimeout(() => this.#do(() => this.open()), AGAIN_MS)
    })
  }

  send(bytes) {
    if (this.#socket === undefined || this.#socket.connecting) return
    this.#parts.counts.sent++
    this.#socket.write(bytes)
  }

  #do(step) {
    this.#parts.due.push(step)
  }

  #sendOpening() {
    const { openings } = this.#parts
    if (openings.length > 0) this.send(openings[nextOpening++ % openings.length])
  }

  #take(bytes) {
    const { orders, counts } = this.#parts
    const { status, isNew, isComplete } = this.#reader.take(bytes)
    if (isNew) counts.answers[status] = (counts.answers[status] ?? 0) + 1
    if (orders.reads === false && status === 200) this.#socket.pause()
    else if (orders.afterwards === 'reconnect' || (orders.afterwards === 'hold' && status >= 400)) this.#drop()
    else if (orders.afterwards === 'repeat' && isComplete) this.#do(() => this.#sendOpening())
  }

  /** Ends this connection with a reset, which leaves no port waiting, and opens another one. */
  #drop() {
    const socket = this.#socket
    if (socket === undefined) return
    this.#socket = undefined
    socket.resetAndDestroy()
    if (this.#parts.orders.afterwards === 'reconnect') this.#do(() => this.open())
    else setTimeout(() => this.#do(() => this.open()), AGAIN_MS)
  }
}

/** Finds the status and the end of each response on a connection. */
class ResponseReader {
  #head = ''
  #status = 0
  /** Bytes of the body that are still to come; undefined for a chunked body. */
  #remaining = 0
  #tail = ''

  /** @returns the status of the current response, and whether these bytes brought its head and its end */
  take(bytes) {
    if (this.#status !== 0) return { status: this.#status, isNew: false, isComplete: this.#takeBody(bytes) }
    this.#head += bytes.toString('latin1')
    const end = this.#head.indexOf('\r\n\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(this.#head)?.[1] ?? 0)
    if (end < 0) return { status: 0, isNew: false, isComplete: false }
    const body = Buffer.from(this.#head.slice(end + 4), 'latin1')
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end))?.[1]
    this.#remaining = length === undefined ? undefined : Number(length)
    this.#head = ''
    this.#tail = ''
    this.#status = status
    return { status, isNew: true, isComplete: this.#takeBody(body) }
  }

  #takeBody(bytes) {
    let isComplete
    if (this.#remaining === undefined) {
      this.#tail = (this.#tail + bytes.subarray(-5).toString('latin1')).slice(-5)
      isComplete = this.#tail === '0\r\n\r\n'
    } else {
      this.#remaining -= bytes.length
      isComplete = this.#remaining <= 0
    }
    if (isComplete) this.#status = 0
    return isComplete
  }
}
