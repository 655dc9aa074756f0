import { SYSTEM } from '../../src/access/principal';
import { AlertKind } from '../../src/alerts/alert-kinds';
import { AlertWriter } from '../../src/alerts/alert-writer';
import { AlertsService } from '../../src/alerts/alerts.service';
import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { AgentErasuresService } from '../../src/logins/agent-erasures.service';
import { PeopleService } from '../../src/logins/people.service';
import { AlertMailChoicesService } from '../../src/notices/alerts/alert-mail-choices.service';
import { CreateWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint-input.dto';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { expectRefusal } from '../support/errors';
import { Logins, Member } from '../support/logins';
import { Mailbox, ReceivedMail } from '../support/mailbox';
import { MessagingHost } from '../support/messaging-host';
import { TestService } from '../support/service';
import { TestWidget } from '../support/widget';
import { letTimePass, waitFor } from '../support/wait';

const PUBLIC_URL = 'https://service.example';

describe('alerts by mail', () => {
  let mailbox: Mailbox;
  let service: TestService;
  let host: MessagingHost;
  let logins: Logins;
  let workspace: WorkspaceEntity;
  let owner: Member;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    service = await TestService.create({
      role: 'all',
      env: {
        SMTP_URL: mailbox.url,
        MAIL_FROM: 'Acme Login <login@example.com>',
        PUBLIC_URL,
        APP_URL: 'https://app.example',
      },
    });
    // Without a mail server, so that it shows the links of invitations.
    host = await MessagingHost.create({ beside: service });
    logins = new Logins(host);
  });
  beforeEach(async () => {
    mailbox.fault = null;
    mailbox.mails.length = 0;
    workspace = await service.make.workspace({ name: 'Acme Shop' });
    owner = await logins.member(workspace, { role: 'OWNER' });
  });

  const change = <T>(work: (writer: AlertWriter, ...rest: Parameters<AlertWriter['open']>) => Promise<T>) =>
    service.app
      .get(Database)
      .transaction((tx) => work(service.app.get(AlertWriter), tx, workspace.id, 'KEY_ENDING', newId()));
  const open = (kind: AlertKind, subjectId = newId()) =>
    change((writer, tx, tenantId) => writer.open(tx, tenantId, kind, subjectId));
  const resolve = (kind: AlertKind, subjectId: string) =>
    change((writer, tx, tenantId) => writer.resolve(tx, tenantId, [kind], subjectId));
  const choices = () => service.app.get(AlertMailChoicesService);
  const actorOf = ({ agent }: Member) => ({ type: 'agent' as const, id: agent.id });
  const boxOf = async ({ agent }: Member) =>
    (
      await service.query<{ tries: number; count: number; isDue: boolean; waits: boolean; mailId: string }>(
        `SELECT tries, cardinality(collected_ids) AS count, due_at IS NOT NULL AS "isDue", mail_id AS "mailId",
           due_at IS NOT NULL AND due_at = free_at AS waits
         FROM alert_mailboxes WHERE agent_id = $1`,
        [agent.id],
      )
    )[0];
  const isCollected = (member: Member, count: number) =>
    waitFor(`${count} collected alerts`, async () => {
      const box = await boxOf(member);
      return box?.count === count && box.waits;
    });
  const isIdle = (member: Member) =>
    waitFor('an idle mailbox', async () => {
      const box = await boxOf(member);
      return box && !box.isDue && box.mailId === null;
    });
  /** Waits until a try that failed is recorded: the mail is due neither now nor at the end of its lease. */
  const isRecorded = ({ agent }: Member, tries: number) =>
    waitFor(`the record of try ${tries}`, async () => {
      const [row] = await service.query<{ isRecorded: boolean }>(
        `SELECT tries = $2 AND due_at NOT BETWEEN now() + interval '75 seconds' AND now() + interval '2 minutes'
           AS "isRecorded" FROM alert_mailboxes WHERE agent_id = $1`,
        [agent.id, tries],
      );
      return row?.isRecorded;
    });
  /** Lets the time after a mail pass. */
  const makeDue = (member: Member) =>
    service.query('UPDATE alert_mailboxes SET due_at = now() WHERE agent_id = $1 AND due_at IS NOT NULL', [
      member.agent.id,
    ]);
  /** Waits until no alert is owed any more: each is collected, or none wants it. */
  const isTaken = () =>
    waitFor('the end of the collection', async () => {
      const owed = await service.query('SELECT 1 FROM alerts WHERE tenant_id = $1 AND owed_at IS NOT NULL', [
        workspace.id,
      ]);
      return owed.length === 0;
    });
  const headerOf = ({ source }: ReceivedMail, name: string) =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(source.replace(/\r\n[ \t]+/g, ' '))?.[1];
  const endPath = (mail: ReceivedMail) =>
    /<https:\/\/service\.example(.*)>/.exec(headerOf(mail, 'List-Unsubscribe')!)![1]!;

  it('are told at once, in the language of the person, with links to the page and to the account', async () => {
    await host.get(PeopleService).update(owner.holder, { locale: 'de' });
    const subjectId = newId();
    await open('ENDPOINT_FAILING', subjectId);
    const mail = await mailbox.next(owner.email);
    expect(mail.subject).toBe('Acme Shop: Ein Webhook-Endpunkt ist gestört');
    expect(mail.from).toBe('no-reply@example.com');
    const page = `https://app.example/w/${workspace.slug}/settings/webhooks/${subjectId}`;
    for (const part of [page, 'https://app.example/account', `${PUBLIC_URL}/alert-mails/`])
      expect(mail.text).toContain(part);
  });

  it('say when the first mail about them was taken', async () => {
    const list = async () =>
      (await service.app.get(AlertsService).list(workspace.id, {}, SYSTEM)).data.map(({ toldAt }) => toldAt);
    mailbox.fault = 'greylists';
    await open('ENDPOINT_FAILING');
    await isRecorded(owner, 1);
    expect(await list()).toEqual([null]);
    mailbox.fault = null;
    await makeDue(owner);
    await isIdle(owner);
    const told = await list();
    expect(told).toEqual([expect.any(Date)]);
    await open('KEY_ENDING');
    await isCollected(owner, 1);
    expect(await list()).toEqual([null, ...told]);
  });

  it('are collected for ten minutes after a mail, and told in one digest, with those that are over', async () => {
    const [first, second] = [newId(), newId()];
    await open('ENDPOINT_FAILING', first);
    await mailbox.next(owner.email);
    await isIdle(owner);
    await open('FILES_NEARLY_FULL', workspace.id);
    await isCollected(owner, 1);
    await open('CHANNEL_NEEDS_CREDENTIALS', second);
    await isCollected(owner, 2);
    await resolve('CHANNEL_NEEDS_CREDENTIALS', second);
    await resolve('ENDPOINT_FAILING', first);
    await isCollected(owner, 3);
    await isTaken();
    expect(mailbox.mails).toEqual([]);
    await makeDue(owner);
    const digest = await mailbox.next(owner.email);
    expect(digest.subject).toBe('Acme Shop: 3 alerts');
    const [opened, over] = digest.text.split('Over:');
    expect(opened).toContain('The space for files is nearly full');
    expect(over).toContain('A channel needs new credentials');
    expect(over).toContain('A webhook endpoint fails');
    await isIdle(owner);
    expect(mailbox.mails).toEqual([]);
  });

  it('name the endpoint, the channel and the key', async () => {
    const make = (input: Partial<CreateWebhookEndpoint>) =>
      host
        .get(WebhookEndpointsService)
        .create(workspace.id, { url: 'https://127.0.0.1:9999/in/s3cret', events: ['*'], ...input }, SYSTEM);
    const { connection } = await TestWidget.connect(service, workspace);
    await open('KEY_ENDING', (await host.make.apiKey(workspace)).id);
    expect((await mailbox.next(owner.email)).text).toContain('An API key is about to end: Test key (');
    await isIdle(owner);
    await open('ENDPOINT_FAILING', (await make({ name: 'Orders' })).id);
    await open('ENDPOINT_FAILING', (await make({})).id);
    await open('CHANNEL_RECEIVES_NOTHING', connection.id);
    await isCollected(owner, 3);
    await makeDue(owner);
    const { text } = await mailbox.next(owner.email);
    for (const title of [
      'A webhook endpoint fails: Orders (',
      'A webhook endpoint fails: 127.0.0.1:9999/in/…',
      'A channel receives nothing: Widget (',
    ])
      expect(text).toContain(title);
    expect(text).not.toContain('s3cret');
  });

  it('are not told again when they end by time alone', async () => {
    const key = newId();
    await open('KEY_ENDING', key);
    await mailbox.next(owner.email);
    await isIdle(owner);
    await resolve('KEY_ENDING', key);
    await isTaken();
    expect(await boxOf(owner)).toMatchObject({ count: 0, isDue: false });
  });

  it('go to each active OWNER and ADMIN with a login, by the choice of each', async () => {
    const admin = await logins.member(workspace, { role: 'ADMIN' });
    const [agent, left] = [await logins.member(workspace, { role: 'AGENT' }), await logins.member(workspace)];
    await service.app.get(AgentsService).update(workspace.id, left.agent.id, { role: 'ADMIN' }, SYSTEM);
    await service.app.get(AgentsService).update(workspace.id, left.agent.id, { active: false }, SYSTEM);
    await service.make.agent(workspace, { role: 'ADMIN' });
    await choices().update(workspace.id, { mutedKinds: ['KEY_ENDING'] }, actorOf(owner));
    await open('KEY_ENDING');
    await mailbox.next(admin.email);
    await open('TRIAL_ENDING');
    const mail = await mailbox.next(owner.email);
    expect(mail.text).not.toContain('API key');
    await isCollected(admin, 1);
    expect(await boxOf(agent)).toBeUndefined();
    expect(await boxOf(left)).toBeUndefined();
    expect(mailbox.mails).toEqual([]);
    expect(await service.app.get(AlertsService).countOpen(workspace.id, actorOf(owner))).toBe(2);
  });

  it.each([
    ['was deactivated', { active: false }],
    ['is an AGENT now', { role: 'AGENT' as const }],
  ])('do not go to who %s meanwhile', async (_, update) => {
    const admin = await logins.member(workspace, { role: 'ADMIN' });
    mailbox.fault = 'greylists';
    await open('TRIAL_ENDING');
    await isRecorded(admin, 1);
    await service.app.get(AgentsService).update(workspace.id, admin.agent.id, update, SYSTEM);
    mailbox.fault = null;
    await makeDue(admin);
    await isIdle(admin);
    expect(mailbox.mails.filter(({ to }) => to.includes(admin.email))).toEqual([]);
  });

  it('do not go to a kind that was muted, or a workspace that was suspended, after they were collected', async () => {
    mailbox.fault = 'greylists';
    await open('TRIAL_ENDING');
    await isRecorded(owner, 1);
    await choices().update(workspace.id, { mutedKinds: ['TRIAL_ENDING'] }, actorOf(owner));
    mailbox.fault = null;
    await makeDue(owner);
    await isIdle(owner);
    mailbox.fault = 'greylists';
    await open('KEY_ENDING');
    await isRecorded(owner, 1);
    await service.app.get(WorkspacesService).suspend(workspace.id, SYSTEM);
    mailbox.fault = null;
    await makeDue(owner);
    await isIdle(owner);
    expect(mailbox.mails).toEqual([]);
  });

  it('go with the agent who is erased', async () => {
    const admin = await logins.member(workspace, { role: 'ADMIN' });
    await choices().update(workspace.id, { isOn: false }, actorOf(admin));
    await service.app.get(AgentsService).update(workspace.id, admin.agent.id, { active: false }, SYSTEM);
    await service.app.get(AgentErasuresService).erase(workspace.id, admin.agent.id, SYSTEM);
    expect(await boxOf(admin)).toBeUndefined();
  });

  it('are chosen by OWNER and ADMIN alone, each for themselves', async () => {
    const admin = await logins.member(workspace, { role: 'ADMIN' });
    const all = { isAvailable: true, isOn: true, mutedKinds: [] };
    expect(await choices().get(workspace.id, actorOf(owner))).toEqual(all);
    const chosen = await choices().update(workspace.id, { mutedKinds: ['KEY_ENDING'] }, actorOf(owner));
    expect(chosen).toEqual({ ...all, mutedKinds: ['KEY_ENDING'] });
    expect(await choices().update(workspace.id, { isOn: false }, actorOf(owner))).toEqual({
      ...chosen,
      isOn: false,
    });
    expect(await choices().get(workspace.id, actorOf(admin))).toEqual(all);
    expect((await host.get(PeopleService).export(owner.holder)).memberships).toEqual([
      expect.objectContaining({ hasAlertMails: false, mutedAlertKinds: ['KEY_ENDING'] }),
    ]);
    const agent = await logins.member(workspace, { role: 'AGENT' });
    await expectRefusal(choices().get(workspace.id, actorOf(agent)), 'FORBIDDEN');
    await expectRefusal(choices().update(workspace.id, { isOn: false }, actorOf(agent)), 'FORBIDDEN');
    await expectRefusal(choices().update(workspace.id, { isOn: false }, SYSTEM), 'INVALID_BODY');
    const unknown = { mutedKinds: ['NO_KIND' as AlertKind] };
    await expectRefusal(choices().update(workspace.id, unknown, actorOf(owner)), 'INVALID_BODY');
  });

  describe('with the link that ends them', () => {
    let mail: ReceivedMail;

    beforeEach(async () => {
      await open('TRIAL_ENDING');
      mail = await mailbox.next(owner.email);
      await isIdle(owner);
    });
    const call = (method: string, path: string, init: RequestInit = {}) =>
      fetch(service.baseUrl + path, { method, ...init });
    const isOn = async () => (await choices().get(workspace.id, actorOf(owner))).isOn;

    it('are ended by one POST of a mail program, for this person and workspace', async () => {
      expect(headerOf(mail, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
      const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
      expect((await call('POST', endPath(mail), { body })).status).toBe(200);
      const form = new FormData();
      form.set('List-Unsubscribe', 'One-Click');
      expect((await call('POST', endPath(mail), { body: form })).status).toBe(200);
      expect(await isOn()).toBe(false);
      await open('KEY_ENDING');
      await isTaken();
      expect(await boxOf(owner)).toMatchObject({ count: 0, isDue: false });
    });

    it('are not ended by a program that follows links, but by the button of the page', async () => {
      const page = await call('GET', endPath(mail), { headers: { 'accept-language': 'de-AT, en;q=0.5' } });
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/);
      const text = await page.text();
      expect(text).toContain('<form method="post"><button>Mails beenden</button></form>');
      expect(await isOn()).toBe(true);
      expect(mail.text).toContain(PUBLIC_URL + endPath(mail));
    });

    it('are refused to a wrong token', async () => {
      const [tenantId, agentId, signature] = endPath(mail).split('/').at(-1)!.split('.');
      for (const token of [
        `${tenantId}.${agentId}.${signature!.slice(1)}`,
        `${tenantId}.${newId()}.${signature}`,
        'x',
      ])
        for (const method of ['GET', 'POST'])
          expect([method, (await call(method, `/alert-mails/${token}`)).status]).toEqual([method, 404]);
      expect(await isOn()).toBe(true);
    });
  });

  describe('at a mail server', () => {
    it.each(['greylists', 'takes half', 'hangs'] as const)(
      'that %s, are mailed later, with one Message-ID',
      async (fault) => {
        mailbox.fault = fault;
        mailbox.recipients = 0;
        await open('TRIAL_ENDING');
        await isRecorded(owner, 1);
        expect(mailbox.recipients).toBeGreaterThan(0);
        const { mailId } = (await boxOf(owner))!;
        await open('KEY_ENDING');
        await isTaken();
        mailbox.fault = null;
        await makeDue(owner);
        const mail = await mailbox.next(owner.email);
        expect(headerOf(mail, 'Message-ID')).toBe(`<${mailId}@example.com>`);
        expect(mail.text).not.toContain('API key');
        await isCollected(owner, 1);
      },
      60_000,
    );

    it.each(['unknown', 'refuses'] as const)(
      'that says %s, are given up, and not the next ones',
      async (fault) => {
        mailbox.fault = fault;
        await open('TRIAL_ENDING');
        await isIdle(owner);
        mailbox.fault = null;
        await open('KEY_ENDING');
        await isCollected(owner, 1);
        await makeDue(owner);
        expect((await mailbox.next(owner.email)).subject).toBe('Acme Shop: An API key is about to end');
      },
    );

    it('that takes nothing for a day, are given up', async () => {
      mailbox.fault = 'greylists';
      await open('TRIAL_ENDING');
      for (let tries = 1; tries <= 6; tries++) {
        await isRecorded(owner, tries);
        await makeDue(owner);
      }
      await isIdle(owner);
    });
  });
});

describe('without a mail server', () => {
  it('nothing is collected, and the choice says so', async () => {
    const service = await TestService.create({ role: 'all' });
    const logins = new Logins(await MessagingHost.create({ beside: service }));
    const workspace = await service.make.workspace();
    const owner = await logins.member(workspace, { role: 'OWNER' });
    const actor = { type: 'agent' as const, id: owner.agent.id };
    expect(await service.app.get(AlertMailChoicesService).get(workspace.id, actor)).toMatchObject({
      isAvailable: false,
    });
    const { app } = service;
    await app
      .get(Database)
      .transaction((tx) => app.get(AlertWriter).open(tx, workspace.id, 'TRIAL_ENDING', workspace.id));
    // Two rounds of the searches for work, which a worker begins once a second.
    await letTimePass(2_500);
    expect(await service.query('SELECT 1 FROM alert_mailboxes')).toEqual([]);
  });
});
