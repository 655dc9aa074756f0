import { createHmac } from 'node:crypto';
import { MessagingSimulator } from './messaging-simulator';
import { graphError } from './meta-simulator';
import { SimulatedCall, ProviderResponse } from './provider-simulator';

/** Simulator of Messenger's Send API. Every id is a page, and every token is valid until it is revoked. */
export class MessengerSimulator extends MessagingSimulator {
  /** Secret with which every call must be proved, as an app can require; null to require no proof. */
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

  /** Makes the event that these messages, and all sent until the watermark, were delivered. */
  delivered(accountId: string, customerId: string, mids: string[], watermark = Date.now()) {
    return this.event(accountId, customerId, { delivery: { mids, watermark } });
  }

  /** Makes the event that all messages sent until the watermark were read. */
  read(accountId: string, customerId: string, watermark = Date.now()) {
    return this.event(accountId, customerId, { read: { watermark } });
  }

  protected override answer(call: SimulatedCall): ProviderResponse {
    const { access_token: token = '', appsecret_proof: proof } = call.query;
    const isProved =
      this.appSecret === null || proof === createHmac('sha256', this.appSecret).update(token).digest('hex');
    if (!isProved) return graphError(100, 'Invalid appsecret_proof provided in the API argument');
    return super.answer(call);
  }
}
