import type { AttestationData, DelegatedAttestationData } from '../types/generated.ts'

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** Formats a result: `4238.77` and `meters` → `4,238.77 m`; a boolean → `true`. */
export function valueText(result: number | boolean, units: string | undefined): string {
  if (typeof result === 'boolean') return String(result)
  return `${NUMBER.format(result)} ${units === 'square_meters' ? 'm²' : 'm'}`
}

/** Formats a fraction: 0.5 → `50 %`. */
export function shareText(share: number): string {
  return `${NUMBER.format(100 * share)} %`
}

export function metersText(meters: number): string {
  return `${NUMBER.format(meters)} m`
}

/** Formats Unix seconds as ISO 8601. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** Describes a signature: who signed, for which chain and recipient, with which nonce, until when. */
export function signedText(
  { recipient }: Pick<AttestationData, 'recipient'>,
  { attester, deadline, nonce }: DelegatedAttestationData,
  chainId: number,
): string {
  const recipientText = /^0x0{40}$/.test(recipient) ? 'any' : recipient
  return `Signed by ${attester} for chain ${chainId}, recipient: ${recipientText}; EAS accepts it with nonce ${nonce} until ${timeText(deadline)}.`
}
