/** Types of the part of autocannon that the benchmark uses: the package brings none. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Request {
    method?: string;
    path: string;
    body?: string;
  }

  interface Client {
    /** Iterator over the client's requests, which are already built as bytes. */
    requestIterator: { requests: Request[] };
    setRequests(requests: Request[]): void;
  }

  interface Options {
    url: string;
    requests: Request[];
    headers: Record<string, string>;
    connections: number;
    /** Length of the run in seconds. */
    duration: number;
    /** Time between two samples in milliseconds. */
    sampleInt: number;
    verifyBody?: (body: string) => boolean;
    setupClient: (client: Client) => void;
  }

  interface Result {
    non2xx: number;
    errors: number;
    timeouts: number;
    mismatches: number;
  }

  interface Instance extends EventEmitter, PromiseLike<Result> {
    on(
      event: 'response',
      listener: (client: Client, statusCode: number, bytes: number, milliseconds: number) => void,
    ): this;
  }

  export default function autocannon(options: Options): Instance;
}
