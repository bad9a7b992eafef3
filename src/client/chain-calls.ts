/** The few calls of EAS and of a chain that `verifyResult` makes, packed by hand: nothing else of a general library is needed. */
import { readAbi } from '../attest/abi-reader.ts'
import type { ChainProfile } from '../config.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Hex } from '../messages.ts'
import type { Signed } from './check-attestation.ts'

/** A chain that can be asked; every method is one request. */
export interface ChainReader {
  chainId(): Promise<number>
  /** @returns what the contract returned. @throws {RpcError} when it reverts or cannot be asked */
  call(to: string, data: Hex): Promise<Hex>
}

/** The chain did not answer as asked. */
export class RpcError extends Error {
  /** The contract refused; its error's selector and arguments where the endpoint tells them. */
  readonly isRevert: boolean

  constructor(message: string, isRevert: boolean) {
    super(message)
    this.name = 'RpcError'
    this.isRevert = isRevert
  }
}

/** JSON-RPC 2.0 over HTTP. */
export function createChainReader(url: string, timeoutMs: number, send: typeof fetch): ChainReader {
  async function ask(method: string, params: readonly unknown[]): Promise<Hex> {
    let answer: { result?: unknown; error?: { code?: number; message?: string; data?: unknown } }
    try {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      answer = (await response.json()) as typeof answer
    } catch {
      throw new RpcError(`${method}: the RPC does not answer`, false) // its address may hold a key: it is not shown
    }
    const { result, error } = answer
    if (typeof result === 'string' && /^0x[0-9a-fA-F]*$/.test(result)) return result as Hex
    const told = typeof error?.data === 'string' ? ` ${error.data.slice(0, 200)}` : ''
    // Code 3 is a revert with data; some endpoints say −32000 and name it in words alone.
    const isRevert = error?.code === 3 || told !== '' || /revert/i.test(error?.message ?? '')
    throw new RpcError(`${method}: ${error?.message ?? 'no result'}${told}`, isRevert)
  }
  return {
    chainId: async () => Number(await ask('eth_chainId', [])),
    call: (to, data) => ask('eth_call', [{ to, data }, 'latest']),
  }
}

/** Calldata of a function by its signature and its arguments' words. */
export function calldata(signature: string, words: string, keccak: Keccak): Hex {
  return `${keccak.hashHex(utf8(signature)).slice(0, 10)}${words}` as Hex
}

const MESSAGE = '(address,uint64,bool,bytes32,bytes,uint256)'
const DELEGATED: Readonly<Record<'legacy' | 'later', string>> = {
  legacy: `attestByDelegation((bytes32,${MESSAGE},(uint8,bytes32,bytes32),address))`,
  later: `attestByDelegation((bytes32,${MESSAGE},(uint8,bytes32,bytes32),address,uint64))`,
}
const MESSAGE_WORDS = 6

/** Calldata of `attestByDelegation` for an answer; before EAS 1.2 there is no deadline in it. */
export function attestByDelegation(
  { attestation, delegatedAttestation }: Signed,
  profile: ChainProfile,
  keccak: Keccak,
): Hex {
  const { schema, recipient, revocable, refUID, data, expirationTime = 0 } = attestation
  const { signature, attester, deadline } = delegatedAttestation
  const isLegacy = profile === 'legacy'
  const bytes = data.slice(2)
  const message =
    `${padded(recipient)}${word(expirationTime)}${word(revocable ? 1 : 0)}${padded(refUID)}${word(MESSAGE_WORDS * 32)}` +
    `${word(0)}${word(bytes.length / 2)}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`
  const headWords = isLegacy ? 6 : 7
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
  const head =
    `${padded(schema)}${word(headWords * 32)}${v.padStart(64, '0')}${r}${s}${padded(attester)}` +
    (isLegacy ? '' : word(deadline))
  return calldata(DELEGATED[isLegacy ? 'legacy' : 'later'], `${word(32)}${head}${message}`, keccak)
}

/** What `getSchema` of a registry says; undefined for a UID that nobody registered. */
export function readSchema(returned: Hex): { readonly schema: string; readonly resolver: bigint } | undefined {
  const read = readAbi(afterOffset(returned), 4, (tuple) => ({
    uid: tuple.bytes32(),
    resolver: tuple.uint(160),
    revocable: tuple.bool(),
    schema: tuple.string(),
  }))
  if (!read.ok) throw new RpcError(`getSchema: the answer ${read.reason}`, false)
  return /^0x0{64}$/.test(read.value.uid) ? undefined : read.value
}

/** What `getAttestation` of EAS says of a UID; undefined when it is not on the chain. */
export function readAttestation(
  returned: Hex,
): { readonly revocationTimeSeconds: number; readonly data: Hex } | undefined {
  const read = readAbi(afterOffset(returned), 10, (tuple) => {
    const [uid] = [tuple.bytes32(), tuple.bytes32()]
    const [, , revocationTimeSeconds] = [tuple.uint(64), tuple.uint(64), Number(tuple.uint(64))]
    tuple.bytes32()
    tuple.uint(160)
    tuple.uint(160)
    tuple.bool()
    return { uid, revocationTimeSeconds, data: tuple.bytes() }
  })
  if (!read.ok) throw new RpcError(`getAttestation: the answer ${read.reason}`, false)
  return /^0x0{64}$/.test(read.value.uid) ? undefined : read.value
}

/** A dynamic structure comes behind one word that says where it begins. */
function afterOffset(returned: Hex): Hex {
  return `0x${returned.slice(66)}`
}

/** A value as a word. */
export function word(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** An address or a word of hex as a word. */
export function padded(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0')
}
