/** Facts about the machine of a run. */
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

export interface Machine {
  readonly node: string
  readonly cores: number
  readonly cpu: string
  readonly gibibytes: number
  readonly load: readonly number[]
}

export function machineFacts(): Machine {
  return {
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    gibibytes: Math.round(totalmem() / 2 ** 30),
    load: loadavg().map((value) => Number(value.toFixed(2))),
  }
}

/** Prints the installed versions of the packages that are contenders. */
export function printPackages(names: readonly string[]): void {
  for (const name of names) {
    const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
    console.log(`- ${name}: ${(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version}`)
  }
}
