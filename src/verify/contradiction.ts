import { asObject } from './signals.ts'

type Path = readonly (string | number)[]

/**
 * Where what somebody brings back says something else than we do. A member that is missing, or that we do not know, says
 * nothing; `details` are told for people and change with the rules, so they are passed over.
 *
 * @param told JSON as received
 * @param ours JSON as computed
 * @returns the first place; undefined when nothing contradicts
 */
export function contradictionOf(told: unknown, ours: unknown, path: Path = []): Path | undefined {
  if (Array.isArray(ours)) {
    if (!Array.isArray(told) || told.length !== ours.length) return path
    for (let index = 0; index < ours.length; index++) {
      const found = contradictionOf(told[index], ours[index], [...path, index])
      if (found !== undefined) return found
    }
    return undefined
  }
  const [members, wanted] = [asObject(told), asObject(ours)]
  if (wanted === undefined) return told === ours ? undefined : path
  if (members === undefined) return path
  for (const [name, value] of Object.entries(wanted)) {
    if (name === 'details' || !Object.hasOwn(members, name)) continue
    const found = contradictionOf(members[name], value, [...path, name])
    if (found !== undefined) return found
  }
  return undefined
}
