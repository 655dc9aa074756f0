import { AlertMailChoicesService } from '../../src/notices/alerts/alert-mail-choices.service';
import { AlertMailLinks } from '../../src/notices/alerts/alert-mail-links';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { TestDashboard } from '../support/test-dashboard';
import { waitFor } from '../support/wait';
import { accessibilityFaultsOf } from './accessibility';
import { DashboardInBrowser } from './dashboard-in-browser';
import { PHONE } from './phone';
import { withDashboard } from './with-dashboard';

/** Nothing listens there, but mails are offered. */
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'login@example.com' };

describe('mails about alerts in a browser', () => {
  let world: DashboardInBrowser;
  let mailing: TestDashboard;
  let workspace: WorkspaceEntity;

  withDashboard(async (started) => {
    world = started;
    mailing ??= await TestDashboard.create(world.service.stores, MAIL);
    workspace = await world.service.make.workspace({ name: 'Tea Shop' });
  });

  const choiceOf = ({ id }: AgentEntity) =>
    world.service.app.get(AlertMailChoicesService).get(workspace.id, { type: 'agent', id });
  const isStored = (agent: AgentEntity, choice: object) =>
    waitFor('the choice', async () => {
      const { isOn, mutedKinds } = await choiceOf(agent);
      return JSON.stringify({ isOn, mutedKinds }) === JSON.stringify(choice);
    });

  it.each([
    ['en-GB', 'Mails about alerts', 'An API key is about to end', 'Mail me the alerts of this workspace', {}],
    [
      'de-DE',
      'Mails über Warnungen',
      'Ein API-Schlüssel läuft bald ab',
      'Warnungen dieses Workspace als Mail',
      PHONE,
    ],
  ])('are chosen by keyboard on the account page (%s)', async (locale, title, kind, all, device) => {
    const { page, agent } = await world.enter(workspace, 'OWNER', { dashboard: mailing, locale, ...device });
    await page.goto('/account');
    const section = page.getByRole('region', { name: title });
    await section.getByLabel(kind).press('Space');
    await isStored(agent, { isOn: true, mutedKinds: ['KEY_ENDING'] });
    expect(await accessibilityFaultsOf(page, 'body')).toEqual([]);
    await page.reload();
    expect(await section.getByLabel(kind).isChecked()).toBe(false);
    await section.getByLabel(all).press('Space');
    await isStored(agent, { isOn: false, mutedKinds: ['KEY_ENDING'] });
    await section.getByLabel(kind).waitFor({ state: 'detached' });
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
  });

  it('are chosen for each workspace that the person manages', async () => {
    const { make } = world.service;
    const other = await make.workspace({ name: 'Coffee Shop' });
    const agent = await make.agent(workspace, { role: 'OWNER' });
    const browser = await world.dashboard.logIn(agent);
    const joined = await make.agent(other, { email: agent.email, role: 'ADMIN' });
    const token = await world.dashboard.invite(joined);
    const password = 'another horse battery';
    expect((await browser.post('/api/links/accept', { token, password })).status).toBe(200);
    const visit = await world.open({ dashboard: mailing });
    await visit.adopt(browser);
    const { page } = visit;
    await page.goto('/account');
    const section = page.getByRole('region', { name: 'Mails about alerts' });
    await section.getByLabel('Workspace', { exact: true }).selectOption('Coffee Shop');
    await section.getByLabel('A channel needs new credentials').uncheck();
    const choices = world.service.app.get(AlertMailChoicesService);
    await waitFor('the choice', async () => {
      const choice = await choices.get(other.id, { type: 'agent', id: joined.id });
      return choice.mutedKinds[0] === 'CHANNEL_NEEDS_CREDENTIALS';
    });
    expect((await choiceOf(agent)).mutedKinds).toEqual([]);
    expect(await accessibilityFaultsOf(page, 'body')).toEqual([]);
  });

  it('are no choice of an AGENT, and none without a mail server', async () => {
    for (const [role, dashboard] of [
      ['AGENT', mailing],
      ['OWNER', world.dashboard],
    ] as const) {
      const { page } = await world.enter(workspace, role, { dashboard });
      await page.goto('/account');
      await page.getByRole('region', { name: 'Your data' }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.getByRole('region', { name: 'Mails about alerts' }).count()).toBe(0);
    }
  });

  it.each([
    ['en-GB', 'End the mails', 'You get no more mails'],
    ['de-DE', 'Mails beenden', 'Sie bekommen keine Mails mehr'],
  ])('are ended by the button of the page that a mail links (%s)', async (locale, button, done) => {
    const agent = await world.service.make.agent(workspace, { role: 'OWNER' });
    const links = world.service.app.get(AlertMailLinks);
    const { end } = links.make({ tenantId: workspace.id, agentId: agent.id }, workspace.slug);
    const { page } = await world.open({ locale, ...PHONE });
    await page.goto(world.service.baseUrl + new URL(end).pathname);
    expect(await accessibilityFaultsOf(page, 'body')).toEqual([]);
    expect((await choiceOf(agent)).isOn).toBe(true);
    await page.getByRole('button', { name: button }).press('Enter');
    await page.getByText(done).waitFor();
    expect((await choiceOf(agent)).isOn).toBe(false);
  });
});
