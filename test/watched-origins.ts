/** Origins of the services of this process whose responses are checked against the OpenAPI document (`test/answer-check.ts`). */
export const WATCHED_ORIGINS = new Set<string>()
