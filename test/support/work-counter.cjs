// Counts the work of this process that does not depend on the machine. Load it before the program
// (`--require`). It writes the counts so far to the file in WORK_COUNTS on SIGUSR2.
const asyncHooks = require('node:async_hooks');
const { renameSync, writeFileSync } = require('node:fs');
const net = require('node:net');
const { GCProfiler } = require('node:v8');

/**
 * Ports of the servers, by the names of the peers.
 *
 * @type {Record<number, string>}
 */
const PEERS = {
  [new URL(process.env.DATABASE_URL ?? '').port || 5432]: 'postgres',
  [new URL(process.env.REDIS_URL ?? '').port || 6379]: 'redis',
};

/** @type {Record<string, number>} */
const writes = { postgres: 0, redis: 0, clients: 0, receivers: 0 };
/**
 * Executions by the text of their statement.
 *
 * @type {Map<string, number>}
 */
const statements = new Map();
const counts = { transactions: 0, timers: 0, immediates: 0, promises: 0 };

/**
 * State of a connection to PostgreSQL: texts by name, the text of the next execution, whether a transaction
 * is open, and whether statements outside one wait for the Sync message that ends them.
 *
 * @typedef {{ texts: Map<string, string>, bound: string, isOpen: boolean, isUnsynced: boolean }} State
 */
/** @type {WeakMap<object, State>} */
const connections = new WeakMap();

/** @param {net.Socket} socket */
function peerOf(socket) {
  // A socket of a server is a client's.
  if ('server' in socket && socket.server) return 'clients';
  return PEERS[socket.remotePort ?? 0] ?? 'receivers';
}

/**
 * Reads the messages of PostgreSQL's protocol in a packet of whole messages.
 *
 * @param {object} socket
 * @param {Buffer} packet
 */
function readMessages(socket, packet) {
  const state = connections.get(socket) ?? {
    texts: new Map(),
    bound: '',
    isOpen: false,
    isUnsynced: false,
  };
  connections.set(socket, state);
  for (let at = 0; at + 5 <= packet.length;) {
    const type = String.fromCharCode(packet[at] ?? 0);
    const length = packet.readUInt32BE(at + 1);
    const body = packet.subarray(at + 5, at + 1 + length);
    if (type === 'P') {
      const [name = '', text = ''] = body.toString().split('\0');
      state.texts.set(name, text);
    } else if (type === 'B') {
      const [, name = ''] = body.toString('latin1').split('\0', 2);
      state.bound = state.texts.get(name) ?? '';
    } else if (type === 'E') execute(state, state.bound);
    else if (type === 'Q')
      for (const text of body.toString().split(/[;\0]/)) if (text.trim()) execute(state, text);
    // Statements outside a transaction are one transaction up to the next Sync.
    if ('SQ'.includes(type) && state.isUnsynced) {
      state.isUnsynced = false;
      counts.transactions++;
    }
    at += 1 + length;
  }
}

/**
 * @param {State} state
 * @param {string} text
 */
function execute(state, text) {
  const statement = text.replace(/\s+/g, ' ').trim();
  statements.set(statement, (statements.get(statement) ?? 0) + 1);
  if (/^(BEGIN|START TRANSACTION)/i.test(statement)) state.isOpen = true;
  else if (/^(COMMIT|ROLLBACK)$/i.test(statement)) {
    state.isOpen = false;
    counts.transactions++;
  } else if (!state.isOpen) state.isUnsynced = true;
}

/** @typedef {string | Buffer | { chunk: string | Buffer }[]} Written data of one write, or of several */
/** @typedef {{ _writeGeneric(isSeveral: boolean, data: Written, ...others: unknown[]): unknown }} Writing */
const prototype = /** @type {Writing} */ (/** @type {unknown} */ (net.Socket.prototype));
const writeGeneric = Reflect.get(prototype, '_writeGeneric');
/**
 * Counts a write to the operating system.
 *
 * @this {net.Socket & Writing}
 * @param {boolean} isSeveral
 * @param {Written} data
 * @param {unknown[]} others
 */
prototype._writeGeneric = function (isSeveral, data, ...others) {
  if (!this.connecting) {
    const peer = peerOf(this);
    writes[peer] = (writes[peer] ?? 0) + 1;
    if (peer === 'postgres')
      for (const { chunk } of Array.isArray(data) ? data : [{ chunk: data }])
        readMessages(this, Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  }
  return Reflect.apply(writeGeneric, this, [isSeveral, data, ...others]);
};

asyncHooks
  .createHook({
    init(_, type) {
      if (type === 'PROMISE') counts.promises++;
      else if (type === 'Timeout') counts.timers++;
      else if (type === 'Immediate') counts.immediates++;
    },
  })
  .enable();

const collections = new GCProfiler();
collections.start();
let freed = 0;

/** Returns the bytes that were allocated on the heap so far. */
function allocatedBytes() {
  for (const { beforeGC, afterGC } of collections.stop()?.statistics ?? [])
    freed += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  collections.start();
  return freed + process.memoryUsage().heapUsed;
}

process.on('SIGUSR2', () => {
  const file = process.env.WORK_COUNTS ?? '';
  const all = { ...counts, writes, bytes: allocatedBytes(), statements: Object.fromEntries(statements) };
  writeFileSync(`${file}.draft`, JSON.stringify(all));
  renameSync(`${file}.draft`, file);
});
