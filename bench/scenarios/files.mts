import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import sharp from 'sharp';
import { sleep } from '../../scripts/processes.mjs';
import type { Bench, Scenario } from '../scenario.mts';
import { ApiCallers } from '../support/api-callers.mts';
import type { Deployment, Server } from '../support/deployment.mts';
import { itemAt, itemInTurn } from '../support/items.mts';
import { inTurn, middle, must } from '../support/measure.mts';
import type { Sender } from '../support/offer-by-api.mts';
import { absoluteRow, latencyRow, megabytes, seconds, type Pair, type Row } from '../support/report.mts';
import { latencyOf, type Arrival } from '../support/statistics.mts';
import { residentMb } from '../support/usage.mts';

/** Workspaces whose messages are measured. */
const WORKSPACES = 20;
/** Size of a photo of a phone. */
const PHOTO = { width: 4000, height: 3000 };
const PHOTO_BYTES = 3_000_000;
/** Number of requests with which one workspace uploads its pictures at the same time. */
const UPLOADERS = 4;
/** Number of uploads of one workspace that the service takes at the same time. */
const OPEN_UPLOADS = 20;
const SAMPLE_MS = 20;
const POLL_MS = 200;

/**
 * Measures the messages of twenty workspaces alone, and while another one sends pictures; and the API's
 * memory while it takes in as many files as it takes of one workspace.
 */
export const files: Scenario = {
  name: 'files',
  heavy: true,

  async run(bench) {
    const { plan, environment, progress } = bench;
    const deployment = await environment.deployment('files', plan.small);
    const measured = await deployment.addApiKeys(await deployment.addReceiving(WORKSPACES, 'live'));
    const uploading = itemAt(await deployment.addApiKeys(await deployment.addReceiving(1, 'flood')), 0);
    const api = await deployment.startService('api');
    await deployment.startService('worker');
    const photo = await makePhoto();
    const callers = new ApiCallers(api.url, measured);
    await environment.receiver.expect(measured);
    await environment.neighbours.expect([uploading]);
    const offer = (until: Promise<unknown>) => offerUntil(bench, callers, until);
    await offer(sleep(plan.files.warmUpSeconds * 1000));
    progress(`${plan.files.pictures} pictures of ${(photo.length / 1e6).toFixed(1)} MB`);
    const runs = await inTurn(plan.files.rounds, {
      alone: () => offer(sleep(plan.files.seconds * 1000)),
      beside: async () => {
        const startedAt = performance.now();
        const sending = sendPictures(deployment, api, uploading, photo, plan.files.pictures);
        const latency = await offer(sending);
        return { ...latency, tookSeconds: (performance.now() - startedAt) / 1000 };
      },
    });
    await callers.close();
    const pairs = runs.map((run): Pair => [run.beside.p95, run.alone.p95]);
    return [
      latencyRow(`${plan.files.pictures} pictures of another, p95 of the others`, pairs, 1.5, runs),
      absoluteRow(
        'the pictures with their thumbnails',
        [middle(runs, ({ beside }) => beside.tookSeconds)],
        seconds,
      ),
      await memoryRow(api, uploading, photo),
    ];
  },
};

/** Returns a JPEG of about PHOTO_BYTES with the noise of a photo. */
async function makePhoto(): Promise<Buffer> {
  const { width, height } = PHOTO;
  const noise = randomBytes((width / 4) * (height / 4) * 3);
  const small = sharp(noise, { raw: { width: width / 4, height: height / 4, channels: 3 } });
  const pixels = await small.resize(width, height).raw().toBuffer();
  for (let quality = 95; ; quality -= 5) {
    const picture = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .jpeg({ quality })
      .toBuffer();
    if (picture.length <= PHOTO_BYTES || quality <= 30) return picture;
  }
}

/** Offers messages at the plan's rate until a promise settles. Returns their latencies to their endpoints. */
async function offerUntil({ plan, environment }: Bench, callers: ApiCallers, until: Promise<unknown>) {
  let isOver = false;
  const over = until.finally(() => (isOver = true));
  over.catch(() => undefined); // awaited below
  const arrivals: Arrival[] = [];
  do {
    const { accepted, refused } = await callers.offer({ perSecond: plan.files.perSecond, seconds: 1 });
    must(refused === 0, `${refused} messages were refused`);
    arrivals.push(...(await environment.receiver.take(accepted)));
  } while (!isOver);
  await over;
  return latencyOf(arrivals);
}

/** Sends messages with a picture each, and waits until all thumbnails are made. */
async function sendPictures(
  deployment: Deployment,
  api: Server,
  sender: Sender,
  photo: Buffer,
  count: number,
): Promise<void> {
  let sent = 0;
  const sendAll = async () => {
    while (sent < count) await sendPicture(api, sender, photo, sent++);
  };
  await Promise.all(Array.from({ length: UPLOADERS }, sendAll));
  const isDue = async () => {
    const { due } = await deployment.queryOne<{ due: number }>(
      'SELECT count(*)::int AS due FROM files WHERE tenant_id = $1 AND rendition_due_at IS NOT NULL',
      [sender.id],
    );
    return due > 0;
  };
  while (await isDue()) await sleep(POLL_MS);
}

async function sendPicture(api: Server, sender: Sender, photo: Buffer, n: number): Promise<void> {
  const conversationId = itemInTurn(sender.conversationIds, n);
  const uploadId = await createUpload(api, sender, conversationId, photo.length);
  await ask(api, sender, 'PUT', `uploads/${uploadId}/content`, 200, photo);
  const message = { attachments: [{ uploadId }] };
  await ask(api, sender, 'POST', `conversations/${conversationId}/messages`, 201, message);
}

async function createUpload(api: Server, sender: Sender, conversationId: string, size: number) {
  const upload = { conversationId, name: 'photo.jpg', contentType: 'image/jpeg', size };
  const { id } = await ask(api, sender, 'POST', 'uploads', 201, upload);
  return id;
}

const agent = new Agent({ connections: OPEN_UPLOADS });

/** Sends a request of a workspace, and returns the answer's JSON. */
async function ask(
  { url }: Server,
  { apiKey }: Sender,
  method: 'POST' | 'PUT',
  path: string,
  status: number,
  body: Buffer | SlowFile | object,
): Promise<{ id: string }> {
  const file = Buffer.isBuffer(body) || body instanceof SlowFile ? body : null;
  const response = await request(`${url}/api/v1/${path}`, {
    dispatcher: agent,
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': file ? 'application/octet-stream' : 'application/json',
      ...(file && { 'content-length': String(file.length) }),
    },
    body: file instanceof SlowFile ? file.read() : (file ?? JSON.stringify(body)),
  });
  const answer = await response.body.text();
  must(
    response.statusCode === status,
    `${method} ${path} was answered with ${response.statusCode}: ${answer}`,
  );
  return JSON.parse(answer) as { id: string };
}

/** File that is sent in ten parts, half a second apart. */
class SlowFile {
  readonly length: number;
  private readonly content: Buffer;

  constructor(content: Buffer) {
    this.content = content;
    this.length = content.length;
  }

  read(): Readable {
    return Readable.from(this.parts());
  }

  private async *parts(): AsyncGenerator<Buffer> {
    const part = Math.ceil(this.length / 10);
    for (let from = 0; from < this.length; from += part) {
      yield this.content.subarray(from, from + part);
      await sleep(500);
    }
  }
}

/** Measures the API's memory while many files come in at the same time, against its memory before. */
async function memoryRow(api: Server, sender: Sender, photo: Buffer): Promise<Row> {
  const conversationId = itemAt(sender.conversationIds, 0);
  const ids: string[] = [];
  for (let n = 0; n < OPEN_UPLOADS; n++)
    ids.push(await createUpload(api, sender, conversationId, photo.length));
  const file = new SlowFile(photo);
  const before = residentMb(api.pid);
  let peak = before;
  const sampler = setInterval(() => (peak = Math.max(peak, residentMb(api.pid))), SAMPLE_MS);
  try {
    await Promise.all(ids.map((id) => ask(api, sender, 'PUT', `uploads/${id}/content`, 200, file)));
  } finally {
    clearInterval(sampler);
  }
  const name = `memory of the API for each of ${OPEN_UPLOADS} uploads at once`;
  return absoluteRow(name, [(peak - before) / OPEN_UPLOADS], megabytes, 1);
}
