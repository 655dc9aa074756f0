import { Attack, Attacker } from './attacker';
import { signatureOf } from './bodies';

/** Body of a notification, as long as providers' bodies usually are. */
const FORGED_BODY = JSON.stringify({
  object: 'page',
  entry: [{ id: '1', messaging: [], filler: 'x'.repeat(60_000) }],
});
const MESSAGES_IN_BODY = 50;

/**
 * Sends notifications with a forged signature to the hook of the attacker's own page and to unknown hooks.
 */
async function forgedHooks(attacker: Attacker): Promise<void> {
  const { hookPath } = attacker.foothold;
  await attacker.flood((n) => ({
    method: 'POST',
    path: n % 2 ? hookPath : `${hookPath.slice(0, -6)}${String(n).padStart(6, '0')}`,
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': signatureOf(String(n), 'guessed'),
      'x-forwarded-for': addressOf(n),
    },
    body: FORGED_BODY,
  }));
}

/** Sends correctly signed receipts of unknown messages. Each receipt is work for the service. */
async function signedReceipts(attacker: Attacker): Promise<void> {
  const { events } = attacker.sizes;
  await attacker.flood((n) => hookOf(attacker, receiptsOf(attacker.foothold.pageId, n, events)), {
    perSecond: 20,
    atOnce: 10,
  });
}

/**
 * Sends correctly signed messages of new customers, and checks that each body answered with 200 is stored,
 * whatever else was refused.
 */
async function signedMessages(attacker: Attacker): Promise<void> {
  const before = attacker.answers.countOf('200');
  await attacker.flood((n) => hookOf(attacker, messagesOf(attacker.foothold.pageId, n)), {
    perSecond: 20,
    atOnce: 10,
  });
  const promised = (attacker.answers.countOf('200') - before) * MESSAGES_IN_BODY;
  const [row] = await attacker.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM messages WHERE tenant_id = $1 AND body LIKE 'Flood %'`,
    [attacker.foothold.workspaceId],
  );
  if (row!.count < promised)
    attacker.answers.complain(
      `Of ${promised} messages of hooks that were answered with 200, ${row!.count} are stored`,
    );
}

function hookOf({ foothold }: Attacker, messaging: object[]) {
  const body = JSON.stringify({
    object: 'page',
    entry: [{ id: foothold.pageId, time: Date.now(), messaging }],
  });
  return {
    method: 'POST' as const,
    path: foothold.hookPath,
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': signatureOf(body, foothold.appSecret),
    },
    body,
  };
}

function receiptsOf(pageId: string, n: number, count: number): object[] {
  return Array.from({ length: count }, (_, k) => ({
    sender: { id: `7${n}` },
    recipient: { id: pageId },
    timestamp: Date.now(),
    delivery: { mids: [`m_${n}_${k}`], watermark: 1 },
  }));
}

function messagesOf(pageId: string, n: number): object[] {
  return Array.from({ length: MESSAGES_IN_BODY }, (_, k) => ({
    sender: { id: `8${n}${k}` },
    recipient: { id: pageId },
    timestamp: Date.now(),
    message: { mid: `m_flood_${n}_${k}`, text: `Flood ${n} ${k}` },
  }));
}

/** Returns a different address for each n. */
export function addressOf(n: number): string {
  return `203.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

export const HOOKS: Attack[] = [
  { name: 'hooks: forged', run: forgedHooks },
  { name: 'hooks: well signed, receipts', run: signedReceipts },
  { name: 'hooks: well signed, messages', run: signedMessages },
];
