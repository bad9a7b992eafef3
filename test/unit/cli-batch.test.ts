import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFileWriter } from '../../src/cli/batch/writer.ts'
import { cliFolder, type Run, type RunOptions, runCli } from '../cli-runner.ts'

const ITEMS = 300
const lines = Array.from({ length: ITEMS }, (_, index) => {
  return `{"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,${(index + 1) / ITEMS}],[0,0]]]}}\n`
})

describe('a batch in this process', () => {
  let folder: ReturnType<typeof cliFolder>
  beforeEach(() => {
    folder = cliFolder()
    writeFileSync(path('in.ndjson'), lines.join(''))
  })
  afterEach(() => folder.remove())

  const path = (name: string) => join(folder.path, name)
  const output = () => readFileSync(path('out.ndjson'), 'utf8')
  const batch = (options: RunOptions = {}, ...more: string[]): Promise<Run> => {
    const env = { DATA_DIR: path('.data') }
    return runCli(['batch', 'area', path('in.ndjson'), '-o', path('out.ndjson'), '--local', ...more], {
      env,
      ...options,
    })
  }
  /** Ended by the signal while it works: at the hundredth look at the clock. */
  const interrupted = (...more: string[]) => {
    const controller = new AbortController()
    let looks = 0
    const signal = new Proxy(controller.signal, {
      get(target, name) {
        if (name === 'aborted' && ++looks === 100) controller.abort(new Error('ended by SIGINT'))
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return batch({ signal }, ...more)
  }

  it('says how it goes on when it is interrupted, and ends in what it would have been', async () => {
    const first = await interrupted()
    expect(first.exitCode).toBe(130)
    expect(first.err).toMatch(/^\d+ items are done: the same command goes on from there\ntrigpoint: ended by SIGINT\n$/)
    const { checkpoint } = JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8'))
    expect(checkpoint.items).toBeGreaterThan(10)
    expect(checkpoint.items).toBeLessThan(ITEMS)
    expect(checkpoint.outputBytes).toBe(Buffer.byteLength(output()))
    const second = await batch()
    expect([second.exitCode, second.err]).toEqual([0, `going on after item ${checkpoint.items}\n`])
    expect(existsSync(path('out.ndjson.part'))).toBe(false)
    const parts = output()
    expect((await batch({}, '--restart')).exitCode).toBe(0)
    expect(output()).toBe(parts)
    expect(parts.split('\n')).toHaveLength(ITEMS + 1)
  })

  it('cuts off what was written after the last checkpoint', async () => {
    await interrupted()
    const kept = output()
    writeFileSync(path('out.ndjson'), `${kept}{"id":77,"half a li`)
    expect((await batch()).exitCode).toBe(0)
    expect(output().startsWith(kept)).toBe(true)
    expect(
      output()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id),
    ).toEqual(lines.map((_, index) => index + 1))
  })

  it('goes on neither with another command nor with another input, nor over a damaged journal', async () => {
    await interrupted()
    const other = await batch({}, '--attest', 'none')
    expect([other.exitCode, other.err]).toEqual([2, expect.stringContaining('the interrupted run had another command')])
    writeFileSync(path('in.ndjson'), lines.slice(1).join(''))
    const changed = await batch()
    expect([changed.exitCode, changed.err]).toEqual([
      2,
      expect.stringContaining('the interrupted run had another input'),
    ])
    writeFileSync(path('in.ndjson'), lines.join(''))
    const kept = readFileSync(path('out.ndjson.part'), 'utf8')
    writeFileSync(path('out.ndjson.part'), kept.slice(0, 50))
    expect((await batch()).err).toContain('is no journal of a batch')
    const atWork = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)', 'trigpoint'], { stdio: 'ignore' })
    writeFileSync(path('out.ndjson.part'), JSON.stringify({ ...JSON.parse(kept), pid: atWork.pid }))
    expect((await batch()).err).toContain(`process ${atWork.pid} is at it`)
    atWork.kill('SIGKILL')
    writeFileSync(path('out.ndjson.part'), kept)
    writeFileSync(path('out.ndjson'), '')
    expect((await batch()).err).toContain('is shorter than the interrupted run left it')
    expect((await batch({}, '--restart')).exitCode).toBe(0)
  })

  it('begins anew neither while another process is at it, nor over its own input or refusals', async () => {
    await interrupted()
    const kept = readFileSync(path('out.ndjson.part'), 'utf8')
    const atWork = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)', 'trigpoint'], { stdio: 'ignore' })
    writeFileSync(path('out.ndjson.part'), JSON.stringify({ ...JSON.parse(kept), pid: atWork.pid }))
    const run = await batch({}, '--restart')
    expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining(`process ${atWork.pid} is at it`)])
    atWork.kill('SIGKILL')
    for (const [name, errors] of [
      ['in.ndjson', 'e.ndjson'],
      ['out.ndjson', 'in.ndjson'],
      ['same.ndjson', './same.ndjson'],
    ] as const) {
      const argv = ['batch', 'area', path('in.ndjson'), '-o', path(name), '--errors', `${folder.path}/${errors}`]
      expect((await runCli([...argv, '--local', '--restart'], { env: { DATA_DIR: path('.data') } })).exitCode).toBe(2)
    }
    expect(readFileSync(path('in.ndjson'), 'utf8')).toBe(lines.join(''))
  })

  it('goes on with no input whose part that was read is another now, if of the same size and beginning', async () => {
    const wide = lines.map((line) => `${line.slice(0, -1)}${' '.repeat(1500)}\n`)
    writeFileSync(path('in.ndjson'), wide.join(''))
    await interrupted()
    const { checkpoint } = JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8'))
    expect(checkpoint.items).toBeGreaterThan(60)
    writeFileSync(path('in.ndjson'), wide.with(55, wide[55]!.replace('[1,0]', '[2,0]')).join(''))
    const other = await batch()
    expect([other.exitCode, other.err]).toEqual([
      2,
      expect.stringContaining('is another one than the interrupted run read'),
    ])
    writeFileSync(path('in.ndjson'), wide.join(''))
    expect((await batch()).exitCode).toBe(0)
    expect(output().split('\n')).toHaveLength(ITEMS + 1)
  })

  it('belongs to who goes on from the first moment', () => {
    const files = { output: path('out.ndjson'), errors: path('e.ndjson') }
    const identity = { request: 'r', inputBytes: 1, inputHead: 'h' }
    const checkpoint = { items: 0, failed: 0, outputBytes: 0, errorBytes: 0 }
    writeFileSync(path('out.ndjson.part'), JSON.stringify({ version: 1, pid: 2 ** 22 + 1, ...identity, checkpoint }))
    const writer = createFileWriter(
      files,
      identity,
      false,
      () => 0,
      () => undefined,
    )
    expect(JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8')).pid).toBe(process.pid)
    writer.close(true)
  })

  it('leaves what it is to write over as it is until the first answer', async () => {
    await interrupted()
    const [results, journal] = [output(), readFileSync(path('out.ndjson.part'), 'utf8')]
    writeFileSync(path('in.ndjson'), `{"no input":1}\n${lines.join('')}`)
    // Nobody listens there; the first line is refused without being asked.
    const away = [
      'batch',
      'area',
      path('in.ndjson'),
      '-o',
      path('out.ndjson'),
      '--restart',
      '--url',
      'http://127.0.0.1:9',
    ]
    const run = await runCli(away)
    expect([run.exitCode, run.err]).toEqual([
      3,
      expect.stringContaining('nothing is answered: the files are as they were'),
    ])
    expect(output()).toBe(results)
    expect(JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8'))).toEqual({
      ...JSON.parse(journal),
      pid: process.pid,
    })
    // The interrupted run still goes on, and a finished one stays finished.
    writeFileSync(path('in.ndjson'), lines.join(''))
    expect((await batch()).exitCode).toBe(0)
    const finished = output()
    expect(finished.split('\n')).toHaveLength(ITEMS + 1)
    mkdirSync(path('damaged'))
    writeFileSync(path('damaged/dev-signer.json'), 'nonsense')
    expect((await batch({}, '--restart', '--data', path('damaged'))).exitCode).not.toBe(0)
    expect([output(), existsSync(path('out.ndjson.part'))]).toEqual([finished, false])
    expect((await batch({}, '--restart', '--attest', 'none')).exitCode).toBe(0)
    expect(output()).toHaveLength(finished.replace(/,"attestation":.*/g, '}').length)
  })

  it('holds no more refusals than a checkpoint has while nothing is answered', () => {
    writeFileSync(path('out.ndjson'), 'of before\n')
    const files = { output: path('out.ndjson'), errors: path('e.ndjson') }
    const identity = { request: 'r', inputBytes: 1, inputHead: 'h' }
    const writer = createFileWriter(
      files,
      identity,
      true,
      () => 0,
      () => undefined,
    )
    const entry = { number: 1, place: 'line 1', id: 1, item: undefined, fault: 'f' }
    const problem = { type: 'about:blank', title: 'Not sent', status: 400, detail: 'f' }
    for (let count = 1; count < 10_000; count++) writer.refusal(entry, problem)
    expect([writer.hasBegun, output(), readFileSync(path('e.ndjson'), 'utf8')]).toEqual([false, 'of before\n', ''])
    writer.refusal(entry, problem)
    expect([writer.hasBegun, output()]).toEqual([true, ''])
    writer.close(true)
    expect(readFileSync(path('e.ndjson'), 'utf8').trim().split('\n')).toHaveLength(10_000)
  })
})
