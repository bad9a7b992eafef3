/** Whether the system's libsecp256k1 can be loaded. */
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'

export const SYSTEM_SECP256K1 = await loadSecp256k1(['system']).then(
  () => true,
  (error: Error) => {
    console.warn(`skipped with the system's libsecp256k1: ${error.message} (apt-get install libsecp256k1-1)`)
    return false
  },
)
