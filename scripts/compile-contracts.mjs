// contracts/*.sol → contracts/compiled/GeoVerifier.json. `--check` compares instead of writing and exits 1 when stale.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const folder = fileURLToPath(new URL('../contracts/', import.meta.url))
const target = `${folder}compiled/GeoVerifier.json`

const names = (await readdir(folder)).filter((name) => name.endsWith('.sol')).sort()
const sources = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, { content: await readFile(folder + name, 'utf8') }])),
)
const settings = {
  // The oldest of the rules that all supported chains have: no PUSH0.
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 200 },
  // Without a hash of the sources at its end the code depends on what it does alone.
  metadata: { appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}
const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
for (const { formattedMessage } of output.errors ?? []) console.error(formattedMessage)
if (output.errors?.length > 0) process.exit(1)

const { abi, evm } = output.contracts['GeoVerifier.sol'].GeoVerifier
const { evmVersion, optimizer } = settings
const text = `${JSON.stringify(
  {
    contractName: 'GeoVerifier',
    compiler: solc.version(),
    settings: { evmVersion, optimizer },
    abi,
    bytecode: `0x${evm.bytecode.object}`,
  },
  null,
  2,
)}\n`
if (process.argv.includes('--check')) {
  if ((await readFile(target, 'utf8').catch(() => '')) !== text) {
    console.error('contracts/compiled is stale: run `node scripts/compile-contracts.mjs`')
    process.exit(1)
  }
} else {
  await mkdir(`${folder}compiled`, { recursive: true })
  await writeFile(target, text)
}
