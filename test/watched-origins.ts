/** Where services of this test file listen whose answers are held against the OpenAPI document (`test/answer-check.ts`). */
export const WATCHED_ORIGINS = new Set<string>()
