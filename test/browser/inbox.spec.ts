import type { Route } from 'playwright-core';
import { SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { MessagesService } from '../../src/messages/messages.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { PASSWORD } from '../support/test-dashboard';
import { waitFor } from '../support/wait';
import { accessibilityFaultsOf } from './accessibility';
import { AgentPage, DashboardInBrowser } from './dashboard-in-browser';
import { PHONE } from './phone';
import { withDashboard } from './with-dashboard';

/** A name that turns what follows it around, and then never ends. */
const HOSTILE_NAME = `\u202E\u2066${'W'.repeat(60)}`;

describe('the inbox in a browser', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  });

  /** Makes a conversation with a message of its customer. */
  async function conversation(name: string, { text = 'Where is it?', isMine = false } = {}) {
    const { make } = world.service;
    const made = await make.begun(workspace, name, text);
    if (isMine) await make.updateConversation(workspace, made, { assignedAgentId: visit.agent.id });
    return made;
  }
  const open = async (path = '', page = visit.page) => {
    await page.goto(`/w/${workspace.slug}/inbox${path}`);
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor({ state: 'attached' });
  };
  /** Opens the page of a conversation, and waits for its messages. */
  const openConversation = async ({ id }: { id: string }) => {
    await open(`/${id}?view=all`);
    await visit.page.locator('article').first().waitFor();
  };
  const row = (name: string) => visit.page.locator('[data-conversation]').filter({ hasText: name });
  const rows = () => visit.page.locator('[data-conversation]');
  // A row has `content-visibility: auto`: until the browser draws it, it has a text but no `innerText`.
  const names = async () =>
    Promise.all((await rows().all()).map((one) => one.locator('bdi').first().textContent()));
  const message = (text: string) => visit.page.locator('article').filter({ hasText: text });
  const reply = () => visit.field('Reply');
  const pane = () => visit.page.getByRole('region', { name: /^Conversation with/ });
  const assignee = () => visit.page.getByRole('combobox', { name: 'Assigned to' });
  const bodies = (conversation: { id: string }) => world.repliesIn(workspace, conversation);
  const stored = async ({ id }: { id: string }) => {
    const [found] = await world.service.query<{ status: string; assignee: string | null }>(
      'SELECT status, assigned_agent_id AS assignee FROM conversations WHERE tenant_id = $1 AND id = $2',
      [workspace.id, id],
    );
    return found!;
  };

  it('is where an AGENT begins, with the conversations of each view by their latest activity', async () => {
    await conversation('Ada', { isMine: true });
    await conversation('Bea', { isMine: true });
    const cyd = await conversation('Cyd');
    await visit.page.goto('/');
    await visit.page.waitForURL(`**/w/${workspace.slug}/inbox`);
    await row('Bea').waitFor();
    expect(await names()).toEqual(['Bea', 'Ada']);
    expect(await visit.page.title()).toBe('(3) Inbox · Messaging');
    await visit.page.getByRole('link', { name: 'Unassigned 1' }).click();
    await row('Cyd').waitFor();
    expect(await names()).toEqual(['Cyd']);
    await visit.page.getByRole('link', { name: 'All 3' }).click();
    await row('Ada').waitFor();
    expect(await names()).toEqual(['Cyd', 'Bea', 'Ada']);

    // The page reads again by itself, and shows what has moved once.
    await world.service.make.received(workspace, cyd, 'Are you there?');
    await row('Are you there?').waitFor();
    expect(await rows().count()).toBe(3);
    await world.service.make.updateConversation(workspace, cyd, { status: 'CLOSED' });
    await row('Cyd').waitFor({ state: 'detached' });
    await visit.field('Status').selectOption('Closed');
    await row('Cyd').waitFor();
    expect(new URL(visit.page.url()).search).toBe('?view=all&status=CLOSED');
    await visit.field('Channel').selectOption('WhatsApp');
    await visit.text('No conversation').waitFor();
    await visit
      .text('A closed conversation stays here until its customer writes or somebody reopens it.')
      .waitFor();
  });

  it('shows the conversations of a colleague, chosen by keys alone, and keeps the view in the address', async () => {
    const bea = await world.service.make.agent(workspace, { name: 'Bea Moore' });
    const made = await conversation('Ada');
    await world.service.make.updateConversation(workspace, made, { assignedAgentId: bea.id });
    await conversation('Cyd', { isMine: true });
    await open();
    await row('Cyd').waitFor();
    const { keyboard } = visit.page;
    await visit.button('Conversations of a colleague').focus();
    await keyboard.press('Enter');
    await visit.page.getByRole('option', { name: 'Bea Moore' }).waitFor();
    expect(await visit.page.getByRole('option', { name: visit.agent.name }).count()).toBe(0);
    await keyboard.press('Escape');
    await visit.page
      .getByRole('listbox', { name: 'Conversations of a colleague' })
      .waitFor({ state: 'detached' });
    await keyboard.press('Enter');
    await keyboard.type('bea');
    await keyboard.press('Enter');
    await row('Ada').waitFor();
    expect(await names()).toEqual(['Ada']);
    expect(new URL(visit.page.url()).search).toBe(`?agent=${bea.id}`);

    await visit.page.reload();
    await row('Ada').waitFor();
    expect(await names()).toEqual(['Ada']);
    const answer = { body: 'On its way.', senderAgentId: bea.id };
    await world.service.app.get(MessagesService).send(workspace.id, made.id, answer, SYSTEM);
    await row('Bea Moore: On its way.').waitFor();
    const view = visit.button('Conversations of Bea Moore');
    expect(await view.getAttribute('aria-current')).toBe('true');
    await view.focus();
    await keyboard.press('j');
    await keyboard.press('Enter');
    await message('Where is it?').waitFor();
    expect(new URL(visit.page.url()).search).toBe(`?agent=${bea.id}`);
    await assignee().fill('Nobody');
    await assignee().press('Enter');
    await row('Ada').waitFor({ state: 'detached' });
    await visit.text('No conversation of this colleague').waitFor();
    await visit.page.getByRole('link', { name: 'Mine' }).click();
    await row('Cyd').waitFor();
    expect(new URL(visit.page.url()).search).toBe('?view=mine');
    await visit.page.getByRole('searchbox').fill('Ada');
    await visit.page.getByRole('link', { name: 'Bea Moore: On its way.' }).waitFor();
  });

  it('loads older conversations and messages by scrolling', async () => {
    const { make } = world.service;
    const first = await conversation('First');
    for (let n = 0; n < 55; n += 1) await make.received(workspace, first, `Message ${n}`);
    for (let n = 0; n < 60; n += 1) await conversation(`Contact ${n}`);
    await open('?view=all');
    await row('Contact 59').waitFor();
    expect(await row('First').count()).toBe(0);
    // What is out of sight is not rendered.
    await rows().first().hover();
    while ((await row('First').count()) === 0) await visit.page.mouse.wheel(0, 300);
    await row('First').click();
    await message('Message 54').waitFor();
    expect(await message('Where is it?').count()).toBe(0);
    await message('Message 6').first().scrollIntoViewIfNeeded();
    await message('Where is it?').waitFor();
    expect(await visit.page.locator('article').count()).toBe(56);
  });

  it('sends a reply once, however often one presses, and takes a conversation that is nobody’s', async () => {
    const made = await conversation('Ada');
    await openConversation(made);
    await reply().fill('On its way.\n\nIt arrives on Friday.');
    await visit.button('Send').dblclick();
    await message('On its way.').getByText('You').waitFor();
    await visit.page.getByText('Taken by you').waitFor();
    expect(await reply().inputValue()).toBe('');
    await row('You: On its way. It arrives on Friday.').waitFor();
    expect(await bodies(made)).toEqual(['On its way.\n\nIt arrives on Friday.']);
    expect(await stored(made)).toEqual({ status: 'OPEN', assignee: visit.agent.id });
    expect(await visit.page.locator('article').count()).toBe(2);
  });

  it('sends once though the answer is lost, and keeps what could not be sent until it goes out by itself', async () => {
    const made = await conversation('Ada');
    await openConversation(made);
    let losses = 0;
    const lose = async (route: Route) => {
      if (route.request().method() !== 'POST') return route.continue();
      losses += 1;
      await route.fetch();
      return route.abort('connectionreset');
    };
    await visit.page.route('**/messages', lose);
    await reply().fill('On its way.');
    await reply().press('Control+Enter');
    await message('On its way.').getByText('Not sent').waitFor();
    expect(losses).toBe(2);
    // It outlives the page, although the server has it already.
    await visit.page.reload();
    await visit.page.unroute('**/messages', lose);
    await visit.page.locator('article:not([data-unsent])').filter({ hasText: 'On its way.' }).waitFor();
    await visit.page.locator('article[data-unsent]').waitFor({ state: 'detached' });
    expect(await message('On its way.').count()).toBe(1);
    expect(await bodies(made)).toEqual(['On its way.']);
  });

  it('says why a reply is refused, and gives it back to be edited', async () => {
    const made = await conversation('Ada');
    await openConversation(made);
    await visit.page.route('**/messages', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 429, json: { error: { code: 'RATE_LIMITED', message: 'Too many.' } } })
        : route.continue(),
    );
    await reply().fill('On its way.');
    await visit.button('Send').click();
    await message('On its way.').getByText('Too many.').waitFor();
    await message('On its way.').getByRole('button', { name: 'Edit' }).click();
    expect(await reply().inputValue()).toBe('On its way.');
    expect(await bodies(made)).toEqual([]);
  });

  it('sends and closes in one act', async () => {
    const made = await conversation('Ada', { isMine: true });
    await openConversation(made);
    await reply().fill('Good bye.');
    await visit.button('Send and close').click();
    // It was the only one.
    await visit.text('Choose a conversation').waitFor();
    await visit.text('No conversation').waitFor();
    expect(await stored(made)).toMatchObject({ status: 'CLOSED' });
    expect(await bodies(made)).toEqual(['Good bye.']);
    await openConversation(made);
    await visit.page.getByText('Closed by you').waitFor();
    await visit.button('Reopen').click();
    await visit.page.getByText('Reopened by you').waitFor();
  });

  it('goes on to the next conversation after each that is done, and J goes on from there', async () => {
    const all = [];
    for (const name of ['Eva', 'Dan', 'Cyd', 'Bea', 'Ada']) all.push(await conversation(name));
    const [eva, dan, cyd, bea, ada] = all;
    const isOpen = async (name: string, { id }: { id: string }) => {
      await visit.page.waitForURL(`**/inbox/${id}?view=nobody`);
      await pane().getByRole('heading', { name }).waitFor();
      await pane().and(visit.page.locator(':focus')).waitFor();
    };
    await open('?view=nobody');
    await row('Bea').click();
    await isOpen('Bea', bea!);
    await visit.button('Close').click();
    await isOpen('Cyd', cyd!);
    expect(await names()).toEqual(['Ada', 'Cyd', 'Dan', 'Eva']);
    // An answer takes it first: it leaves this list before it is closed.
    await reply().fill('Good bye.');
    await visit.button('Send and close').click();
    await isOpen('Dan', dan!);
    await visit.page.keyboard.press('j');
    expect(await row('Eva').and(visit.page.locator(':focus')).count()).toBe(1);
    await visit.page.keyboard.press('Enter');
    await isOpen('Eva', eva!);
    await visit.button('Snooze').click();
    await visit.page.getByRole('menuitem', { name: /^Until tomorrow/ }).click();
    // None follows, so it is the one before.
    await isOpen('Dan', dan!);
    await visit.page.keyboard.press('e');
    await isOpen('Ada', ada!);
    await visit.page.keyboard.press('e');
    await visit.text('Nothing here is unassigned').waitFor();
    await visit.text('Choose a conversation').waitFor();
    await visit.page
      .getByRole('region', { name: 'Conversations' })
      .and(visit.page.locator(':focus'))
      .waitFor();
    const states = await Promise.all(all.map(async (one) => (await stored(one)).status));
    expect(states).toEqual(['SNOOZED', 'CLOSED', 'CLOSED', 'CLOSED', 'CLOSED']);
  });

  it('keeps a conversation that one takes in its place among nobody’s, until one goes elsewhere', async () => {
    const ada = await conversation('Ada');
    const bea = await conversation('Bea');
    await conversation('Cyd');
    await open(`/${bea.id}?view=nobody`);
    await row('Ada').waitFor();
    await reply().fill('On its way.');
    await visit.button('Send').click();
    await row('You: On its way.').locator('bdi', { hasText: /^You$/ }).nth(1).waitFor();
    expect(await names()).toEqual(['Cyd', 'Bea', 'Ada']);
    expect(await stored(bea)).toEqual({ status: 'OPEN', assignee: visit.agent.id });
    await world.service.make.received(workspace, bea, 'Thank you!');
    await row('Thank you!').waitFor();
    // The person who looks at it has read it.
    await row('Thank you!').getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' });
    // The row stays as fresh as the others.
    await visit.page.keyboard.press('Escape');
    await visit.page.keyboard.press('u');
    await row('Thank you!').getByRole('img', { name: 'Unread' }).waitFor();
    await visit.page.keyboard.press('u');
    await row('Thank you!').getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' });
    const { contact } = await world.service.app.get(ConversationsService).get(workspace.id, bea.id, SYSTEM);
    const rename = (name: string, updatedAt: Date) =>
      world.service.app.get(ContactsService).update(workspace.id, contact.id, { name, updatedAt }, SYSTEM);
    const { updatedAt } = await rename('Bea Moore', contact.updatedAt);
    await row('Bea Moore').waitFor();
    await rename('Bea', updatedAt);
    await row('Bea Moore').waitFor({ state: 'detached' });
    await conversation('Eve');
    await row('Eve').waitFor();
    expect(await names()).toEqual(['Eve', 'Cyd', 'Bea', 'Ada']);
    await pane().focus();
    await visit.page.keyboard.press('e');
    await visit.page.waitForURL(`**/inbox/${ada.id}**`);
    await row('Bea').waitFor({ state: 'detached' });
    expect(await names()).toEqual(['Eve', 'Cyd', 'Ada']);
  });

  it('stays where it is when the server refuses to close, and when it was not in the list', async () => {
    const [ada] = [await conversation('Ada'), await conversation('Bea')];
    const refuse = (route: Route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 503, body: '{}' }) : route.continue();
    await openConversation(ada);
    await visit.page.route(`**/conversations/${ada.id}`, refuse);
    await visit.button('Close').click();
    await pane().getByRole('alert').waitFor();
    await row('Ada').waitFor();
    expect(await pane().getByRole('heading', { name: 'Ada' }).count()).toBe(1);
    await visit.page.unroute(`**/conversations/${ada.id}`, refuse);
    await open(`/${ada.id}?view=mine`);
    await visit.button('Close').click();
    await visit.page.getByText('Closed by you').waitFor();
    expect(new URL(visit.page.url()).pathname).toContain(ada.id);
  });

  it('stays where somebody writes when the server closes the conversation late', async () => {
    const [ada] = [await conversation('Ada'), await conversation('Bea')];
    let answer = () => undefined as void;
    const isAsked = new Promise<void>((asked) => {
      void visit.page.route(`**/conversations/${ada.id}`, async (route) => {
        if (route.request().method() === 'PATCH') {
          const released = new Promise<void>((resolve) => (answer = resolve));
          asked();
          await released;
        }
        await route.continue();
      });
    });
    await openConversation(ada);
    await visit.button('Close').click();
    await isAsked;
    await reply().fill('One thing more.');
    answer();
    await visit.page.getByText('Closed by you').waitFor();
    expect(new URL(visit.page.url()).pathname).toContain(ada.id);
    expect(await reply().inputValue()).toBe('One thing more.');
  });

  it('shows a closed conversation as closed though it is read before the server has closed it', async () => {
    const made = await conversation('Ada', { isMine: true });
    await open(`/${made.id}?view=nobody`);
    await message('Where is it?').waitFor();
    let answer = () => undefined as void;
    const released = new Promise<void>((resolve) => (answer = resolve));
    await visit.page.route(`**/conversations/${made.id}`, async (route) => {
      if (route.request().method() === 'PATCH') await released;
      await route.continue();
    });
    await visit.button('Close').click();
    const isRead = visit.page.waitForResponse(
      (response) =>
        response.url().endsWith(`/conversations/${made.id}`) && response.request().method() === 'GET',
    );
    await world.service.make.received(workspace, made, 'Is it lost?');
    await message('Is it lost?').waitFor();
    expect(await (await isRead).json()).toMatchObject({ status: 'OPEN' });
    await visit.page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    );
    expect(await visit.button('Reopen').count()).toBe(1);
    answer();
    await visit.page.getByText('Closed by you').waitFor();
    await visit.page.unroute(`**/conversations/${made.id}`);
  });

  it('snoozes until the customer writes, or until a time', async () => {
    const made = await conversation('Ada', { isMine: true });
    // A list that it is not in: so it stays open.
    await open(`/${made.id}?view=nobody`);
    await visit.button('Snooze').click();
    await visit.page.getByRole('menuitem', { name: 'Until the customer writes' }).click();
    await visit.page.getByText('Snoozed by you').waitFor();
    await pane().getByText('Snoozed until the customer writes').waitFor();
    expect(await stored(made)).toMatchObject({ status: 'SNOOZED' });
    await visit.field('Status').selectOption('Snoozed');
    await visit.page.getByRole('link', { name: 'All' }).click();
    await row('Ada').getByText('Snoozed until the customer writes').waitFor();
    await open(`/${made.id}?view=nobody`);
    await visit.button('Reopen').click();
    await visit.button('Snooze').click();
    await visit.page.getByRole('menuitem', { name: /^Until tomorrow/ }).click();
    await pane()
      .getByText(/^Snoozed until .*09:00$/)
      .waitFor();
    await visit.text(/^Snoozed until .*09:00 by you$/).waitFor();
    const [{ hours }] = (await world.service.query<{ hours: number }>(
      'SELECT extract(epoch FROM snoozed_until - now())::float / 3600 AS hours FROM conversations WHERE tenant_id = $1 AND id = $2',
      [workspace.id, made.id],
    )) as [{ hours: number }];
    expect(hours).toBeGreaterThan(9);
    expect(hours).toBeLessThanOrEqual(33);
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
  });

  it('says why a message failed, and sends it again once for all agents', async () => {
    const made = await conversation('Ada');
    await openConversation(made);
    await reply().fill('On its way.');
    await visit.button('Send').click();
    // No channel is connected.
    await visit.text(/^The channel is not connected/).waitFor();
    const other = await world.enter(workspace, 'AGENT');
    await open(`/${made.id}?view=all`, other.page);
    const again = other.page.getByRole('button', { name: 'Send again' });
    await again.waitFor();
    // Neither has seen the other's message yet.
    for (const { page } of [visit, other])
      await page.route('**/messages', (route) =>
        route.request().method() === 'GET' ? new Promise(() => undefined) : route.continue(),
      );
    await Promise.all([visit.button('Send again').click(), again.click()]);
    for (const { page } of [visit, other]) {
      await page.getByText('Sent again below.').waitFor();
      await page.locator('article[data-unsent]').waitFor({ state: 'detached' });
    }
    expect(await bodies(made)).toEqual(['On its way.', 'On its way.']);

    // The same text once more is another message.
    await visit.page.unroute('**/messages');
    await visit.page.reload();
    await visit.button('Send again').waitFor();
    await reply().fill('On its way.');
    await visit.button('Send').click();
    await visit.page.waitForFunction(
      () => document.querySelectorAll('article [data-status=FAILED]').length === 3,
    );
    expect(await visit.text('Sent again below.').count()).toBe(1);
    expect(await visit.button('Send again').count()).toBe(2);
  });

  it('asks before it sends a message again that may have arrived', async () => {
    const made = await conversation('Ada', { isMine: true });
    const owner = await world.service.make.agent(workspace);
    const { id } = await world.service.make.sent(workspace, made, 'On its way.');
    await waitFor('the first outcome', async () => {
      const [found] = await world.service.query(
        "UPDATE messages SET delivery_status = 'UNKNOWN', delivery_error = $3 WHERE tenant_id = $1 AND id = $2 AND delivery_status = 'FAILED' RETURNING id",
        [workspace.id, id, { code: 'OUTCOME_UNKNOWN', providerCode: null, message: 'No answer.' }],
      );
      return found !== undefined;
    });
    await openConversation(made);
    await message('On its way.').getByText(owner.name).waitFor();
    await message('On its way.').getByText('Perhaps not delivered').waitFor();
    await visit.button('Send again').click();
    await visit.dialog.getByText('the customer reads it twice').waitFor();
    await visit.act('Cancel').click();
    await visit.dialog.waitFor({ state: 'detached' });
    expect(await bodies(made)).toEqual(['On its way.']);
    await visit.button('Send again').click();
    await visit.act('Send again').click();
    await visit.text('Sent again below.').waitFor();
    await waitFor('the second message', async () => (await bodies(made)).length === 2);
  });

  it('counts the limit of the channel as the service does', async () => {
    const made = await world.service.make.conversation(workspace, { channel: 'INSTAGRAM' });
    await world.service.make.received(workspace, made);
    await openConversation(made);
    await reply().fill('ü'.repeat(500));
    await visit.text(/^1,000 of 1,000 bytes/).waitFor();
    expect(await visit.button('Send').isEnabled()).toBe(true);
    await reply().fill('ü'.repeat(501));
    await visit.text(/^Too long for Instagram: 1,002 of 1,000 bytes/).waitFor();
    expect(await visit.button('Send').isDisabled()).toBe(true);
    await reply().press('Control+Enter');
    expect(await reply().inputValue()).toBe('ü'.repeat(501));
  });

  it('assigns at once, and takes it back with a notice if the server refuses', async () => {
    const made = await conversation('Ada', { isMine: true });
    const bea = await world.service.make.agent(workspace, { name: 'Bea Moore', role: 'AGENT' });
    await open();
    await row('Ada').click();
    await visit.page.route(`**/conversations/${made.id}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
    );
    await assignee().click();
    await visit.page.getByRole('option', { name: 'Bea Moore' }).click();
    await pane().getByRole('alert').waitFor();
    await row('Ada').waitFor();
    expect(await assignee().inputValue()).toBe(`${visit.agent.name} (you)`);

    await visit.page.unroute(`**/conversations/${made.id}`);
    await pane().focus();
    await visit.page.keyboard.press('a');
    await visit.page.keyboard.type('bea');
    await visit.page.getByRole('option', { name: 'Bea Moore' }).waitFor();
    await visit.page.keyboard.press('Enter');
    await row('Ada').waitFor({ state: 'detached' });
    await visit.page.getByText('Assigned to Bea Moore by you').waitFor();
    expect(await stored(made)).toMatchObject({ assignee: bea.id });
    await assignee().click();
    await visit.page.getByRole('option', { name: 'Nobody' }).click();
    await visit.page.getByText('Unassigned by you').waitFor();
    expect(await stored(made)).toMatchObject({ assignee: null });
  });

  it('goes on where the browser has translated its texts (facebook/react#11538)', async () => {
    const [ada, bea] = [await conversation('Ada'), await conversation('Bea')];
    const translate = () =>
      visit.page.evaluate(() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts: Text[] = [];
        while (walker.nextNode()) texts.push(walker.currentNode as Text);
        for (const text of texts.filter(
          ({ data, parentElement }) => data.trim() && parentElement!.tagName !== 'FONT',
        )) {
          const font = document.createElement('font');
          font.textContent = `»${text.data}«`;
          text.replaceWith(font);
        }
      });
    await openConversation(ada);
    await translate();
    await reply().fill('An answer');
    await visit.page.keyboard.press('Control+Enter');
    await message('An answer').waitFor();
    await translate();
    await row('Bea').click();
    await visit.page.waitForURL(`**/inbox/${bea.id}**`);
    await message('Where is it?').waitFor();
    await translate();
    await openConversation(ada);
    await message('An answer').waitFor();
  });

  it('does nothing by single keys once they are turned off (WCAG 2.1.4)', async () => {
    await conversation('Ada', { isMine: true });
    await open();
    await row('Ada').waitFor();
    const { keyboard } = visit.page;
    const focusedRows = () => rows().and(visit.page.locator(':focus')).count();
    const turn = async (direction: 'on' | 'off') => {
      await visit.button('Keys').click();
      await visit.dialog.getByRole('button', { name: `Turn single keys ${direction}` }).click();
      await keyboard.press('Escape');
      await visit.dialog.waitFor({ state: 'detached' });
    };
    await turn('off');
    for (const key of ['j', '/', '?']) await keyboard.press(key);
    expect(await focusedRows()).toBe(0);
    expect(await visit.dialog.count()).toBe(0);
    await turn('on');
    await keyboard.press('j');
    await rows().and(visit.page.locator(':focus')).waitFor();
  });

  it('needs nothing but a keyboard', async () => {
    const [ada, bea] = [
      await conversation('Ada', { isMine: true }),
      await conversation('Bea', { isMine: true }),
    ];
    await open();
    await row('Ada').waitFor();
    const { keyboard } = visit.page;
    const press = async (...keys: string[]) => {
      for (const key of keys) await keyboard.press(key);
    };
    await press('?');
    await visit.dialog.getByText('Close the conversation').waitFor();
    await press('j');
    expect(await rows().and(visit.page.locator(':focus')).count()).toBe(0);
    await press('Escape');
    await visit.dialog.waitFor({ state: 'detached' });

    await press('j', 'j', 'k', 'j', 'Enter');
    await visit.page.waitForURL(`**/inbox/${ada.id}**`);
    await message('Where is it?').waitFor();
    await press('r');
    await keyboard.type('Joke: every reply keeps a jar.');
    expect(await reply().inputValue()).toBe('Joke: every reply keeps a jar.');
    await press('Control+Enter');
    await message('every reply keeps a jar').getByText('You').waitFor();
    await press('Escape', 'a');
    await visit.page.getByRole('option', { name: 'Nobody' }).waitFor();
    await keyboard.type('Nobo');
    await press('ArrowDown', 'Enter');
    await visit.page.getByText('Unassigned by you').waitFor();
    expect(await stored(ada)).toEqual({ status: 'OPEN', assignee: null });
    await press('s');
    const focused = visit.page.locator(':focus');
    await visit.page
      .getByRole('menuitem', { name: /^For 3 hours/ })
      .and(focused)
      .waitFor();
    expect(await accessibilityFaultsOf(visit.page, '[role=menu]')).toEqual([]);
    await press('Escape');
    await visit.button('Snooze').and(focused).waitFor();

    await press('k', 'Enter');
    await visit.page.waitForURL(`**/inbox/${bea.id}**`);
    await message('Where is it?').waitFor();
    await press('e');
    await visit.text('Nothing here is yours').waitFor();
    await visit.text('Choose a conversation').waitFor();
    expect(await stored(bea)).toMatchObject({ status: 'CLOSED' });
  });

  it('keeps the draft of each conversation over other pages, a reload and the end of the session', async () => {
    const [ada, bea] = [await conversation('Ada'), await conversation('Bea')];
    await openConversation(ada);
    await reply().fill('A draft for Ada');
    await row('Bea').click();
    await visit.page.waitForURL(`**/inbox/${bea.id}**`);
    await visit.page.getByRole('heading', { name: 'Bea' }).waitFor();
    expect(await reply().inputValue()).toBe('');
    await row('Ada').click();
    await visit.page.getByRole('heading', { name: 'Ada' }).waitFor();
    expect(await reply().inputValue()).toBe('A draft for Ada');
    await visit.page.reload();
    expect(await reply().inputValue()).toBe('A draft for Ada');

    // The session ends while the person types: the page notices when it reads the next time.
    const endSession = () => world.service.query('DELETE FROM login_sessions');
    await reply().fill('A longer draft for Ada');
    await endSession();
    await visit.text('Log in to go on').waitFor();
    await visit.logIn(visit.agent.email, PASSWORD);
    await visit.page.waitForURL(`**/inbox/${ada.id}**`);
    expect(await reply().inputValue()).toBe('A longer draft for Ada');

    // It ends while the person sends.
    await visit.page.route('**/messages', async (route) => {
      if (route.request().method() === 'POST') await endSession();
      await route.continue();
    });
    await reply().press('Control+Enter');
    await visit.text('Log in to go on').waitFor();
    await visit.page.unroute('**/messages');
    await visit.logIn(visit.agent.email, PASSWORD);
    await visit.page.waitForURL(`**/inbox/${ada.id}**`);
    // The reply goes out by itself.
    await message('A longer draft for Ada').waitFor();
    await visit.page.locator('article[data-unsent]').waitFor({ state: 'detached' });
    expect(await bodies(ada)).toEqual(['A longer draft for Ada']);
  });

  it('shows what customers write as text, and keeps its layout', async () => {
    const text = `<img src=x onerror="document.title='owned'">\nsecond line ${'x'.repeat(2_000)}\u202E`;
    const made = await conversation(HOSTILE_NAME, { text });
    await openConversation(made);
    for (const size of [{ width: 1280, height: 900 }, PHONE.viewport]) {
      await visit.page.setViewportSize(size);
      const body = message('<img src=x').locator('p');
      expect(await body.innerText()).toBe(text);
      expect(await body.locator('*').count()).toBe(0);
      const widths = await visit.page.evaluate(() =>
        [document.documentElement, document.querySelector('main')!].map(
          (one) => one.scrollWidth - one.clientWidth,
        ),
      );
      expect(widths).toEqual([0, 0]);
      const box = await pane().getByRole('button', { name: 'Close', exact: true }).boundingBox();
      expect(box!.x + box!.width).toBeLessThanOrEqual(size.width);
    }
    expect(await visit.page.title()).toMatch(/Inbox · Messaging$/);
  });

  it.each([
    [
      'whose trial has ended',
      (workspaces: WorkspacesService) =>
        workspaces.update(
          workspace.id,
          { planTier: 'TRIAL', trialEndsAt: new Date(Date.now() - 1_000) },
          SYSTEM,
        ),
      'The trial has ended, so nobody can answer',
    ],
    [
      'that is suspended',
      (workspaces: WorkspacesService) => workspaces.suspend(workspace.id, SYSTEM),
      'This workspace is suspended, so nobody can answer',
    ],
  ])('of a workspace %s says why nobody can answer', async (_, change, reason) => {
    const made = await conversation('Ada');
    await change(world.service.app.get(WorkspacesService));
    await openConversation(made);
    await visit.text(reason).waitFor();
    expect(await reply().count()).toBe(0);
    expect(await visit.button('Close').isDisabled()).toBe(true);
    expect(await assignee().isDisabled()).toBe(true);
  });

  it('shows what customers send instead of text by an icon and words, and never for what agents write', async () => {
    const sent = [
      ['[image]', 'Picture'],
      ['[document] invoice.pdf', 'Document invoice.pdf'],
      ['[image] Our shop\nin autumn', 'Picture Our shop\nin autumn'],
      ['[video]\n[location] 1.5, -2', 'Video Place 1.5, -2'],
      ['[voice message]', 'Voice message'],
      ['[hologram]', '[hologram]'],
      ['It is [image] here', 'It is [image] here'],
      ['[image] <b>bold</b>', 'Picture <b>bold</b>'],
    ];
    // All of them are in sight.
    await visit.page.setViewportSize({ width: 1280, height: 1400 });
    const made = await conversation('Ada');
    await openConversation(made);
    for (const [text] of sent) await world.service.make.received(workspace, made, text);
    await message('<b>bold</b>').waitFor();
    const texts = visit.page.locator('article p');
    expect((await texts.allInnerTexts()).slice(1).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(
      sent.map(([, shown]) => shown!.replaceAll(/\s+/g, ' ')),
    );
    expect(await texts.locator('svg').count()).toBe(7);
    await row('Picture <b>bold</b>').locator('svg').nth(1).waitFor();
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    await reply().fill('[image]');
    await visit.button('Send').click();
    await row('You: [image]').waitFor();
    expect(await visit.page.locator('article').last().locator('p').first().innerText()).toBe('[image]');
  });

  it('is two pages on a phone, with a way back', async () => {
    await visit.close();
    visit = await world.enter(workspace, 'AGENT', PHONE);
    const made = await conversation('Ada', { isMine: true });
    await conversation('Bea', { isMine: true });
    await open();
    await row('Ada').click();
    await visit.page.waitForURL(`**/inbox/${made.id}**`);
    await reply().waitFor();
    expect(await row('Ada').isVisible()).toBe(false);
    await visit.button('Snooze').click();
    await visit.page.getByRole('menuitem', { name: /^Until tomorrow/ }).click();
    // What comes next is the person's choice.
    await row('Bea').and(visit.page.locator(':focus')).waitFor();
    expect(await reply().count()).toBe(0);
    await visit.field('Status').selectOption('Snoozed');
    await row('Ada').click();
    await pane()
      .getByText(/^Snoozed until/)
      .waitFor();
    const name = await visit.page.getByRole('heading', { level: 1, name: 'Ada' }).boundingBox();
    expect(name!.width).toBeGreaterThan(100);
    await visit.button('Reopen').click();
    await visit.page.getByText('Reopened by you').waitFor();
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    await visit.page.getByRole('link', { name: 'Back to the list' }).click();
    await visit.field('Status').selectOption('Open');
    await row('Ada').waitFor();
    expect(await reply().count()).toBe(0);
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('has no fault that axe finds, %s', async (colorScheme) => {
    await visit.page.emulateMedia({ colorScheme });
    const made = await conversation('Ada', { isMine: true });
    await conversation(HOSTILE_NAME);
    await openConversation(made);
    await reply().fill('On its way.');
    await visit.button('Send').click();
    await visit.text(/^The channel is not connected/).waitFor();
    await visit.button('Close').click();
    await row(HOSTILE_NAME).and(visit.page.locator('[aria-current]')).waitFor();
    await openConversation(made);
    await visit.page.getByText('Closed by you').waitFor();
    expect(await accessibilityFaultsOf(visit.page, 'html')).toEqual([]);
    await open();
    await visit.text('Nothing here is yours').waitFor();
    expect(await accessibilityFaultsOf(visit.page, 'html')).toEqual([]);
    await visit.button('Keys').click();
    await visit.dialog.getByText('Close the conversation').waitFor();
    expect(await accessibilityFaultsOf(visit.page, '[role=dialog]')).toEqual([]);
  });
});
