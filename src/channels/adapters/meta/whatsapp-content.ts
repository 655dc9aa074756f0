import {
  coordinates,
  joinTexts,
  lookUp,
  objectOf,
  objectsOf,
  placeholder,
  ProviderObject,
  textOf,
} from '../provider-values';

const DETAILS: Record<string, (content: ProviderObject) => string | null> = {
  image: ({ caption }) => textOf(caption),
  video: ({ caption }) => textOf(caption),
  document: ({ caption, filename }) => textOf(caption) ?? textOf(filename),
  location: readLocation,
  reaction: ({ emoji }) => textOf(emoji),
  order: readOrder,
};

/** Makes the stored body of a WhatsApp message that is not text. A pressed button becomes its label. */
export function describeWhatsApp(message: ProviderObject): string {
  const type = textOf(message.type) ?? 'message';
  const content = objectOf(message[type]);
  if (type === 'button') return textOf(content.text) ?? placeholder('button', null);
  if (type === 'interactive') return chosenLabel(content) ?? describeAnswer(content);
  if (type === 'contacts') return placeholder('contact', readCards(message.contacts));
  if (type === 'audio' && content.voice === true) return placeholder('voice message', null);
  if (type === 'unsupported' || type === 'unknown') {
    const name = textOf(objectOf(message.unsupported).type) ?? textOf(objectsOf(message.errors)[0]?.title);
    return placeholder('unsupported message', name);
  }
  return placeholder(type.replaceAll('_', ' '), lookUp(DETAILS, type)?.(content) ?? null);
}

/** Describes the advertisement and the product from which the customer wrote. Each takes one line. */
export function describeOrigin({ referral, context }: ProviderObject): string[] {
  const { headline, body, source_url: url } = objectOf(referral);
  const { product_retailer_id: product } = objectOf(objectOf(context).referred_product);
  const advertisement = joinTexts([textOf(headline) ?? body, url], ' ');
  const ordered = textOf(product);
  return [
    ...(advertisement === null ? [] : [placeholder('referral', advertisement)]),
    ...(ordered === null ? [] : [placeholder('product', ordered)]),
  ];
}

function chosenLabel({ button_reply, list_reply }: ProviderObject): string | null {
  return textOf(objectOf(button_reply ?? list_reply).title);
}

/** Describes the answers to a form, or to a request such as for an address or a payment. */
function describeAnswer(content: ProviderObject): string {
  const type = textOf(content.type) ?? 'nfm_reply';
  if (type !== 'nfm_reply') {
    return placeholder(type.replace(/_reply$/, '').replaceAll('_', ' '), listAnswers(content[type]));
  }
  const { name, body, response_json: answers } = objectOf(content.nfm_reply);
  // A flow is a form of WhatsApp. Its body is always `Sent`, which is not the customer's text.
  const title = name === 'flow' ? null : (textOf(body) ?? textOf(name));
  return placeholder('form', joinTexts([title, listAnswers(parseAnswers(answers))], '\n'));
}

function parseAnswers(json: unknown): unknown {
  if (typeof json !== 'string') return json;
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Maximum number of lines that describe a form's answers, and (MAX_LEVELS) of their nesting levels. */
const MAX_LINES = 200;
const MAX_LEVELS = 5;
/** Key whose value the business has made up, so it is not an answer of the customer. */
const FORM_TOKEN = 'flow_token';

/** Returns a line for each answer, such as `date: 2026-11-20`; null if there are none. */
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

/** Describes an order in a line for each item, such as `2 × SKU-1, 9.5 EUR`. */
function readOrder({ text, product_items: items }: ProviderObject): string | null {
  const ordered = objectsOf(items)
    .slice(0, MAX_LINES)
    .map(({ product_retailer_id: product, quantity, item_price: price, currency }) => {
      const item = `${textOf(quantity) ?? '1'} × ${textOf(product) ?? '?'}`;
      return joinTexts([item, joinTexts([price, currency], ' ')], ', ');
    });
  return joinTexts([text, ...ordered], '\n');
}

function readLocation({ name, address, latitude, longitude }: ProviderObject): string | null {
  return joinTexts([name, address], ', ') ?? coordinates(latitude, longitude);
}

function readCards(contacts: unknown): string | null {
  const cards = objectsOf(contacts)
    .slice(0, MAX_LINES)
    .map(({ name, phones, emails }) => {
      const numbers = objectsOf(phones).map(({ phone }) => phone);
      const addresses = objectsOf(emails).map(({ email }) => email);
      return joinTexts([objectOf(name).formatted_name, ...numbers, ...addresses], ', ');
    });
  return joinTexts(cards, '\n');
}
