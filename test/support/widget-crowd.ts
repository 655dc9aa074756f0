import { ConnectionLoader } from '../../src/channels/connections/connection-loader';
import { Widget } from '../../src/channels/widget/visitor';
import { newId } from '../../src/common/ids';
import { createTenant, Tenant } from './routes';
import { TestService } from './service';
import { TestVisitor, TestWidget } from './widget';

export const BAD_TOKEN =
  'The token is malformed, expired, or of another widget: begin a new session without it.';
export const NO_WIDGET = 'Widget not found.';

/** A valid call of every route that requires a visitor's token. */
export const VISITOR_CALLS: [string, (visitor: TestVisitor) => ReturnType<TestVisitor['send']>][] = [
  ['POST messages', (visitor) => visitor.post('m-1')],
  ['GET messages', (visitor) => visitor.history()],
  ['POST receipts', (visitor) => visitor.receipt(newId(), 'READ')],
  ['POST uploads', (visitor) => visitor.send('POST', '/uploads', { name: 'a.txt', size: 1 })],
  ['PUT content', (visitor) => visitor.put(newId(), Buffer.from('a'))],
  ['DELETE uploads', (visitor) => visitor.send('DELETE', `/uploads/${newId()}`)],
  ['GET content', (visitor) => visitor.send('GET', `/attachments/${newId()}/content`)],
  ['GET events', (visitor) => visitor.send('GET', '/events')],
];

/** Visitors of a widget, each from another address, so that they share no limit of one. */
export class WidgetCrowd {
  private addresses = 0;

  private constructor(
    readonly service: TestService,
    readonly tenant: Tenant,
    readonly widget: TestWidget,
  ) {}

  static async create(): Promise<WidgetCrowd> {
    const service = await TestService.create({ env: { TRUST_PROXY: 'loopback' } });
    const tenant = await createTenant(service);
    return new WidgetCrowd(service, tenant, await TestWidget.connect(service, tenant.workspace));
  }

  /** Returns the headers of a request from an address that made none yet. */
  newAddress(): Record<string, string> {
    const n = ++this.addresses;
    return { 'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
  }

  page(of: TestWidget, headers: Record<string, string> = {}): TestVisitor {
    return of.page(this.service.client, { ...this.newAddress(), ...headers });
  }

  /** Begins the session of a new visitor. */
  async visitor(of: TestWidget, body: object = {}): Promise<TestVisitor> {
    const page = this.page(of);
    return page.as((await page.open(body)).body.token as string, this.service.baseUrl);
  }

  async load({ siteKey }: TestWidget): Promise<Widget> {
    const loader = this.service.app.get(ConnectionLoader, { strict: false });
    return (await loader.loadByHookKey('WIDGET', siteKey)) as Widget;
  }

  /** Searches the contacts of the tenant. */
  async contactsNamed(q: string): Promise<Record<string, unknown>[]> {
    const { body } = await this.tenant.client.get(`/contacts?q=${encodeURIComponent(q)}`);
    return body.data as Record<string, unknown>[];
  }
}
