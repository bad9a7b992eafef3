import { KEY_ID, OVERLAP_SECONDS } from './key-operations.ts'
import { json, type Operation, type OperationTable, schemaRef } from './operation.ts'

const ERROR_STATUSES = [401, 429, 500, 503]
const BODY_STATUSES = [400, 413, 415]

function operation(
  operationId: string,
  summary: string,
  [status, description, schema]: readonly [status: number, description: string, schema?: string],
  more: Partial<Operation> = {},
): Operation {
  const { errorStatuses = [], ...most } = more
  return {
    tag: 'Accounts',
    operationId,
    summary,
    responses: { [status]: { description, ...(schema === undefined ? {} : { content: json(schemaRef(schema)) }) } },
    counts: true,
    errorStatuses: [...errorStatuses, ...ERROR_STATUSES],
    ...most,
  }
}

/** The sign-in with a wallet, and what an account that has signed in may do. The routes are absent if the sign-in is off. */
export const ACCOUNT_OPERATIONS: OperationTable = {
  'POST /auth/nonce': operation('makeNonce', 'A nonce for a message to sign', [200, 'The nonce.', 'SignInNonce'], {
    errorStatuses: [415],
  }),
  'POST /auth/siwe': operation('signIn', 'Sign in with a wallet', [200, 'The tokens of a session.', 'SessionTokens'], {
    description:
      'Takes a message of EIP-4361 with a nonce of this service, and its signature: of the address, or what its contract takes (ERC-1271, ERC-6492) if the service has an RPC endpoint of the chain.',
    body: { content: json(schemaRef('SignInRequest')) },
    errorStatuses: BODY_STATUSES,
  }),
  'POST /auth/refresh': operation(
    'refreshSession',
    'Continue a session',
    [200, 'New tokens, which replace the old ones.', 'SessionTokens'],
    {
      description:
        'A refresh token that is used again ends its session, except shortly after its first use, when the response may have been lost.',
      body: { content: json(schemaRef('RefreshRequest')) },
      errorStatuses: BODY_STATUSES,
    },
  ),
  'POST /auth/sign-out': operation('signOut', 'End a session', [204, 'The session has ended.'], {
    needsKey: true,
    errorStatuses: [415],
  }),
  'GET /account': operation('account', 'The account of a session', [200, 'Its address and limits.', 'Account'], {
    needsKey: true,
  }),
  'GET /account/keys': operation('listAccountKeys', 'API keys of the account', [200, 'The keys.', 'KeyList'], {
    needsKey: true,
  }),
  'POST /account/keys': operation(
    'addAccountKey',
    'Add an API key of the account',
    [201, 'The key, which no other response shows.', 'NewKey'],
    {
      needsKey: true,
      description:
        'It counts towards the limit of the account. Every process of the service accepts it within a second.',
      body: { content: json(schemaRef('AccountKeyRequest')) },
      errorStatuses: [...BODY_STATUSES, 409],
    },
  ),
  'POST /account/keys/:id/rotate': operation(
    'rotateAccountKey',
    'Replace an API key of the account',
    [201, 'A new key with the same properties, which no other response shows.', 'NewKey'],
    {
      needsKey: true,
      parameters: [KEY_ID, OVERLAP_SECONDS],
      errorStatuses: [400, 404, 409, 415],
    },
  ),
  'DELETE /account/keys/:id': operation(
    'revokeAccountKey',
    'Revoke an API key of the account',
    [200, 'The key was revoked.', 'RevokedKey'],
    { needsKey: true, parameters: [KEY_ID], errorStatuses: [404, 415] },
  ),
}
