import { MessagingSimulator } from './messaging-simulator';
import { graphError } from './meta-simulator';
import { SimulatedCall, ProviderResponse } from './provider-simulator';

/**
 * Simulator of the Instagram API with Instagram Login. Every id is an account, and every token is valid until
 * it is revoked.
 */
export class InstagramSimulator extends MessagingSimulator {
  readonly refreshed: { from: string; to: string }[] = [];
  /** Responses of the next refreshes of a token, each of which fails. */
  readonly refreshTrouble: ProviderResponse[] = [];
  tokenLifetimeSeconds = 60 * 24 * 3600;

  protected readonly object = 'instagram';
  protected readonly maxText = { length: 1000, of: (text: string) => Buffer.byteLength(text) };
  protected readonly windowClosed = graphError(10, 'This message is sent outside of allowed window.', {
    subcode: 2534022,
    status: 403,
  });
  protected readonly notReachable = graphError(100, 'The requested user cannot be found.', {
    subcode: 2534014,
  });

  /** Makes the event of a message that was read. */
  read(accountId: string, customerId: string, mid: string) {
    return this.event(accountId, customerId, { read: { mid } });
  }

  /** Makes the notification of the "Test" button in Meta's dashboard. */
  dashboardTest() {
    const message = { mid: 'random_mid', text: 'random_text' };
    const value = {
      sender: { id: '12334' },
      recipient: { id: '23245' },
      timestamp: '1527459824',
      message,
    };
    return {
      object: this.object,
      entry: [{ id: '0', time: Date.now(), changes: [{ field: 'messages', value }] }],
    };
  }

  protected override answer(call: SimulatedCall): ProviderResponse {
    return call.path === '/refresh_access_token' ? this.refresh(call) : super.answer(call);
  }

  private refresh(call: SimulatedCall): ProviderResponse {
    const { grant_type, access_token: from = '' } = call.query;
    const trouble = this.refreshTrouble.shift() ?? this.tokenFault(call);
    if (trouble) return trouble;
    if (grant_type !== 'ig_refresh_token') return graphError(100, 'Invalid grant_type');
    const to = `${from.split('~')[0]}~${this.refreshed.length + 1}`;
    this.refreshed.push({ from, to });
    const body = { access_token: to, token_type: 'bearer', expires_in: this.tokenLifetimeSeconds };
    return { status: 200, body };
  }
}
