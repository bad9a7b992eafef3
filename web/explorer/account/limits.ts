/** The limits of an hour and what is left of them, as the `RateLimit` headers report them. */

export interface Limits {
  /** Limit per hour by resource: `requests`, `bytes`, `vertices`, `cpu-ms`, and with `address-` before them those of the network address. */
  readonly quotas: ReadonlyMap<string, number>
  /** What is left: of the requests, and of the budget of which the smallest share is left. */
  readonly left: ReadonlyMap<string, { readonly remaining: number; readonly resetSeconds: number }>
}

/** One limit, of the account or of its network address. */
interface LimitState {
  readonly resource: string
  readonly isOfAddress: boolean
  readonly quota: number
  readonly remaining?: number | undefined
  /** The share that is left, or at least that if there is no `remaining`; undefined if nothing is known. */
  readonly share?: number | undefined
  readonly resetSeconds?: number | undefined
}

/** Lists the limits of some resources: first those of the account, then those of its network address. */
export function limitStates({ quotas, left }: Limits, resources: readonly string[]): LimitState[] {
  return ['', 'address-'].flatMap((prefix) => {
    const isOfAddress = prefix !== ''
    const budgets = resources.filter((resource) => resource !== 'requests' && left.has(prefix + resource))
    const shareOf = (resource: string) => left.get(prefix + resource)!.remaining / quotas.get(prefix + resource)!
    // Of the other budgets, a larger share is left than of the one that the service reports. A report of the address says little of
    // the account: it may be others who used up the limit.
    const tightest = budgets.length === 0 ? undefined : Math.min(1, ...budgets.map(shareOf))
    return resources.flatMap((resource) => {
      const quota = quotas.get(prefix + resource)
      if (quota === undefined) return []
      const known = left.get(prefix + resource)
      if (known !== undefined) return [{ resource, isOfAddress, quota, share: shareOf(resource), ...known }]
      return [{ resource, isOfAddress, quota, share: resource === 'requests' ? undefined : tightest }]
    })
  })
}

/** @returns undefined without the headers */
export function readLimits(headers: Headers): Limits | undefined {
  const [policy, state] = [headers.get('ratelimit-policy'), headers.get('ratelimit')]
  if (policy === null || state === null) return undefined
  const quotas = new Map(readItems(policy).map(([name, { q }]) => [name, q ?? Number.NaN]))
  const left = new Map(
    readItems(state).map(([name, { r, t }]) => [name, { remaining: r ?? Number.NaN, resetSeconds: t ?? Number.NaN }]),
  )
  return { quotas, left }
}

/** Reads a list of names with integers: `"requests";q=100;w=3600, …`. */
function readItems(text: string): [name: string, parameters: Readonly<Record<string, number>>][] {
  return [...text.matchAll(/"([\w-]+)"((?:;\w+=(?:\d+|"[^"]*"))*)/g)].map(([, name, parameters]) => [
    name!,
    Object.fromEntries([...parameters!.matchAll(/;(\w+)=(\d+)/g)].map(([, key, value]) => [key!, Number(value)])),
  ])
}
