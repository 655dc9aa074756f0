import {
  coordinates,
  joinTexts,
  numberOf,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from '../provider-values';

/** Keys of a Telegram message that do not name the kind of its content. */
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
  ...['entities', 'text', 'paid_star_count', 'is_paid_post', 'suggested_post_info', 'direct_messages_topic'],
]);

/** Keys of messages about a change of the chat itself (core.telegram.org/bots/api#message). */
const NOTICE =
  /^(pinned_message|message_auto_delete_timer_changed|chat_background_set|write_access_allowed|connected_website|boost_added|proximity_alert_triggered|(general_)?forum_topic_\w+|video_chat_\w+|paid_message_price_changed|direct_message_price_changed)$/;

export function isNotice(message: ProviderObject): boolean {
  return Object.keys(message).some((key) => NOTICE.test(key));
}

/** Kinds of messages without text, by the key of their content. Of several keys, the first here counts. */
const KINDS: Record<string, { name: string; detail?: (value: ProviderObject) => string | null }> = {
  photo: { name: 'image' },
  // Comes before `document`, which a GIF has too. For the same reason, `venue` comes before `location`.
  animation: { name: 'animation' },
  video: { name: 'video' },
  video_note: { name: 'video' },
  voice: { name: 'voice message' },
  audio: { name: 'audio', detail: ({ title }) => textOf(title) },
  sticker: { name: 'sticker', detail: ({ emoji }) => textOf(emoji) },
  document: { name: 'document', detail: ({ file_name: name }) => textOf(name) },
  venue: { name: 'location', detail: ({ title, address }) => joinTexts([title, address], ', ') },
  location: { name: 'location', detail: ({ latitude, longitude }) => coordinates(latitude, longitude) },
  contact: {
    name: 'contact',
    detail: (contact) => joinTexts([readName(contact), contact.phone_number], ', '),
  },
  poll: { name: 'poll', detail: ({ question, options }) => listTexts(question, options) },
  checklist: { name: 'checklist', detail: ({ title, tasks }) => listTexts(title, tasks) },
  dice: { name: 'dice', detail: ({ value }) => textOf(value) },
  game: { name: 'game', detail: ({ title }) => textOf(title) },
  // The customer filled in a form on a page of the bot.
  web_app_data: { name: 'form', detail: ({ data }) => textOf(data) },
};

/** Makes the stored body: the text, or the kind, such as `[image]`, with the caption or a detail. */
export function describeTelegram(message: ProviderObject): string {
  const text = textOf(message.text);
  if (text !== null) return withLinks(text, message.entities);
  const written = captionOf(message);
  const known = Object.keys(KINDS).find((field) => field in message);
  if (known === undefined) {
    const field = Object.keys(message).find((name) => !ENVELOPE.has(name)) ?? 'message';
    return placeholder(field.replaceAll('_', ' '), written);
  }
  const { name, detail } = KINDS[known]!;
  return placeholder(name, written ?? detail?.(objectOf(message[known])) ?? null);
}

/** Returns the text that the customer wrote to a file, with the URLs of its hidden links. */
export function captionOf({ caption, caption_entities: entities }: ProviderObject): string | null {
  const text = textOf(caption);
  return text && withLinks(text, entities);
}

/** Reports whether a text has links whose URLs are not visible in the text. */
export function hasLinks(entities: unknown): boolean {
  return objectsOf(entities).some(({ type, url }) => type === 'text_link' && textOf(url) !== null);
}

/** Inserts the URLs of hidden links after the linked words. Telegram's offsets count UTF-16 units. */
function withLinks(text: string, entities: unknown): string {
  const links = objectsOf(entities)
    .filter(({ type }) => type === 'text_link')
    .map(({ offset, length, url }) => ({
      end: (numberOf(offset) ?? NaN) + (numberOf(length) ?? NaN),
      url: textOf(url),
    }))
    .filter(({ end }) => end > 0 && end <= text.length)
    .sort((one, other) => one.end - other.end);
  let written = '';
  let from = 0;
  for (const { end, url } of links) {
    if (url === null) continue;
    written += `${text.slice(from, end)} (${url})`;
    from = end;
  }
  return written + text.slice(from);
}

function listTexts(title: unknown, items: unknown): string | null {
  return joinTexts([title, ...objectsOf(items).map(({ text }) => text)], '\n');
}

export function readName({ first_name, last_name, username }: ProviderObject): string | null {
  return joinTexts([first_name, last_name], ' ') ?? textOf(username);
}
