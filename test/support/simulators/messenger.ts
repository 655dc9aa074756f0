import { createHmac } from 'node:crypto';
import { AttachedFile, mediaFault, MessagingSimulator } from './messaging-simulator';
import { graphError } from './meta-simulator';
import { SimulatedCall, ProviderResponse } from './provider-simulator';
import { SimulatedFile, UploadedFiles } from './simulated-files';

/** Simulator of Messenger's Send API. Every id is a page, and every token is valid until it is revoked. */
export class MessengerSimulator extends MessagingSimulator {
  /** Secret with which every call must be proved, as an app can require; null to require no proof. */
  appSecret: string | null = null;

  /** Files that were uploaded, by Meta's id. */
  readonly attachments = new UploadedFiles<{ pageId: string; kind: string }>(1_745_504_518_000_000);

  protected readonly object = 'page';
  protected readonly maxText = { length: 2000, of: (text: string) => [...text].length };
  protected readonly windowClosed = graphError(10, 'This message is sent outside of allowed window.', {
    subcode: 2018278,
    status: 403,
  });
  protected readonly notReachable = graphError(551, "This person isn't available right now.", {
    subcode: 1545041,
  });

  /** Makes the event that these messages, and all sent until the watermark, were delivered. */
  delivered(accountId: string, customerId: string, mids: string[], watermark = Date.now()) {
    return this.event(accountId, customerId, { delivery: { mids, watermark } });
  }

  /** Makes the event that all messages sent until the watermark were read. */
  read(accountId: string, customerId: string, watermark = Date.now()) {
    return this.event(accountId, customerId, { read: { watermark } });
  }

  protected override isUpload({ method, path }: SimulatedCall): boolean {
    return method === 'POST' && path.endsWith('/message_attachments');
  }

  protected attached(pageId: string, { type, payload }: { type: string; payload: any }): AttachedFile {
    const file = this.attachments.find(payload?.attachment_id);
    if (!file || file.pageId !== pageId || file.kind !== type)
      return graphError(100, 'Invalid ID or attachment to re-upload', { subcode: 2018074 });
    return file;
  }

  private upload(pageId: string, body: any): ProviderResponse {
    const { attachment } = JSON.parse(body?.message ?? '{}') as {
      attachment?: { type: string; payload: any };
    };
    const file: SimulatedFile | undefined = body?.filedata;
    if (!attachment?.payload?.is_reusable || !file) return graphError(100, 'Invalid parameter');
    const fault = mediaFault(attachment.type, file);
    if (fault) return fault;
    const id = this.attachments.add(file, { pageId, kind: attachment.type });
    if (id === null) return graphError(100, 'The file was uploaded before');
    return { status: 200, body: { attachment_id: id } };
  }

  protected override answer(call: SimulatedCall): ProviderResponse | Promise<ProviderResponse> {
    const { access_token: token = '', appsecret_proof: proof } = call.query;
    const isProved =
      this.appSecret === null || proof === createHmac('sha256', this.appSecret).update(token).digest('hex');
    if (!isProved) return graphError(100, 'Invalid appsecret_proof provided in the API argument');
    const [, pageId] = /^\/v\d+\.\d+\/(\d+)\/message_attachments$/.exec(call.path) ?? [];
    return pageId === undefined
      ? super.answer(call)
      : (this.tokenFault(call) ?? this.upload(pageId, call.body));
  }
}
