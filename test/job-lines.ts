/** Operations of jobs: distances, of which one in a thousand fails. */
export const line = (index: number) =>
  index % 1000 === 7
    ? '{"op":"distance"}'
    : `{"op":"distance","id":${index},"from":{"type":"Point","coordinates":[${index % 180},1]},"to":{"type":"Point","coordinates":[2,3]}}`

/** Returns the operations from an index to another, one on each line. */
export const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${line(from + index)}\n`).join('')
