import type { Chain } from '../attest/chains.ts'
import type { SchemaKind } from '../attest/schemas.ts'
import type { Config } from '../config/config.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { Hex } from '../wire/values.ts'
import type { Identity } from './services.ts'

export interface IdentityParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly schemas: Readonly<Record<SchemaKind, Hex>>
  readonly signer: SignerClient
  readonly version: string
  readonly commit: string
}

/** Builds the service's identity: its attester and the contracts it signs for. Resolver contracts compare against it. */
export function createIdentity({ config, chains, schemas, signer, version, commit }: IdentityParts): Identity {
  const { numeric, boolean, verify, 'merkle-root': merkleRoot } = schemas
  return {
    attester: signer.address,
    purpose: signer.keyKind === 'development' ? 'development' : config.production ? 'production' : 'staging',
    version,
    commit,
    chains: [...chains.values()].map(({ id, name, profile, easVersion, easAddress, schemaRegistryAddress }) => ({
      chainId: id,
      name,
      profile,
      easVersion,
      registry: easAddress,
      schemaRegistry: schemaRegistryAddress,
      schemas: { numeric, boolean, verify, merkleRoot },
    })),
    retired: config.retiredAttesters,
  }
}
