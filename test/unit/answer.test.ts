import { expect, it } from 'vitest'
import { type ResultFacts, resultMembers } from '../../src/compute/result-text.ts'
import { type ComputeAnswer, computeAnswerJson } from '../../src/service/answer.ts'

type Facts = Omit<ComputeAnswer, 'members'> & ResultFacts

const answer: Facts = {
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
  nonceSource: 'chain',
  deadlineSeconds: 1_700_003_600,
  proofInputs: [],
  resultSignature: undefined,
}

/** The same answer built as an object: what the template has to parse to. */
function asObject({ signature, attester, ...rest }: Facts) {
  return {
    result: rest.result,
    ...(rest.units === undefined ? {} : { units: rest.units }),
    operation: rest.operation,
    timestamp: rest.timestampSeconds,
    inputRefs: rest.inputRefs,
    attestation: {
      schema: rest.schema,
      attester,
      recipient: rest.recipient,
      data: rest.data,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      signature,
    },
    delegatedAttestation: { signature, attester, deadline: rest.deadlineSeconds, nonce: rest.nonce },
    ...(rest.proofInputs.length === 0 ? {} : { proofInputs: rest.proofInputs.map((text) => JSON.parse(text)) }),
    ...(rest.resultSignature === undefined
      ? {}
      : {
          resultSignature: {
            signature: rest.resultSignature.signature,
            attester,
            deadline: rest.resultSignature.deadlineSeconds,
            salt: rest.resultSignature.salt,
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
])('writes the JSON of the answer with %j', (changes) => {
  const given = { ...answer, ...changes }
  const text = computeAnswerJson({ ...given, members: resultMembers(given) })
  expect(JSON.parse(text)).toEqual(asObject(given))
})
