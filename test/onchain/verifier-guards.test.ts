import { type Abi, keccak256 } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeMerkleRoot, encodeNumeric } from '../../src/attest/data.ts'
import { buildMerkleTree, type MerkleTree } from '../../src/compute/merkle-tree.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Hex } from '../../src/wire/values.ts'
import { SIGNED_RESULT_TYPES } from '../attest-parts.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { type Contract, compile, contractSources, deploy, type Sources, without } from './solidity.ts'
import { createFixture, type Fixture, uids } from './within-fixture.ts'

// The accounts of anvil: one of them can sign here and attest there.
const attester = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 4 })
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const SALT: Hex = `0x${'5a'.repeat(32)}`
const sources = contractSources()

interface Guard {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly error: string
  readonly nextError?: string
  /** Calls the verifier with an input that breaks only this rule. */
  readonly call: (at: Verifier) => Promise<string | undefined>
}
interface Verifier {
  readonly address: Hex
  readonly abi: Abi
}

describe.skipIf(skipReason())('each guard of GeoVerifier', () => {
  let local: LocalChain
  let fixture: Fixture
  let changed: ReadonlyMap<string, Contract>
  let tree: MerkleTree
  const items = Array.from({ length: 9 }, (_, index) => ({
    schema: uids.numeric,
    recipient: `0x${'11'.repeat(20)}` as Hex,
    data: encodeNumeric(BigInt(index), 'centimeters', [SALT, SALT], 1_700_000_000, 'distance'),
  }))

  beforeAll(async () => {
    local = await startLocalChain('1.3.0')
    fixture = await createFixture(local)
    expect(fixture.attester).toBe(attester.address)
    tree = buildMerkleTree(items, await createKeccak())
    const versions = new Map<string, Sources>([['', sources]])
    for (const { file, text } of GUARDS) versions.set(text, without(sources, file, text))
    const compiled = compile([...versions.values()], ['GeoVerifier'])
    changed = new Map([...versions.keys()].map((text, index) => [text, compiled[index]!['GeoVerifier']!]))
  })
  afterAll(() => local?.stop())

  async function deployed(text: string): Promise<Verifier> {
    const contract = changed.get(text)!
    const args = [local.chain.easAddress, uids['merkle-root'], attester.address]
    return { address: (await deploy(local, contract, args)).address, abi: contract.abi }
  }

  const root = (changes: { schema?: Hex; from?: Hex; expirationTime?: bigint } = {}) => {
    const { schema = uids['merkle-root'], from = fixture.attester, expirationTime } = changes
    const data = encodeMerkleRoot({ merkleRoot: tree.root, leafCount: 9, timestampSeconds: 1_700_000_000 })
    return local.attest(schema, data, expirationTime, { from })
  }
  const verify = ({ address, abi }: Verifier, uid: Hex, item = items[3]!) =>
    fixture.revert(fixture.person, address, abi, 'verifyItem', [uid, item, tree.proof(3)])
  const use = ({ address, abi }: Verifier, result: object, from = fixture.person) =>
    fixture.revert(from, address, abi, 'useResult', [result])

  async function signed(changes: { deadline?: bigint; account?: typeof attester } = {}) {
    const { deadline = (await fixture.now()) + 3600n, account = attester } = changes
    const { schema, data } = items[3]!
    const fields = { schema, recipient: fixture.person, deadline, salt: SALT }
    const signature = await account.signTypedData({
      domain: { name: 'GeoResult', version: '1', chainId: local.chain.id },
      types: SIGNED_RESULT_TYPES,
      primaryType: 'SignedResult',
      message: { ...fields, dataHash: keccak256(data) },
    })
    return { ...fields, data, signature }
  }

  const MALFORMED = 'revert SignatureMalformed();'
  const REVOCATION_GUARD = 'if (root.revocationTime != 0 || isExpired) revert RootNoLongerStands(uid);'
  const revoked = async (at: Verifier) => {
    const uid = await root()
    await local.revoke(uids['merkle-root'], uid, fixture.attester)
    return verify(at, uid)
  }
  const expired = async (at: Verifier) => {
    const expirationTime = (await fixture.now()) + 100n
    const uid = await root({ expirationTime })
    await fixture.pass(expirationTime)
    return verify(at, uid)
  }
  const GUARDS: readonly Guard[] = [
    {
      name: 'a root without an attestation',
      file: 'GeoMerkle.sol',
      text: 'if (uid == 0 || root.uid != uid) revert RootNotFound(uid);',
      error: 'RootNotFound',
      nextError: 'RootHasOtherSchema',
      call: (at) => verify(at, SALT),
    },
    {
      name: 'the root is another kind of data',
      file: 'GeoMerkle.sol',
      text: 'if (root.schema != rootSchema) revert RootHasOtherSchema(root.schema);',
      error: 'RootHasOtherSchema',
      call: async (at) => verify(at, await root({ schema: uids.numeric })),
    },
    {
      name: 'somebody else attested the root',
      file: 'GeoMerkle.sol',
      text: 'if (root.attester != attester) revert RootHasOtherAttester(root.attester);',
      error: 'RootHasOtherAttester',
      call: async (at) => verify(at, await root({ from: fixture.stranger })),
    },
    {
      name: 'a revoked root',
      file: 'GeoMerkle.sol',
      text: REVOCATION_GUARD,
      error: 'RootNoLongerStands',
      call: revoked,
    },
    {
      name: 'a revoked root',
      file: 'GeoMerkle.sol',
      text: 'root.revocationTime != 0 || ',
      error: 'RootNoLongerStands',
      call: revoked,
    },
    {
      name: 'an expired root',
      file: 'GeoMerkle.sol',
      text: ' || isExpired',
      error: 'RootNoLongerStands',
      call: expired,
    },
    {
      name: 'an item that is not under the root',
      file: 'GeoMerkle.sol',
      text: 'if (rootOf(leafOf(item), proof) != merkleRoot) revert ItemNotUnderRoot();',
      error: 'ItemNotUnderRoot',
      call: async (at) => verify(at, await root(), items[4]!),
    },
    {
      name: 'a result after its deadline',
      file: 'GeoSignature.sol',
      text: 'if (block.timestamp > result.deadline) revert ResultExpired(result.deadline);',
      error: 'ResultExpired',
      call: async (at) => use(at, await signed({ deadline: (await fixture.now()) - 1n })),
    },
    {
      name: 'a byte after the signature',
      file: 'GeoSignature.sol',
      text: `if (signature.length != 65) ${MALFORMED}`,
      error: 'SignatureMalformed',
      call: async (at) => {
        const result = await signed()
        return use(at, { ...result, signature: `${result.signature}00` })
      },
    },
    {
      name: 'the other spelling of a signature',
      file: 'GeoSignature.sol',
      text: 'uint256(s) > LARGEST_S || ',
      error: 'SignatureMalformed',
      call: async (at) => {
        const result = await signed()
        const s = (ORDER - BigInt(`0x${result.signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
        const v = result.signature.endsWith('1b') ? '1c' : '1b'
        return use(at, { ...result, signature: `${result.signature.slice(0, 66)}${s}${v}` })
      },
    },
    {
      name: 'a recovery number of 0 or 1',
      file: 'GeoSignature.sol',
      text: ' || (v != 27 && v != 28)',
      error: 'SignatureMalformed',
      // ecrecover accepts only 27 and 28, and returns zero otherwise.
      nextError: 'ResultHasOtherSigner',
      call: async (at) => {
        const result = await signed()
        return use(at, { ...result, signature: `${result.signature.slice(0, -2)}00` })
      },
    },
    {
      name: 'a result that somebody else signed',
      file: 'GeoSignature.sol',
      text: 'if (signer == address(0) || signer != attester) revert ResultHasOtherSigner(signer);',
      error: 'ResultHasOtherSigner',
      call: async (at) => {
        const account = mnemonicToAccount('test test test test test test test test test test test junk')
        return use(at, await signed({ account }))
      },
    },
    {
      name: 'the result of somebody else',
      file: 'GeoVerifier.sol',
      text: `if (result.recipient != address(0) && result.recipient != msg.sender) {
            revert ResultIsForSomebodyElse(result.recipient);
        }`,
      error: 'ResultIsForSomebodyElse',
      call: async (at) => use(at, await signed(), fixture.stranger),
    },
    {
      name: 'a result that was used',
      file: 'GeoVerifier.sol',
      text: 'if (isUsed[digest]) revert ResultAlreadyUsed(digest);',
      error: 'ResultAlreadyUsed',
      call: async (at) => {
        const result = await signed()
        const call = { ...at, functionName: 'useResult', args: [result], account: fixture.person, chain: null }
        await local.client.waitForTransactionReceipt({ hash: await local.client.writeContract(call) })
        return use(at, result)
      },
    },
  ]

  it('accepts valid input', async () => {
    const verifier = await deployed('')
    expect(await verify(verifier, await root())).toBeUndefined()
    expect(await use(verifier, await signed())).toBeUndefined()
  })

  it.each(GUARDS)('stops $name ($text)', async ({ text, error, nextError, call }) => {
    expect(await call(await deployed(''))).toBe(error)
    expect(await call(await deployed(text))).toBe(nextError)
  })

  it('is in the list; no revert is missing', () => {
    for (const file of ['GeoMerkle.sol', 'GeoSignature.sol', 'GeoVerifier.sol']) {
      const texts = GUARDS.filter((guard) => guard.file === file).map(({ text }) => text)
      // Both conditions of the malformed signature are removed separately.
      const reverts = sources[file]!.match(/revert (?!SignatureMalformed)\w+/g)!
      for (const revert of reverts) expect(texts.join(), file).toContain(revert)
    }
  })
})
