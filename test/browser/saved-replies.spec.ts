import { SYSTEM } from '../../src/access/principal';
import { SavedRepliesService } from '../../src/inbox/saved-replies/saved-replies.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from './accessibility';
import { AgentPage, DashboardInBrowser } from './dashboard-in-browser';
import { PHONE } from './phone';
import { withDashboard } from './with-dashboard';

describe('saved replies in a browser', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace({ name: 'Acme' });
  });

  const save = (name: string, body: string) =>
    world.dashboard.get(SavedRepliesService).create(workspace.id, { name, body }, SYSTEM);
  async function open(contactName: string | undefined = 'Ada Lovelace') {
    const { id: contactId } = await world.service.make.contact(
      workspace,
      contactName === '' ? { phone: '+4917612345678' } : { name: contactName },
    );
    const made = await world.service.make.conversation(workspace, { contactId });
    await world.service.make.received(workspace, made);
    await visit.page.goto(`/w/${workspace.slug}/inbox/${made.id}?view=all`);
    await visit.page.locator('article').first().waitFor();
  }
  const reply = () => visit.page.locator('textarea:not([aria-hidden])');
  const options = () => visit.page.locator('ul[role=listbox] [role=option]');

  it('are written by managers, who hear of an unknown variable', async () => {
    visit = await world.enter(workspace, 'ADMIN');
    await visit.settings(workspace, 'saved-replies');
    await visit.button('New saved reply').click();
    await visit.field('Name').fill('Thanks');
    await visit.field('Text').fill('Dear {{contact.nickname}}');
    await visit.act('Save').click();
    await visit.dialog.getByText('unknown variable "contact.nickname"').waitFor();
    await visit.field('Text').fill('Dear {{contact.firstName|there}}');
    await visit.act('Save').click();
    await visit.row('Thanks').getByText('Dear {{contact.firstName|there}}').waitFor();
    await visit.button('Edit Thanks').click();
    await visit.field('Name').fill('Many thanks');
    await visit.act('Save').click();
    await visit.row('Many thanks').waitFor();
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    await visit.button('Delete Many thanks').click();
    await visit.act('Delete').click();
    await visit.text('No saved reply yet').waitFor();
  });

  it('tell colleagues that the agent writes, once one is chosen', async () => {
    visit = await world.enter(workspace, 'AGENT');
    await save('Refund', 'The money is on its way.');
    await open();
    await visit.page.keyboard.press('r');
    await visit.page.keyboard.type('/');
    await options().first().waitFor();
    const told = visit.page.waitForRequest((request) =>
      (request.postData() ?? '').includes('"act":"REPLYING"'),
    );
    await visit.page.keyboard.press('Enter');
    await told;
  });

  it('are put in with their values, by keyboard alone', async () => {
    visit = await world.enter(workspace, 'AGENT');
    await save(
      'Greeting',
      'Dear {{contact.firstName|there}},\nthis is {{agent.name}} of {{workspace.name}}.',
    );
    await save('Refund', 'The money is on its way.');
    await open();
    const { keyboard } = visit.page;
    await keyboard.press('r');
    await keyboard.type('Hello\n/');
    await options().nth(1).waitFor();
    await keyboard.press('Escape');
    await options().first().waitFor({ state: 'detached' });
    await keyboard.press('Backspace');
    await keyboard.type('/');
    await options().nth(1).waitFor();
    await keyboard.press('ArrowDown');
    await visit.page.getByRole('option', { name: 'Refund', selected: true }).waitFor();
    await keyboard.type('gree');
    await visit.page.getByRole('option', { name: 'Greeting', selected: true }).waitFor();
    expect(await options().count()).toBe(1);
    expect(await reply().getAttribute('aria-activedescendant')).toBe(await options().getAttribute('id'));
    await keyboard.press('Enter');
    expect(await reply().inputValue()).toBe(`Hello\nDear Ada,\nthis is ${visit.agent.name} of Acme.`);
    await keyboard.type(' Bye');
    expect(await reply().inputValue()).toMatch(/of Acme\. Bye$/);
  });

  it('say which value is missing, and use the word for it', async () => {
    visit = await world.enter(workspace, 'AGENT');
    await save('Greeting', 'Dear {{contact.firstName|there}}, hello {{contact.name}}, thank you.');
    await open('');
    await reply().fill('/');
    await options().getByText('Dear there, hello, thank you.').waitFor();
    await options().click();
    expect(await reply().inputValue()).toBe('Dear there, hello, thank you.');
    await visit.text('Left out, because it is not known here: the customer’s name.').waitFor();
  });

  it.each([
    ['light', 'desktop', {}],
    ['dark', 'phone', PHONE],
  ] as const)('are accessible: %s, on a %s', async (colorScheme, _, size) => {
    visit = await world.enter(workspace, 'AGENT', { ...size, colorScheme, locale: 'de-DE' });
    await save('Greeting', `Dear {{contact.firstName|there}} ${'x'.repeat(300)}`);
    await open();
    await reply().fill('/');
    await options().waitFor();
    await visit.page.waitForTimeout(300);
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    const box = await options().boundingBox();
    expect(box!.x + box!.width).toBeLessThanOrEqual(visit.page.viewportSize()!.width);
  });
});
