/** An issuer of tokens for tests: keys, tokens that `jose` makes, and a server with the public keys. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export const ISSUER = 'https://id.example.org/'
export const AUDIENCE = 'https://geo.example.org'

export interface IssuerKeyPair {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
  readonly algorithm: string
}

/** Makes a key pair. @param id the `kid`; without it the key has none */
export async function makeKeyPair(algorithm: string, id?: string, modulusLength = 2048): Promise<IssuerKeyPair> {
  const curve = algorithm === 'EdDSA' ? { crv: 'Ed25519' } : {}
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength, ...curve })
  const jwk = await exportJWK(publicKey)
  return { privateKey, jwk: { ...jwk, use: 'sig', ...(id === undefined ? {} : { kid: id }) }, algorithm }
}

export interface TokenOptions {
  readonly claims?: JWTPayload
  readonly header?: Record<string, unknown>
  /** Claims that the token does not have. */
  readonly without?: readonly string[]
  readonly nowSeconds?: number
}

/** Makes a token that the service accepts, unless the options change that. */
export async function makeToken(pair: IssuerKeyPair, options: TokenOptions = {}): Promise<string> {
  const { claims = {}, header = {}, without = [], nowSeconds = Math.floor(Date.now() / 1000) } = options
  const all = { iss: ISSUER, aud: AUDIENCE, sub: 'alice', iat: nowSeconds, exp: nowSeconds + 600, ...claims }
  const kept = Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)))
  const kid = pair.jwk.kid === undefined ? {} : { kid: pair.jwk.kid }
  const token = new SignJWT(kept).setProtectedHeader({ alg: pair.algorithm, typ: 'at+jwt', ...kid, ...header })
  return token.sign(pair.privateKey)
}

/** Serves a key set, which the test may replace, and counts the requests for it. */
export class KeySetServer {
  readonly #server: Server
  keys: readonly JWK[]
  /** Answers with this status instead of the keys. */
  status = 200
  /** Answers with this text instead of the keys. */
  text: string | undefined
  requests = 0

  private constructor(keys: readonly JWK[]) {
    this.keys = keys
    this.#server = createServer((_request, response) => {
      this.requests++
      response.setHeader('location', `${this.url}/elsewhere`)
      response.writeHead(this.status).end(this.text ?? JSON.stringify({ keys: this.keys }))
    })
  }

  static async start(keys: readonly JWK[]): Promise<KeySetServer> {
    const server = new KeySetServer(keys)
    await new Promise<void>((listening) => server.#server.listen(0, '127.0.0.1', listening))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
