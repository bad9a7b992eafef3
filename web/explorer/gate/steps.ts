/** The list of the steps of one action: what is being done, what was done, and what failed. */
import { announce, type Child, h, replace } from '../dom.ts'
import { icon } from '../icons.ts'

export function createSteps(label: string) {
  const element = h('ol', { class: 'gate-steps', 'aria-label': label })
  return { element, run, clear: () => replace(element) }

  /**
   * Does one step and shows it.
   *
   * @param work receives a function that says what the step waits for
   * @param words describes the outcome
   * @throws what `work` throws, after the step is marked as failed
   */
  async function run<T>(
    title: string,
    work: (say: (text: string) => void) => Promise<T>,
    words: (outcome: T) => Child,
  ): Promise<T> {
    const mark = h('span', { class: 'mark' })
    const detail = h('span', { class: 'hint' })
    const line = h('li', { 'data-state': 'doing' }, mark, h('span', {}, h('strong', {}, title), ' ', detail))
    element.append(line)
    const say = (text: string) => {
      detail.textContent = text
      announce(`${title} ${text}`)
    }
    say('Working …')
    try {
      const outcome = await work(say)
      line.dataset['state'] = 'done'
      mark.append(icon('check'))
      replace(detail, words(outcome))
      announce(`${title} ${detail.textContent}`)
      return outcome
    } catch (error) {
      line.dataset['state'] = 'failed'
      mark.append(icon('cross'))
      say('Failed.')
      throw error
    }
  }
}
