import type { AttestationData, DelegatedAttestationData } from '../types/generated.ts'

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** `4238.77` and `meters` → `4,238.77 m`; a truth value → `true`. */
export function valueText(result: number | boolean, units: string | undefined): string {
  if (typeof result === 'boolean') return String(result)
  return `${NUMBER.format(result)} ${units === 'square_meters' ? 'm²' : 'm'}`
}

/** A share of one, such as 0.5, as `50 %`. */
export function shareText(share: number): string {
  return `${NUMBER.format(100 * share)} %`
}

export function metersText(meters: number): string {
  return `${NUMBER.format(meters)} m`
}

/** Unix seconds as ISO 8601. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** Who signed for which chain, until when. */
export function signedText(
  { recipient }: Pick<AttestationData, 'recipient'>,
  { attester, deadline, nonce }: DelegatedAttestationData,
  chainId: number,
): string {
  const whom = /^0x0{40}$/.test(recipient) ? 'anybody' : recipient
  return `Signed by ${attester} for chain ${chainId} and ${whom}; EAS takes it with nonce ${nonce} until ${timeText(deadline)}.`
}
