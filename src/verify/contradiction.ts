import { asObject } from './signals.ts'

type MemberPath = readonly (string | number)[]

/**
 * Compares a result that a client sends back with the one computed here. Members that are missing or unknown do not
 * count. `details` are skipped, because they are for people and change with the rules.
 *
 * @param claimed JSON as received
 * @param computed JSON as computed
 * @returns the path of the first difference; undefined when nothing contradicts
 */
export function findContradiction(claimed: unknown, computed: unknown, path: MemberPath = []): MemberPath | undefined {
  if (Array.isArray(computed)) {
    if (!Array.isArray(claimed) || claimed.length !== computed.length) return path
    for (let index = 0; index < computed.length; index++) {
      const difference = findContradiction(claimed[index], computed[index], [...path, index])
      if (difference !== undefined) return difference
    }
    return undefined
  }
  const [members, expected] = [asObject(claimed), asObject(computed)]
  if (expected === undefined) return claimed === computed ? undefined : path
  if (members === undefined) return path
  for (const [name, value] of Object.entries(expected)) {
    if (name === 'details' || !Object.hasOwn(members, name)) continue
    const difference = findContradiction(members[name], value, [...path, name])
    if (difference !== undefined) return difference
  }
  return undefined
}
