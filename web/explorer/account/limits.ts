/** The limits of an hour and what is left of them, as the `RateLimit` headers report them. */

export interface Limits {
  /** Limit per hour by resource: `requests`, `bytes`, `vertices`, `cpu-ms`. */
  readonly quotas: ReadonlyMap<string, number>
  /** What is left: of the requests, and of the budget of which the smallest share is left. */
  readonly left: ReadonlyMap<string, { readonly remaining: number; readonly resetSeconds: number }>
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
