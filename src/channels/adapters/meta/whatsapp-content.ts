import {
  coordinates,
  lookUp,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from '../support/provider-values';

const DETAILS: Record<string, (content: ProviderObject) => string | null> = {
  image: ({ caption }) => textOf(caption),
  video: ({ caption }) => textOf(caption),
  document: ({ caption, filename }) => textOf(caption) ?? textOf(filename),
  location: place,
  reaction: ({ emoji }) => textOf(emoji),
  order: readOrder,
  system: ({ body }) => textOf(body),
};

/**
 * Describes a WhatsApp message without text. The label of a chosen button or list entry is the customer's
 * text.
 */
export function describeWhatsApp(message: ProviderObject): string {
  const type = textOf(message.type) ?? 'message';
  const content = objectOf(message[type]);
  if (type === 'button') return textOf(content.text) ?? placeholder('button', null);
  if (type === 'interactive') return chosenLabel(content) ?? describeAnswer(content);
  if (type === 'contacts') return placeholder('contact', contactNames(message.contacts));
  if (type === 'audio' && content.voice === true) return placeholder('voice message', null);
  if (type === 'unsupported' || type === 'unknown') {
    return placeholder('unsupported message', textOf(objectsOf(message.errors)[0]?.title));
  }
  return placeholder(type.replaceAll('_', ' '), lookUp(DETAILS, type)?.(content) ?? null);
}

function chosenLabel({ button_reply, list_reply }: ProviderObject): string | null {
  return textOf(objectOf(button_reply ?? list_reply).title);
}

/** Describes the answers of a form, or to a request such as for an address or for calls. */
function describeAnswer(content: ProviderObject): string {
  const { nfm_reply: form, call_permission_reply: permission } = content;
  if (permission !== undefined) return placeholder('call permission', listAnswers(permission));
  const { name, body, response_json: answers } = objectOf(form);
  // A flow has no text of the customer: its body is `Sent`.
  const title = name === 'flow' ? null : (textOf(body) ?? textOf(name));
  const lines = [title, listAnswers(parseAnswers(answers))].filter((line) => line !== null);
  return placeholder('form', lines.length > 0 ? lines.join('\n') : null);
}

function parseAnswers(json: unknown): unknown {
  if (typeof json !== 'string') return json;
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Limits of the lines that describe a form, and of the levels in which answers nest. */
const MAX_LINES = 200;
const MAX_LEVELS = 5;
/** Key of a form that the business made up, which says nothing of the customer. */
const FORM_TOKEN = 'flow_token';

/** Returns a line for each answer, such as `date: 2026-11-20`; null without answers. */
function listAnswers(answers: unknown): string | null {
  const lines: string[] = [];
  const list = (value: unknown, path: string[]): void => {
    if (lines.length >= MAX_LINES || path.length > MAX_LEVELS) return;
    const isList = Array.isArray(value) && value.every((item) => typeof item !== 'object');
    if (typeof value === 'object' && value !== null && !isList) {
      for (const [key, item] of Object.entries(value)) if (key !== FORM_TOKEN) list(item, [...path, key]);
      return;
    }
    const text = Array.isArray(value) ? value.map(answerOf).join(', ') : answerOf(value);
    if (text !== '') lines.push(path.length > 0 ? `${path.join(' ')}: ${text}` : text);
  };
  list(answers, []);
  return lines.length > 0 ? lines.join('\n') : null;
}

function answerOf(value: unknown): string {
  return typeof value === 'boolean' ? String(value) : (textOf(value) ?? '');
}

/** Returns what the customer ordered, such as `2 × SKU-1, 9.5 EUR`, a line for each item. */
function readOrder({ text, product_items: items }: ProviderObject): string | null {
  const ordered = objectsOf(items)
    .slice(0, MAX_LINES)
    .map(({ product_retailer_id: product, quantity, item_price: price, currency }) => {
      const cost = [price, currency].map(textOf).filter((part) => part !== null);
      const item = `${textOf(quantity) ?? '1'} × ${textOf(product) ?? '?'}`;
      return cost.length > 0 ? `${item}, ${cost.join(' ')}` : item;
    });
  const lines = [textOf(text), ...ordered].filter((line) => line !== null);
  return lines.length > 0 ? lines.join('\n') : null;
}

function place({ name, address, latitude, longitude }: ProviderObject): string | null {
  const named = [name, address].map(textOf).filter((part) => part !== null);
  return named.length > 0 ? named.join(', ') : coordinates(latitude, longitude);
}

function contactNames(contacts: unknown): string | null {
  const names = objectsOf(contacts)
    .map(({ name }) => textOf(objectOf(name).formatted_name))
    .filter((name) => name !== null);
  return names.length > 0 ? names.join(', ') : null;
}
