/**
 * A predicate that would cost too much to decide exactly. The caller refuses the request saying so: an answer is never
 * guessed, and no input may hold a worker for seconds.
 */
export class UndecidableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UndecidableError'
  }
}
