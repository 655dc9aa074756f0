import { createHmac } from 'node:crypto';
import { MessagingSimulator } from './messaging-simulator';
import { graphError } from './meta-simulator';
import { ProviderCall, ProviderReply } from './provider-simulator';

/** Messenger's Send API: every id is a page, every token good until it is revoked. */
export class MessengerSimulator extends MessagingSimulator {
  /** Set, it is held against the proof in every call, as an app can ask for. */
  appSecret: string | null = null;

  protected readonly object = 'page';
  protected readonly maxText = { length: 2000, of: (text: string) => [...text].length };
  protected readonly windowClosed = graphError(10, 'This message is sent outside of allowed window.', {
    subcode: 2018278,
    status: 403,
  });
  protected readonly notReachable = graphError(551, "This person isn't available right now.", {
    subcode: 1545041,
  });

  /** How a page's app hears that messages have been delivered: these, and all that were sent until now. */
  delivered(accountId: string, customerId: string, mids: string[], watermark = Date.now()) {
    return this.event(accountId, customerId, { delivery: { mids, watermark } });
  }

  /** How a page's app hears that all messages sent until now have been read. */
  read(accountId: string, customerId: string, watermark = Date.now()) {
    return this.event(accountId, customerId, { read: { watermark } });
  }

  protected override answer(call: ProviderCall): ProviderReply {
    const { access_token: token = '', appsecret_proof: proof } = call.query;
    const isProved =
      this.appSecret === null || proof === createHmac('sha256', this.appSecret).update(token).digest('hex');
    if (!isProved) return graphError(100, 'Invalid appsecret_proof provided in the API argument');
    return super.answer(call);
  }
}
