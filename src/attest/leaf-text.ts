import { checksumAddress } from '../crypto/checksum-address.ts'
import type { Hex } from '../wire/messages.ts'

/** Writes the fields that a leaf covers as members of its result: JSON without the outer braces. */
export function leafJson(schema: Hex, recipient: Hex, data: Hex): string {
  return `"schema":"${schema}","recipient":"${checksumAddress(recipient)}","data":"${data}"`
}
