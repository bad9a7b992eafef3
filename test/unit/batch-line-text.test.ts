import { describe, expect, it } from 'vitest'
import { composeItem, type ItemRule } from '../../src/cli/batch/feeder.ts'
import { createLineComposer } from '../../src/cli/batch/line-text.ts'

const POINT = '{"type":"Point","coordinates":[2,48]}'
const MIXED: ItemRule = { operation: 'mixed', fixed: {}, radius: undefined }
const DISTANCE: ItemRule = { operation: 'distance', fixed: {}, radius: undefined }
const TO_PARIS: ItemRule = { ...DISTANCE, fixed: { to: { type: 'Point', coordinates: [2.3522, 48.8566] } } }
const WITHIN: ItemRule = { operation: 'within', fixed: { target: { type: 'Point', coordinates: [0, 1] } }, radius: 500 }

describe('an item that is composed as text', () => {
  it.each([
    ['without an id', DISTANCE, `{"from":${POINT},"to":${POINT}}`],
    ['with an id', DISTANCE, `{"id":"a","from":${POINT},"to":${POINT}}`],
    ['with spaces and other members', DISTANCE, ` {"note" : ["id", "op"], "from":${POINT},"to" :\t${POINT}}`.trim()],
    ['with a fixed input', TO_PARIS, `{"from":${POINT}}`],
    ['with a radius', WITHIN, `{"geometry":${POINT},"id":7}`],
    ['of any operation', MIXED, `{"op":"area","geometry":${POINT},"chainId":8453}`],
  ])('is the item of the parsed line: %s', (_case, rule, line) => {
    const parsed = composeItem({ place: 'line 5', value: JSON.parse(line) }, 5, rule)
    const text = createLineComposer(rule)(line, 5)
    expect(JSON.parse(text!)).toEqual((parsed as { item: object }).item)
  })

  it.each([
    ['a geometry', TO_PARIS, POINT],
    ['a member that makes it an input', DISTANCE, `{"type":"trip","from":${POINT},"to":${POINT}}`],
    ['an input without a name', TO_PARIS, `{"input":${POINT}}`],
    ['its own value of a fixed input', TO_PARIS, `{"from":${POINT},"to":${POINT}}`],
    ['its own radius', WITHIN, `{"geometry":${POINT},"radius":1}`],
    ['an operation of its own', DISTANCE, `{"op":"area","geometry":${POINT}}`],
    ['no operation', MIXED, `{"from":${POINT},"to":${POINT}}`],
    ['a Feature', DISTANCE, `{"from":{"type":"Feature","properties":{},"geometry":${POINT}},"to":${POINT}}`],
    ['an escape', DISTANCE, `{"\\u0069d":1,"from":${POINT},"to":${POINT}}`],
    ['no members', DISTANCE, '{}'],
    ['an end that is missing', DISTANCE, `{"from":${POINT}`],
    ['a quote that is not closed', DISTANCE, '{"from'],
    ['a list', DISTANCE, '[1]'],
  ])('is left to the parser if the line has %s', (_case, rule, line) => {
    expect(createLineComposer(rule)(line, 5)).toBeUndefined()
  })
})
