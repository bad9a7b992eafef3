/** The current request as code that is ready to run. */
import type { IssuerChain } from '../../../src/client/answers.ts'
import { OPERATIONS } from '../../../src/compute/operations.ts'
import type { ComputeResponse } from '../../../src/types/generated.ts'
import { bodyOf, isComplete, type RequestDraft, sentInputs } from './request-draft.ts'

export const LANGUAGES = ['curl', 'TypeScript', 'Python', 'Solidity'] as const
export type Language = (typeof LANGUAGES)[number]

export function codeOf(
  language: Language,
  draft: RequestDraft,
  baseUrl: string,
  signed: ComputeResponse | undefined,
  chain: IssuerChain | undefined,
): string {
  if (!isComplete(draft)) return 'B is not set.'
  switch (language) {
    case 'curl':
      return curl(draft, baseUrl)
    case 'TypeScript':
      return typescript(draft, baseUrl)
    case 'Python':
      return python(draft, baseUrl)
    case 'Solidity':
      return solidity(signed, chain)
  }
}

function curl(draft: RequestDraft, baseUrl: string): string {
  const body = JSON.stringify(bodyOf(draft), null, 2).replaceAll("'", "'\\''")
  return `curl -s ${baseUrl}/compute/v0/${draft.operation} \\
  -H 'content-type: application/json' \\
  -d '${compactPositions(body)}'`
}

function typescript(draft: RequestDraft, baseUrl: string): string {
  const inputs = sentInputs(draft)
  const names = OPERATIONS[draft.operation].inputs
  const consts = inputs.map(
    (input, index) => `const ${names[index]} = ${compactPositions(JSON.stringify(input, null, 2))}`,
  )
  const radius = draft.operation === 'within' ? `, ${draft.radiusMeters}` : ''
  const { edges, recipient } = bodyOf(draft)
  const members = Object.entries({ edges, recipient }).filter(([, value]) => value !== undefined)
  const texts = members.map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const options = texts.length === 0 ? '' : `, { ${texts.join(', ')} }`
  return `import { createClient, verifyResult } from 'trigpoint/client'

const client = createClient({ baseUrl: '${baseUrl}', chainId: ${draft.chainId} })
${consts.join('\n')}

const response = await client.compute.${draft.operation}(${names.join(', ')}${radius}${options})
const verdict = await verifyResult(response, {
  issuer: await client.issuer(), // better: a copy that you have stored
  inputs: [${names.join(', ')}],
})
console.log(response.result, verdict.ok)`
}

function python(draft: RequestDraft, baseUrl: string): string {
  const body = compactPositions(JSON.stringify(bodyOf(draft), null, 4))
  return `import json
from urllib.request import Request, urlopen

body = ${body}
request = Request(
    "${baseUrl}/compute/v0/${draft.operation}",
    data=json.dumps(body).encode(),
    headers={"content-type": "application/json"},
)
with urlopen(request, timeout=30) as response:
    reply = json.load(response)
print(reply["result"], reply.get("units", ""))`
}

function solidity(signed: ComputeResponse | undefined, chain: IssuerChain | undefined): string {
  if (signed === undefined || chain === undefined) return '// There is no signed response to submit yet.'
  const { attestation, delegatedAttestation } = signed
  const { signature, attester, deadline } = delegatedAttestation
  const isLegacy = chain.profile === 'legacy'
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), Number.parseInt(signature.slice(130), 16)]
  return `// ${chain.name}, EAS ${chain.easVersion}; nonce ${delegatedAttestation.nonce} of the attester
IEAS(${chain.registry}).attestByDelegation(
    DelegatedAttestationRequest({
        schema: ${attestation.schema},
        data: AttestationRequestData({
            recipient: ${attestation.recipient},
            expirationTime: 0,
            revocable: true,
            refUID: bytes32(0),
            data: hex"${attestation.data.slice(2)}",
            value: 0
        }),
        signature: Signature({
            v: ${v},
            r: 0x${r},
            s: 0x${s}
        }),
        attester: ${attester}${isLegacy ? ' // this EAS version does not sign a deadline' : `,\n        deadline: ${deadline}`}
    })
);`
}

/** Puts each position on one line. */
function compactPositions(json: string): string {
  return json.replace(/\[\s*(-?[\d.e+-]+),\s*(-?[\d.e+-]+)\s*\]/g, '[$1, $2]')
}

const TOKENS =
  /((?<!:)\/\/.*|(?<![\w"'])#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(0x[0-9a-fA-F]+|\d[\d._]*)\b|\b(import|from|const|await|with|as|true|false|print|curl|new|return|for)\b/g

/** Returns code as DOM nodes, with spans for comments, strings, numbers and keywords. */
export function highlighted(code: string): Node[] {
  const nodes: Node[] = []
  let at = 0
  for (const match of code.matchAll(TOKENS)) {
    nodes.push(document.createTextNode(code.slice(at, match.index)))
    const span = document.createElement('span')
    span.className = match[1] !== undefined ? 'c' : match[2] !== undefined ? 's' : match[3] !== undefined ? 'n' : 'k'
    span.textContent = match[0]
    nodes.push(span)
    at = match.index + match[0].length
  }
  nodes.push(document.createTextNode(code.slice(at)))
  return nodes
}
