import { TOTP } from 'otpauth';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { PASSWORD, TestDashboard } from '../../support/test-dashboard';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

const NEW_PASSWORD = 'Thirteen red radishes';

describe('logging in, in a browser', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
  });

  const home = () => visit.page.waitForURL(`**/w/${workspace.slug}/settings/overview`);

  it('takes an invitation, once', async () => {
    const agent = await world.service.make.agent(workspace);
    const token = await world.dashboard.invite(agent);
    visit = await world.open();
    await visit.page.goto(`/welcome#${token}`);
    await visit.page.getByRole('heading', { name: 'Join Acme Support' }).waitFor();
    await visit.page.waitForURL((url) => url.hash === '');
    const kept = await visit.page.evaluate(() => location.href + JSON.stringify(history.state));
    expect(kept).not.toContain(token);
    expect(await visit.field('Your name').inputValue()).toBe(agent.name);
    await visit.field('New password').fill(PASSWORD);
    await visit.button('Accept').click();
    await home();
    await visit.page.goto('about:blank');
    await visit.page.goto(`/welcome#${token}`);
    await visit.page.getByRole('heading', { name: 'This link is over' }).waitFor();
  });

  it('asks somebody with a login to log in first, and leads back to the invitation', async () => {
    const agent = await world.agentWithPassword(workspace);
    const other = await world.service.make.workspace({ name: 'Second Shop' });
    const invited = await world.service.make.agent(other, { email: agent.email });
    visit = await world.open();
    const token = await world.dashboard.invite(invited);
    await visit.page.goto(`/welcome#${token}`);
    await visit.page.getByRole('link', { name: 'Log in' }).click();
    expect(await visit.page.evaluate(() => location.href + JSON.stringify(history.state))).not.toContain(
      token,
    );
    await visit.logIn(agent.email);
    await visit.field('New password').fill(NEW_PASSWORD);
    await visit.button('Accept').click();
    await visit.page.getByRole('heading', { name: 'Choose a workspace' }).waitFor();
    await visit.page.getByRole('link', { name: /Second Shop/ }).click();
    await visit.page.waitForURL(`**/w/${other.slug}/**`);
  });

  it('says that the e-mail or the password is wrong, and nothing more', async () => {
    const { email } = await world.agentWithPassword(workspace);
    visit = await world.open();
    await visit.page.goto('/login');
    for (const [who, password] of [
      [email, 'not the password'],
      ['nobody@example.com', PASSWORD],
    ] as const) {
      await visit.logIn(who, password);
      await visit.text('The e-mail or the password is wrong').waitFor();
    }
    await visit.logIn(email);
    await home();
  });

  it('leads back to the page that was opened, and to no other site', async () => {
    const { email } = await world.agentWithPassword(workspace);
    visit = await world.open();
    await visit.page.goto(`/w/${workspace.slug}/settings/audit?action=api_key.created`);
    await visit.logIn(email);
    await visit.page.waitForURL(`**/w/${workspace.slug}/settings/audit?action=api_key.created`);
    await visit.context.clearCookies();
    await visit.page.goto('/login?back=//evil.example/');
    await visit.logIn(email);
    await home();
  });

  it('logs out', async () => {
    visit = await world.enter(workspace);
    await visit.settings(workspace, 'api-keys');
    await visit.button(/^Your account/).click();
    await visit.page.getByRole('menuitem', { name: 'Log out' }).click();
    await visit.page.waitForURL('**/login');
    await visit.page.goto(`/w/${workspace.slug}/settings/api-keys`);
    await visit.page.waitForURL('**/login?back=*');
  });

  it('turns a second factor on, asks for it, and takes each recovery code once', async () => {
    const entered = await world.enter(workspace);
    visit = entered;
    await visit.page.goto('/account');
    await visit.button('Turn on').click();
    await visit.dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await visit.act('Continue').click();
    await visit.page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
    const secret = await visit.copied('Secret');
    await visit.field('Code').fill(new TOTP({ secret }).generate());
    await visit.act('Turn on').click();
    const codes = (await visit.copied('Recovery codes')).trim().split('\n');
    expect(codes).toHaveLength(10);
    await visit.act('I have stored it').click();

    const logIn = async (code: string) => {
      await visit.context.clearCookies();
      await visit.page.goto('/login');
      await visit.logIn(entered.agent.email);
      await visit.field('Code').fill(code);
      await visit.button('Confirm').click();
    };
    await logIn(codes[0]!);
    await home();
    await logIn(codes[0]!);
    await visit.text('This code is not valid').waitFor();
    await visit.field('Code').fill(codes[1]!);
    await visit.button('Confirm').click();
    await home();
  });

  it('changes the password, which ends the other sessions', async () => {
    const entered = await world.enter(workspace);
    visit = entered;
    const elsewhere = await world.open();
    await elsewhere.page.goto('/login');
    await elsewhere.logIn(entered.agent.email);
    await elsewhere.page.waitForURL('**/w/**');

    await visit.page.goto('/account');
    await visit.field('Present password').fill(PASSWORD);
    await visit.field('New password').fill(NEW_PASSWORD);
    await visit.button('Change the password').click();
    await visit.text('The password is changed').waitFor();
    await elsewhere.page.reload();
    await elsewhere.page.waitForURL('**/login?back=*');
    await elsewhere.logIn(entered.agent.email, NEW_PASSWORD);
    await elsewhere.page.waitForURL('**/w/**');
    await elsewhere.close();
  });

  it('ends a session from another one: its next act leads to the login, and back', async () => {
    const entered = await world.enter(workspace);
    visit = entered;
    const elsewhere = await world.open();
    await elsewhere.page.goto('/login');
    await elsewhere.logIn(entered.agent.email);
    await elsewhere.page.waitForURL('**/w/**');
    await elsewhere.page.goto('/account');
    await elsewhere.button('End all others').click();
    await elsewhere.text('All other sessions have ended.').waitFor();
    await elsewhere.close();
    await visit.page.goto(`/w/${workspace.slug}/settings/webhooks`);
    await visit.page.waitForURL('**/login?back=*');
    await visit.logIn(entered.agent.email);
    await visit.page.waitForURL(`**/w/${workspace.slug}/settings/webhooks`);
  });

  describe('while the dashboard is away', () => {
    let another: TestDashboard;

    beforeEach(async () => {
      another = await TestDashboard.create(world.service.stores);
    });
    afterEach(() => another.close());

    it('says so, keeps what was entered, and goes on when it is back', async () => {
      const agent = await world.agentWithPassword(workspace);
      visit = await world.open({ dashboard: another });
      await visit.page.goto('/login');
      await visit.field('E-mail').waitFor();
      await visit.context.setOffline(true);
      await visit.logIn(agent.email);
      await visit.text('The dashboard does not answer').waitFor();
      expect(await visit.field('E-mail').inputValue()).toBe(agent.email);
      await visit.context.setOffline(false);
      await visit.button('Log in').click();
      await home();
      await visit.settings(workspace, 'api-keys');
      await visit.text('There is no API key yet').waitFor();
      await visit.context.setOffline(true);
      await visit.text('The dashboard does not answer').first().waitFor();
      await visit.text('There is no API key yet').waitFor();
      await visit.context.setOffline(false);
      await visit.text('The dashboard does not answer').waitFor({ state: 'detached' });
    });
  });
});
