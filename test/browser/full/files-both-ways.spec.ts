import { readFileSync } from 'node:fs';
import { BrowserContextOptions } from 'playwright-core';
import { waitFor } from '../../support/wait';
import { TestWidget } from '../../support/widget';
import { accessibilityFaults, accessibilityFaultsOf } from '../accessibility';
import { ChatPage } from '../chat-page';
import { DashboardInBrowser } from '../dashboard-in-browser';
import { downloadOf } from '../downloads';
import { START_TIMEOUT_MS } from '../live-chat';
import { PHONE } from '../phone';
import { pngOf, SampleFile, textFile } from '../sample-files';
import { ShopPages } from '../shop-pages';
import { withDashboard } from '../with-dashboard';

const PHOTO = pngOf('Teekanne, zerbrochen.png', 1600, 1200);
const PDF = textFile('Rückgabe – Formular (2026).pdf', '%PDF-1.4\n%%EOF\n', 'application/pdf');

/** Tests of files that go from the page of a shop to the inbox and back. */
describe('files both ways', () => {
  let world: DashboardInBrowser;
  let pages: ShopPages;

  beforeAll(async () => {
    pages = await ShopPages.start();
  }, START_TIMEOUT_MS);
  withDashboard((started) => {
    world = started;
    return Promise.resolve();
  });

  const drop = ({ panel }: ChatPage, { name, mimeType, buffer }: SampleFile) =>
    panel.evaluate(
      (element, file) => {
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob(file.base64), (character) => character.charCodeAt(0));
        data.items.add(new File([bytes], file.name, { type: file.mimeType }));
        for (const type of ['dragover', 'drop'])
          element.dispatchEvent(
            new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true, composed: true }),
          );
      },
      { name, mimeType, base64: buffer.toString('base64') },
    );

  it.each([
    ['a desktop', {}],
    ['a phone', PHONE],
  ] as [string, BrowserContextOptions][])(
    'show the agent the photo of a visitor, and the visitor the document of an agent (%s)',
    async (device, options) => {
      const { make } = world.service;
      const workspace = await make.workspace({ name: 'Tea shop' });
      const { siteKey } = await TestWidget.connect(world.service, workspace, [pages.origin]);
      pages.show({ service: world.service.baseUrl, siteKey });
      const shop = await world.open({ ...options, baseURL: pages.origin });
      const visitor = new ChatPage(shop.page);
      await shop.page.goto('/strict');
      await visitor.open();
      // Nobody can drop a file on a phone.
      if (device === 'a phone') await visitor.choose(PHOTO);
      else await drop(visitor, PHOTO);
      await visitor.chosen(PHOTO.name).waitFor();
      await visitor.send('It came broken');
      await visitor.drawn.waitFor();

      const visit = await world.enter(workspace, 'AGENT', options);
      const { page } = visit;
      await page.goto(`/w/${workspace.slug}/inbox?view=all`);
      await page.locator('[data-conversation]').click();
      await page.getByRole('button', { name: `Open ${PHOTO.name}` }).waitFor();
      await waitFor('the picture', () =>
        page.locator('article img').evaluate((image: HTMLImageElement) => image.naturalWidth > 0),
      );
      await page.getByText('It came broken').last().waitFor();
      expect(await accessibilityFaultsOf(page, 'main')).toEqual([]);
      await page.locator('input[type="file"]').setInputFiles(PDF);
      await page
        .getByRole('list', { name: 'Chosen files' })
        .getByRole('listitem')
        .filter({ hasText: PDF.name })
        .getByText('Uploaded')
        .waitFor();
      await visit.field('Reply').fill('Please print this form.');
      await visit.button('Send').click();
      await page.getByRole('link', { name: `Save ${PDF.name}` }).waitFor();

      await visitor.waitFor('Please print this form.', 'received');
      const card = visitor.panel.getByRole('button', { name: `Save ${PDF.name}` });
      await card.waitFor();
      expect(await accessibilityFaults(visitor)).toEqual([]);
      const saved = await downloadOf(card);
      expect(saved.suggestedFilename()).toBe(PDF.name);
      expect(readFileSync(await saved.path())).toEqual(PDF.buffer);
      expect(visitor.errors).toEqual([]);
      expect(pages.violations).toEqual([]);
    },
    90_000,
  );
});
