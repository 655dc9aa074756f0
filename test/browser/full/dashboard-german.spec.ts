import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../../src/access/principal';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { PASSWORD } from '../../support/test-dashboard';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';

/** Words that English sentences are made of, and German ones are not. */
const ENGLISH =
  /\b(the|and|of|is|are|be|not|must|with|without|this|that|your|you|by|from|for|has|have|cannot|failed|yet|only)\b/i;

/** Tests of what the pages say in German, above all when something is wrong. */
describe("the dashboard's pages in German", () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;
  let endpointId: string;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    const { make, app } = world.service;
    workspace = await make.workspace({ name: 'Teeladen' });
    await make.apiKey(workspace);
    const input = { url: world.receiver.url('/webhooks'), events: ['message.created'] };
    ({ id: endpointId } = await app.get(WebhookEndpointsService).create(workspace.id, input, SYSTEM));
    const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://tee.example'] } };
    await app.get(ChannelConnectionsService).connect(workspace.id, widget, SYSTEM);
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    visit = await world.enter(workspace, 'OWNER', { locale: 'de-DE' });
  });
  afterEach(async () => {
    const text = await visit.page.locator('body').innerText();
    expect(text.split('\n').filter((line) => ENGLISH.test(line))).toEqual([]);
    await visit.close();
  });

  const settings = async (path: string) => {
    await visit.settings(workspace, path);
    await visit.comeToRest();
  };
  const says = (text: string | RegExp) => visit.text(text).first().waitFor();

  it.each(['overview', 'api-keys', 'webhooks', 'channels', 'audit', 'agents', 'diagnostics', 'workspace'])(
    'have no English on %s',
    settings,
  );

  it('have no English in the inbox, where a reply would not arrive', async () => {
    const { make } = world.service;
    const conversation = await make.conversation(workspace);
    await make.received(workspace, conversation, 'Wo ist es?');
    await visit.page.goto(`/w/${workspace.slug}/inbox/${conversation.id}?view=all`);
    await says(/Der Kontakt hat keine Adresse auf/);
    await visit.button('Zurückstellen').click();
    await visit.page.getByRole('menuitem', { name: 'Bis der Kunde schreibt' }).click();
    await visit.field('Antwort').waitFor({ state: 'detached' });
    await visit.page.goto(`/w/${workspace.slug}/inbox/${conversation.id}?view=all&status=SNOOZED`);
    await says('Zurückgestellt von Ihnen');
    await visit.button('Tasten').click();
    await says('Unterhaltung schließen');
  });

  it('say what is wrong with an address', async () => {
    await settings('webhooks');
    await visit.button('Endpunkt hinzufügen').first().click();
    for (const [url, fault] of [
      ['http://tee.example/', 'Die Adresse muss mit https:// beginnen'],
      ['https://10.0.0.1/', 'Die IP-Adresse 10.0.0.1 ist nicht öffentlich'],
      ['https://tee.example:81/', 'Port 81 ist nicht erlaubt'],
    ] as const) {
      await visit.field('Adresse').fill(url);
      await says(fault);
    }
  });

  it('say why a test failed', async () => {
    world.receiver.https.respond = (response) => void response.writeHead(301).end();
    await settings(`webhooks/${endpointId}`);
    await visit.button('Testen').click();
    await says('Antwortete 301: Weiterleitungen wird nicht gefolgt');
    await visit.act('Schließen').last().click();
    await visit.row('webhook.test').getByRole('link').click();
    await says('Antwortete 301: Weiterleitungen wird nicht gefolgt');
  });

  it('say what is wrong with a field, and with several', async () => {
    await settings('api-keys');
    await visit.button('Schlüssel erstellen').first().click();
    await visit.field('Name').fill(' ');
    await visit.field('Netze').fill('203.0.113.7/24');
    await visit.act('Schlüssel erstellen').click();
    await says('darf nicht leer sein');
    await says(/^Das müssen Netze wie/);
    await visit.field('Name').and(visit.page.locator(':focus')).waitFor();
  });

  it('say what is wrong with a password', async () => {
    await visit.page.goto('/account');
    await visit.comeToRest();
    await visit.field('Jetziges Passwort').fill('falsch und lang genug');
    await visit.field('Neues Passwort').fill('noch ein ganz anderes');
    await visit.button('Passwort ändern').click();
    await says('ist nicht Ihr Passwort');
    await visit.field('Jetziges Passwort').fill(PASSWORD);
    await visit.field('Neues Passwort').fill('passwordpassword');
    await visit.button('Passwort ändern').click();
    await says('ist zu verbreitet: Wählen Sie ein anderes');
  });

  it('say why a login and a link are refused', async () => {
    await visit.context.clearCookies();
    await visit.page.goto('/login');
    await visit.field('E-Mail').fill('niemand@tee.example');
    await visit.field('Passwort').fill('falsch und lang genug');
    await visit.button('Anmelden').click();
    await says('Die E-Mail oder das Passwort ist falsch');
    await visit.page.goto('/welcome#nichts');
    await says('Dieser Link gilt nicht mehr');
  });
});
