import { describe, expect, it } from 'vitest'
import type { Terminal } from '../../src/cli/terminal.ts'
import { createProgress, progressText } from '../../src/cli/terminal.ts'

function createScreen(isInteractive: boolean) {
  const state = { nowMs: 0, printed: [] as string[] }
  const terminal = { isInteractive, now: () => state.nowMs, err: (text: string) => state.printed.push(text) }
  return { ...state, state, progress: createProgress(terminal as unknown as Terminal, 'item') }
}

describe('progress', () => {
  it('shows the rate and the remaining time', () => {
    expect(progressText({ done: 500, share: 0.25 }, 'item', 10)).toBe(
      '██████░░░░░░░░░░░░░░░░░░ 25 %  500 items  50.0 items/s  30 s left',
    )
    expect(progressText({ done: 1_234_567, share: 0.5, note: '3 refused' }, 'item', 400)).toBe(
      '████████████░░░░░░░░░░░░ 50 %  1,234,567 items  3,086 items/s  6 min 40 s left  3 refused',
    )
    expect(progressText({ done: 1 }, 'block', 2)).toBe('1 block  0.5 blocks/s')
    expect(progressText({ done: 7 }, 'block', 2)).toBe('7 blocks  3.5 blocks/s')
  })

  it('leaves the items of an earlier run out of the rate', () => {
    // 10 % were done in ten seconds, starting at 50 %. The remaining 40 % take 40 s.
    expect(progressText({ done: 100, share: 0.6 }, 'item', 10, 0.5)).toContain('40 s left')
  })

  it('is silent for two seconds, then redraws one line of a terminal five times a second', () => {
    const { state, progress } = createScreen(true)
    for (state.nowMs = 0; state.nowMs <= 4000; state.nowMs += 50)
      progress.update({ done: state.nowMs, share: state.nowMs / 8000 })
    progress.stop()
    expect(state.printed).toHaveLength(11 + 2)
    expect(state.printed[0]).toBe(`\r${progressText({ done: 2000, share: 0.25 }, 'item', 2)}\u001b[K`)
    expect(state.printed.at(-1)).toBe('\n')
  })

  it('writes whole lines when there is no terminal, one every ten seconds, and none for quick work', () => {
    const { state, progress } = createScreen(false)
    for (state.nowMs = 0; state.nowMs <= 25_000; state.nowMs += 100) progress.update({ done: state.nowMs })
    progress.stop()
    expect(state.printed.map((line) => line.split(' ')[0])).toEqual(['2,000', '12,000', '22,000', '25,000'])
    const quick = createScreen(false)
    quick.progress.update({ done: 5 })
    quick.progress.stop()
    expect(quick.state.printed).toEqual([])
  })
})
