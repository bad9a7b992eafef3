import { BUILT_IN_CHAINS, type BuiltInChain } from '../../attest/chain-table.ts'
import { DEFAULT_UIDS } from '../../attest/schemas.ts'
import { javascriptKeccak } from '../../crypto/keccak-javascript.ts'
import { loadNoble } from '../../crypto/secp256k1-noble.ts'
import type { Hex } from '../../wire/messages.ts'
import type { Issuer } from '../answers.ts'
import type { CheckContext } from './check-attestation.ts'
import type { DataKind } from './signed-data.ts'
import type { VerifyResultOptions } from './verify-options.ts'

/** Creates the context from the caller's options. @throws {TypeError} on an unknown chain or an invalid attester address */
export async function createCheckContext(options: VerifyResultOptions): Promise<CheckContext> {
  const { chainId, issuer } = options
  const knownChains = issuer === undefined ? BUILT_IN_CHAINS : issuerChains(issuer)
  const chains = chainId === undefined ? knownChains : knownChains.filter(({ id }) => id === chainId)
  if (chains.length === 0) {
    throw new TypeError(`chain ${chainId} is not known: pass the issuer that signs for it (client.issuer())`)
  }
  return {
    chains,
    attesters: trustedAttesters(options),
    schemas: knownSchemas(issuer),
    nowSeconds: options.nowSeconds ?? Math.floor(Date.now() / 1000),
    allowExpired: options.allowExpired === true,
    keccak: javascriptKeccak(),
    secp256k1: await loadNoble(),
  }
}

function trustedAttesters({ attester, issuer }: VerifyResultOptions): readonly string[] | undefined {
  const given = attester ?? (issuer === undefined ? undefined : [issuer.address, ...issuer.retired])
  if (given === undefined) return undefined
  const addresses = typeof given === 'string' ? [given] : given
  const invalid = addresses.find((address) => !/^0x[0-9a-fA-F]{40}$/.test(address))
  if (invalid !== undefined) throw new TypeError(`attester ${JSON.stringify(invalid)} is no address`)
  return addresses.map((address) => address.toLowerCase())
}

function issuerChains({ chains }: Issuer): BuiltInChain[] {
  return chains.map(({ chainId, name, profile, easVersion, registry, schemaRegistry }) => ({
    id: chainId,
    name,
    profile,
    easVersion,
    easAddress: registry as Hex,
    schemaRegistryAddress: schemaRegistry as Hex,
  }))
}

function knownSchemas(issuer: Issuer | undefined): ReadonlyMap<string, DataKind> {
  const schemas = new Map<string, DataKind>()
  for (const kind of ['numeric', 'boolean', 'verify', 'merkle-root'] as const) schemas.set(DEFAULT_UIDS[kind], kind)
  for (const { schemas: own } of issuer?.chains ?? []) {
    schemas.set(own.numeric.toLowerCase(), 'numeric')
    schemas.set(own.boolean.toLowerCase(), 'boolean')
    schemas.set(own.verify.toLowerCase(), 'verify')
    schemas.set(own.merkleRoot.toLowerCase(), 'merkle-root')
  }
  return schemas
}
