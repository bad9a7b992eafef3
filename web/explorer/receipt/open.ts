import { createReceipt } from '../../../src/client/client.ts'
import { toast } from '../dom.ts'

/** Opens the page `/verify` with the receipt of an answer. */
export async function openReceipt(
  response: object,
  inputs?: Parameters<typeof createReceipt>[1]['inputs'],
): Promise<void> {
  try {
    const { hash } = new URL(await createReceipt(response, { baseUrl: location.origin, inputs }))
    history.pushState(null, '', `/verify${hash}`)
    window.dispatchEvent(new PopStateEvent('popstate'))
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error))
  }
}
