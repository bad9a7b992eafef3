/** One process of several: an HTTP process or the data process. The supervisor starts it and assigns its role. */
import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { createLog, type Log, surviveClosedOutput, withFields } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import { type Config, readConfig } from '../config/config.ts'
import { ConfigError, type Environment } from '../config/setting.ts'
import { ListenError } from '../http/transport/port.ts'
import { startService } from '../start.ts'
import { DataLink } from '../threads/data-link.ts'
import { StartTimeout } from '../threads/thread-host.ts'
import type { ProcessMessage, ProcessStart, SupervisorMessage } from '../wire/process-messages.ts'
import { startDataProcess } from './data-process.ts'
import { joinMetrics } from './machine-metrics.ts'

const EXIT_USAGE = 2
const EXIT_CONFIG = 78
const EXIT_INTERNAL = 70
/** How long `/metrics` waits for the supervisor. */
const METRICS_MS = 3000

/** What both kinds of process have in common. */
interface Running {
  readonly metrics: Metrics
  /** For the banner. */
  readonly facts?: object
  readonly lost: Promise<Error> | undefined
  stop(isReplaced?: boolean): Promise<void>
}

/** Runs in the role that the supervisor assigns, until the supervisor stops this process or ends itself. */
export function runProcess(env: Environment): void {
  if (process.send === undefined || cluster.worker === undefined) {
    process.stderr.write('`trigpoint process` is started by `trigpoint serve --processes`\n')
    process.exit(EXIT_USAGE)
  }
  surviveClosedOutput()
  // A terminal and systemd signal every process. Only the supervisor knows in which order they end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  // Otherwise node:cluster would end this process, with its open requests, as soon as the supervisor ends.
  cluster.worker.exitedAfterDisconnect = true
  const config = readConfig(env, availableParallelism())
  const child = new Child(config)
  process.on('message', (message: SupervisorMessage) => child.receive(message))
  process.on('disconnect', () => child.stop(false))
  child.post({ type: 'listening' })
}

class Child {
  readonly #config: Config
  #log: Log
  #running: Promise<Running> | undefined
  #isStopping = false
  #count = { running: 0, expected: 0 }
  /** Requests for the metrics of all processes. */
  readonly #metricsRequests = new Map<number, (text: string) => void>()
  #nextId = 0

  constructor(config: Config) {
    this.#config = config
    this.#log = createLog(config.logFormat)
  }

  receive(message: SupervisorMessage): void {
    if (message.type === 'start') this.#start(message)
    else if (message.type === 'stop') this.stop(message.isReplaced)
    else if (message.type === 'running') this.#count = message
    else if (message.type === 'metrics') void this.#answerMetrics(message.id)
    else this.#metricsRequests.get(message.id)?.(joinMetrics(message.texts))
  }

  /** Ends the process when open requests are answered. */
  stop(isReplaced: boolean): void {
    if (this.#isStopping) return
    this.#isStopping = true
    if (this.#running === undefined) process.exit(0)
    this.#running
      .then((running) => running.stop(isReplaced))
      .then(
        () => process.exit(0),
        (error: unknown) => this.#fail('stopped with an error', error),
      )
  }

  #start(start: ProcessStart): void {
    this.#log = withFields(this.#log, { process: start.name })
    this.#running = start.role === 'data' ? this.#startData(start) : this.#startHttp(start)
    this.#running.then(
      ({ facts, lost }) => {
        this.post({ type: 'ready', facts })
        // Only a new process can get the key from the supervisor again.
        void lost?.then((error) => this.#fail('the signer is lost', error))
      },
      (error: unknown) => this.#fail('cannot start', error),
    )
  }

  #startHttp({ keyDescriptor, socketPath, build }: ProcessStart): Promise<Running> {
    const part = {
      keyDescriptor: keyDescriptor!,
      data: new DataLink(socketPath),
      allMetrics: { render: () => this.#askMetrics() },
      processes: () => this.#count,
    }
    return startService(this.#config, this.#log, build, undefined, part)
  }

  #startData({ keyDescriptor, socketPath, build }: ProcessStart): Promise<Running> {
    return startDataProcess({ config: this.#config, log: this.#log, build, socketPath, keyDescriptor })
  }

  #askMetrics(): Promise<string> {
    const id = this.#nextId++
    return new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#metricsRequests.delete(id)
        reject(new Error('the supervisor does not answer'))
      }, METRICS_MS)
      this.#metricsRequests.set(id, (text) => {
        clearTimeout(timer)
        this.#metricsRequests.delete(id)
        resolve(text)
      })
      this.post({ type: 'ask-metrics', id })
    })
  }

  async #answerMetrics(id: number): Promise<void> {
    const running = await this.#running
    if (running !== undefined) this.post({ type: 'metrics', id, text: running.metrics.render() })
  }

  post(message: ProcessMessage): void {
    if (process.connected) process.send!(message)
  }

  #fail(event: string, error: unknown): never {
    const isSetting = error instanceof ConfigError || error instanceof ListenError
    const isExplained = isSetting || error instanceof StartTimeout
    const reason = error instanceof Error ? (isExplained ? error.message : error.stack) : String(error)
    this.#log.error(event, { reason })
    process.exit(isSetting ? EXIT_CONFIG : EXIT_INTERNAL)
  }
}
