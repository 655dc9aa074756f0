import { AttachedFile, mediaFault, MessagingSimulator } from './messaging-simulator';
import { graphError } from './meta-simulator';
import { SimulatedCall, ProviderResponse } from './provider-simulator';
import { fileOf } from './simulated-files';

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

  /** Fetches the file, without redirects, as Instagram does before it answers. */
  protected async attached(
    _accountId: string,
    { type, payload }: { type: string; payload: any },
  ): Promise<AttachedFile> {
    const unfetched = graphError(100, 'Failed to fetch the file from the URL.', { subcode: 2018008 });
    if (typeof payload?.url !== 'string') return graphError(100, 'Invalid parameter');
    const { pathname, search, origin } = new URL(payload.url);
    const response = await fetch(`${this.hookOrigin ?? origin}${pathname}${search}`, { redirect: 'manual' });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) return unfetched;
    const contentType = response.headers.get('content-type') ?? '';
    const file = fileOf(pathname.split('/').at(-1)!, contentType, bytes);
    const isTaken = type === 'file' ? contentType === 'application/pdf' : contentType !== 'image/gif';
    if (!isTaken) return graphError(100, 'The file type is not supported.', { subcode: 2534015 });
    return mediaFault(type, file) ?? { ...file, kind: type };
  }

  protected override answer(call: SimulatedCall): ProviderResponse | Promise<ProviderResponse> {
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
