import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Random } from './random';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** A webhook that was received completely, before its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The TCP connection below the TLS one. */
  connection: Socket;
  /** True if an earlier webhook used the same connection. */
  isReused: boolean;
  random: Random;
  /** Records that the head of a 2xx response was written. */
  accept: () => void;
}

/** Way in which a receiver answers a webhook, or does not answer it. */
export interface Behaviour {
  answer(exchange: Exchange): void | Promise<void>;
  /** Handles a new connection. The TLS handshake begins when this is done. */
  connect?(connection: Socket, random: Random): void | Promise<void>;
}

export const answering: Behaviour = {
  answer({ response, accept }) {
    accept();
    response.end('ok');
  },
};

export const slow: Behaviour = {
  async answer({ response, random, accept }) {
    await sleep(random.between(50, 500));
    if (response.destroyed) return;
    accept();
    response.end('ok');
  },
};

export const failing: Behaviour = {
  answer({ response }) {
    response.writeHead(500).end('no');
  },
};

/** Returns a behaviour that refuses the first attempt of each delivery. */
export function failingAtFirst(): Behaviour {
  const tried = new Set<string>();
  return {
    answer(exchange) {
      const delivery = String(exchange.request.headers['x-service-delivery']);
      const behaviour = tried.has(delivery) ? answering : failing;
      tried.add(delivery);
      return behaviour.answer(exchange);
    },
  };
}

export const hanging: Behaviour = { answer: () => undefined };

export const resetting: Behaviour = {
  connect(connection, random) {
    if (random.chance(0.5)) connection.resetAndDestroy();
  },
  answer({ connection }) {
    connection.resetAndDestroy();
  },
};

export const connectingSlowly: Behaviour = {
  connect: (_, random) => sleep(random.between(1_500, 4_000)),
  answer: (exchange) => answering.answer(exchange),
};

export const closingKeptConnections: Behaviour = {
  answer({ response, connection, isReused, random, accept }) {
    if (isReused && random.chance(0.5)) {
      connection.destroy();
      return;
    }
    accept();
    // The response promises keep-alive, but the connection is closed after it.
    response.end('ok', () => setImmediate(() => connection.destroy()));
  },
};

export const oneByteASecond: Behaviour = {
  async answer({ response: { socket } }) {
    for (const byte of 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok') {
      if (!socket || socket.destroyed) return;
      socket.write(byte);
      await sleep(1_000);
    }
  },
};

export const tenGigabytes: Behaviour = {
  answer({ response, accept }) {
    accept();
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    return pour(response, Buffer.alloc(64 * KIB, 'x'), (10 * GIB) / (64 * KIB));
  },
};

export const gzipBomb: Behaviour = {
  answer({ response, accept }) {
    accept();
    response.writeHead(200, { 'content-encoding': 'gzip' });
    bomb ??= gzipSync(Buffer.alloc(64 * MIB));
    return pour(response, bomb, (10 * GIB) / (64 * MIB));
  },
};
/** 64 MiB of zeros as a gzip member, a thousandth of that size. A gzip body may repeat the member. */
let bomb: Buffer | undefined;

export const hugeHead: Behaviour = {
  answer({ response: { socket } }) {
    const header = `x-filler: ${'x'.repeat(KIB - 12)}\r\n`;
    socket?.write(`HTTP/1.1 200 OK\r\n${header.repeat(MIB / KIB)}content-length: 2\r\n\r\nok`);
  },
};

/** Writes a chunk `times` times, as fast as the sender reads, or until the sender disconnects. */
async function pour(response: ServerResponse, chunk: Buffer, times: number): Promise<void> {
  for (let written = 0; written < times && !response.destroyed; written += 1) {
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}
