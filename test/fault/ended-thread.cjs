// A separate process: ends threads one after the other while each signs and recovers keys without a pause.
// usage: node ended-thread.cjs <backend> <threads>
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { join } = require('node:path')

const CRYPTO = join(__dirname, '../../dist/src/crypto/secp256k1.js')

async function endThreads(backend, count) {
  for (let thread = 0; thread < count; thread++) {
    const worker = new Worker(__filename, { workerData: backend, env: {} })
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await new Promise((resolve) => setTimeout(resolve, thread % 4))
    await worker.terminate()
  }
}

async function workForEver(backend) {
  const { loadSecp256k1 } = await import(CRYPTO)
  const secp256k1 = await loadSecp256k1([backend])
  const digest = new Uint8Array(32).fill(5)
  const key = new Uint8Array(32).fill(7)
  const signature = secp256k1.sign(digest, key)
  parentPort.postMessage('signs')
  for (;;) {
    secp256k1.recover(digest, signature)
    secp256k1.sign(digest, key)
  }
}

if (isMainThread) void endThreads(process.argv[2], Number(process.argv[3]))
else void workForEver(workerData)
