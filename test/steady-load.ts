/** Clients that request one signed distance after another, for tests and benchmarks that stop or replace parts of the service. */
import { Agent, request } from 'node:http'

/** Body of a request to `/compute/v0/distance`. */
export const DISTANCE_BODY = JSON.stringify({
  chainId: 84532,
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [2.3522, 48.8566] },
})

export interface SteadyLoad {
  /** Statuses other than 200, and the codes of failed connections. */
  readonly failures: readonly string[]
  readonly answered: number
  stop(): Promise<void>
}

/** Keeps clients busy. Each reuses its connection, as browsers and HTTP libraries do. */
export function startLoad(url: string, clients: number): SteadyLoad {
  const failures: string[] = []
  let answered = 0
  let isOver = false
  const done = Promise.all(
    Array.from({ length: clients }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      while (!isOver) {
        try {
          const status = await requestDistance(url, agent)
          if (status === 200) answered++
          else failures.push(String(status))
        } catch (error) {
          failures.push(String((error as NodeJS.ErrnoException).code))
        }
      }
      agent.destroy()
    }),
  )
  return {
    failures,
    get answered() {
      return answered
    },
    async stop() {
      isOver = true
      await done
    },
  }
}

/** Sends one request and resolves to its status; rejects if there was no response. */
export function requestDistance(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(DISTANCE_BODY) }
    const sent = request(`${url}/compute/v0/distance`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode!))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(DISTANCE_BODY)
  })
}
