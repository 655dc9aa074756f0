import { waitFor } from '../support/wait';
import { ChatPage } from './chat-page';
import { DeskConversation } from './support-desk';

/**
 * Time in which all pages agree: a client notices silence after 40 seconds, and waits up to half a minute
 * before it asks again.
 */
const AGREE_MS = 120_000;

/**
 * Expects that each page shows all messages of the conversation, each once, in the API's order, and that the
 * API has each written message once, in the order of writing.
 */
export async function expectSameMessages(
  pages: ChatPage[],
  conversation: DeskConversation,
  written: string[],
): Promise<void> {
  for (const page of pages) {
    await waitFor(
      'the page to agree with the API',
      () => agrees(page, conversation, written),
      AGREE_MS,
    ).catch(
      () => undefined, // what differs is shown below
    );
    const shown = await page.readAll();
    const stored = await conversation.messages();
    expect(shown.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    for (const [index, { body }] of stored.entries()) expect(shown[index]!.text).toContain(body);
    expect(shown.filter(({ state }) => state !== 'sent' && state !== 'received')).toEqual([]);
  }
  const customers = (await conversation.messages()).filter(({ senderType }) => senderType === 'CUSTOMER');
  expect(customers.map(({ body }) => body)).toEqual(written);
}

async function agrees(page: ChatPage, conversation: DeskConversation, written: string[]): Promise<boolean> {
  const stored = await conversation.messages();
  if (stored.filter(({ senderType }) => senderType === 'CUSTOMER').length < written.length) return false;
  const newest = stored.slice(-20).map(({ id }) => id);
  const shown = (await page.shown()).slice(-newest.length).map(({ id }) => id);
  return JSON.stringify(shown) === JSON.stringify(newest);
}
