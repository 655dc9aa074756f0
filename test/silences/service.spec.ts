import { generateVAPIDKeys } from 'web-push';
import { AlertKind } from '../../src/alerts/alert-kinds';
import { AlertWriter } from '../../src/alerts/alert-writer';
import { AlertsService } from '../../src/alerts/alerts.service';
import { SYSTEM } from '../../src/access/principal';
import { VisitorStreams } from '../../src/channels/widget/visitor-streams';
import { newId } from '../../src/common/ids';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { Database } from '../../src/database/database';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { LostMessagesService } from '../../src/messages/lost-messages.service';
import { ChooseNotices } from '../../src/notices/agents/notice-choices.dto';
import { NoticeChoicesService } from '../../src/notices/agents/notice-choices.service';
import { PushAddressesService } from '../../src/notices/push/push-addresses.service';
import { PushSender } from '../../src/notices/push/push-sender';
import { ConnectedWorkspace, waitForStatus } from '../support/connected-workspace';
import { expectRefusal } from '../support/errors';
import { Logins } from '../support/logins';
import { Mailbox } from '../support/mailbox';
import { MessagingHost } from '../support/messaging-host';
import { PushService } from '../support/push-service';
import { Receiver } from '../support/receiver';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { TelegramSimulator } from '../support/simulators/telegram';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';
import { TestWidget } from '../support/widget';
import { testSilences } from './silences';

const MAIL_FROM = 'login@example.com';
const APP_URL = 'https://app.example.com';
const VAPID = generateVAPIDKeys();
const PUSH_KEYS = {
  VAPID_PUBLIC_KEY: VAPID.publicKey,
  VAPID_PRIVATE_KEY: VAPID.privateKey,
  VAPID_CONTACT: 'mailto:ops@example.com',
};

/** Scenarios of the table of silences that need one process, and servers beside it. */
describe('while a part fails', () => {
  let telegram: TelegramSimulator;
  let mailbox: Mailbox;
  let service: TestService;
  /** Host without a mail server, so that it shows the links of invitations. */
  let plain: MessagingHost;
  let logins: Logins;

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    mailbox = await Mailbox.start();
    const mail = { SMTP_URL: mailbox.url, MAIL_FROM, ANSWER_MAIL_SECONDS: '1', APP_URL };
    service = await TestService.create({
      role: 'all',
      env: { ...telegram.environment, ...mail, ...PUSH_KEYS },
    });
    plain = await MessagingHost.create({ beside: service });
    logins = new Logins(plain);
  });
  beforeEach(() => {
    mailbox.fault = null;
    mailbox.mails.length = 0;
  });

  const get = <T>(part: new (...injected: never[]) => T) => service.app.get<T>(part, { strict: false });
  const openAlerts = async (tenantId: string) =>
    (await get(AlertsService).list(tenantId, { open: true }, SYSTEM)).data.map(({ kind }) => kind);
  const waitForAlerts = (tenantId: string, ...kinds: AlertKind[]) =>
    waitFor(`the alerts ${kinds.join()}`, async () => (await openAlerts(tenantId)).join() === kinds.join());
  /** Reads the kinds of alerts of which events tell, each with the end of the event's name. */
  const alertEvents = async (tenantId: string) => {
    const rows = await service.query<{ told: string }>(
      `SELECT concat(data->>'kind', ' ', split_part(type, '.', 2)) AS told FROM events
       WHERE tenant_id = $1 AND type LIKE 'alert.%' ORDER BY id`,
      [tenantId],
    );
    return rows.map(({ told }) => told);
  };

  /** Waits until a mail was tried once and failed: it is due in a minute. */
  const waitForFailedTry = (
    table: 'answer_notices' | 'agent_notices' | 'alert_mailboxes',
    tenantId: string,
  ) =>
    waitFor('a try that failed', async () => {
      const [row] = await service.query<{ isAgain: boolean }>(
        `SELECT tries = 1 AND due_at BETWEEN now() AND now() + interval '65 seconds' AS "isAgain" FROM ${table}
         WHERE tenant_id = $1`,
        [tenantId],
      );
      return row?.isAgain;
    });
  /** Makes the mails of a workspace due that are tried again later. */
  const makeDue = (table: string, tenantId: string) =>
    service.query(`UPDATE ${table} SET due_at = now() WHERE tenant_id = $1 AND due_at IS NOT NULL`, [
      tenantId,
    ]);
  /** Adds an agent who wants notices at once, by mail and push, with a conversation of theirs. */
  async function agentWithConversation() {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const agent = await logins.member(workspace, { role: 'AGENT' });
    const actor = { type: 'agent' as const, id: agent.agent.id };
    const choices: ChooseNotices = {
      mailMatters: ['MINE'],
      mailAfterMinutes: 0,
      pushMatters: ['MINE'],
      pushAfterMinutes: 0,
    };
    await plain.get(NoticeChoicesService).set(workspace.id, choices, actor);
    const conversation = await service.make.conversation(workspace);
    await service.make.updateConversation(workspace, conversation, { assignedAgentId: actor.id });
    const getChoices = () => plain.get(NoticeChoicesService).get(workspace.id, actor);
    return { workspace, agent, conversation, getChoices };
  }

  testSilences('service', {
    'provider: owner': async () => {
      const channel = await ConnectedWorkspace.telegram(service);
      const { id } = channel.workspace;
      const botToken = TelegramSimulator.token(Number(channel.connection.externalId));
      telegram.revokedTokens.add(botToken);
      const chat = await channel.chat();
      await waitForStatus(service, await chat.send('refused'), 'FAILED');
      expect(await openAlerts(id)).toEqual(['CHANNEL_NEEDS_CREDENTIALS']);
      telegram.revokedTokens.delete(botToken);
      await channel.rotate({ botToken });
      expect(await openAlerts(id)).toEqual([]);
      expect(await alertEvents(id)).toEqual([
        'CHANNEL_NEEDS_CREDENTIALS opened',
        'CHANNEL_NEEDS_CREDENTIALS resolved',
      ]);
      telegram.blockedBy.add(Number(chat.customerId));
      for (let n = 0; n < 5; n++) await waitForStatus(service, await chat.send('blocked'), 'FAILED');
      await waitFor('the alert', async () => (await openAlerts(id)).join() === 'REPLIES_FAILING');
      telegram.blockedBy.clear();
      await waitForStatus(service, await chat.send('On its way.'), 'SENT');
      await waitFor('its end', async () => (await openAlerts(id)).length === 0);
    },

    'provider: agent': async () => {
      const channel = await ConnectedWorkspace.telegram(service);
      const { id } = channel.workspace;
      const chat = await channel.chat();
      telegram.blockedBy.add(Number(chat.customerId));
      const reply = await chat.send('blocked');
      expect(await waitForStatus(service, reply, 'FAILED')).toMatchObject({
        error: { code: 'REFUSED', message: 'Forbidden: bot was blocked by the user' },
      });
      const notDelivered = async () =>
        (await get(ConversationsService).listActive(id, { view: 'lost' }, SYSTEM)).data.map(
          ({ lost }) => lost,
        );
      expect(await notDelivered()).toEqual(['FAILED']);
      await get(LostMessagesService).dismiss(id, chat.conversation.id, { messageId: reply.id }, SYSTEM);
      expect(await notDelivered()).toEqual([]);
    },

    'receiver: owner': async () => {
      const receiver = await Receiver.start();
      const tenant = await WebhookWorkspace.create(service);
      const { email } = await logins.member(tenant.workspace, { role: 'OWNER' });
      const endpoint = await tenant.addEndpoint(receiver.url());
      receiver.https.respond = (response) => response.writeHead(500).end();
      await tenant.exhaust(endpoint);
      await waitForAlerts(tenant.id, 'ENDPOINT_FAILING');
      expect((await mailbox.next(email)).text).toContain(`/settings/webhooks/${endpoint.id}`);
      receiver.https.respond = (response) => response.writeHead(200).end();
      await tenant.message();
      await waitForAlerts(tenant.id);
      expect(await alertEvents(tenant.id)).toEqual(['ENDPOINT_FAILING opened', 'ENDPOINT_FAILING resolved']);
      await receiver.stop();
    },

    'mail: owner': async () => {
      const options = { beside: service, mailFrom: MAIL_FROM, appUrl: APP_URL };
      const host = await MessagingHost.create({ ...options, smtpUrl: mailbox.url });
      const workspace = await service.make.workspace();
      const { email } = await logins.member(workspace, { role: 'OWNER' });
      const invited = await service.make.agent(workspace);
      const invite = () => host.get(InvitationsService).invite(workspace.id, invited.id, {}, SYSTEM);
      mailbox.fault = 'greylists';
      await expectRefusal(invite(), 'UNAVAILABLE');
      await plain
        .get(Database)
        .transaction((tx) => plain.get(AlertWriter).open(tx, workspace.id, 'TRIAL_ENDING', workspace.id));
      expect(await openAlerts(workspace.id)).toEqual(['TRIAL_ENDING']);
      expect(await alertEvents(workspace.id)).toEqual(['TRIAL_ENDING opened']);
      await waitForFailedTry('alert_mailboxes', workspace.id);
      mailbox.fault = null;
      await makeDue('alert_mailboxes', workspace.id);
      await mailbox.next(email);
      expect(await invite()).toMatchObject({ isMailed: true });
      await mailbox.next(invited.email);
      await host.close();
    },

    'mail: agent': async () => {
      const { workspace, agent, conversation, getChoices } = await agentWithConversation();
      mailbox.fault = 'greylists';
      await service.make.received(workspace, conversation, 'Where is my parcel?');
      await waitForFailedTry('agent_notices', workspace.id);
      mailbox.fault = null;
      await makeDue('agent_notices', workspace.id);
      expect((await mailbox.next(agent.email)).text).toContain('> Where is my parcel?');
      await service.make.sent(workspace, conversation);
      mailbox.fault = 'unknown';
      await service.make.received(workspace, conversation, 'And now?');
      await waitFor('the page to say so', async () => (await getChoices()).mailRefusedAt);
    },

    'mail: visitor': async () => {
      const { client, workspace } = await createTenant(service);
      const visitor = await (await TestWidget.connect(service, workspace)).visitor();
      await visitor.post('m-1', 'Do you ship to Spain?');
      const email = 'zoe@example.com';
      await visitor.send('POST', '/answer-address', { email, locale: 'en' });
      const { conversationId } = (await visitor.open()).body;
      mailbox.fault = 'greylists';
      await client.post(`/conversations/${conversationId}/messages`, { body: 'Yes, we do.' });
      await waitForFailedTry('answer_notices', workspace.id);
      const { body } = await visitor.history();
      expect(body.data[0].body).toBe('Yes, we do.');
      mailbox.fault = null;
      await makeDue('answer_notices', workspace.id);
      expect((await mailbox.next(email)).text).toContain('> Yes, we do.');
      await visitor.receipt(body.data[0].id as string, 'READ');
      mailbox.fault = 'unknown';
      await client.post(`/conversations/${conversationId}/messages`, { body: 'In three days.' });
      const address = async () => (await visitor.send('GET', '/answer-address')).body.address as string;
      await waitFor('the widget to ask for an address', async () => (await address()) === 'NONE');
      mailbox.fault = null;
    },

    'push: agent': async () => {
      const push = await PushService.start();
      push.answer(503);
      const { workspace, agent, conversation } = await agentWithConversation();
      const addresses = get(PushAddressesService);
      await addresses.set(agent.holder, push.subscribe());
      await service.make.received(workspace, conversation, 'Where is my parcel?');
      expect((await mailbox.next(agent.email)).text).toContain('> Where is my parcel?');
      const isOn = async () => (await addresses.getState(agent.holder)).isOn;
      expect(await isOn()).toBe(true);
      push.answer(410);
      const notice = { id: newId(), title: 'Zoë', body: 'Where is my parcel?', path: '/' };
      expect(await get(PushSender).send(workspace.id, agent.agent.id, notice)).toMatchObject({ taken: 0 });
      expect(await isOn()).toBe(false);
      await push.receiver.stop();
    },

    'worker: visitor': async () => {
      const api = await TestService.create({ role: 'api' });
      const { client, workspace } = await createTenant(api);
      const visitor = await (await TestWidget.connect(api, workspace)).visitor();
      await visitor.post('m-1', 'Do you ship to Spain?');
      const { conversationId } = (await visitor.open()).body;
      const stream = await visitor.stream();
      await stream.next('ready');
      await client.post(`/conversations/${conversationId}/messages`, { body: 'Yes, we do.' });
      await api.app.get(VisitorStreams, { strict: false }).sendHeartbeats();
      expect((await stream.next('heartbeat')).data).toMatchObject({ sequence: 2 });
      expect((await visitor.history()).body.data[0].body).toBe('Yes, we do.');
      expect(stream.listEvents('message')).toEqual([]);
      await TestService.create({ role: 'worker', beside: api });
      expect((await stream.next('message')).data.message.body).toBe('Yes, we do.');
      stream.close();
    },
  });
});
