import { type Child, h } from '../dom.ts'

export interface Question {
  readonly title: Child
  readonly body: Child
  /** Label of the button that does it. */
  readonly answer: string
  readonly isDanger?: boolean
}

/** Asks before something that cannot be undone. @returns true if the user confirms */
export function confirmed({ title, body, answer, isDanger = false }: Question): Promise<boolean> {
  const heading = h('h2', { id: 'question-title' }, title)
  const cancel = h('button', { class: 'button', type: 'button' }, 'Cancel')
  const dialog = h(
    'dialog',
    { class: 'dialog', 'aria-labelledby': 'question-title' },
    h(
      'form',
      { class: 'stack', method: 'dialog' },
      heading,
      body,
      h(
        'div',
        { class: 'row end-row' },
        cancel,
        h('button', { class: `button ${isDanger ? 'danger' : 'primary'}`, type: 'submit', value: 'yes' }, answer),
      ),
    ),
  )
  cancel.addEventListener('click', () => dialog.close())
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}
