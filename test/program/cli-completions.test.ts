import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCli } from '../cli-runner.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-completions-'))
afterAll(() => rmSync(folder, { recursive: true }))

const hasShell = (name: string) => spawnSync(name, ['-c', 'true']).status === 0

describe('trigpoint completions', () => {
  describe.skipIf(!hasShell('bash'))('for bash', () => {
    /** Returns what bash offers for the last word. */
    const offered = async (...words: string[]) => {
      const { out: script } = await runCli(['completions', 'bash'])
      const text = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trigpoint trigpoint "\${COMP_WORDS[COMP_CWORD]}"; printf '%s\\n' "\${COMPREPLY[@]}"`
      const run = spawnSync('bash', ['--norc', '-uc', text, 'bash', 'trigpoint', ...words], { encoding: 'utf8' })
      expect([run.status, run.stderr]).toEqual([0, ''])
      return run.stdout.split('\n').filter((line) => line !== '')
    }

    it('offers every verb of the help, and those of a group', async () => {
      const { out: help } = await runCli(['--help'])
      const verbs = [...help.split(/\n(?:Commands|Examples):/)[1]!.matchAll(/^ {2}([a-z-]+)/gm)].map(
        ([, verb]) => verb!,
      )
      expect(verbs.length).toBeGreaterThan(14)
      expect(await offered('')).toEqual(verbs)
      expect(await offered('comp')).toEqual(['compute', 'completions'])
      expect(await offered('keys', '')).toEqual(['add', 'list', 'import', 'rotate', 'revoke', 'usage', 'help'])
      expect(await offered('records', 'e')).toEqual(['export'])
    })

    it('offers the options of the verb', async () => {
      expect(await offered('batch', '--con')).toEqual(['--concurrency'])
      expect(await offered('keys', 'add', 'internal', '--l')).toEqual(['--label'])
      expect(await offered('serve', '--sample')).toEqual(['--sample-records'])
      expect(await offered('--ver')).toEqual(['--version'])
      expect(await offered('verify', '--con')).toEqual([])
    })

    it('offers the values of options and arguments that have a list, and nothing else there', async () => {
      expect(await offered('batch', 'area', 'in.csv', '--attest', '')).toEqual(['each', 'none'])
      expect(await offered('records', 'list', '--chain', 'base', '--format', 'g')).toEqual(['geojson'])
      expect(await offered('records', 'export', '--format', '')).toEqual([
        'json',
        'geojson',
        'csv',
        'fgb',
        'fgbz',
        'parquet',
      ])
      expect(await offered('compute', 'di')).toEqual(['distance', 'disjoint', 'direct'])
      // After the operation there are files, which bash completes.
      expect(await offered('compute', 'distance', '')).toEqual([])
      expect(await offered('compute', '--recipient', '0x01', 'ar')).toEqual(['area'])
      expect(await offered('batch', '-o', '')).toEqual([])
      expect(await offered('keys', 'add', '')).toEqual(['developer', 'internal'])
    })
  })

  /** Command lines, and what a shell must offer for their last word. */
  const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
    ['trigpoint comp', ['completions', 'compute']],
    ['trigpoint rec', ['receipt', 'records']],
    ['trigpoint keys ', ['add', 'help', 'import', 'list', 'revoke', 'rotate', 'usage']],
    ['trigpoint records e', ['export']],
    ['trigpoint schema l', ['list']],
    ['trigpoint batch --con', ['--concurrency']],
    ['trigpoint keys add internal --l', ['--label']],
    ['trigpoint serve --sample', ['--sample-records']],
    ['trigpoint verify --con', []],
    ['trigpoint batch area in.csv --attest ', ['each', 'none']],
    ['trigpoint batch area in.csv --output-format c', ['csv']],
    ['trigpoint records list --chain base --format g', ['geojson']],
    ['trigpoint compute dist', ['distance']],
    ['trigpoint compute --recipient 0x01 ar', ['area']],
    ['trigpoint keys add ', ['developer', 'internal']],
    ['trigpoint completions z', ['zsh']],
  ]

  it('work in zsh', async ({ skip }) => {
    skip(!hasShell('zsh'), 'zsh is not installed')
    const path = (name: string) => join(folder, name)
    writeFileSync(path('script.zsh'), (await runCli(['completions', 'zsh'])).out)
    writeFileSync(path('setup.zsh'), ZSH_SETUP)
    writeFileSync(path('driver.zsh'), ZSH_DRIVER)
    for (const [line, expected] of LINES) {
      writeFileSync(path('offered'), '')
      const run = spawnSync('zsh', ['-f', path('driver.zsh'), line], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 300_000,
      })
      expect([line, run.status, run.stderr]).toEqual([line, 0, ''])
      const offered = readFileSync(path('offered'), 'utf8').split('\n')
      expect([line, offered.filter((word) => word !== '').sort()]).toEqual([line, expected])
    }
  })

  it('work in fish', async ({ skip }) => {
    skip(!hasShell('fish'), 'fish is not installed')
    const script = join(folder, 'script.fish')
    writeFileSync(script, (await runCli(['completions', 'fish'])).out)
    for (const [line, expected] of LINES) {
      const text = 'source $argv[1]; complete --do-complete $argv[2]'
      const run = spawnSync('fish', ['--no-config', '-c', text, script, line], { cwd: folder, encoding: 'utf8' })
      expect([line, run.status, run.stderr]).toEqual([line, 0, ''])
      // A tab separates a word from its description.
      const offered = run.stdout.split('\n').map((word) => word.split('\t')[0]!)
      expect([line, offered.filter((word) => word !== '').sort()]).toEqual([line, expected])
    }
  })

  it.each(['bash', 'zsh', 'fish'])('is a valid script for %s', async (shell) => {
    const { exitCode, out } = await runCli(['completions', shell])
    expect([exitCode, out]).toEqual([0, expect.stringContaining('records')])
    if (!hasShell(shell)) return
    writeFileSync(join(folder, 'script'), out)
    const run = spawnSync(shell, ['-n', join(folder, 'script')], { encoding: 'utf8' })
    expect([run.status, run.stderr]).toEqual([0, ''])
  })

  it('rejects another shell', async () => {
    expect((await runCli(['completions', 'cmd'])).exitCode).toBe(2)
  })
})

/** Writes what completion adds to the file `offered`, and prints a marker when completion is done. */
const ZSH_SETUP = `
PS1=
autoload -Uz compinit && compinit -D -u
source script.zsh
compadd() {
  local -a matching
  builtin compadd -O matching "$@"
  print -rl -- $matching >> offered
  builtin compadd "$@"
}
tell_end() { print END-OF-COMPLETION }
comppostfuncs=(tell_end)
print READY-TO-COMPLETE
`

/** Types a command line and a tab into an interactive zsh. */
const ZSH_DRIVER = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source setup.zsh'
zpty -r shell answer '*READY-TO-COMPLETE*'
zpty -w -n shell "$1"$'\\t'
zpty -r shell answer '*END-OF-COMPLETION*'
zpty -d shell
`
