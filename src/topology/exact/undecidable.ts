/**
 * Thrown when an exact decision would cost too much. The caller rejects the request and says so: a result is never guessed, and
 * no input may occupy a worker for seconds.
 */
export class UndecidableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UndecidableError'
  }
}
