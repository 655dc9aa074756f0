import { SimulatedCall, ProviderResponse } from './provider-simulator';
import { graphError, MetaSimulator } from './meta-simulator';
import { MIB, SimulatedFile, UploadedFiles } from './simulated-files';

export interface WhatsAppSent {
  phoneNumberId: string;
  /** Phone number of the customer, or business-scoped id. */
  to: string;
  id: string;
  text: string;
  /** Our own id of the message, which each status returns. */
  ownId: string | undefined;
  /** File of the message, and WhatsApp's name of its kind; left out for a text. */
  file?: SimulatedFile & { kind: string };
}

/** Largest file, in MiB, and content types of each kind. */
const MEDIA: Record<string, { max: number; types: RegExp }> = {
  image: { max: 5, types: /^image\/(jpeg|png)$/ },
  audio: { max: 16, types: /^audio\/(aac|amr|mpeg|mp4|ogg)$/ },
  video: { max: 16, types: /^video\/(mp4|3gpp)$/ },
  document: { max: 100, types: /^(text\/plain|application\/(pdf|msword|vnd\..+))$/ },
};

type Status = 'sent' | 'delivered' | 'read' | 'failed';

/**
 * Simulator of WhatsApp's Cloud API. Every id is a number of the business, and every token is valid until it
 * is revoked.
 */
export class WhatsAppSimulator extends MetaSimulator {
  readonly sent: WhatsAppSent[] = [];
  /** Customers who last wrote more than 24 hours ago. */
  readonly windowClosedFor = new Set<string>();
  readonly unreachable = new Set<string>();
  /** WhatsApp's own spelling of numbers, by the number to which a message is sent. */
  readonly spellings = new Map<string, string>();
  /** Files that were uploaded, by WhatsApp's id. */
  readonly media = new UploadedFiles<{ phoneNumberId: string }>(8_801_112_220_000);

  /** Facts of customers' files by WhatsApp's id, as it answers them. */
  readonly customerMedia = new Map<string, object>();

  private nextId = 1;

  /** Returns the calls that send a message to a customer, including refused ones. */
  sendsTo(customer: string): SimulatedCall[] {
    return this.calls.filter(
      (call) => this.isSend(call) && (call.body.to === customer || call.body.recipient === customer),
    );
  }

  /**
   * Makes the notification of a customer's message. `message` overrides its fields, or makes it another kind.
   */
  message(from: string, text: string, message: Record<string, unknown> = {}) {
    return {
      from,
      id: this.wamid(),
      timestamp: String(Math.floor(Date.now() / 1000)),
      type: 'text',
      text: { body: text },
      ...message,
    };
  }

  /** Makes the notification of a message's status. `failed` comes with an error. */
  status(sent: Pick<WhatsAppSent, 'id' | 'to' | 'ownId'>, status: Status, error?: object) {
    return {
      id: sent.id,
      status,
      timestamp: String(Math.floor(Date.now() / 1000)),
      recipient_id: sent.to,
      ...(sent.ownId !== undefined && { biz_opaque_callback_data: sent.ownId }),
      ...(error && { errors: [error] }),
    };
  }

  /** Makes a notification with one change. */
  notification(
    phoneNumberId: string,
    {
      messages = [],
      statuses = [],
      name = 'Sheena Nelson',
    }: {
      messages?: { from?: string }[];
      statuses?: object[];
      name?: string;
    },
  ) {
    return WhatsAppSimulator.envelope([this.change(phoneNumberId, { messages, statuses, name })]);
  }

  change(
    phoneNumberId: string,
    {
      messages = [],
      statuses = [],
      name = 'Sheena Nelson',
    }: {
      messages?: { from?: string }[];
      statuses?: object[];
      name?: string;
    },
  ) {
    const customers = [...new Set(messages.map(({ from }) => from))];
    return {
      field: 'messages',
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
        ...(messages.length > 0 && {
          contacts: customers.map((customer) => ({ profile: { name }, wa_id: customer })),
          messages,
        }),
        ...(statuses.length > 0 && { statuses }),
      },
    };
  }

  /** Makes a notification with one entry per change. */
  static envelope(changes: object[]) {
    const entry = changes.map((change) => ({ id: '102290129340398', changes: [change] }));
    return { object: 'whatsapp_business_account', entry };
  }

  protected isSend({ method, path }: SimulatedCall): boolean {
    return method === 'POST' && path.endsWith('/messages');
  }

  protected override isUpload({ method, path }: SimulatedCall): boolean {
    return method === 'POST' && path.endsWith('/media');
  }

  protected answer(call: SimulatedCall): ProviderResponse {
    const [, phoneNumberId, method] = /^\/v\d+\.\d+\/(\d+)(\/messages|\/media)?$/.exec(call.path) ?? [];
    if (phoneNumberId === undefined)
      return graphError(100, 'Unknown path components', { subcode: 33, status: 404 });
    const fault = this.tokenFault(call);
    if (fault) return fault;
    const media = call.method === 'GET' ? this.customerMedia.get(phoneNumberId) : undefined;
    if (media) return { status: 200, body: media };
    if (call.method === 'GET' && call.query.phone_number_id !== undefined)
      return graphError(100, 'Unsupported get request.', { subcode: 33 });
    if (method === '/media') return this.upload(phoneNumberId, call.body);
    if (method !== undefined) return this.send(phoneNumberId, call.body);
    return { status: 200, body: { id: phoneNumberId, display_phone_number: '15550783881' } };
  }

  private send(phoneNumberId: string, body: any): ProviderResponse {
    const to = body.to ?? body.recipient;
    const file = this.fileOf(phoneNumberId, body);
    if (file !== undefined && !('kind' in file)) return file;
    const text = file ? (body[body.type].caption ?? '') : body.text?.body;
    if (body.messaging_product !== 'whatsapp' || typeof to !== 'string' || !(file || body.type === 'text')) {
      return graphError(100, 'Invalid parameter');
    }
    if (!file && (typeof text !== 'string' || text === '' || [...text].length > 4096)) {
      return graphError(100, 'Param text[body] must be a string of 1 to 4096 characters');
    }
    if (this.windowClosedFor.has(to)) {
      const details = 'More than 24 hours have passed since the customer last replied to this number.';
      return graphError(131047, 'Re-engagement message', { details });
    }
    if (this.unreachable.has(to)) return graphError(131026, 'Message undeliverable');
    const id = this.wamid();
    const ownId = body.biz_opaque_callback_data;
    this.sent.push({ phoneNumberId, to, id, text, ownId, ...(file && { file }) });
    const contacts = [{ input: to, wa_id: this.spellings.get(to) ?? to.replace('+', '') }];
    return { status: 200, body: { messaging_product: 'whatsapp', contacts, messages: [{ id }] } };
  }

  private upload(phoneNumberId: string, body: any): ProviderResponse {
    const file: SimulatedFile | undefined = body?.file;
    if (body?.messaging_product !== 'whatsapp' || file === undefined || body.type !== file.type)
      return graphError(100, 'Invalid parameter');
    const details = `Unsupported file type ${file.type}`;
    const kind = Object.values(MEDIA).find(({ types }) => types.test(file.type));
    if (!kind) return graphError(131053, 'Media upload error', { details });
    if (file.size === 0 || file.size > kind.max * MIB)
      return graphError(131053, 'Media upload error', { details: 'The file has a wrong size' });
    const id = this.media.add(file, { phoneNumberId });
    return id === null
      ? graphError(131053, 'Media upload error', { details: 'The file was uploaded before' })
      : { status: 200, body: { id } };
  }

  /** Returns the file of a message, a refusal, or undefined for another message. */
  private fileOf(
    phoneNumberId: string,
    body: any,
  ): (SimulatedFile & { kind: string }) | ProviderResponse | undefined {
    const rules = MEDIA[body.type];
    if (!rules) return undefined;
    const { id, caption, filename } = body[body.type] ?? {};
    const file = this.media.find(id);
    if (!file || file.phoneNumberId !== phoneNumberId)
      return graphError(
        100,
        `Param ${body.type}['id'] is not a valid whatsapp business account media attachment ID`,
      );
    if (!rules.types.test(file.type))
      return graphError(131053, 'Media upload error', { details: 'The file is of another kind' });
    if (caption !== undefined && (body.type === 'audio' || [...caption].length > 1024))
      return graphError(100, `Param ${body.type}['caption'] is not valid`);
    if (filename !== undefined && body.type !== 'document')
      return graphError(100, `Unexpected key "filename" on param "${body.type}"`);
    return { ...file, kind: body.type as string };
  }

  private wamid(): string {
    return `wamid.${Buffer.from(`simulated ${this.nextId++} ${Date.now()}`).toString('base64')}`;
  }
}
