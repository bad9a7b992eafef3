/** Sends transactions through a wallet, and reads the contracts of a gate through it. */
import type { IssuerChain } from '../../../src/client/answers.ts'
import { paddedWord, readAttestation, readSchema } from '../../../src/client/verify/check-chain.ts'
import type { Hex } from '../../../src/wire/values.ts'
import { shortHex } from '../format.ts'
import type { Wallet } from '../wallets.ts'
import {
  addressIn,
  errorMeaning,
  errorName,
  plainCall,
  readGateCode,
  readTerms,
  referenceOf,
  schemaOf,
  type Terms,
  type Transaction,
  wordsOf,
} from './contract.ts'
import { radiusCm, type Zone } from './zone.ts'

export interface TransactionReceipt {
  readonly status: string
  readonly gasUsed: string
  readonly contractAddress?: string | null
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
}

/** What a gate says about itself. */
export interface GateFacts {
  readonly address: string
  /** UID of the schema whose resolver the gate is. */
  readonly schema: string
  readonly isRegistered: boolean
  readonly terms: Terms
}

/** Whether a gate admits a person. */
export interface Admission {
  readonly isOpen: boolean
  /** The last second of the last admission; 0 if there was none. */
  readonly untilSeconds: number
}

/** A fault whose message is written for the person at the page. */
export class GateFault extends Error {}

/** The contract in the address of the page is not a gate that the page can use. */
export class UnusableGate extends GateFault {}

/** A contract reverted. `errorName` is the name of its error. */
export class Reverted extends GateFault {
  readonly errorName: string

  constructor(name: string) {
    super([`The contract rejects it with ${name}.`, errorMeaning(name)].filter(Boolean).join(' '))
    this.errorName = name
  }
}

/** Passing time, so that tests need not wait. */
export interface Clock {
  now(): number
  wait(ms: number): Promise<void>
}

const CLOCK: Clock = { now: Date.now, wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) }
const RECEIPT_MS = 120_000
const POLL_MS = 500
const MAX_NESTING = 5

/** Returns the data of a revert in an error of a wallet. Each wallet wraps the error of the chain in different objects. */
export function revertDataIn(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_NESTING) return undefined
  const { data, error: inner, cause, originalError } = error as Record<string, unknown>
  if (typeof data === 'string' && /^0x(?:[0-9a-fA-F]{2}){4,}$/.test(data)) return data
  for (const nested of [data, inner, cause, originalError]) {
    const found = revertDataIn(nested, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Asks the wallet. @throws {Reverted} if a contract reverted with data. @throws what the wallet throws otherwise */
async function ask(wallet: Wallet, method: string, params: readonly unknown[]): Promise<unknown> {
  try {
    return await wallet.request({ method, params })
  } catch (error) {
    const data = revertDataIn(error)
    throw data === undefined ? error : new Reverted(errorName(data))
  }
}

/** Calls a contract without a transaction. @throws {Reverted} */
export async function simulate(wallet: Wallet, transaction: Transaction): Promise<Hex> {
  const returned = await ask(wallet, 'eth_call', [transaction, 'latest'])
  if (typeof returned !== 'string' || !/^0x[0-9a-fA-F]*$/.test(returned))
    throw new GateFault('The wallet returned no data for eth_call. Reload the page, then try again.')
  return returned as Hex
}

/**
 * Sends transactions. If no block has a transaction in time, it is remembered: sending the same one again only waits for it.
 *
 * @param clock for tests
 */
export function createSender(clock: Clock = CLOCK) {
  /** Hashes of transactions without a receipt, by their content. */
  const pending = new Map<string, string>()
  return { send }

  /**
   * Simulates a transaction, lets the wallet send it, and waits for its receipt.
   *
   * @param say receives what is being waited for
   * @throws {Reverted} before anything is sent, or after a block has the reverted transaction
   * @throws {GateFault} if there is no receipt in time
   * @throws what the wallet throws
   */
  async function send(
    wallet: Wallet,
    transaction: Transaction,
    say: (text: string) => void,
  ): Promise<TransactionReceipt> {
    const key = JSON.stringify(transaction)
    let hash = pending.get(key)
    if (hash === undefined) {
      say('Checking that the contract accepts it …')
      await simulate(wallet, transaction)
      say('Confirm it in the wallet …')
      const sent = await ask(wallet, 'eth_sendTransaction', [transaction])
      if (typeof sent !== 'string') throw new GateFault('The wallet returned no hash of the transaction.')
      hash = sent
      pending.set(key, hash)
    }
    say(`Sent as ${shortHex(hash)}. Waiting for a block …`)
    const receipt = await waitForReceipt(wallet, hash, clock)
    pending.delete(key)
    if (receipt.status === '0x1') return receipt
    await simulate(wallet, transaction) // throws with the name of the error, if the reason is still there
    throw new GateFault(`The transaction ${shortHex(hash)} was reverted, and the chain gives no reason. Try again.`)
  }
}

async function waitForReceipt(wallet: Wallet, hash: string, clock: Clock): Promise<TransactionReceipt> {
  const untilMs = clock.now() + RECEIPT_MS
  for (;;) {
    const receipt = (await ask(wallet, 'eth_getTransactionReceipt', [hash])) as TransactionReceipt | null
    if (receipt !== null) return receipt
    if (clock.now() >= untilMs) {
      throw new GateFault(
        `No block has the transaction ${shortHex(hash)} after ${RECEIPT_MS / 60_000} minutes. It may still come: press the button again to go on waiting. Nothing is sent twice.`,
      )
    }
    await clock.wait(POLL_MS)
  }
}

/** @throws {GateFault} if the wallet's chain has no EAS contract where the service expects it */
export async function requireEas(wallet: Wallet, { name, registry, schemaRegistry }: IssuerChain): Promise<void> {
  for (const [what, address] of [
    ['EAS contract', registry],
    ['schema registry', schemaRegistry],
  ] as const) {
    if (await hasCode(wallet, address)) continue
    throw new GateFault(
      `Chain ${name} has no ${what} at ${address}, so a gate cannot work there. Choose another chain.`,
    )
  }
}

async function hasCode(wallet: Wallet, address: string): Promise<boolean> {
  return (await codeOf(wallet, address)).length > 2
}

/** Returns the code at an address, with `0x`. */
async function codeOf(wallet: Wallet, address: string): Promise<string> {
  const code = await ask(wallet, 'eth_getCode', [address, 'latest'])
  return typeof code === 'string' ? code : '0x'
}

/** Returns the time of the newest block, in seconds. */
export async function blockTime(wallet: Wallet): Promise<number> {
  const block = (await ask(wallet, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  return Number(block.timestamp)
}

/**
 * Reads a gate, and checks that it is one for this zone and this service. What a contract says of itself proves nothing, so its code is
 * compared with the compiled contract first.
 *
 * @param attester the address that the service signs with
 * @throws {UnusableGate} if it is not
 */
export async function readGate(
  wallet: Wallet,
  from: string,
  chain: IssuerChain,
  address: string,
  zone: Zone,
  attester: string,
): Promise<GateFacts> {
  const code = await codeOf(wallet, address)
  if (code.length <= 2)
    throw new UnusableGate(
      `Chain ${chain.name} has no contract at ${address}. Choose another chain, or make a new gate.`,
    )
  const values = readGateCode(code)
  if (values === undefined || values.schema !== schemaOf(address))
    throw new UnusableGate(
      `The contract at ${address} is not a gate that this version of the page deploys: its code is not that of WithinGate. Make a new gate.`,
    )
  const { eas, attester: signer, schema } = values
  if (eas !== `0x${paddedWord(chain.registry)}`)
    throw new UnusableGate(`The gate at ${address} uses another EAS contract than this service: ${addressIn(eas)}.`)
  if (signer !== `0x${paddedWord(attester)}`)
    throw new UnusableGate(
      `The gate at ${address} trusts the results of ${addressIn(signer)}, but this service signs as ${attester}. Make a new gate.`,
    )
  const call = (to: string, data: Hex) => simulate(wallet, { from, to, data })
  const terms = readTerms(await call(address, plainCall('terms()')))
  if (terms.target !== referenceOf(zone.target) || terms.maxRadiusCm !== radiusCm(zone))
    throw new UnusableGate(`The gate at ${address} is for another zone than the one on the map.`)
  const registered = readSchema(await call(chain.schemaRegistry, plainCall('getSchema(bytes32)', schema)))
  return { address, schema, isRegistered: registered !== undefined, terms }
}

/**
 * Asks a gate whether it admits a person. Whoever deployed it may have written an admission into its first state. So an open gate must
 * name a result that EAS has under the schema of the gate: EAS stores it only after the code of the gate has admitted its recipient.
 *
 * @param gate what `readGate` returned
 * @throws {UnusableGate} if it says that it is open, and EAS has no such result
 */
export async function readAdmission(
  wallet: Wallet,
  chain: IssuerChain,
  { address, schema }: GateFacts,
  person: string,
): Promise<Admission> {
  const call = (to: string, data: Hex) => simulate(wallet, { from: person, to, data })
  const [admitted] = wordsOf(await call(address, plainCall('isAdmitted(address)', person)), 1)
  const [result, , until] = wordsOf(await call(address, plainCall('admissions(address)', person)), 3)
  const isOpen = BigInt(admitted!) === 1n
  if (isOpen) {
    const stored = readAttestation(await call(chain.registry, plainCall('getAttestation(bytes32)', result!)))
    if (stored?.schema !== schema || !sameAddress(stored.recipient, person))
      throw new UnusableGate(
        `The gate at ${address} says that it is open for ${person}, but EAS has no result that opened it. Make a new gate.`,
      )
  }
  return { isOpen, untilSeconds: Number(until) }
}

/** A later time makes a timer of a browser fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
const MIN_REFRESH_MS = 5000

/**
 * Returns after how many milliseconds an open gate is to be read again: in the first seconds after the admission, because blocks may come
 * later. The clock of the browser may be ahead of the chain, so it is never at once.
 */
export function refreshDelayMs(untilSeconds: number, nowMs: number): number {
  return Math.min(Math.max(untilSeconds * 1000 - nowMs + 2000, MIN_REFRESH_MS), MAX_TIMER_MS)
}

/** Returns the UID in the event of EAS. @throws {GateFault} if the receipt has none */
export function attestedUid(receipt: TransactionReceipt, eas: string): string {
  const log = receipt.logs.find(({ address, topics }) => sameAddress(address, eas) && topics.length === 4)
  if (log === undefined) throw new GateFault('The transaction made no attestation.')
  return log.data.slice(0, 66)
}

export function sameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
