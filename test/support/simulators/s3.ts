import { createHash } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { forgetStop, stopAtEnd } from '../stop-at-end';

/**
 * Faults of a server of S3. `away`: each connection breaks. `slow`: each body stalls in its middle until the
 * fault ends. `full`: nothing is stored. `answers 500`: a request is carried out, and then answered with 500.
 * `conflict`: a conditional write is refused, because another one of the same name is under way.
 */
export type S3Fault = 'away' | 'slow' | 'full' | 'answers 500' | 'conflict';

interface StoredObject {
  bytes: Buffer;
  modifiedAt: Date;
}

interface Answer {
  status: number;
  body?: Buffer | string;
  headers?: Record<string, string>;
}

/** Refusals of a server without space, as different servers word them. */
const FULL: [number, string][] = [
  [507, 'InsufficientStorage'],
  [503, 'SlowDown'],
  [403, 'AccessDenied'],
];

/**
 * Simulator of the operations of S3 that the service uses, with one bucket in memory. It follows the
 * documented contract, and fails on request. It checks no signature.
 */
export class S3Simulator {
  /** Objects by their names. */
  readonly objects = new Map<string, StoredObject>();
  /** Number of requests that each fault has struck. */
  readonly struck = new Map<S3Fault, number>();
  private fault: S3Fault | null = null;
  private ended = Promise.resolve();
  private end = () => undefined as void;
  private nextUploadId = 1;
  private readonly uploads = new Map<string, { name: string; parts: Map<number, Buffer>; begunAt: Date }>();
  private readonly server = createServer((request, response) => void this.receive(request, response));

  constructor(readonly bucket: string) {}

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return stopAtEnd(this, () => this.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Environment of a service whose files are here. */
  get environment(): Record<string, string> {
    return {
      FILE_STORE_DIRECTORY: '',
      FILE_STORE_BUCKET: this.bucket,
      FILE_STORE_ENDPOINT: this.url,
      FILE_STORE_PATH_STYLE: 'true',
      AWS_ACCESS_KEY_ID: 'simulated',
      AWS_SECRET_ACCESS_KEY: 'simulated',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    };
  }

  /** Makes every request fail like this, until `recover`. */
  trouble(fault: S3Fault): void {
    this.recover();
    this.fault = fault;
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  /** Ends the fault. Bodies that have stalled go on. */
  recover(): void {
    this.fault = null;
    this.end();
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    this.recover();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { fault, ended } = this;
    if (fault) this.struck.set(fault, (this.struck.get(fault) ?? 0) + 1);
    // A client may disconnect, or break off its body. Then nothing is stored.
    response.on('error', () => undefined);
    if (fault === 'away') return void request.socket.resetAndDestroy();
    const body = await readBody(request, fault === 'slow' ? ended : null).catch(() => null);
    if (body === null) return void request.socket.destroy();
    const refused = this.refusal(request, fault);
    if (refused) return write(response, refused);
    const answer = this.answer(request, body);
    if (fault === 'answers 500' && answer.status < 300) return write(response, failure(500, 'InternalError'));
    if (fault === 'slow' && Buffer.isBuffer(answer.body)) return writeSlowly(response, answer, ended);
    write(response, answer);
  }

  private refusal({ method, headers }: IncomingMessage, fault: S3Fault | null): Answer | null {
    if (fault === 'conflict' && headers['if-none-match']) return failure(409, 'ConditionalRequestConflict');
    if (fault !== 'full' || (method !== 'PUT' && method !== 'POST')) return null;
    return failure(...FULL[this.struck.get('full')! % FULL.length]!);
  }

  private answer({ method, url, headers }: IncomingMessage, body: Buffer): Answer {
    const { pathname, searchParams } = new URL(url ?? '/', 'http://s3');
    const [, bucket, ...path] = decodeURIComponent(pathname).split('/');
    if (bucket !== this.bucket) return failure(404, 'NoSuchBucket');
    const name = path.join('/');
    const isNew = headers['if-none-match'] === '*';
    if (name === '')
      return searchParams.has('uploads') ? this.listUploads(searchParams) : this.list(searchParams);
    const uploadId = searchParams.get('uploadId');
    if (method === 'POST' && searchParams.has('uploads')) return this.beginUpload(name);
    if (method === 'POST' && uploadId !== null) return this.completeUpload(uploadId, isNew);
    if (method === 'PUT' && uploadId !== null)
      return this.storePart(uploadId, Number(searchParams.get('partNumber')), body);
    if (method === 'PUT') return this.store(name, body, isNew);
    if (method === 'DELETE') {
      if (uploadId === null) this.objects.delete(name);
      else this.uploads.delete(uploadId);
      return { status: 204 };
    }
    return this.read(name, headers.range);
  }

  private store(name: string, bytes: Buffer, isNew: boolean): Answer {
    if (isNew && this.objects.has(name)) return failure(412, 'PreconditionFailed');
    this.objects.set(name, { bytes, modifiedAt: new Date() });
    return { status: 200, headers: { etag: etagOf(bytes) } };
  }

  private read(name: string, range: string | undefined): Answer {
    const object = this.objects.get(name);
    if (!object) return failure(404, 'NoSuchKey');
    const { bytes, modifiedAt } = object;
    const headers = { etag: etagOf(bytes), 'last-modified': modifiedAt.toUTCString() };
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    if (first === undefined) return { status: 200, body: bytes, headers };
    return { status: 206, body: bytes.subarray(Number(first), Number(last) + 1), headers };
  }

  private list(query: URLSearchParams): Answer {
    const after = query.get('start-after') ?? '';
    const names = [...this.objects.keys()].filter(
      (name) => name.startsWith(query.get('prefix') ?? '') && name > after,
    );
    const listed = names.sort().slice(0, Number(query.get('max-keys') ?? 1000));
    const contents = listed.map((name) => {
      const { bytes, modifiedAt } = this.objects.get(name)!;
      return `<Contents><Key>${name}</Key><LastModified>${modifiedAt.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    return xml(
      'ListBucketResult',
      `<KeyCount>${listed.length}</KeyCount><IsTruncated>${listed.length < names.length}</IsTruncated>${contents.join('')}`,
    );
  }

  private listUploads(query: URLSearchParams): Answer {
    const begun = [...this.uploads].filter(([, { name }]) => name.startsWith(query.get('prefix') ?? ''));
    const uploads = begun.map(
      ([id, { name, begunAt }]) =>
        `<Upload><Key>${name}</Key><UploadId>${id}</UploadId><Initiated>${begunAt.toISOString()}</Initiated></Upload>`,
    );
    return xml('ListMultipartUploadsResult', uploads.join(''));
  }

  private beginUpload(name: string): Answer {
    const id = String(this.nextUploadId++);
    this.uploads.set(id, { name, parts: new Map(), begunAt: new Date() });
    return xml('InitiateMultipartUploadResult', `<Key>${name}</Key><UploadId>${id}</UploadId>`);
  }

  private storePart(uploadId: string, number: number, bytes: Buffer): Answer {
    const upload = this.uploads.get(uploadId);
    if (!upload) return failure(404, 'NoSuchUpload');
    upload.parts.set(number, bytes);
    return { status: 200, headers: { etag: etagOf(bytes) } };
  }

  private completeUpload(uploadId: string, isNew: boolean): Answer {
    const upload = this.uploads.get(uploadId);
    if (!upload) return failure(404, 'NoSuchUpload');
    const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
    const stored = this.store(upload.name, Buffer.concat(parts), isNew);
    if (stored.status !== 200) return stored;
    this.uploads.delete(uploadId);
    const etag = stored.headers!.etag!;
    return xml('CompleteMultipartUploadResult', `<Key>${upload.name}</Key><ETag>${etag}</ETag>`);
  }
}

/** Reads a body. Stops in its middle until `ended`, if that is given. */
async function readBody(request: IncomingMessage, ended: Promise<void> | null): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (chunks.length === 1) await ended;
  }
  return Buffer.concat(chunks);
}

function write(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': body?.length ?? 0 }).end(body);
}

/** Writes half of a body, and the rest after `ended`. */
async function writeSlowly(
  response: ServerResponse,
  { status, body, headers }: Answer,
  ended: Promise<void>,
): Promise<void> {
  const bytes = body as Buffer;
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2));
  await ended;
  response.end(bytes.subarray(bytes.length / 2));
}

function xml(root: string, content: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`;
  return { status: 200, body, headers: { 'content-type': 'application/xml' } };
}

function failure(status: number, code: string): Answer {
  return { ...xml('Error', `<Code>${code}</Code><Message>${code}</Message>`), status };
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}
