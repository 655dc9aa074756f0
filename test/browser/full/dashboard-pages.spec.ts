import { readFileSync } from 'node:fs';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { EndpointChanges } from '../../../src/webhooks/endpoints/endpoint-changes';
import { WebhookTestService } from '../../../src/webhooks/testing/webhook-test.service';
import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { Scope } from '../../../src/access/permissions';
import { SYSTEM } from '../../../src/access/principal';
import { PASSWORD } from '../../support/test-dashboard';
import { waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { downloadOf } from '../downloads';
import { withDashboard } from '../with-dashboard';

describe("the dashboard's pages in a browser", () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace);
  });
  afterEach(() => {
    world.receiver.https.respond = (response) => void response.end('ok');
  });

  const makeEndpoint = (path: string, events = ['*']) =>
    world.service.app
      .get(WebhookEndpointsService)
      .create(workspace.id, { url: world.receiver.url(path), events }, SYSTEM);
  const test = (endpointId: string) =>
    world.service.app.get(WebhookTestService).test(workspace.id, endpointId, SYSTEM);

  it('begin with a checklist that ticks itself, and go once it is done', async () => {
    const { make, app } = world.service;
    await visit.page.goto('/');
    await visit.page.waitForURL(`**/w/${workspace.slug}/settings/overview`);
    await visit.text('0 of 5 steps are done').waitFor();
    await visit.page.getByRole('link', { name: 'Create', exact: true }).click();
    await visit.page.waitForURL('**/api-keys');
    await make.apiKey(workspace);
    await visit.settings(workspace, 'overview');
    await visit.text('1 of 5 steps are done').waitFor();
    await makeEndpoint('/checklist');
    await make.agent(workspace);
    const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://tea.example'] } };
    await app.get(ChannelConnectionsService).connect(workspace.id, widget, SYSTEM);
    // The page reads again by itself.
    await visit.text('4 of 5 steps are done').waitFor();
    await make.conversation(workspace);
    await visit.text('Get started').waitFor({ state: 'detached' });
    await visit.text('All channels and endpoints work.').waitFor();
  });

  it('show on the overview what fails, with a link to where it is mended', async () => {
    const { id } = await makeEndpoint('/broken', ['message.created']);
    world.receiver.https.respond = (response) => {
      response.statusCode = 500;
      response.end();
    };
    const conversation = await world.service.make.conversation(workspace);
    await world.service.make.sent(workspace, conversation);
    await world.receiver.waitForCount(1, '/broken');
    await visit.settings(workspace, 'overview');
    const matters = visit.page.getByRole('region', { name: 'What needs attention' });
    await matters.getByText('/broken fails').waitFor();
    await matters.getByRole('link', { name: 'Open the endpoint' }).click();
    await visit.page.waitForURL(`**/webhooks/${id}`);
  });

  it('show on the overview which endpoint the service deactivated, why, and since when', async () => {
    const { id, url } = await makeEndpoint('/gone', ['message.created']);
    const changes = world.service.app.get(EndpointChanges);
    await changes.deactivateAfterFailures({ tenantId: workspace.id, id, url }, 'gone');
    await visit.settings(workspace, 'overview');
    const alert = visit.page.getByRole('region', { name: '1 alert' });
    await alert.getByText('A delivery ended with 410, so the service stopped it.').waitFor();
    await visit.page
      .getByRole('region', { name: 'Webhooks', exact: true })
      .getByText(/^stopped/)
      .waitFor();
    await alert.getByRole('link', { name: 'To the endpoint' }).click();
    await visit.page.waitForURL(`**/webhooks/${id}`);
    await visit.text('A delivery ended with 410, so').waitFor();
  });

  it('show on the overview how the deliveries of a day went, as a sentence, a chart and a table', async () => {
    const { id } = await makeEndpoint('/day');
    await world.service.query(
      `INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations, late)
       VALUES ($1, $2, date_bin('30 minutes', now(), 'epoch'), '{20,0,0,0,0,0,0,0,48}', '{68}', 16)`,
      [workspace.id, id],
    );
    await visit.settings(workspace, 'overview');
    const day = visit.page.getByRole('region', { name: 'Webhook deliveries', exact: true });
    await day
      .getByText('20 arrived in the last 24 hours; 16 deliveries failed at first, and all arrived later.')
      .waitFor();
    await day.getByRole('img', { name: 'Webhook deliveries' }).waitFor();
    await day.getByText('As a table').click();
    const [header, ...rows] = await day.getByRole('table').getByRole('row').allInnerTexts();
    expect(header!.split('\t')).toEqual(['From', 'arrived at once', 'arrived later', 'given up']);
    expect(rows).toEqual([expect.stringMatching(/^\d\d:\d\d\t4\t16\t0$/)]);
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    await visit.settings(workspace, 'webhooks');
    await visit.row('/day').getByText('20 deliveries arrived').waitFor();
    await visit.row('/day').getByText('16 arrived later').waitFor();
  });

  it('say how to begin while they are empty', async () => {
    await visit.settings(workspace, 'api-keys');
    await visit.text('There is no API key yet').waitFor();
    await visit.settings(workspace, 'webhooks');
    await visit.text('There is no endpoint yet').waitFor();
  });

  it('make an API key with a preset, an end and networks, and revoke it by its name', async () => {
    await visit.settings(workspace, 'api-keys');
    await visit.button('Create a key').first().click();
    await visit.field('Name').fill('Importer');
    await visit.field('Preset').selectOption('Read and answer messages');
    await visit.field('Expires').selectOption('in 30 days');
    await visit.field('Networks').fill('203.0.113.0/24');
    await visit.act('Create a key').click();
    expect(await visit.copied('Key')).toMatch(/^plk_\w{40}$/);
    await visit.act('I have stored it').click();
    const row = visit.row('Importer');
    await row.getByText('messages:write').waitFor();
    await row.getByText('only from 203.0.113.0/24').waitFor();
    await visit.button('Revoke Importer').click();
    expect(await visit.act('Revoke').isDisabled()).toBe(true);
    await visit.field('Type “Importer” to confirm').fill('Importer');
    // It asks what becomes of the endpoints of the key.
    expect(await visit.act('Revoke').isDisabled()).toBe(true);
    await visit.field('It leaked, or nobody needs it any more').check();
    await visit.act('Revoke').click();
    await row.getByText('revoked').waitFor();
  });

  it('show what is wrong with a field, beside it', async () => {
    await visit.settings(workspace, 'api-keys');
    await visit.button('Create a key').first().click();
    await visit.field('Name').fill('Typo');
    await visit.field('Networks').fill('203.0.113.7/24');
    await visit.act('Create a key').click();
    await visit.field('Networks').and(visit.page.locator(':focus')).waitFor();
    expect(await visit.text('with no bits set behind the prefix').count()).toBe(1);
    expect(await visit.dialog.getByRole('alert').count()).toBe(0);
  });

  it('check an address while it is typed', async () => {
    await visit.settings(workspace, 'webhooks');
    await visit.button('Add an endpoint').first().click();
    await visit.field('Address').fill('https://10.0.0.1/hook');
    await waitFor('a fault', () => visit.field('Address').getAttribute('aria-invalid'));
    await visit.field('Address').fill(world.receiver.url('/typed'));
    await visit.text('This address can be used.').waitFor();
  });

  it('test a failing receiver, and show the failure, its answer and the next attempt', async () => {
    const { id } = await makeEndpoint('/failing', ['message.created']);
    world.receiver.https.respond = (response) => {
      response.statusCode = 503;
      response.end('down for maintenance');
    };
    const conversation = await world.service.make.conversation(workspace);
    await world.service.make.sent(workspace, conversation);
    await world.receiver.waitForCount(1, '/failing');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.button('Test').click();
    await visit.text(/^The receiver answered 503 after/).waitFor();
    expect(await visit.copied('Response body')).toBe('down for maintenance');
    await visit.act('Close').last().click();
    await visit.button('Filters').click();
    await visit.field('HTTP status').fill('5xx');
    await visit.field('HTTP status').press('Enter');
    await visit.page.waitForURL('**?statusCode=5xx');
    const row = visit.row('message.created');
    await row.getByText('pending').waitFor();
    await row.getByRole('link').click();
    await visit.attempt(1).filter({ hasText: '503' }).waitFor();
    await visit.text('Next attempt').waitFor();
  });

  it('edit an endpoint, whose deliveries go to the new address, and offer to roll its secret', async () => {
    const { id } = await makeEndpoint('/before');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.button('Edit').click();
    expect(await visit.field('Address').inputValue()).toBe(world.receiver.url('/before'));
    await visit.field('Address').fill('https://10.0.0.1/hook');
    await waitFor('a fault', () => visit.field('Address').getAttribute('aria-invalid'));
    await visit.field('Address').fill(world.receiver.url('/after'));
    await visit.text('This address can be used.').waitFor();
    await visit.field('Name').fill('CRM');
    await visit.field('Description').fill('Copies messages.');
    await visit.dialog.getByLabel('All events').uncheck();
    await visit.dialog.getByLabel('message.created', { exact: true }).check();
    await visit.text('Pending deliveries of events that you take out are cancelled.').waitFor();
    await visit.dialog.getByLabel('Then roll the secret').check();
    await visit.act('Save').click();
    await visit.act('Roll the secret').waitFor();
    await visit.act('Cancel').click();
    await visit.page.getByRole('heading', { level: 1, name: 'CRM' }).waitFor();
    await visit.text(world.receiver.url('/after')).first().waitFor();
    const conversation = await world.service.make.conversation(workspace);
    await world.service.make.sent(workspace, conversation);
    await world.receiver.waitForCount(1, '/after');
    await visit.settings(workspace, 'webhooks');
    await visit.row('CRM').getByText(world.receiver.url('/after')).waitFor();
  });

  it('show which parts of the context an endpoint gets, and give it all of them', async () => {
    const scopes: Scope[] = ['webhooks:write', 'messages:read', 'conversations:read'];
    const input = { url: world.receiver.url('/parts'), events: ['message.created'], context: true };
    const key = await world.service.make.apiKey(workspace, scopes);
    const { id } = await world.service.app
      .get(WebhookEndpointsService)
      .create(workspace.id, input, { type: 'api_key', id: key.id, scopes });
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.text('Sends along the conversation and the files of the message.').waitFor();
    await visit.button('Edit').click();
    await visit.text(/If you save it switched on, the endpoint gets all of it\.$/).waitFor();
    await visit.act('Save').click();
    await visit
      .text('Sends along the conversation, its contact, the agent who wrote and the files of the message.')
      .waitFor();
  });

  it('refuse an edit of what somebody else has edited meanwhile', async () => {
    const { id } = await makeEndpoint('/twice');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.button('Edit').click();
    await visit.field('Name').fill('Mine');
    await world.service.app
      .get(WebhookEndpointsService)
      .update(workspace.id, id, { version: 1, name: 'Theirs' }, SYSTEM);
    await visit.act('Save').click();
    await visit.dialog.getByText('Somebody has edited the endpoint in the meantime.').waitFor();
    await visit.act('Cancel').click();
    await visit.page.reload();
    await visit.page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
  });

  it('retry a pending delivery now', async () => {
    const { id } = await makeEndpoint('/later', ['message.created']);
    world.receiver.https.respond = (response) => void response.writeHead(500).end();
    const conversation = await world.service.make.conversation(workspace);
    await world.service.make.sent(workspace, conversation);
    await world.receiver.waitForCount(1, '/later');
    await waitFor('a retry', () =>
      world.service.query(
        `UPDATE pending_deliveries SET next_attempt_at = now() + interval '1 day'
         WHERE endpoint_id = $1 AND lease_id IS NULL RETURNING 1`,
        [id],
      ),
    );
    world.receiver.https.respond = (response) => void response.end('ok');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.row('message.created').getByRole('link').first().click();
    await visit.button('Retry now').click();
    await world.receiver.waitForCount(2, '/later');
    await visit.attempt(2).waitFor();
    await visit.button('Redeliver').waitFor();
  });

  it('test with the example of another event, edited, and lead to its delivery', async () => {
    const { id } = await makeEndpoint('/example');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.button('Test').click();
    await visit.text(/^The receiver answered 200 after/).waitFor();
    await visit.field('Event to test with').selectOption('conversation.updated');
    const data = await visit.field('Data of the example, as JSON').inputValue();
    await visit.field('Data of the example, as JSON').fill(data.replace(/"[0-9a-f-]{36}"/, '"mine"'));
    await visit.act('Send the example').click();
    await visit.dialog.getByText('may only have ids of the example').first().waitFor();
    await visit.field('Data of the example, as JSON').fill(data.replace('CLOSED', 'SNOOZED'));
    await visit.act('Send the example').click();
    const [, example] = await world.receiver.waitForCount(2, '/example');
    expect(example!.headers['x-service-test']).toBe('true');
    expect(example!.envelope).toMatchObject({ event: 'conversation.updated', data: { status: 'SNOOZED' } });
    await visit.text('Show the delivery').click();
    await visit.text('x-service-test: true').waitFor();
  });

  it('show twelve attempts on one screen, and where they went before the address changed', async () => {
    const { id } = await makeEndpoint('/earlier');
    world.receiver.https.respond = (response) => void response.writeHead(503).end('down\n'.repeat(50));
    const { deliveryId } = await test(id);
    await world.service.query(
      `INSERT INTO webhook_attempts (tenant_id, delivery_id, round, attempt, attempted_at, duration_ms, status_code, error)
       SELECT $1, $2, 0, n, now() - interval '1 hour' + n * interval '1 second', 20, 503, 'status'
       FROM generate_series(1, 11) n`,
      [workspace.id, deliveryId],
    );
    await visit.page.setViewportSize({ width: 1440, height: 900 });
    await visit.settings(workspace, `webhooks/${id}/deliveries/${deliveryId}`);
    const first = visit.attempt(1).last();
    await first.waitFor();
    expect(await visit.page.locator('summary').count()).toBe(12);
    const { y, height } = (await first.boundingBox())!;
    expect(y + height).toBeLessThan(900);
    expect(await visit.text('Earlier address').count()).toBe(0);

    const moved = { version: 1, url: world.receiver.url('/later') };
    await world.service.app.get(WebhookEndpointsService).update(workspace.id, id, moved, SYSTEM);
    await visit.button('Redeliver').click();
    await visit.attempt(13).waitFor();
    await visit.page.reload();
    await visit.attempt(13).waitFor();
    await visit.attempt(12).getByText('Earlier address').waitFor();
    expect(await visit.text('Earlier address').count()).toBe(12);
    await visit.attempt(12).click();
    const sentTo = /^Sent to 127\.0\.0\.1:\d+\/earlier\S*, the endpoint’s address until/;
    await visit.text(sentTo).first().waitFor();
  });

  it('redeliver the selected, and all that match after they were counted', async () => {
    const { id } = await makeEndpoint('/again', ['message.created']);
    const conversation = await world.service.make.conversation(workspace);
    for (const body of ['One', 'Two', 'Three']) await world.service.make.sent(workspace, conversation, body);
    await world.receiver.waitForCount(3, '/again');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.row('succeeded').nth(2).waitFor();
    await visit.row('succeeded').first().getByRole('checkbox').check();
    await visit.button('Redeliver 1 selected').click();
    await world.receiver.waitForCount(4, '/again');
    await visit.row('succeeded').nth(2).waitFor();
    expect(await visit.button('Redeliver all that match').count()).toBe(0);
    await visit.button('Filters').click();
    await visit.field('Status').selectOption('succeeded');
    await visit.page.waitForURL('**?status=succeeded');
    await visit.button('Redeliver all that match').click();
    await visit.act('Redeliver 3').click();
    await world.receiver.waitForCount(7, '/again');
    await visit.text(/^Redelivery: completed · 3 of 3 succeeded$/).waitFor();
    await visit.button('Remove the filter Status: succeeded').click();
    await visit.page.waitForURL(`**/webhooks/${id}`);
    await visit.field('Select this page').check();
    await visit.button('Redeliver 3 selected').click();
    await world.receiver.waitForCount(10, '/again');
  });

  it('recover what an inactive endpoint missed, counted first', async () => {
    const { id } = await makeEndpoint('/missed', ['message.created']);
    const conversation = await world.service.make.conversation(workspace);
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.button('More').click();
    await visit.page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await visit.act('Deactivate').click();
    await visit.text('inactive').first().waitFor();
    await world.service.make.sent(workspace, conversation, 'Nobody listens');
    await visit.button('Activate').click();
    await visit.text('The endpoint is active again.').waitFor();
    await visit.button('More').click();
    await visit.page.getByRole('menuitem', { name: 'Recover missed events' }).click();
    await visit.act('Count first').click();
    await visit.text('1 event was missed since then.').waitFor();
    await visit.act('Recover 1').click();
    await world.receiver.waitForCount(1, '/missed');
    await visit.text(/^Recovery: completed · 1 of 1 succeeded$/).waitFor();
  });

  it('say that a recovery runs until the last delivery has ended, and how each ended', async () => {
    const { id } = await makeEndpoint('/recovered', ['message.created']);
    const giveUp = (count: number) =>
      waitFor('deliveries that wait for their last attempt', async () => {
        const rows = await world.service.query(
          `UPDATE pending_deliveries SET attempt_count = 5, next_attempt_at = now()
           WHERE endpoint_id = $1 AND lease_id IS NULL AND attempt_count > 0 AND $2 = (
             SELECT count(*) FROM pending_deliveries WHERE endpoint_id = $1 AND attempt_count > 0) RETURNING 1`,
          [id, count],
        );
        return rows.length > 0;
      });
    world.receiver.https.respond = (response) => void response.writeHead(500).end();
    const conversation = await world.service.make.conversation(workspace);
    await world.service.make.sent(workspace, conversation, 'arrives');
    await world.service.make.sent(workspace, conversation, 'fails again');
    await giveUp(2);
    await visit.settings(workspace, `webhooks/${id}`);
    const rows = visit.page.getByRole('region', { name: 'Deliveries', exact: true });
    await waitFor('rows that are given up', async () => (await rows.getByText('given up').count()) === 2);

    world.receiver.https.respond = (response, { body }) =>
      void response.writeHead(body.includes('fails again') ? 500 : 200).end();
    await visit.button('More').click();
    await visit.page.getByRole('menuitem', { name: 'Recover missed events' }).click();
    await visit.text(/^The endpoint was made on .+ What happened before is left out\.$/).waitFor();
    await visit.page.keyboard.press('Enter');
    await visit.text('2 events were missed since then.').waitFor();
    await visit.page.keyboard.press('Enter');
    await visit.text(/^Recovery: running · 2 of 2 begun$/).waitFor();
    await visit.text('1 succeeded · 1 pending').waitFor();
    expect(await visit.button('Cancel').count()).toBe(0);
    await rows.getByText('succeeded', { exact: true }).waitFor();
    await rows.getByText('pending', { exact: true }).waitFor();
    const section = 'section[aria-label="Recoveries and redeliveries"]';
    expect(await accessibilityFaultsOf(visit.page, section)).toEqual([]);

    await giveUp(1);
    await visit.text(/^Recovery: completed · 1 of 2 succeeded$/).waitFor();
    await visit.text(/^1 given up$/).waitFor();
    await rows.getByText('given up', { exact: true }).waitFor();
  });

  it('roll a secret, and delete an endpoint by its name', async () => {
    const { id, url } = await makeEndpoint('/rolled');
    await visit.settings(workspace, `webhooks/${id}`);
    await visit.button('More').click();
    await visit.page.getByRole('menuitem', { name: 'Roll the secret' }).click();
    await visit.act('Roll the secret').click();
    expect(await visit.copied('Secret')).toMatch(/^whsec_/);
    await visit.act('I have stored it').click();
    await visit.text(/^old secret ends/).waitFor();
    await visit.button('More').click();
    await visit.page.getByRole('menuitem', { name: 'Delete' }).click();
    const { host } = new URL(url);
    await visit.field(`Type “${host}” to confirm`).fill(host);
    await visit.act('Delete').click();
    await visit.text('There is no endpoint yet').waitFor();
  });

  it('connect a widget, show its secret once, and change its origins', async () => {
    await visit.settings(workspace, 'channels');
    await visit.button('Connect Widget').click();
    await visit.field('Allowed origins').fill('https://shop.example');
    await visit.act('Connect').click();
    await visit.text('Widget is connected').waitFor();
    expect(await visit.copied('Identity secret')).not.toBe('');
    await visit.act('I have stored it').click();
    expect(await visit.copied('For your pages: put this before </body>')).toContain('<script async src=');
    await visit.button('Change the origins: Widget').click();
    await visit.field('Allowed origins').fill('https://tea.example');
    await visit.act('Save').click();
    await visit.text('The origins are changed.').waitFor();
    await visit.dialog.waitFor({ state: 'detached' });
    await visit.button('Disconnect Widget').click();
    await visit.field('Type “Widget” to confirm').fill('Widget');
    await visit.act('Disconnect').click();
    await visit.button('Connect Widget').waitFor();
  });

  it('preview a widget in a sandbox, where a message is sent and answered', async () => {
    const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://tea.example'] } };
    await world.service.app.get(ChannelConnectionsService).connect(workspace.id, widget, SYSTEM);
    await visit.settings(workspace, 'channels');
    const [preview] = await Promise.all([
      visit.context.waitForEvent('page'),
      visit.page.getByRole('link', { name: 'Try it on a preview page' }).click(),
    ]);
    await preview.getByRole('button', { name: /^Open chat/ }).click();
    await preview.getByRole('textbox', { name: 'Message' }).fill('From the preview');
    await preview.getByRole('button', { name: 'Send' }).click();
    await preview.locator('[data-state=sent]', { hasText: 'From the preview' }).waitFor();
    const [conversation] = await world.service.query<{ id: string }>(
      'SELECT id FROM conversations WHERE tenant_id = $1',
      [workspace.id],
    );
    await world.service.make.sent(workspace, conversation!, 'To the preview');
    await preview.locator('[data-state=received]', { hasText: 'To the preview' }).waitFor();
    // axe measures contrasts inside the body alone.
    await preview.evaluate(() => document.body.append(document.querySelector('chat-widget')!));
    expect(await accessibilityFaultsOf(preview, 'html')).toEqual([]);
    const outcomes = await preview.evaluate(async (dashboard) => {
      const outcomeOf = (name: string, attempt: () => unknown) =>
        Promise.resolve()
          .then(attempt)
          .then(
            () => `${name} succeeded`,
            () => `${name} failed`,
          );
      return Promise.all([
        outcomeOf('cookies', () => document.cookie),
        outcomeOf('storage', () => localStorage.length),
        outcomeOf('opener', () => window.opener.document),
        outcomeOf('window', () => window.open('/')!.document),
        outcomeOf('request', () => fetch(`${dashboard}/api/session`, { credentials: 'include' })),
      ]);
    }, world.dashboard.baseUrl);
    expect(outcomes).toEqual(
      ['cookies', 'storage', 'opener', 'window', 'request'].map((name) => `${name} failed`),
    );
    await preview.close();
  });

  it('filter the audit log by a thing, and export it', async () => {
    const { id } = await makeEndpoint('/audited');
    await test(id);
    await visit.settings(workspace, 'audit');
    await visit.button(`Only entries of ${id}`).first().click();
    await visit.page.waitForURL(`**?entity=webhook_endpoint&entityId=${id}`);
    await waitFor('two entries', async () => (await visit.page.getByRole('row').count()) === 3);
    const download = await downloadOf(visit.page.getByRole('link', { name: 'Export JSON' }));
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    const actions = lines.map((line) => (JSON.parse(line) as { action: string }).action);
    expect(actions).toContain('webhook_endpoint.tested');
  });

  it('filter the audit log by what there is, named for people, and export it as a table', async () => {
    const { id, url } = await makeEndpoint('/listed');
    await test(id);
    await visit.settings(workspace, 'audit');
    await visit.row('Webhook endpoint: tested').getByText(url).waitFor();
    await visit.button('Filters').click();
    await visit.field('Action').selectOption('Webhook endpoint: tested');
    await visit.page.waitForURL('**?action=webhook_endpoint.tested');
    await waitFor('one entry', async () => (await visit.page.getByRole('row').count()) === 2);
    await visit.row('tested').getByText('Show').click();
    await visit.row('tested').getByText('webhook_endpoint.tested', { exact: true }).waitFor();
    const download = await downloadOf(visit.page.getByRole('link', { name: 'Export CSV' }));
    const [head, ...rows] = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    expect(head).toContain('action');
    expect(rows).toEqual([expect.stringContaining('webhook_endpoint.tested')]);
    await visit.button('Remove the filter Action: Webhook endpoint: tested').click();
    await visit.field('Who').selectOption('The system');
    await visit.page.waitForURL('**?actor=system');
  });

  it('invite an agent with a link to hand over, and make an admin of them', async () => {
    await visit.settings(workspace, 'agents');
    await visit.button('Invite an agent').click();
    await visit.field('Name').fill('Grace');
    await visit.field('E-mail').fill('grace@example.com');
    await visit.act('Invite an agent').click();
    expect(await visit.copied('Link')).toContain('/welcome#');
    await visit.act('I have stored it').click();
    const row = visit.row('grace@example.com');
    await row.getByText('invited').waitFor();
    await visit.button('Actions for Grace').click();
    await visit.page.getByRole('menuitem', { name: 'Edit' }).click();
    await visit.field('Role').selectOption('Admin');
    await visit.act('Save').click();
    await row.getByText('Admin', { exact: true }).waitFor();
    await row.getByText('off', { exact: true }).waitFor();
  });

  it('ask for the password before messages are erased', async () => {
    await visit.settings(workspace, 'workspace');
    await visit.field('Days to keep').fill('30');
    await visit.page.getByRole('region', { name: 'Retention of messages' }).getByRole('button').click();
    await visit.field('Password').fill('a wrong password');
    await visit.act('Erase old messages').click();
    await visit.dialog.getByText('Password is not your password', { exact: true }).waitFor();
    await visit.field('Password').fill(PASSWORD);
    await visit.act('Erase old messages').click();
    await visit.text('It takes effect in the next night.').waitFor();
    await visit.page.reload();
    expect(await visit.field('Days to keep').inputValue()).toBe('30');
  });

  it('speak German, and are dark, in whichever browser the person logs in', async () => {
    await visit.page.goto('/account');
    await visit.field('Language').selectOption('Deutsch');
    await visit.page.getByRole('heading', { name: 'Konto' }).waitFor();
    await visit.page.getByText('Dunkel', { exact: true }).click();
    await visit.page.locator('html[lang="de"][data-mantine-color-scheme="dark"]').waitFor();
    await visit.page.evaluate(() => localStorage.clear());
    await visit.page.reload();
    await visit.page.locator('html[lang="de"][data-mantine-color-scheme="dark"]').waitFor();
  });
});
