/** What a person does with a gate: deploy it, attest a location, and send it a signed result. */
import type { IssuerChain } from '../../../src/client/answers.ts'
import { attestByDelegation } from '../../../src/client/verify/check-chain.ts'
import { javascriptKeccak } from '../../../src/crypto/noble.ts'
import type { Point } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { shortHex, whole } from '../format.ts'
import type { Wallet } from '../wallets.ts'
import { attestedUid, blockTime, type createSender, type GateFacts, GateFault, requireEas } from './chain.ts'
import {
  deployment,
  LOCATION_SCHEMA,
  locationAttestation,
  MAX_AGE_SECONDS,
  MAX_LOCATION_AGE_SECONDS,
  referenceOf,
  registration,
} from './contract.ts'
import type { createSteps } from './steps.ts'
import { radiusCm, type Zone } from './zone.ts'

/** Who acts, and on which chain. */
export interface Actor {
  readonly wallet: Wallet
  /** The account of the wallet. */
  readonly address: string
  readonly chain: IssuerChain
  readonly sender: ReturnType<typeof createSender>
}

type Steps = ReturnType<typeof createSteps>

/**
 * Deploys the gate of a zone.
 *
 * @param attester the address that the service signs with
 * @param locationAttester the account whose location attestations the gate trusts
 * @returns its address, and the gas that the deployment used
 * @throws {GateFault} and what the wallet throws
 */
export async function deployGate(
  { wallet, address, chain, sender }: Actor,
  zone: Zone,
  attester: string,
  locationAttester: string,
  steps: Steps,
): Promise<{ readonly address: string; readonly gas: number }> {
  const terms = {
    target: referenceOf(zone.target),
    locationSchema: LOCATION_SCHEMA,
    locationAttester,
    maxRadiusCm: radiusCm(zone),
    maxAgeSeconds: MAX_AGE_SECONDS,
    maxLocationAgeSeconds: MAX_LOCATION_AGE_SECONDS,
  }
  return steps.run(
    'Deploy the contract.',
    async (say) => {
      await requireEas(wallet, chain)
      const receipt = await sender.send(wallet, { from: address, data: deployment(chain, attester, terms) }, say)
      const deployed = receipt.contractAddress
      if (!deployed) throw new GateFault('The receipt has no address of a contract.')
      return { address: deployed, gas: Number(receipt.gasUsed) }
    },
    ({ address: deployed, gas }) => `At ${shortHex(deployed)}; ${whole(gas)} gas.`,
  )
}

/** Registers the schema of a gate. @returns the gas that was used. @throws {GateFault} and what the wallet throws */
export async function registerGate(
  { wallet, address, chain, sender }: Actor,
  gate: string,
  steps: Steps,
): Promise<number> {
  return steps.run(
    'Register its schema.',
    async (say) => {
      const transaction = { from: address, to: chain.schemaRegistry, data: registration(gate) }
      return Number((await sender.send(wallet, transaction, say)).gasUsed)
    },
    (gas) => `${whole(gas)} gas.`,
  )
}

/** A location attestation that is being made, or was made. */
export interface AttestedPoint {
  readonly key: string
  readonly transaction: { readonly from: string; readonly to: string; readonly data: `0x${string}` }
  uid: string | undefined
}

/**
 * Attests with the wallet that it is at this point now.
 *
 * @param before an earlier attempt. If it was for the same point, it is continued or used again
 */
export async function attestLocation(
  { wallet, address, chain, sender }: Actor,
  point: Point,
  before: AttestedPoint | undefined,
  remember: (attempt: AttestedPoint) => void,
  steps: Steps,
): Promise<string> {
  return steps.run(
    'Attest the location.',
    async (say) => {
      const key = JSON.stringify([address, chain.chainId, point])
      let attempt = before
      if (attempt?.key !== key) {
        const data = locationAttestation(address, point, await blockTime(wallet))
        attempt = { key, transaction: { from: address, to: chain.registry, data }, uid: undefined }
        remember(attempt)
      }
      attempt.uid ??= attestedUid(await sender.send(wallet, attempt.transaction, say), chain.registry)
      return attempt.uid
    },
    (uid) => `Attestation ${shortHex(uid)}.`,
  )
}

/**
 * Gets a signed result from the service and sends it to the gate.
 *
 * @param uid UID of the person's location attestation
 * @returns the gas of the call
 * @throws {Reverted} if the gate rejects the result; nothing is sent then
 * @throws {ApiError | ConnectionError | GateFault} and what the wallet throws
 */
export async function sendResult(
  { wallet, address, chain, sender }: Actor,
  api: Api,
  zone: Zone,
  gate: GateFacts,
  uid: string,
  steps: Steps,
): Promise<number> {
  const response = await steps.run(
    'Get a signed result.',
    (say) => {
      say('Asking the service …')
      const options = { chainId: chain.chainId, recipient: address, schema: gate.schema }
      return api.client.compute.within({ uid }, zone.target, zone.radiusMeters, options)
    },
    ({ result }) => (result ? 'The service signed: within the zone.' : 'The service signed: not within the zone.'),
  )
  return steps.run(
    'Send it to the contract.',
    async (say) => {
      const data = attestByDelegation(response, chain.profile, javascriptKeccak())
      return Number((await sender.send(wallet, { from: address, to: chain.registry, data }, say)).gasUsed)
    },
    (gas) => `Accepted; ${whole(gas)} gas.`,
  )
}
