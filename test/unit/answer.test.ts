import { expect, it } from 'vitest'
import {
  type ComputeResponse,
  computeResponseJson,
  type ResultFacts,
  resultMembers,
} from '../../src/compute/response-text.ts'

type Facts = Omit<ComputeResponse, 'members'> & ResultFacts

const baseFacts: Facts = {
  result: 4238.77,
  units: 'meters',
  operation: 'distance',
  timestampSeconds: 1_700_000_000,
  inputRefs: [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`],
  schema: `0x${'3'.repeat(64)}`,
  attester: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  recipient: `0x${'0'.repeat(40)}`,
  data: `0x${'4'.repeat(64)}`,
  signature: `0x${'5'.repeat(130)}`,
  nonce: 7,
  deadlineSeconds: 1_700_003_600,
  proofInputs: [],
  resultSignature: undefined,
}

/** The same response built as an object: the text of the template has to parse to this. */
function toResponseObject({ signature, attester, ...fields }: Facts) {
  return {
    result: fields.result,
    ...(fields.units === undefined ? {} : { units: fields.units }),
    operation: fields.operation,
    timestamp: fields.timestampSeconds,
    inputRefs: fields.inputRefs,
    attestation: {
      schema: fields.schema,
      attester,
      recipient: fields.recipient,
      data: fields.data,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      signature,
    },
    delegatedAttestation: { signature, attester, deadline: fields.deadlineSeconds, nonce: fields.nonce },
    ...(fields.proofInputs.length === 0 ? {} : { proofInputs: fields.proofInputs.map((text) => JSON.parse(text)) }),
    ...(fields.resultSignature === undefined
      ? {}
      : {
          resultSignature: {
            signature: fields.resultSignature.signature,
            attester,
            deadline: fields.resultSignature.deadlineSeconds,
            salt: fields.resultSignature.salt,
          },
        }),
  }
}

it.each<Partial<Facts>>([
  {},
  { result: true, units: undefined, operation: 'within:50000' },
  { result: 0, inputRefs: [`0x${'1'.repeat(64)}`] },
  { result: 510_065_621_724_088.44, units: 'square_meters' },
  {
    resultSignature: {
      signature: `0x${'6'.repeat(130)}`,
      salt: `0x${'7'.repeat(64)}`,
      deadlineSeconds: 1_700_003_599,
    },
  },
  { proofInputs: ['{"ref":"x"}', JSON.stringify({ claim: { eventType: '"\u2028\n' } })] },
])('writes the JSON of the response with %j', (changes) => {
  const facts = { ...baseFacts, ...changes }
  const text = computeResponseJson({ ...facts, members: resultMembers(facts) })
  expect(JSON.parse(text)).toEqual(toResponseObject(facts))
})
