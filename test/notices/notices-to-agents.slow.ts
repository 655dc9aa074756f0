import { generateVAPIDKeys } from 'web-push';
import { Actor, SYSTEM } from '../../src/access/principal';
import { idFloor } from '../../src/common/ids';
import { PresenceService } from '../../src/inbox/presence/presence.service';
import { ReadMarksService } from '../../src/inbox/read-marks/read-marks.service';
import { LoginsService } from '../../src/logins/logins.service';
import { AgentErasuresService } from '../../src/logins/agent-erasures.service';
import { PeopleService } from '../../src/logins/people.service';
import { ChooseNotices } from '../../src/notices/agents/notice-choices.dto';
import { NoticeChoicesService } from '../../src/notices/agents/notice-choices.service';
import { PushAddressesService } from '../../src/notices/push/push-addresses.service';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { Logins, Member } from '../support/logins';
import { Mailbox } from '../support/mailbox';
import { PushService } from '../support/push-service';
import { MessagingHost } from '../support/messaging-host';
import { keysOf, openRedis } from '../support/redis-connections';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

const ALL: ChooseNotices = { mailMatters: ['MINE', 'NOBODYS', 'ASSIGNMENT'], mailAfterMinutes: 0 };

describe('a notice to an agent who is not there', () => {
  let mailbox: Mailbox;
  let host: MessagingHost;
  let logins: Logins;
  let workspace: { id: string; slug: string };
  let agent: Member;
  let other: Member;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    const { publicKey, privateKey } = generateVAPIDKeys();
    const contact = 'mailto:ops@example.com';
    host = await MessagingHost.create({
      vapidPublicKey: publicKey,
      vapidPrivateKey: privateKey,
      vapidContact: contact,
    });
    logins = new Logins(host);
    const env = {
      SMTP_URL: mailbox.url,
      MAIL_FROM: 'Acme Login <login@example.com>',
      VAPID_PUBLIC_KEY: publicKey,
      VAPID_PRIVATE_KEY: privateKey,
      VAPID_CONTACT: contact,
    };
    await TestService.create({ role: 'worker', beside: host, env });
  });
  beforeEach(async () => {
    mailbox.fault = null;
    mailbox.mails.length = 0;
    workspace = await host.make.workspace({ name: 'Acme Shop' });
    agent = await logins.member(workspace);
    other = await logins.member(workspace);
  });

  const actorOf = ({ agent: { id } }: Member): Actor => ({ type: 'agent', id });
  const choose = (choices: ChooseNotices, of = agent) =>
    host.get(NoticeChoicesService).set(workspace.id, choices, actorOf(of));
  const assign = (conversation: { id: string }, to: Member | null, actor: Actor = SYSTEM) =>
    host.make.updateConversation(workspace, conversation, { assignedAgentId: to?.agent.id ?? null }, actor);
  const lookAt = (conversation: { id: string }, { id: messageId }: { id: string }, as = agent) =>
    host.get(ReadMarksService).markRead(workspace.id, conversation.id, { messageId }, actorOf(as));
  /** A conversation of an agent who has looked at it. */
  async function conversationOf(owner: Member | null, name = 'Zoë Martín') {
    const { id: contactId } = await host.make.contact(workspace, { name });
    const conversation = await host.make.conversation(workspace, { contactId });
    if (owner) await assign(conversation, owner, actorOf(owner));
    return conversation;
  }
  const write = (conversation: { id: string }, text?: string) =>
    host.make.received(workspace, conversation, text);
  const noticesOf = ({ agent: { id } }: Member) =>
    host.query<{ tries: number; isDue: boolean; isSent: boolean; matter: string }>(
      `SELECT tries, due_at IS NOT NULL AS "isDue", sent_at IS NOT NULL AS "isSent", matter FROM agent_notices
       WHERE agent_id = $1 ORDER BY subject_id`,
      [id],
    );
  const isSent = (to = agent) =>
    waitFor('a sent notice', async () => (await noticesOf(to)).some((notice) => notice.isSent));
  /** Waits until failed tries are recorded: their notices are due in a minute, before the end of a lease. */
  const isRecorded = (count = 1) =>
    waitFor('the record', async () => {
      const rows = await host.query(
        `SELECT FROM agent_notices
         WHERE agent_id = $1 AND tries = 1 AND due_at BETWEEN now() AND now() + interval '65 seconds'`,
        [agent.agent.id],
      );
      return rows.length === count;
    });
  const makeDue = () => host.query('UPDATE agent_notices SET due_at = now() WHERE due_at IS NOT NULL');
  const mailsTo = ({ email }: Member) => mailbox.mails.filter(({ to }) => to.includes(email));
  /** Lets the worker search, as long as it needs to find and send a later notice to another agent. */
  async function searchPasses() {
    const late = await logins.member(workspace);
    await choose({ mailMatters: ['MINE'], mailAfterMinutes: 0 }, late);
    await write(await conversationOf(late));
    await mailbox.next(late.email);
  }
  /** Makes a message that waits as old as given. */
  const age = ({ id }: { id: string }, minutes: number) =>
    host.query('UPDATE conversations SET waiting_message_id = $2 WHERE id = $1', [
      id,
      idFloor(new Date(Date.now() - minutes * 60_000)),
    ]);

  it('tells by mail of a message in a conversation of the agent, with a link into the inbox', async () => {
    await choose({ mailMatters: ['MINE'], mailAfterMinutes: 0 });
    const conversation = await conversationOf(agent);
    await write(conversation, 'See\nhttps://evil.example/x and answer');
    const mail = await mailbox.next(agent.email);
    expect(mail.subject).toBe('Zoë Martín waits for an answer');
    expect(mail.text).toContain('> See evil.example/x and answer');
    expect(mail.text.match(/https?:\S+/g)).toEqual([
      `http://localhost:3000/w/${workspace.slug}/inbox/${conversation.id}`,
      'http://localhost:3000/account',
    ]);
    expect(mail.from).toBe('no-reply@example.com');
    expect(mail.source).toMatch(/^From: Acme Shop /m);
    expect(mail.source).toMatch(/^Content-Type: text\/plain/m);
  });

  it('is in the language of the person', async () => {
    await choose(ALL);
    await host.query('UPDATE people SET locale = $2 WHERE id = $1', [agent.personId, 'de']);
    await write(await conversationOf(null, 'https://evil.example'));
    expect((await mailbox.next(agent.email)).subject).toBe('evil.example wartet auf eine Antwort');
  });

  it('tells every agent who wants it of a message in a conversation without an agent', async () => {
    await choose({ mailMatters: ['NOBODYS'], mailAfterMinutes: 0 });
    await choose({ mailMatters: ['MINE', 'ASSIGNMENT'], mailAfterMinutes: 0 }, other);
    await write(await conversationOf(null));
    expect((await mailbox.next(agent.email)).text).toContain('nobody is assigned');
    await searchPasses();
    expect(mailsTo(other)).toEqual([]);
  });

  it('tells of an assignment by another actor', async () => {
    await choose({ mailMatters: ['ASSIGNMENT'], mailAfterMinutes: 0 });
    await conversationOf(agent);
    const conversation = await conversationOf(null);
    await assign(conversation, agent, actorOf(other));
    const mail = await mailbox.next(agent.email);
    expect(mail.subject).toBe('The conversation with Zoë Martín is yours now');
    expect(mail.text).toContain(`/inbox/${conversation.id}`);
    await searchPasses();
    expect(mailsTo(agent)).toEqual([]);
  });

  it('tells of a conversation that waits and loses its agent', async () => {
    await choose({ mailMatters: ['NOBODYS'], mailAfterMinutes: 0 });
    const conversation = await conversationOf(other);
    await write(conversation);
    await searchPasses();
    expect(mailsTo(agent)).toEqual([]);
    await assign(conversation, null);
    await mailbox.next(agent.email);
  });

  it('tells nothing of what the agent has not chosen', async () => {
    await host.get(NoticeChoicesService).get(workspace.id, actorOf(agent));
    await write(await conversationOf(agent));
    await write(await conversationOf(null));
    await searchPasses();
    expect(mailsTo(agent)).toEqual([]);
    expect(await noticesOf(agent)).toEqual([]);
  });

  it('waits for the quiet time', async () => {
    await choose({ ...ALL, mailAfterMinutes: 15 });
    const [fresh, waiting] = [await conversationOf(agent), await conversationOf(agent)];
    await write(fresh);
    await write(waiting);
    await age(waiting, 15);
    expect((await mailbox.next(agent.email)).text).toContain(waiting.id);
    await searchPasses();
    expect(mailsTo(agent)).toEqual([]);
  });

  it('is not sent if the agent has looked, or the customer was answered, in the quiet time', async () => {
    await choose({ ...ALL, mailAfterMinutes: 15 });
    const [looked, answered, closed, snoozed] = [
      await conversationOf(agent),
      await conversationOf(null),
      await conversationOf(agent),
      await conversationOf(agent),
    ];
    await lookAt(looked, await write(looked));
    for (const one of [answered, closed, snoozed]) await write(one);
    await host.make.sent(workspace, answered);
    await host.make.updateConversation(workspace, closed, { status: 'CLOSED' });
    await host.make.updateConversation(workspace, snoozed, { status: 'SNOOZED' });
    await age(looked, 15);
    await searchPasses();
    await searchPasses();
    expect(await noticesOf(agent)).toEqual([]);
  });

  it('is sent once until the agent has looked, and again for the next message', async () => {
    await choose(ALL);
    const conversation = await conversationOf(agent);
    await write(conversation, 'First');
    await mailbox.next(agent.email);
    await isSent();
    const second = await write(conversation, 'Second');
    await searchPasses();
    expect(mailsTo(agent)).toEqual([]);
    await lookAt(conversation, second);
    await write(conversation, 'Third');
    expect((await mailbox.next(agent.email)).text).toContain('> Third');
  });

  it('is sent again for the next wait after an answer', async () => {
    await choose(ALL);
    const conversation = await conversationOf(agent);
    await write(conversation);
    await mailbox.next(agent.email);
    await isSent();
    await host.make.sent(workspace, conversation);
    await write(conversation, 'And now?');
    expect((await mailbox.next(agent.email)).text).toContain('> And now?');
  });

  it('waits while the agent uses the inbox, and then tells of all conversations in one mail', async () => {
    await choose(ALL);
    await host.get(PresenceService).keepActive(workspace.id, actorOf(agent));
    const [looked, ...others] = [
      await conversationOf(agent),
      await conversationOf(agent, 'Ana'),
      await conversationOf(null, 'Ben'),
    ];
    const seen = await write(looked);
    for (const one of others) await write(one);
    await waitFor('the notices', async () => (await noticesOf(agent)).length === 3);
    await searchPasses();
    expect(mailsTo(agent)).toEqual([]);
    await lookAt(looked, seen);
    const redis = openRedis(host.stores.redisUrl);
    await redis.del(`presence-active:${workspace.id}:${agent.agent.id}`);
    redis.disconnect();
    await makeDue();
    const mail = await mailbox.next(agent.email);
    expect(mail.subject).toBe('2 conversations wait for you');
    expect(mail.text).toMatch(
      /Ana waits for your answer:[^]*Ben waits for an answer, and nobody is assigned:/,
    );
    await isSent();
    expect(await noticesOf(agent)).toMatchObject([{ tries: 1 }, { tries: 1 }]);
    expect(mailsTo(agent)).toEqual([]);
  });

  describe('of an agent who was deactivated', () => {
    const rowsOf = async (table: string) =>
      (await host.query(`SELECT FROM ${table} WHERE agent_id = $1`, [agent.agent.id])).length;
    const deactivate = () =>
      host.get(AgentsService).update(workspace.id, agent.agent.id, { active: false }, SYSTEM);

    beforeEach(async () => {
      await choose(ALL);
      mailbox.fault = 'greylists';
      await write(await conversationOf(null));
      await isRecorded();
      mailbox.fault = null;
    });

    it('is gone at once with the choices and the entry to the workspace', async () => {
      await deactivate();
      expect([await rowsOf('agent_notices'), await rowsOf('agent_notice_choices')]).toEqual([0, 0]);
      const opened = await host.get(LoginsService).authenticate(agent.token);
      expect(opened?.memberships.map(({ workspace: { id } }) => id) ?? []).toEqual([]);
      await write(await conversationOf(null));
      await searchPasses();
      expect(mailsTo(agent)).toEqual([]);
      await expect(choose(ALL)).rejects.toMatchObject({ code: 'INVALID_BODY' });
    });

    it('stays gone after an erasure and after a return', async () => {
      await deactivate();
      await host.get(AgentsService).update(workspace.id, agent.agent.id, { active: true }, SYSTEM);
      const choices = await host.get(NoticeChoicesService).get(workspace.id, actorOf(agent));
      expect(choices).toMatchObject({ mailMatters: [], pushMatters: [] });
      await choose(ALL);
      await deactivate();
      await host.get(AgentErasuresService).erase(workspace.id, agent.agent.id, SYSTEM);
      expect([await rowsOf('agent_notices'), await rowsOf('agent_notice_choices')]).toEqual([0, 0]);
    });
  });

  it('is gone with an erased contact', async () => {
    await choose(ALL);
    const conversation = await conversationOf(null);
    await write(conversation);
    await mailbox.next(agent.email);
    await host.get(ContactErasuresService).start(workspace.id, conversation.contact.id, SYSTEM);
    await waitFor('the erasure', async () => (await noticesOf(agent)).length === 0);
  });

  it('is chosen in each workspace, as the export of the person tells', async () => {
    const elsewhere = await logins.join(agent, await host.make.workspace());
    await choose({ ...ALL, pushMatters: ['MINE'], pushAfterMinutes: 5 });
    await choose({ mailMatters: ['NOBODYS'] }, other);
    await host.query('UPDATE agent_notice_choices SET mail_refused_at = now() WHERE agent_id = $1', [
      agent.agent.id,
    ]);
    expect((await host.get(PeopleService).export(agent.holder)).memberships).toEqual([
      expect.objectContaining({
        ...ALL,
        agentId: agent.agent.id,
        pushMatters: ['MINE'],
        pushAfterMinutes: 5,
        mailRefusedAt: expect.any(Date),
      }),
      expect.objectContaining({
        agentId: elsewhere.id,
        mailMatters: [],
        mailAfterMinutes: null,
        pushMatters: [],
        pushAfterMinutes: null,
        mailRefusedAt: null,
      }),
    ]);
  });

  describe('at a mail server', () => {
    it('that does not know the address, ends the mails until the agent chooses again', async () => {
      await choose(ALL);
      mailbox.fault = 'unknown';
      const conversation = await conversationOf(agent);
      await write(conversation);
      const read = () => host.get(NoticeChoicesService).get(workspace.id, actorOf(agent));
      await waitFor('the refusal', async () => (await read()).mailRefusedAt);
      mailbox.fault = null;
      await write(await conversationOf(agent));
      await searchPasses();
      expect(mailsTo(agent)).toEqual([]);
      expect(await choose({})).toMatchObject({ ...ALL, mailRefusedAt: null });
      await write(await conversationOf(agent));
      await mailbox.next(agent.email);
    });

    it.each(['greylists', 'takes half', 'hangs'] as const)(
      'that %s, is mailed later, apart from what came since',
      async (fault) => {
        await choose(ALL);
        mailbox.fault = fault;
        const conversation = await conversationOf(agent, 'Ana');
        await write(conversation);
        await isRecorded();
        await write(await conversationOf(agent, 'Ben'));
        await isRecorded(2);
        mailbox.fault = null;
        await makeDue();
        const mails = [await mailbox.next(agent.email), await mailbox.next(agent.email)];
        const subjects = mails.map(({ subject }) => subject);
        expect(subjects.sort()).toEqual(['Ana waits for an answer', 'Ben waits for an answer']);
      },
      60_000,
    );

    it('that refuses the text, is given up', async () => {
      await choose(ALL);
      mailbox.fault = 'refuses';
      await write(await conversationOf(agent));
      await waitFor('the end', async () => (await noticesOf(agent))[0]?.isDue === false);
      expect(await noticesOf(agent)).toMatchObject([{ tries: 1, isDue: false, isSent: false }]);
    });
  });

  it('waits for an hour above the limit of mails of a workspace', async () => {
    await choose(ALL);
    const conversation = await conversationOf(agent);
    const first = await write(conversation);
    await mailbox.next(agent.email);
    await isSent();
    const redis = openRedis(host.stores.redisUrl);
    const [key] = await keysOf(redis, `*agent-mails-of:${workspace.id}*`);
    await redis.set(key!, 1_000, 'KEEPTTL');
    redis.disconnect();
    await lookAt(conversation, first);
    await write(conversation);
    await waitFor('the wait', async () => {
      const [row] = await host.query<{ waits: boolean }>(
        `SELECT tries = 0 AND due_at > now() + interval '59 minutes' AS waits FROM agent_notices WHERE agent_id = $1`,
        [agent.agent.id],
      );
      return row?.waits;
    });
    expect(mailsTo(agent)).toEqual([]);
  });

  describe('by push', () => {
    let push: PushService;

    beforeAll(async () => {
      push = await PushService.start();
    });
    const subscribe = async (of = agent) => {
      const subscription = push.subscribe();
      await host.get(PushAddressesService).set(of.holder, subscription);
      return subscription;
    };

    it('goes out beside the mail, each at its own time', async () => {
      const subscription = await subscribe();
      await choose({ pushMatters: ['MINE'], mailMatters: ['MINE'], mailAfterMinutes: 60 });
      const conversation = await conversationOf(agent);
      await write(conversation, 'Hello');
      await isSent();
      expect(push.receivedBy(subscription).map(({ content }) => content)).toEqual([
        {
          id: expect.any(String) as string,
          title: 'Zoë Martín waits for an answer',
          body: 'Hello',
          path: `/w/${workspace.slug}/inbox/${conversation.id}`,
        },
      ]);
      expect(mailsTo(agent)).toEqual([]);
    });

    it('is tried again after a push service has failed', async () => {
      push.answer(503);
      const subscription = await subscribe();
      await choose({ pushMatters: ['MINE'] });
      await write(await conversationOf(agent), 'Hello');
      await isRecorded();
      push.answer(201);
      await makeDue();
      await isSent();
      const topics = push.receivedBy(subscription).map(({ headers }) => headers['topic']);
      expect(topics).toHaveLength(2);
      expect(new Set(topics).size).toBe(1);
    });

    it('is given up if no device takes it', async () => {
      push.answer(410);
      await subscribe();
      await choose({ pushMatters: ['MINE'] });
      await write(await conversationOf(agent));
      await waitFor('the end', async () => (await noticesOf(agent))[0]?.isDue === false);
      expect(await noticesOf(agent)).toMatchObject([{ tries: 1, isSent: false }]);
    });
  });
});

describe.each(['true', 'false'])('with batches over several workspaces: %s', (CROSS_WORKSPACE_BATCHES) => {
  it('agents of two workspaces get notices', async () => {
    const mailbox = await Mailbox.start();
    const host = await MessagingHost.create();
    const env = { SMTP_URL: mailbox.url, MAIL_FROM: 'login@example.com', CROSS_WORKSPACE_BATCHES };
    await TestService.create({ role: 'worker', beside: host, env });
    const emails = [];
    for (let n = 0; n < 2; n++) {
      const workspace = await host.make.workspace();
      const { agent, email } = await new Logins(host).member(workspace);
      await host.get(NoticeChoicesService).set(workspace.id, ALL, { type: 'agent', id: agent.id });
      await host.make.received(workspace, await host.make.conversation(workspace));
      emails.push(email);
    }
    for (const email of emails) await mailbox.next(email);
  });
});

it('nothing is found where the service can send nothing', async () => {
  const host = await MessagingHost.create();
  await TestService.create({ role: 'worker', beside: host });
  const workspace = await host.make.workspace();
  const { agent } = await new Logins(host).member(workspace);
  const choices = host.get(NoticeChoicesService);
  const chosen = await choices.set(workspace.id, ALL, { type: 'agent', id: agent.id });
  expect(chosen).toMatchObject({ canMail: false, canPush: false });
  const bot = await host.make.agent(workspace, { isBot: true });
  await expect(choices.set(workspace.id, ALL, { type: 'agent', id: bot.id })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
