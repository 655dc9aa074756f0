import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { stopAtEnd } from '../../support/stop-at-end';

/** Server to which hostile texts refer. Nothing may ask it. */
export class Trap {
  /** Paths that were asked for. */
  readonly asked: string[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      this.asked.push(request.url!);
      response.end();
    });
  }

  static async start(): Promise<Trap> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const trap = new Trap(server);
    return stopAtEnd(trap, () => trap.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async stop(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}
