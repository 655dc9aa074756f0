import { once } from 'node:events';
import { AddressInfo, createServer } from 'node:net';
import { Browser } from 'playwright-core';
import { Mailbox } from '../support/mailbox';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { TestWidget } from '../support/widget';
import { accessibilityFaults, accessibilityFaultsOf } from './accessibility';
import { ChatPage } from './chat-page';
import { launchChromium } from './chromium';
import { ShopPages } from './shop-pages';

describe('answers by mail in a browser', () => {
  let mailbox: Mailbox;
  let service: TestService;
  let tenant: Tenant;
  let pages: ShopPages;
  let browser: Browser;

  beforeAll(async () => {
    [mailbox, pages, browser] = await Promise.all([Mailbox.start(), ShopPages.start(), launchChromium()]);
    const port = await freePort();
    service = await TestService.create({
      role: 'all',
      env: {
        PORT: String(port),
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        SMTP_URL: mailbox.url,
        MAIL_FROM: 'login@example.com',
        ANSWER_MAIL_SECONDS: '2',
      },
    });
    tenant = await createTenant(service, service.make.workspace({ name: 'Tea Shop' }));
    const { siteKey } = await TestWidget.connect(service, tenant.workspace, [pages.origin]);
    pages.show({ service: service.baseUrl, siteKey });
  }, 120_000);
  afterAll(() => browser.close());

  it.each([
    ['en', /^Where shall we answer/, 'Save', /We answer here, and by e-mail/, 'Send'],
    ['de', /^Wohin sollen wir antworten/, 'Speichern', /Wir antworten hier, und per E-Mail/, 'Senden'],
  ])(
    'reach a visitor who has left, whose link opens the conversation (%s)',
    async (locale, question, save, saved, send) => {
      const context = await browser.newContext({ locale, viewport: { width: 420, height: 800 } });
      const page = await context.newPage();
      const chat = new ChatPage(page);
      await page.addInitScript(
        (tag) => Object.assign(window, { chatWidget: [['set', { locale: tag }], ['open']] }),
        locale,
      );
      await page.goto(`${pages.origin}/shop`);
      const panel = page.locator('chat-widget').getByRole('dialog');
      await panel.locator('textarea').fill('Do you ship?');
      await panel.locator('textarea').press('Enter');
      const field = panel.getByLabel(question);
      await field.waitFor();
      expect(
        await panel
          .locator('textarea')
          .evaluate((one) => (one.getRootNode() as ShadowRoot).activeElement === one),
      ).toBe(true);
      await field.fill('nonsense');
      await panel.getByRole('button', { name: save }).click();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      if (locale === 'en') expect(await accessibilityFaults(chat)).toEqual([]);
      await field.fill(`zoe-${locale}@example.com`);
      await field.press('Enter');
      await panel.getByText(saved).waitFor();
      await page.close();

      const { body } = await tenant.client.get('/conversations');
      const { id } = body.data[0] as { id: string };
      await tenant.client.post(`/conversations/${id}/messages`, { body: 'Yes, we do.' });
      const mail = await mailbox.next(`zoe-${locale}@example.com`);
      const [link] = /http:\/\/\S+\/answers#\S+/.exec(mail.text)!;
      const elsewhere = await browser.newContext({ locale, viewport: { width: 420, height: 800 } });
      const linked = await elsewhere.newPage();
      const errors: string[] = [];
      linked.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      await linked.goto(link);
      await linked.getByText('Yes, we do.').waitFor();
      await waitFor('the receipt', async () => {
        const { body: history } = await tenant.client.get(`/conversations/${id}/messages`);
        return history.data[0].delivery.status === 'READ';
      });
      await linked.getByRole('textbox').fill('Thank you');
      await linked.getByRole('button', { name: send }).click();
      await linked.getByText('Thank you').waitFor();
      expect(await accessibilityFaultsOf(linked, 'body')).toEqual([]);
      expect(errors).toEqual([]);
      await elsewhere.close();
      await context.close();
    },
    90_000,
  );
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
