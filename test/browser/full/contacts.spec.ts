import { mkdirSync } from 'node:fs';
import { SYSTEM } from '../../../src/access/principal';
import { ContactsService } from '../../../src/contacts/contacts.service';
import { CustomersService } from '../../../src/contacts/customers.service';
import { Database } from '../../../src/database/database';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { downloadOf } from '../downloads';
import { PHONE } from '../phone';
import { withDashboard } from '../with-dashboard';

/** Names as people and attackers give them. */
const ARABIC = 'ليلى حداد';
const HEBREW = 'נועה לוי';
const ATTACK =
  `<img src=x onerror=alert(1)> \u202Egro.live//:sptth =HYPERLINK("x") ${'long '.repeat(30)}`.slice(0, 200);
/** Folder for pictures to look at; none by default. */
const PICTURES = process.env['PICTURES'];

describe('the customer in the dashboard', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;
  let shot = 0;

  beforeAll(() => {
    if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  });
  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
  });

  const contacts = () => world.service.app.get(ContactsService, { strict: false });
  const panel = () => visit.page.getByRole('complementary', { name: 'Customer' });
  const stored = (id: string) => contacts().getDetail(workspace.id, id, SYSTEM);

  async function picture(name: string): Promise<void> {
    if (PICTURES) await visit.page.screenshot({ path: `${PICTURES}/${(shot += 1)}-${name}.png` });
  }
  async function conversation(name: string, input: object = {}) {
    const { make } = world.service;
    const contact = await make.contact(workspace, { name, email: 'zoe@example.com', ...input });
    const made = await make.conversation(workspace, { contactId: contact.id });
    await make.received(workspace, made, 'Where is my parcel?');
    return { id: made.id, contact };
  }
  const open = (id: string) => visit.page.goto(`/w/${workspace.slug}/inbox/${id}?view=all`);

  /** Expects no accessibility fault in either theme, and that nothing sticks out. */
  async function expectAccessible(name: string, root = 'html'): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit.page.emulateMedia({ colorScheme });
      await visit.page.waitForFunction(
        () =>
          document.getAnimations().length === 0 &&
          document.documentElement.scrollWidth <= document.documentElement.clientWidth,
      );
      await picture(`${name}-${colorScheme}`);
      expect([name, colorScheme, await accessibilityFaultsOf(visit.page, root)]).toEqual([
        name,
        colorScheme,
        [],
      ]);
    }
    await visit.page.emulateMedia({ colorScheme: 'light' });
  }

  it('is opened by I beside the conversation, edited by keyboard, and stays open', async () => {
    visit = await world.enter(workspace, 'AGENT', { viewport: { width: 1440, height: 900 } });
    const { keyboard } = visit.page;
    const { id, contact } = await conversation(HEBREW);
    await world.service.app.get(Database, { strict: false }).transaction((tx) =>
      world.service.app.get(CustomersService, { strict: false }).updateProfile(tx, workspace.id, contact.id, {
        signed: { email: 'noa@shop.example' },
        claimed: {},
      }),
    );
    const { make } = world.service;
    const telegram = await make.conversation(workspace, { contactId: contact.id, channel: 'TELEGRAM' });
    await make.received(workspace, telegram, '[image] The box');
    await open(id);
    await visit.text('Where is my parcel?').last().waitFor();
    await keyboard.press('i');
    await panel().getByText('noa@shop.example').waitFor();
    await panel().getByText('verified').waitFor();
    await panel()
      .getByRole('link', { name: /Picture The box.*Telegram/ })
      .waitFor();
    await expectAccessible('panel');

    await panel().getByRole('button', { name: 'Edit' }).focus();
    await keyboard.press('Enter');
    await visit.page.getByLabel('Name', { exact: true }).waitFor();
    await visit.page.getByLabel('E-mail', { exact: true }).fill('noa');
    await keyboard.press('Enter');
    await panel().getByText('must be an e-mail address').waitFor();
    await expectAccessible('panel-fault');
    await visit.page.getByLabel('E-mail', { exact: true }).fill('noa@example.com');
    await panel().getByRole('button', { name: 'Add a detail' }).click();
    await visit.page.getByLabel('What', { exact: true }).fill('عنوان');
    await visit.page.getByLabel('Value of عنوان').fill('javascript:alert(1)');
    await expectAccessible('panel-edit');
    await visit.page.getByLabel('Value of عنوان').press('Enter');
    await panel().getByText('javascript:alert(1)').waitFor();
    expect(await panel().locator('a[href^="javascript"], a[href^="mailto"]').count()).toBe(0);
    expect(await panel().getByText('verified').count()).toBe(0);
    expect(await stored(contact.id)).toMatchObject({
      email: 'noa@example.com',
      verified: [],
      attributes: { عنوان: 'javascript:alert(1)' },
    });

    await visit.page.reload();
    await panel().getByText('noa@example.com').waitFor();
    await panel().getByRole('button', { name: 'Close the customer' }).focus();
    await keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    await visit.page.reload();
    await visit.text('Where is my parcel?').last().waitFor();
    expect(await panel().count()).toBe(0);
  });

  it('asks before an edit is lost', async () => {
    visit = await world.enter(workspace, 'AGENT', { viewport: { width: 1440, height: 900 } });
    const { keyboard } = visit.page;
    const [first, second] = [await conversation(HEBREW), await conversation(ARABIC)];
    const question = visit.page.getByRole('dialog', { name: 'Discard what you have entered?' });
    const phone = visit.field('Phone');
    await open(first.id);
    await visit.button('Customer').click();
    await panel().getByRole('button', { name: 'Edit' }).click();
    await phone.fill('+972 1');
    await keyboard.press('Escape');
    expect(await question.count()).toBe(0);
    await visit.button('Close the customer').click();
    await question.waitFor();
    await keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    const other = visit.page.locator('[data-conversation]').filter({ hasText: ARABIC });
    await other.press('Enter');
    await visit.act('Cancel').click();
    await question.waitFor({ state: 'detached' });
    expect(await phone.inputValue()).toBe('+972 1');
    await other.press('Enter');
    await visit.act('Discard').click();
    await visit.page.waitForURL(`**/inbox/${second.id}**`);
    await panel().getByRole('heading', { name: ARABIC }).waitFor();
    expect((await stored(first.contact.id)).phone).toBeNull();

    // The focus goes back to the button that opened the panel.
    await panel().getByRole('button', { name: 'Edit' }).click();
    await phone.fill('+972 1');
    await visit.button('Close the customer').focus();
    await keyboard.press('Enter');
    await visit.act('Discard').focus();
    await keyboard.press('Enter');
    await panel().waitFor({ state: 'detached' });
    await visit.button('Customer').and(visit.page.locator(':focus')).waitFor();
  });

  it('shows what a colleague has changed meanwhile before it saves', async () => {
    visit = await world.enter(workspace, 'AGENT', { viewport: { width: 1440, height: 900 } });
    const { id, contact } = await conversation(ARABIC);
    await open(id);
    await visit.button('Customer').click();
    await panel().getByRole('button', { name: 'Edit' }).click();
    await visit.page.getByLabel('Phone', { exact: true }).fill('+972 1');
    const change = { updatedAt: contact.updatedAt, phone: '+972 2', email: 'other@example.com' };
    await contacts().update(workspace.id, contact.id, change, SYSTEM);
    await visit.button('Save').click();
    await visit.text('Somebody has changed this contact in the meantime').waitFor();
    await visit.text('Now stored: +972 2').waitFor();
    expect(await visit.page.getByLabel('E-mail', { exact: true }).inputValue()).toBe('other@example.com');
    await expectAccessible('conflict');
    await visit.button('Save').click();
    await panel().getByText('+972 1').waitFor();
    expect(await stored(contact.id)).toMatchObject({ phone: '+972 1', email: 'other@example.com' });
  });

  it('is a sheet on a phone, in German, whatever its name', async () => {
    visit = await world.enter(workspace, 'AGENT', { ...PHONE, locale: 'de-DE' });
    const { id } = await conversation(ATTACK);
    await open(id);
    await visit.button('Kunde').click();
    await visit.dialog.getByText('zoe@example.com').waitFor();
    await expectAccessible('sheet', '[role="dialog"]');
    expect(await visit.page.locator('img[src="x"]').count()).toBe(0);
    const phone = visit.page.getByLabel('Telefon', { exact: true });
    await visit.act('Bearbeiten').click();
    await phone.fill('+49 30 1');
    await visit.page.keyboard.press('Escape');
    await visit.button('Abbrechen').last().click();
    expect(await phone.inputValue()).toBe('+49 30 1');
    await visit.act('Speichern').click();
    await visit.dialog.getByText('+49 30 1').waitFor();
    // What is saved is not asked for.
    await visit.page.keyboard.press('Escape');
    await visit.dialog.waitFor({ state: 'detached' });
    await visit.page.goto(`/w/${workspace.slug}/contacts`);
    await visit.text('zoe@example.com').waitFor();
    await expectAccessible('phone-list');
    await visit.page.getByRole('link', { name: /onerror/ }).click();
    await visit.text('Zuerst gesehen').waitFor();
    await expectAccessible('phone-contact');
  });

  it('is found, added and opened on a page of contacts', async () => {
    visit = await world.enter(workspace, 'AGENT');
    const { make } = world.service;
    for (const name of [ARABIC, HEBREW, ATTACK]) await conversation(name);
    for (let n = 0; n < 60; n++) await make.contact(workspace, { name: `Person ${n}` });
    await visit.page.goto(`/w/${workspace.slug}/contacts`);
    await visit.row('Person 59').waitFor();
    await expectAccessible('contacts');
    await visit.button('Older').click();
    await visit.row(HEBREW).waitFor();
    await expectAccessible('contacts-rtl');
    await visit.page.getByRole('searchbox').fill('נועה');
    await visit.page.waitForURL(/q=/);
    await waitFor('one row', async () => (await visit.page.getByRole('row').count()) === 2);
    await visit.page.getByRole('link', { name: HEBREW }).press('Enter');
    await visit.page.getByRole('link', { name: /Where is my parcel/ }).waitFor();
    expect(await visit.button('Erase').count()).toBe(0);
    await expectAccessible('contact');

    await visit.page.getByRole('link', { name: 'All contacts' }).press('Enter');
    await visit.button('Add a contact').press('Enter');
    await visit.dialog.getByLabel('Name').fill('New Person');
    await visit.dialog.getByRole('textbox', { name: 'E-mail' }).fill('nobody');
    await visit.page.keyboard.press('Enter');
    await visit.dialog.getByText('must be an e-mail address').waitFor();
    await expectAccessible('create', '[role="dialog"]');
    await visit.dialog.getByRole('textbox', { name: 'E-mail' }).fill('new@example.com');
    await visit.page.keyboard.press('Enter');
    await visit.page.getByRole('heading', { name: 'New Person' }).waitFor();
  });

  it('is exported and erased by who manages the workspace, after typing the name', async () => {
    visit = await world.enter(workspace, 'ADMIN');
    const { contact } = await conversation('Zoë Martín');
    await visit.page.goto(`/w/${workspace.slug}/contacts/${contact.id}`);
    const download = await downloadOf(visit.page.getByRole('link', { name: 'Export' }));
    expect(download.suggestedFilename()).toBe(`contact-${contact.id}.zip`);
    await visit.button('Erase').click();
    expect(await visit.act('Erase').isDisabled()).toBe(true);
    await visit.dialog.getByRole('textbox').fill('Zoë Martín');
    await expectAccessible('erase', '[role="dialog"]');
    await visit.act('Erase').click();
    await visit.page.getByRole('heading', { name: 'Erased contact' }).waitFor();
    await visit.text(/^Erased, with 1 message/).waitFor({ timeout: 20_000 });
    await expectAccessible('erased');
    expect(await visit.button('Edit').count()).toBe(0);
    expect((await stored(contact.id)).erasedAt).not.toBeNull();
  });

  describe('before an answer is written', () => {
    const connect = (status = 'ACTIVE', channel = 'WHATSAPP') =>
      world.service.query(
        `INSERT INTO channel_connections (tenant_id, id, channel, external_id, hook_key, settings, credentials_ciphertext,
           credentials_key_id, status, created_at, updated_at)
         VALUES ($1, gen_random_uuid(), $2, gen_random_uuid(), gen_random_uuid(), '{}', '', 'test', $3, now(), now())`,
        [workspace.id, channel, status],
      );
    async function whatsApp(written: boolean) {
      const { make } = world.service;
      const identity = { channel: 'WHATSAPP' as const, externalId: `${Date.now()}` };
      const contact = await make.contact(workspace, { name: 'Ana', identity });
      const made = await make.conversation(workspace, { contactId: contact.id, channel: 'WHATSAPP' });
      if (written) await make.received(workspace, made, 'Hello?');
      return made;
    }
    const mayReply = async () => {
      await visit.field('Reply').fill('On its way.');
      return visit.button('Send').isEnabled();
    };

    it('says until when the channel takes one', async () => {
      visit = await world.enter(workspace, 'AGENT');
      await connect();
      await open((await whatsApp(true)).id);
      await visit.text(/^WhatsApp takes answers until .* \((in 2\d hours|tomorrow)\)/).waitFor();
      expect(await mayReply()).toBe(true);
      await expectAccessible('window-open');
    });

    it('says that the channel takes none now, and lets the channel decide', async () => {
      visit = await world.enter(workspace, 'AGENT');
      await connect();
      await open((await whatsApp(false)).id);
      await visit.text('WhatsApp takes no answers now').waitFor();
      expect(await mayReply()).toBe(true);
      await expectAccessible('window-closed');
    });

    it.each([
      ['AGENT' as const, 'An owner or an admin connects it again'],
      ['ADMIN' as const, 'Connect it on the page Channels'],
    ])('says to an %s that the connection is lost, and sends nothing', async (role, advice) => {
      visit = await world.enter(workspace, role);
      await connect('REAUTH_REQUIRED');
      await open((await whatsApp(true)).id);
      await visit.text('The connection to WhatsApp is lost').waitFor();
      await visit.text(advice).waitFor();
      expect(await mayReply()).toBe(false);
      await visit.page.keyboard.press('Control+Enter');
      expect(await visit.field('Reply').inputValue()).toBe('On its way.');
      await expectAccessible(`lost-${role}`);
    });
  });
});
