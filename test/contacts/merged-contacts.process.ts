import { Client } from 'pg';
import { ChannelWorkspace } from '../support/channel-workspace';
import { eventsOf } from '../support/events';
import { waitForLockWait } from '../support/lock-waits';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';

const APP_SECRET = '0123456789abcdef0123456789abcdef';
const [PHONE, USER] = ['34600111222', 'ES.111'];

describe('A process that is killed while it merges two contacts', () => {
  let whatsapp: WhatsAppSimulator;
  let service: TestService;
  let accounts = 30_801;

  beforeAll(async () => {
    whatsapp = await new WhatsAppSimulator().start();
    service = await TestService.create({ env: { META_GRAPH_URL: whatsapp.url } });
  });

  it.each([
    ['before its first write', 'contacts', 'contact_id'],
    ['before its last one', 'conversations', 'id'],
  ])(
    '%s: the repeated hook makes one contact with one event',
    async (_, table, column) => {
      const phoneNumberId = String(++accounts);
      const credentials = { phoneNumberId, accessToken: 'EAAGsimulatedToken', appSecret: APP_SECRET };
      const shop = await ChannelWorkspace.connect(service, 'WHATSAPP', credentials);
      const hook = { url: shop.connection.hookUrl, appSecret: APP_SECRET };
      const receive = (text: string, from?: string, userId?: string) =>
        whatsapp.notification(phoneNumberId, {
          messages: [whatsapp.message(from!, text, { from_user_id: userId })],
        });
      const contacts = async () => {
        const listed = await shop.tenant.client.all('/contacts', 200);
        return listed.filter(({ id }) => id !== shop.tenant.conversation.contact.id);
      };
      whatsapp.hookOrigin = service.baseUrl;
      await whatsapp.notify(hook, receive('by number', PHONE));
      await whatsapp.notify(hook, receive('by id', undefined, USER));
      const [younger, older] = await contacts();
      const both = receive('by both', PHONE, USER);

      const first = await ServiceProcess.start('api', service.stores, { META_GRAPH_URL: whatsapp.url });
      whatsapp.hookOrigin = first.url;
      const holder = new Client({ connectionString: service.stores.databaseUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query(
        `SELECT FROM ${table} WHERE tenant_id = $1 AND id = (
         SELECT ${column} FROM conversations WHERE tenant_id = $1 AND contact_id = $2) FOR UPDATE`,
        [shop.workspace.id, younger!.id],
      );
      const answer = whatsapp.notify(hook, both).catch(() => null);
      await waitForLockWait(service, 'the merge');
      first.kill('SIGKILL');
      await Promise.all([first.exited, answer]);
      await holder.query('ROLLBACK');
      await holder.end();
      expect(await contacts()).toEqual([younger, older]);

      const next = await ServiceProcess.start('api', service.stores, { META_GRAPH_URL: whatsapp.url });
      whatsapp.hookOrigin = next.url;
      for (let time = 0; time < 2; time++) expect(await whatsapp.notify(hook, both)).toBe(200);
      const merged = await contacts();
      expect(merged.map(({ id }) => id)).toEqual([older!.id]);
      const conversations = await shop.conversationsWith(USER);
      const texts = await Promise.all(conversations.map((one) => shop.bodiesOf(one)));
      expect(texts.flat().sort()).toEqual(['by both', 'by id', 'by number']);
      expect(await eventsOf(service, shop.workspace, 'contact.merged')).toEqual([
        { contactId: older!.id, mergedContactId: younger!.id },
      ]);
    },
    60_000,
  );
});
