/** What requests cost besides their number. A client has a budget of each resource for one hour. */

/**
 * `bytes`: bodies received, and what the routes of records send. `vertices`: those of the geometries that were computed on.
 * `cpu-ms`: milliseconds for which a thread worked for the request.
 */
export const RESOURCES = ['bytes', 'vertices', 'cpu-ms'] as const

export type Resource = (typeof RESOURCES)[number]

/** An amount of each resource. */
export type Amounts = Readonly<Record<Resource, number>>

/** Takes what a request cost. */
export interface CostMeter {
  charge(resource: Resource, amount: number): void
}
