import { type InputLike, isObject } from '../../client/forms.ts'
import { createReceipt, isReceiptAddress, verifyReceipt } from '../../client/receipt.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { readInput, readJsonFile } from '../inputs/read-input.ts'
import type { SourceOptions } from '../inputs/source.ts'
import { serviceUrl } from '../options.ts'
import { outJson, printable, type Terminal } from '../terminal.ts'
import { runVerify } from './verify.ts'

interface ReceiptVerbOptions extends SourceOptions {
  readonly url?: string
  readonly geometry?: readonly string[]
  readonly read?: string
  readonly attester?: readonly string[]
  readonly issuer?: string
  readonly json?: boolean
}

/** Runs `trigpoint receipt`. @returns 1 if the answer does not hold, of which no receipt is made */
export async function runReceipt(file: string, options: ReceiptVerbOptions, terminal: Terminal): Promise<ExitCode> {
  const { read, url, geometry, attester, issuer, json } = options
  if (read !== undefined) {
    if (!isReceiptAddress(read)) throw usage('the address has no receipt: there is no #r= in it')
    return runVerify(read, options, terminal)
  }
  if (attester !== undefined || issuer !== undefined) throw usage('--attester and --issuer need --read')
  const response = await readJsonFile(file, terminal)
  if (!isObject(response)) throw usage('the answer is not a JSON object')
  const inputs: InputLike[] = []
  for (const text of geometry ?? []) inputs.push(await readInput(text, terminal))
  const address = await createAddress(response, {
    baseUrl: serviceUrl({ url }, terminal),
    inputs: geometry === undefined ? undefined : inputs,
  })
  const verdict = await verifyReceipt(address, { nowSeconds: Math.floor(terminal.now() / 1000) })
  const failed = verdict.checks.find(({ status }) => status === 'fail')
  if (failed !== undefined) {
    terminal.err(
      printable(`trigpoint: the answer does not hold, so no receipt was made: ${failed.id}: ${failed.detail}\n`),
    )
    return EXIT.failed
  }
  if (json === true) await outJson(terminal, { receipt: address })
  else await terminal.out(`${address}\n`)
  return EXIT.ok
}

async function createAddress(...given: Parameters<typeof createReceipt>): Promise<string> {
  try {
    return await createReceipt(...given)
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw usage(error.message, error)
    throw error
  }
}
