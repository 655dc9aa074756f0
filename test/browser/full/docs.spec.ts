import { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { TestService } from '../../support/service';
import { accessibilityFaultsOf } from '../accessibility';
import { launchChromium } from '../chromium';
import { InputMethod } from '../input-method';
import { START_TIMEOUT_MS } from '../live-chat';

/** Tests of the documentation in a browser, under the policy that it is sent with, and without a network. */

const PAGES = {
  'the first page': '',
  'the quick start': '/start/quick-start',
  'a guide': '/how-to/receive-webhooks',
  'the list of routes': '/reference/api',
  'the operations of a thing': '/reference/api/conversations',
  'an error': '/reference/errors/RATE_LIMITED',
  'a page with a diagram': '/explanation/architecture',
  'a path without a page': '/none',
};
/** The desktop is as high as the parts that scroll, because axe cannot judge what is scrolled away. */
const DEVICES = { desktop: { width: 1280, height: 4000 }, phone: { width: 390, height: 844 } };

let browser: Browser;
let service: TestService;
let workspace: WorkspaceEntity;

beforeAll(async () => {
  browser = await launchChromium();
  service = await TestService.create();
  workspace = await service.make.workspace();
}, START_TIMEOUT_MS);

/** A tab with the documentation. Every request to anything but the service is refused and remembered. */
class DocsPage {
  /** Addresses outside the service that the page has asked for. */
  readonly foreign: string[] = [];
  /** Faults of scripts, and what the policy has refused. */
  readonly errors: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly device: keyof typeof DEVICES,
  ) {}

  static async open(device: keyof typeof DEVICES = 'desktop', colorScheme: 'light' | 'dark' = 'light') {
    const context = await browser.newContext({
      baseURL: service.baseUrl,
      viewport: DEVICES[device],
      colorScheme,
      reducedMotion: 'reduce',
    });
    const opened = new DocsPage(context, await context.newPage(), device);
    await context.route(
      (url) => url.origin !== service.baseUrl,
      (route) => {
        opened.foreign.push(route.request().url());
        return route.abort();
      },
    );
    opened.page.on('pageerror', ({ message }) => opened.errors.push(message));
    opened.page.on('console', (message) => {
      if (message.type() === 'error' && !/status of (?:401|404)/.test(message.text()))
        opened.errors.push(message.text());
    });
    return opened;
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`/docs${path}`, { waitUntil: 'networkidle' });
  }

  /** Returns the opened form that calls an operation. */
  async form(operation: string): Promise<Locator> {
    const heading = this.page.getByRole('heading', { level: 2, name: operation });
    const part = heading.locator('xpath=following-sibling::*[1]');
    await part.getByText('Try it', { exact: true }).click();
    return part.locator('form');
  }

  /** Returns the width by which the page is wider than the window. */
  overflow(): Promise<number> {
    return this.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  }

  /** Opens all forms that call operations. */
  async openForms(): Promise<void> {
    await this.page.evaluate(() => {
      for (const form of document.querySelectorAll<HTMLDetailsElement>('details.try')) form.open = true;
    });
  }

  /**
   * Returns axe's findings. On a phone those for what is scrolled away are left out: the desktop shows all in
   * the same colours.
   */
  async accessibilityFaults(): Promise<string[]> {
    const faults = await accessibilityFaultsOf(this.page, 'html');
    return this.device === 'desktop'
      ? faults
      : faults.filter((fault) => !fault.includes('background color could not be determined'));
  }

  async close(): Promise<void> {
    expect([this.foreign, this.errors]).toEqual([[], []]);
    await this.context.close();
  }
}

describe('a form of the reference', () => {
  const ME = 'Get the API key of the request, with its scopes and workspace';

  /** Sends a form, and returns the status and the body of the answer that it shows. */
  async function send(form: Locator): Promise<{ status: number; body: unknown }> {
    await form.getByRole('button', { name: /^Send / }).click();
    await form.locator('button:enabled').waitFor();
    const text = await form.locator('output').innerText();
    return { status: Number(text.slice(0, 3)), body: JSON.parse(text.slice(text.indexOf('{'))) };
  }

  it('shows the answer to a key, or why there is none, and keeps the key for the tab', async () => {
    const { key } = await service.make.apiKey(workspace);
    const visit = await DocsPage.open();
    await visit.goto('/reference/api/me');
    const form = await visit.form(ME);
    await form.getByLabel('API key').fill('plk_none');
    expect(await send(form)).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED' } } });
    await form.getByLabel('API key').fill(key);
    const { status, body } = await send(form);
    const answer = await service.client.as({ key }).get('/me');
    expect([status, body]).toEqual([200, answer.body]);

    await visit.goto('/reference/api/contacts');
    const creation = await visit.form('Create a contact');
    expect(await creation.getByLabel('API key').inputValue()).toBe(key);
    const created = await send(creation);
    expect(created).toMatchObject({ status: 201, body: { id: expect.any(String) } });
    const reading = await visit.form('Get a contact');
    await reading.getByLabel('id').fill((created.body as { id: string }).id);
    expect(await send(reading)).toMatchObject({ status: 200, body: created.body });
    await visit.close();
  });

  it('stands under a policy that refuses markup from scripts', async () => {
    const visit = await DocsPage.open();
    await visit.goto('/reference/api/me');
    await expect(
      visit.page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<b>more</b>')),
    ).rejects.toThrow(/TrustedHTML/);
    expect(visit.errors.splice(0)).toEqual([expect.stringContaining('TrustedHTML')]);
    await visit.close();
  });
});

it('opens its search by the keys of a Cyrillic layout (public report 62)', async () => {
  const docs = await DocsPage.open();
  await docs.goto('');
  const keyboard = await InputMethod.on(docs.page);
  const dialog = docs.page.getByRole('dialog', { name: 'Search' });
  for (const open of [
    () => keyboard.press('.', 'Slash'),
    () => keyboard.press('л', 'KeyK', { control: true }),
  ]) {
    await open();
    await dialog.waitFor();
    await docs.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  }
  await docs.close();
});

it('opens no result while a word is composed (public report 60)', async () => {
  const docs = await DocsPage.open();
  await docs.goto('');
  const keyboard = await InputMethod.on(docs.page);
  await docs.page.keyboard.press('/');
  const dialog = docs.page.getByRole('dialog', { name: 'Search' });
  await keyboard.compose('webhook');
  const first = dialog.getByRole('option').first();
  await first.waitFor();
  const address = docs.page.url();
  for (const key of ['ArrowDown', 'Enter']) await keyboard.press(key);
  expect(await first.getAttribute('aria-selected')).toBe('true');
  expect(docs.page.url()).toBe(address);
  expect(await dialog.isVisible()).toBe(true);
  await docs.close();
});

it('is searched without a network', async () => {
  const visit = await DocsPage.open('phone');
  await visit.goto('');
  await visit.page.getByRole('button', { name: 'Search' }).click();
  await visit.page.getByRole('combobox').fill('raw body');
  await visit.page.getByRole('option').first().waitFor();
  await visit.page.getByRole('combobox').press('Enter');
  await visit.page.waitForURL('**/docs/how-to/raw-body*');
  await visit.close();
});

it('opens its search by Ctrl+K, but not by a letter of AltGr (ccampbell/mousetrap#271)', async () => {
  const visit = await DocsPage.open();
  await visit.goto('');
  const field = visit.page.getByRole('combobox');
  await visit.page.evaluate(() => {
    const letter = { key: 'ł', code: 'KeyK', ctrlKey: true, altKey: true, bubbles: true };
    document.body.dispatchEvent(new KeyboardEvent('keydown', letter));
  });
  expect(await field.isVisible()).toBe(false);
  await visit.page.keyboard.press('Control+k');
  await field.waitFor();
  await visit.close();
});

describe.each(['light', 'dark'] as const)('in %s colours', (colours) => {
  it.each(Object.keys(DEVICES) as (keyof typeof DEVICES)[])(
    'is accessible, and no wider than the window, on a %s',
    async (device) => {
      const visit = await DocsPage.open(device, colours);
      for (const [name, path] of Object.entries(PAGES)) {
        await visit.goto(path);
        await visit.openForms();
        expect([name, await visit.overflow(), await visit.accessibilityFaults()]).toEqual([name, 0, []]);
      }
      await visit.close();
    },
    120_000,
  );
});
