import { resolve } from 'node:path';
import { statSync } from 'node:fs';
import { BrowserContextOptions } from 'playwright-core';
import { print } from '../../support/report';
import { LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { PHONE } from '../phone';

/** Tests that take the docs' pictures with `SCREENSHOTS=write npm run test:browser -- screenshots`. */

const FOLDER = resolve(__dirname, '../../../docs/images');
const MAX_BYTES = 60_000;
/** Minute of the day at which the messages begin. */
const FIRST_MINUTE = 10 * 60 + 24;

const SCREENS: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 800, height: 660 } },
  phone: { ...PHONE, deviceScaleFactor: 1 },
};

describe('the pictures of the docs', () => {
  let chat: LiveChat;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    it.each(Object.keys(SCREENS))('%s', async (screen) => {
      const device = await chat.device({
        ...SCREENS[screen],
        colorScheme,
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      });
      const visitor = await device.chatAt('/shop', [['set', { title: 'Tea shop' }]]);
      const agent = await chat.desk.agent('Mia');
      const question = 'Hello! Is the green tea from this spring?';
      await visitor.send(question);
      const conversation = await chat.desk.conversationWith(question);
      await conversation.reply('It is, picked in April: https://shop.example/tea', agent);
      await visitor.waitFor('picked in April', 'received');
      await visitor.send('Lovely. Do you ship to Spain?');
      await conversation.reply('We do, within three days.', agent);
      await visitor.waitFor('three days', 'received');
      await chat.office.query(
        `UPDATE messages SET created_at = date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
           + ($2 + place) * interval '1 minute'
         FROM (SELECT id AS message_id, row_number() OVER (ORDER BY id) AS place FROM messages WHERE conversation_id = $1) places
         WHERE id = message_id AND conversation_id = $1`,
        [conversation.id, FIRST_MINUTE],
      );
      await visitor.reload();
      await visitor.waitFor('three days', 'received');
      await visitor.comeToRest();
      await visitor.composer.blur();
      const path = resolve(FOLDER, `widget-${colorScheme}-${screen}.png`);
      await visitor.page.screenshot({ path, animations: 'disabled', caret: 'hide' });
      const { size } = statSync(path);
      print(`${path}: ${size} bytes`);
      expect(size).toBeLessThan(MAX_BYTES);
      await device.close();
    });
  });
});
