import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { SYSTEM } from '../../../src/access/principal';
import { SavedRepliesService } from '../../../src/inbox/saved-replies/saved-replies.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { print } from '../../support/report';
import { TestWidget } from '../../support/widget';
import { ChatPage } from '../chat-page';
import { DashboardInBrowser } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';
import { ShopPages } from '../shop-pages';

/** Test that takes the README's picture with `SCREENSHOTS=write npm run test:browser -- screenshots`. */

const PATH = resolve(__dirname, '../../../docs/images/shop-and-inbox.png');
const PARCEL = {
  name: 'parcel.jpg',
  mimeType: 'image/jpeg',
  buffer: readFileSync(resolve(__dirname, '../../../scripts/demo/parcel.jpg')),
};
const MAX_BYTES = 300_000;
const HEIGHT = 860;
const SHOP_WIDTH = 500;
const INBOX_WIDTH = 1180;
const GAP = 12;

describe('the picture of the shop and the inbox', () => {
  let world: DashboardInBrowser;
  let pages: ShopPages;
  let workspace: WorkspaceEntity;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    workspace = await world.service.make.workspace({ name: 'Tea shop' });
    pages = await ShopPages.start();
    const { siteKey } = await TestWidget.connect(world.service, workspace, [pages.origin]);
    pages.show({ service: world.service.baseUrl, siteKey });
    const reply = { name: 'Shipping', body: 'We ship everywhere in Europe, within three days.' };
    await world.service.app.get(SavedRepliesService).create(workspace.id, reply, SYSTEM);
  }, START_TIMEOUT_MS);

  const begin = async (name: string, channel: 'INSTAGRAM' | 'TELEGRAM' | 'WHATSAPP', text: string) => {
    const { make } = world.service;
    const { id: contactId } = await make.contact(workspace, { name });
    const made = await make.conversation(workspace, { contactId, channel });
    await make.received(workspace, made, text);
  };

  it('shows one conversation from both sides', async () => {
    const shop = await world.open({ viewport: { width: SHOP_WIDTH, height: HEIGHT } });
    const mia = await world.service.make.agent(workspace, { name: 'Mia', displayName: 'Mia', role: 'AGENT' });
    const inbox = await world.open({ viewport: { width: INBOX_WIDTH, height: HEIGHT } });
    await inbox.adopt(await world.dashboard.logIn(mia));
    await begin('Mehmet Öz', 'TELEGRAM', 'Which tea keeps me awake?');
    await begin('Zoë Martín', 'INSTAGRAM', 'Which tea is in the picture of today?');
    await begin('Ngozi Okafor', 'WHATSAPP', 'Can I change the address of my order?');

    const visitor = new ChatPage(shop.page);
    await shop.page.addInitScript(() =>
      Object.assign(window, { chatWidget: [['set', { title: 'Tea shop' }]] }),
    );
    await shop.page.goto(`${pages.origin}/shop`);
    await visitor.open();
    await visitor.choose(PARCEL);
    await visitor.send('Hello! My tea came like this.');
    await visitor.drawn.waitFor();
    await world.service.query(
      "UPDATE contacts SET name = 'Grace Hopper', email = 'grace@example.com' WHERE tenant_id = $1 AND name IS NULL",
      [workspace.id],
    );
    await inbox.page.goto(`/w/${workspace.slug}/inbox?view=all`);
    await inbox.page.getByRole('link').filter({ hasText: 'Grace Hopper' }).click();
    const field = inbox.field('Reply');
    await field.fill('Oh no! A new bag leaves today.');
    await field.press('Control+Enter');
    await visitor.message('Oh no! A new bag leaves today.').waitFor();
    await inbox.page.keyboard.press('Escape');
    await inbox.page.keyboard.press('n');
    await inbox.page.keyboard.type('Ben, she buys for a restaurant: ten bags a month.');
    await inbox.page.keyboard.press('Control+Enter');
    await inbox.text('she buys for a restaurant').first().waitFor();
    await visitor.send('Thank you! When will it be in Spain?');
    await inbox.page.getByRole('article').filter({ hasText: 'When will it be in Spain?' }).waitFor();
    await inbox.page.getByRole('button', { name: PARCEL.name }).waitFor();
    await inbox.page.keyboard.press('Escape');
    await inbox.page.keyboard.press('r');
    await inbox.page.keyboard.type('/');
    await inbox.page.getByRole('option', { name: 'Shipping' }).waitFor();
    await inbox.page.keyboard.press('Enter');
    await visitor.panel.getByText('Mia is typing…').waitFor();

    const [left, right] = await Promise.all(
      [shop, inbox].map(async ({ page }) =>
        (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64'),
      ),
    );
    const both = await world.open({ viewport: { width: SHOP_WIDTH + GAP + INBOX_WIDTH, height: HEIGHT } });
    await both.page.setContent(
      `<body style="margin: 0; display: flex; gap: ${GAP}px; background: #c9cfcd">` +
        `<img src="data:image/png;base64,${left}"><img src="data:image/png;base64,${right}">`,
    );
    await both.page.screenshot({ path: PATH });
    const { size } = statSync(PATH);
    print(`${PATH}: ${size} bytes`);
    expect(size).toBeLessThan(MAX_BYTES);
    expect([...shop.errors, ...inbox.errors]).toEqual([]);
    await Promise.all([shop, inbox, both].map((visit) => visit.close()));
  }, 120_000);
});
