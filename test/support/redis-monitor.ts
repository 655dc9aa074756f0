import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** Matches the words of a command in a line such as `+1795435482.84 [4 127.0.0.1:51566] "exists" "key"`. */
const WORDS = /"((?:[^"\\]|\\.)*)"/g;

/**
 * Connection that hears every command of a Redis server, also the commands of other test files. It does
 * without ioredis, which takes a command in one packet with the answer to MONITOR for another answer, and
 * fails.
 */
export class RedisMonitor {
  private constructor(private readonly socket: Socket) {}

  /**
   * Starts to listen.
   * @param hear is called with the words of each command, escaped as Redis writes them
   */
  static async start(redisUrl: string, hear: (command: string[]) => void): Promise<RedisMonitor> {
    const { hostname, port, username, password } = new URL(redisUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const commands = password ? [['AUTH', username || 'default', password], ['MONITOR']] : [['MONITOR']];
    const unanswered = commands.map(([name]) => name!);
    await new Promise<void>((resolve, reject) => {
      // One listener from the start, because a packet may hold the answer and the first lines after it.
      createInterface({ input: socket }).on('line', (line) => {
        const asked = unanswered.shift();
        if (!asked) hear([...line.matchAll(WORDS)].map(([, word]) => word!));
        else if (line !== '+OK') reject(new Error(`Redis refuses ${asked}: ${line}`));
        else if (unanswered.length === 0) resolve();
      });
      for (const words of commands) socket.write(`${words.join(' ')}\r\n`);
    });
    return new RedisMonitor(socket);
  }

  stop(): void {
    this.socket.destroy();
  }
}
