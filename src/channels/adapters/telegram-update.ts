import { HookEvent, InboundMessage, InboundReaction } from './channel-adapter';
import {
  coordinates,
  numberOf,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from './support/provider-values';

/** Makes a message's id that is unique within the bot, because Telegram's are unique only within a chat. */
export function telegramMessageId(chatId: string | number, messageId: string | number): string {
  return `${chatId}:${messageId}`;
}

/**
 * Reads what a person writes to the bot, edits, or reacts with. Returns null for channels and other bots.
 * Telegram does not tell bots what a person deletes.
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
  if (chatId === null || messageId === null) return null;
  const from = objectOf(message.from);
  if (from.is_bot === true) return null;
  const text = textOf(message.text);
  return {
    kind: 'message',
    accountId,
    providerIds: [telegramMessageId(chatId, messageId), ...(updateId === null ? [] : [`update:${updateId}`])],
    customer: { externalId: chatId, name: readName(from) ?? readName(chat), phone: null },
    body: text ?? describe(message),
    metadata: text === null ? message : null,
  };
}

/** Makes an edit of an edited message; null for a live location, which is edited as the person moves. */
function toEdit(
  { accountId, customer, providerIds: [providerId], body, metadata }: InboundMessage,
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
    // Other kinds, such as `custom_emoji`, have no emoji.
    emojis: objectsOf(reaction.new_reaction)
      .map(({ emoji, type }) => textOf(emoji) ?? textOf(type)?.replaceAll('_', ' ') ?? null)
      .filter((emoji) => emoji !== null),
    number: numberOf(reaction.date),
    message: null,
  };
}

function readName({ first_name, last_name, username }: ProviderObject): string | null {
  const names = [first_name, last_name].map(textOf).filter((name) => name !== null);
  return names.length > 0 ? names.join(' ') : textOf(username);
}

/** Keys of a Telegram message that say nothing about its kind. */
const ENVELOPE = new Set([
  ...['message_id', 'message_thread_id', 'from', 'sender_chat', 'sender_boost_count', 'sender_business_bot'],
  ...['date', 'business_connection_id', 'chat', 'forward_origin', 'is_topic_message', 'is_automatic_forward'],
  ...[
    'reply_to_message',
    'external_reply',
    'quote',
    'reply_to_story',
    'via_bot',
    'edit_date',
    'reply_markup',
  ],
  ...['has_protected_content', 'is_from_offline', 'media_group_id', 'author_signature', 'effect_id'],
  ...['caption', 'caption_entities', 'show_caption_above_media', 'has_media_spoiler', 'link_preview_options'],
  ...['entities', 'text'],
]);

/** Kinds of Telegram messages without text, by the key that marks them. The first match counts. */
const KINDS: Record<string, { name: string; detail?: (value: unknown) => string | null }> = {
  photo: { name: 'image' },
  // A GIF also has a `document`, and a venue a `location`. So these come first.
  animation: { name: 'animation' },
  video: { name: 'video' },
  video_note: { name: 'video' },
  voice: { name: 'voice message' },
  audio: { name: 'audio', detail: (value) => textOf(objectOf(value).title) },
  sticker: { name: 'sticker', detail: (value) => textOf(objectOf(value).emoji) },
  document: { name: 'document', detail: (value) => textOf(objectOf(value).file_name) },
  venue: { name: 'location', detail: (value) => textOf(objectOf(value).title) },
  location: { name: 'location', detail: readPlace },
  contact: { name: 'contact', detail: (value) => readName(objectOf(value)) },
  poll: { name: 'poll', detail: (value) => textOf(objectOf(value).question) },
  dice: { name: 'dice', detail: (value) => textOf(objectOf(value).value) },
};

/**
 * Describes a Telegram message without text, such as `[image]`. An unknown kind keeps Telegram's name for it.
 */
function describe(message: ProviderObject): string {
  const known = Object.keys(KINDS).find((field) => field in message);
  if (known === undefined) {
    const field = Object.keys(message).find((name) => !ENVELOPE.has(name)) ?? 'message';
    return placeholder(field.replaceAll('_', ' '), textOf(message.caption));
  }
  const { name, detail } = KINDS[known]!;
  return placeholder(name, textOf(message.caption) ?? detail?.(message[known]) ?? null);
}

function readPlace(value: unknown): string | null {
  const { latitude, longitude } = objectOf(value);
  return coordinates(latitude, longitude);
}
