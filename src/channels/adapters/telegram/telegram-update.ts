import { HookEvent, InboundMessage, InboundReaction } from '../hook-events';
import { numberOf, objectOf, objectsOf, ProviderObject, textOf } from '../provider-values';
import { readTelegramFile } from './received-files';
import { describeTelegram, hasLinks, isNotice, readName } from './telegram-content';

/** Makes an id that is unique within the bot. Telegram's message ids are unique only within a chat. */
export function telegramMessageId(chatId: string | number, messageId: string | number): string {
  return `${chatId}:${messageId}`;
}

/**
 * Reads a person's message, its edit, or a reaction. Returns null for channels, for other bots, and for
 * Telegram's own messages, such as of a pinned message. Telegram does not report deleted messages.
 */
export function readUpdate(accountId: string, body: unknown): HookEvent | null {
  const { update_id: update, message, edited_message: edited, message_reaction: reaction } = objectOf(body);
  const { chat } = objectOf(message ?? edited ?? reaction);
  const { type } = objectOf(chat);
  if (type === 'group' || type === 'supergroup') return { kind: 'group', accountId };
  if (type !== 'private') return null;
  if (reaction !== undefined) return readReaction(accountId, objectOf(reaction));
  const read = readMessage(accountId, objectOf(message ?? edited), textOf(update));
  return read && edited !== undefined ? toEdit(read, objectOf(edited)) : read;
}

function readMessage(
  accountId: string,
  message: ProviderObject,
  updateId: string | null,
): InboundMessage | null {
  const chat = objectOf(message.chat);
  const [chatId, messageId] = [textOf(chat.id), textOf(message.message_id)];
  if (chatId === null || messageId === null || isNotice(message)) return null;
  const from = objectOf(message.from);
  if (from.is_bot === true) return null;
  const isPlain = textOf(message.text) !== null && !hasLinks(message.entities);
  return {
    kind: 'message',
    accountId,
    providerIds: [telegramMessageId(chatId, messageId), ...(updateId === null ? [] : [`update:${updateId}`])],
    customer: { externalId: chatId, name: readName(from) ?? readName(chat), phone: null },
    body: describeTelegram(message),
    metadata: isPlain ? null : message,
    ...readTelegramFile(message),
  };
}

/** Makes an edit. Returns null for a live location, which is edited whenever the person moves. */
function toEdit(
  { accountId, customer, providerIds: [providerId], body, metadata, caption }: InboundMessage,
  edited: ProviderObject,
): HookEvent | null {
  if ('location' in edited) return null;
  const number = numberOf(edited.edit_date);
  return {
    kind: 'edit',
    accountId,
    customerIds: [customer.externalId],
    providerId,
    body,
    caption,
    metadata,
    number,
  };
}

function readReaction(accountId: string, reaction: ProviderObject): InboundReaction | null {
  const [chatId, messageId] = [textOf(objectOf(reaction.chat).id), textOf(reaction.message_id)];
  if (chatId === null || messageId === null) return null;
  return {
    kind: 'reaction',
    accountId,
    customerIds: [chatId],
    providerId: telegramMessageId(chatId, messageId),
    // Other kinds of reactions, such as `custom_emoji`, have no emoji, so their type is stored.
    emojis: objectsOf(reaction.new_reaction)
      .map(({ emoji, type }) => textOf(emoji) ?? textOf(type)?.replaceAll('_', ' ') ?? null)
      .filter((emoji) => emoji !== null),
    number: numberOf(reaction.date),
    message: null,
  };
}
