import { graphError, MetaSimulator } from './meta-simulator';
import { SimulatedCall, ProviderResponse } from './provider-simulator';
import { MIB, SimulatedFile } from './simulated-files';

export interface MessagingSent {
  accountId: string;
  customerId: string;
  mid: string;
  text: string;
  /** Metadata of the message, which the echo returns. */
  metadata: string | undefined;
  /** File of the message, and Meta's name of its kind; left out for a text. */
  file?: SimulatedFile & { kind: string };
}

/** File that a message names, with its kind; or a refusal. */
export type AttachedFile = (SimulatedFile & { kind: string }) | ProviderResponse;

interface Answer {
  status: number;
  body: object;
}

/** Simulator of Messenger and Instagram: accounts with threads, and notifications with `messaging[]`. */
export abstract class MessagingSimulator extends MetaSimulator {
  readonly sent: MessagingSent[] = [];
  /** Subscribed fields by account. */
  readonly subscriptions = new Map<string, string[]>();
  /** Customers who last wrote more than 24 hours ago. */
  readonly windowClosedFor = new Set<string>();
  readonly unreachable = new Set<string>();

  private nextId = 1;

  protected abstract readonly object: 'page' | 'instagram';
  protected abstract readonly maxText: { length: number; of(text: string): number };
  protected abstract readonly windowClosed: ProviderResponse;
  protected abstract readonly notReachable: ProviderResponse;

  /** Returns the calls that send a message to a customer, including refused ones. */
  sendsTo(customerId: string): SimulatedCall[] {
    return this.calls.filter((call) => this.isSend(call) && call.body.recipient?.id === customerId);
  }

  /**
   * Makes the event of a customer's message to an account. `message` overrides its fields, or makes it
   * another kind.
   */
  message(accountId: string, customerId: string, text: string, message: Record<string, unknown> = {}) {
    return this.event(accountId, customerId, { message: { mid: this.mid(), text, ...message } });
  }

  /** Makes any event by a customer. */
  event(accountId: string, customerId: string, event: object) {
    return {
      sender: { id: customerId },
      recipient: { id: accountId },
      timestamp: Date.now(),
      ...event,
    };
  }

  /** Makes the event of a message that the account sent. */
  echo({ accountId, customerId, mid, text, metadata, file }: MessagingSent) {
    const app = { is_echo: true, app_id: 1_517_776_481_860_111 };
    const attachments = [{ type: file?.kind, payload: { url: 'https://scontent.example/v/1?oh=a' } }];
    const message = {
      mid,
      ...(file ? { attachments } : { text }),
      ...app,
      ...(metadata !== undefined && { metadata }),
    };
    return { ...this.event(customerId, accountId, { message }) };
  }

  /** Makes a notification with one entry per account. */
  notification(...events: { sender: { id: string }; recipient: { id: string }; message?: object }[]) {
    const accountOf = ({ sender, recipient, message }: (typeof events)[number]) =>
      message && 'is_echo' in message ? sender.id : recipient.id;
    const entry = [...new Set(events.map(accountOf))].map((id) => ({
      id,
      time: Date.now(),
      messaging: events.filter((event) => accountOf(event) === id),
    }));
    return { object: this.object, entry };
  }

  protected isSend({ method, path }: SimulatedCall): boolean {
    return method === 'POST' && path.endsWith('/messages');
  }

  /** Finds the file that a message names. */
  protected abstract attached(
    accountId: string,
    attachment: { type: string; payload: any },
  ): AttachedFile | Promise<AttachedFile>;

  protected answer(call: SimulatedCall): ProviderResponse | Promise<ProviderResponse> {
    const [, accountId, edge] = /^\/v\d+\.\d+\/(\d+)(?:\/(messages|subscribed_apps))?$/.exec(call.path) ?? [];
    if (accountId === undefined)
      return graphError(100, 'Unknown path components', { subcode: 33, status: 404 });
    const fault = this.tokenFault(call);
    if (fault) return fault;
    if (edge === undefined) return { status: 200, body: { id: accountId } };
    return edge === 'messages' ? this.send(accountId, call.body) : this.subscribe(accountId, call);
  }

  private subscribe(accountId: string, { method, query }: SimulatedCall): Answer {
    if (method === 'DELETE') this.subscriptions.delete(accountId);
    else this.subscriptions.set(accountId, (query.subscribed_fields ?? '').split(','));
    return { status: 200, body: { success: true } };
  }

  private async send(accountId: string, body: any): Promise<ProviderResponse> {
    const customerId = body.recipient?.id;
    const { attachment, text = attachment ? '' : undefined } = body.message ?? {};
    if (typeof customerId !== 'string' || typeof text !== 'string' || (text === '') !== Boolean(attachment)) {
      return graphError(100, 'Invalid parameter');
    }
    if (this.maxText.of(text) > this.maxText.length)
      return graphError(100, 'Length of param text is too long');
    if (this.windowClosedFor.has(customerId)) return this.windowClosed;
    if (this.unreachable.has(customerId)) return this.notReachable;
    const file = attachment && (await this.attached(accountId, attachment));
    if (file && !('kind' in file)) return file;
    const mid = this.mid();
    const { metadata } = body.message;
    this.sent.push({ accountId, customerId, mid, text, metadata, ...(file && { file }) });
    return { status: 200, body: { recipient_id: customerId, message_id: mid } };
  }

  private mid(): string {
    return `m_${Buffer.from(`simulated ${this.nextId++} ${Date.now()}`).toString('base64url')}`;
  }
}

/** Refuses a file whose kind or size Meta does not take; null if it takes the file. */
export function mediaFault(kind: string, { type, size }: SimulatedFile): ProviderResponse | null {
  if (kind !== 'file' && type.split('/')[0] !== kind)
    return graphError(100, 'Upload attachment failure.', { subcode: 2018047 });
  if (size === 0 || size > (kind === 'image' ? 8 : 25) * MIB)
    return graphError(100, 'The attachment size exceeds the allowable limit.', { subcode: 2018109 });
  return null;
}
