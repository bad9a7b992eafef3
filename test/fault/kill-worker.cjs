// Loaded before the service: on SIGUSR2, ends the compute thread that started last, one of those for batches, in the middle of
// its work. With KILL=oldest it ends the one that started first, so that each thread has its turn. With KILL=cross-check it ends the
// thread of the second opinion.
const threads = require('node:worker_threads')
const { syncBuiltinESMExports } = require('node:module')

const alive = []
const file = process.env.KILL === 'cross-check' ? 'cross-check' : 'piscina'
class RecordedWorker extends threads.Worker {
  constructor(entry, options) {
    super(entry, options)
    if (!String(entry).includes(file)) return
    alive.push(this)
    this.once('exit', () => alive.splice(alive.indexOf(this), 1))
  }
}
if (threads.isMainThread) {
  threads.Worker = RecordedWorker
  syncBuiltinESMExports()
  process.on('SIGUSR2', () => {
    const victim = alive.at(process.env.KILL === 'oldest' ? 0 : -1)
    process._rawDebug(`killed ${victim?.threadId}`)
    void victim?.terminate()
  })
}
