import type { Hex } from '../messages.ts'
import { checksumAddress } from './address.ts'

/** What a leaf covers as members of its answer, JSON text without the braces. */
export function leafMembers(schema: Hex, recipient: Hex, data: Hex): string {
  return `"schema":"${schema}","recipient":"${checksumAddress(recipient)}","data":"${data}"`
}
