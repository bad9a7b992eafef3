/** Compiles the contracts of `contracts/` while the tests run: as they are, changed, or with others. */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { type Abi, encodeDeployData } from 'viem'
import type { Hex } from '../../src/wire/values.ts'
import type { LocalChain } from './anvil.ts'

const folder = resolve(import.meta.dirname, '../../contracts')

/** File name → text. */
export type Sources = Readonly<Record<string, string>>
export interface Contract {
  readonly abi: Abi
  readonly bytecode: Hex
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<
    string,
    Record<string, { readonly abi: Abi; readonly evm: { bytecode: { object: string } } }>
  >
}

/** Returns every file of `contracts/`. */
export function contractSources(): Sources {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sol'))
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** Returns the sources without one text, which must occur exactly once. */
export function without(sources: Sources, file: string, text: string): Sources {
  const parts = sources[file]!.split(text)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times ${text}`)
  return { ...sources, [file]: parts.join('') }
}

/**
 * Compiles several versions of the sources at once, with the settings of the project.
 *
 * @param wanted names of the contracts
 * @returns for each version the contracts by name
 * @throws {Error} with the compiler's message; warnings, such as of names that a cut left unused, are ignored
 */
export function compile(versions: readonly Sources[], wanted: readonly string[]): Record<string, Contract>[] {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const sources = Object.fromEntries(
    versions.flatMap((version, index) =>
      Object.entries(version).map(([name, content]) => [`${index}/${name}`, { content }]),
    ),
  )
  const settings = {
    ...JSON.parse(readFileSync(join(folder, 'compiler.json'), 'utf8')),
    outputSelection: { '*': Object.fromEntries(wanted.map((name) => [name, ['abi', 'evm.bytecode.object']])) },
  }
  const output: Output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return versions.map((_, index) => {
    const files = Object.entries(output.contracts).filter(([name]) => name.startsWith(`${index}/`))
    const contracts = Object.assign({}, ...files.map(([, found]) => found)) as Output['contracts'][string]
    return Object.fromEntries(
      wanted.map((name) => {
        const { abi, evm } = contracts[name]!
        return [name, { abi, bytecode: `0x${evm.bytecode.object}` }]
      }),
    )
  })
}

/** @returns the address and the gas of the deployment */
export async function deploy(local: LocalChain, contract: Contract, args: readonly unknown[] = []) {
  const data = encodeDeployData({ ...contract, args })
  const hash = await local.client.sendTransaction({ account: local.submitter, data, chain: null })
  const { status, contractAddress, gasUsed } = await local.client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error('the deployment reverted')
  return { address: contractAddress as Hex, gasUsed }
}
