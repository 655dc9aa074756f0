import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A way to Redis that can be cut, for one process. */
export async function startRedisProxy(redisUrl) {
  const target = new URL(redisUrl);
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect(Number(target.port || 6379), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(redisUrl);
  url.hostname = '127.0.0.1';
  url.port = String(server.address().port);
  return {
    url: url.href,
    /** From now on, every connection is refused. */
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
