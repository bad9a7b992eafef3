import { encodeQR } from 'qr'
import { svg } from '../dom.ts'

/** A QR code holds at most 2,953 bytes. Below this limit, the code is drawn. */
const MAX_QR_BYTES = 2900
/** The white border that readers need, in modules. */
const BORDER = 4

/** Draws an address as a QR code with the lowest error correction, so that long addresses fit; undefined if it is too long. */
export function qrCode(address: string): SVGElement | undefined {
  if (new TextEncoder().encode(address).length >= MAX_QR_BYTES) return undefined
  const rows = encodeQR(address, 'raw', { ecc: 'low', border: BORDER, encoding: 'byte' })
  let path = ''
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== true) continue
      const from = x
      while (row[x + 1] === true) x++
      path += `M${from} ${y}h${x + 1 - from}v1h${from - x - 1}z`
    }
  }
  // The path has only digits and letters of this function.
  const code = svg(`<path d="${path}"/>`, 'qr')
  code.setAttribute('viewBox', `0 0 ${rows.length} ${rows.length}`)
  code.setAttribute('shape-rendering', 'crispEdges')
  code.removeAttribute('aria-hidden')
  code.setAttribute('role', 'img')
  code.setAttribute('aria-label', 'The address of this receipt as a QR code')
  return code
}
