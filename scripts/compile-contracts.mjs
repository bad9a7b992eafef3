// Compiles contracts/*.sol to contracts/compiled/, one file for each contract that can be deployed. With `--check` it writes
// nothing, and exits with 1 when a file is stale.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const DEPLOYABLE = ['GeoVerifier', 'WithinEntry', 'WithinGate']
const folder = fileURLToPath(new URL('../contracts/', import.meta.url))

const names = (await readdir(folder)).filter((name) => name.endsWith('.sol')).sort()
const sources = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, { content: await readFile(folder + name, 'utf8') }])),
)
// evmVersion: one that all supported chains have, without PUSH0. appendCBOR is off, so the bytecode has no hash of the sources
// and changes only when the code does.
const settings = JSON.parse(await readFile(`${folder}compiler.json`, 'utf8'))
const outputSelection = {
  '*': {
    '': ['ast'],
    '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object', 'evm.deployedBytecode.immutableReferences'],
  },
}
const input = { language: 'Solidity', sources, settings: { ...settings, outputSelection } }
const output = JSON.parse(solc.compile(JSON.stringify(input)))
for (const { formattedMessage } of output.errors ?? []) console.error(formattedMessage)
if (output.errors?.length > 0) process.exit(1)

/** Immutable variables of all contracts: their names by the identifiers of the compiler, which change with every source. */
const immutableNames = new Map(
  Object.values(output.sources)
    .flatMap(({ ast }) => ast.nodes.flatMap(({ nodes = [] }) => nodes))
    .filter(({ mutability }) => mutability === 'immutable')
    .map(({ id, name }) => [String(id), name]),
)
const placesByName = (references) =>
  Object.fromEntries(Object.entries(references).map(([id, places]) => [immutableNames.get(id), places]))

const { evmVersion, optimizer } = settings
await mkdir(`${folder}compiled`, { recursive: true })
for (const contractName of DEPLOYABLE) {
  const { abi, evm } = output.contracts[`${contractName}.sol`][contractName]
  const target = `${folder}compiled/${contractName}.json`
  const compiled = {
    contractName,
    compiler: solc.version(),
    settings: { evmVersion, optimizer },
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    // The code of a deployed contract, with zeros at the places of its immutable values; and these places in bytes, by name.
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    immutableReferences: placesByName(evm.deployedBytecode.immutableReferences),
  }
  const text = `${JSON.stringify(compiled, null, 2)}\n`
  if (!process.argv.includes('--check')) {
    await writeFile(target, text)
  } else if ((await readFile(target, 'utf8').catch(() => '')) !== text) {
    console.error(`contracts/compiled/${contractName}.json is stale: run \`node scripts/compile-contracts.mjs\``)
    process.exitCode = 1
  }
}
