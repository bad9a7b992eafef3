import { CM_PER_METER, fromScaledInteger, toScaledInteger } from '../base/units.ts'
import { classifyInput } from '../client/inputs.ts'
import { createRecompute } from '../client/recompute.ts'
import type { Recompute } from '../client/verify/verify-options.ts'
import { OPERATIONS, type OperationRow } from '../compute/operations.ts'
import { checkShape } from '../geometry/check-shape.ts'
import type { Geometry } from '../types/generated.ts'
import { MEANINGS, POSITIONS, requestSchemaReference } from './compute-tools.ts'
import { type Arguments, type JsonSchema, standaloneSchema, type Tool, valueText } from './tool.ts'

/** Half of the Earth's circumference. Every point is within a larger radius (decision 8). */
const MAX_RADIUS_METERS = 20_037_508

/** Creates one tool for each operation. Results are computed in this process, by the service's code, and are not signed. */
export function createLocalComputeTools(): Tool[] {
  let recompute: Recompute | undefined
  return Object.values(OPERATIONS).map((row) => ({
    name: `compute_${row.name}`,
    title: `Compute: ${row.name}`,
    description: `${MEANINGS[row.name]} ${POSITIONS} Computed on this machine, without a service; the result is not signed.`,
    inputSchema: unsignedRequest(row),
    async call(given) {
      recompute ??= createRecompute()
      const operation = row.name === 'within' ? `within:${radiusCm(given['radius'])}` : row.name
      const outcome = recompute(
        operation,
        row.inputs.map((name) => readGeometry(given, name)),
      )
      if (!outcome.ok) throw new TypeError(outcome.reason)
      if (row.result.kind === 'boolean') return toToolAnswer(operation, outcome.result as boolean)
      return toToolAnswer(operation, fromScaledInteger(outcome.result as bigint, row.result.scale), row.result.units)
    },
  }))
}

function toToolAnswer(operation: string, result: number | boolean, units?: string) {
  const text = `${operation}: ${valueText(result, units)}\nComputed on this machine, not signed.`
  return { text, structured: { operation, result, ...(units === undefined ? {} : { units }), signed: false } }
}

/** Builds the input schema of an operation: its inputs, which must be geometries here, and its radius if it has one. */
function unsignedRequest({ name, inputs }: OperationRow): JsonSchema {
  const { properties } = standaloneSchema(requestSchemaReference(name)) as {
    properties: Readonly<Record<string, JsonSchema>>
  }
  const { $defs, ...geometry } = standaloneSchema('geometry.schema.json')
  const radius = properties['radius']
  return {
    type: 'object',
    required: [...inputs, ...(radius === undefined ? [] : ['radius'])],
    properties: {
      ...Object.fromEntries(inputs.map((input) => [input, geometry])),
      ...(radius === undefined ? {} : { radius }),
    },
    $defs,
  }
}

function readGeometry(given: Arguments, name: string): Geometry {
  const input = given[name]
  if (input === undefined) throw new TypeError(`${name} is missing`)
  const classified = classifyInput(input)
  if (classified.form !== 'geometry')
    throw new TypeError(`${name} has to be a geometry, because no service is used here`)
  const shaped = checkShape(classified.geometry)
  if (!shaped.ok) throw new TypeError(`${name} ${shaped.reason}`)
  return shaped.geometry
}

function radiusCm(radius: unknown): bigint {
  const isInRange = typeof radius === 'number' && radius > 0 && radius <= MAX_RADIUS_METERS
  const centimeters = isInRange ? toScaledInteger(radius, CM_PER_METER) : 0n
  if (centimeters > 0n) return centimeters
  throw new TypeError(`radius must be a number of metres, from 0.01 to ${MAX_RADIUS_METERS}`)
}
