import { countCharacters } from '../../common/validators';
import { trimUnseen } from '../../common/unseen';
import { isDeeperThan } from '../../common/validate';
import { MAX_BODY_CHARACTERS } from '../../messages/message.dto';
import { InboundMessage } from '../adapters/hook-events';
import { REPLACEMENT, storableText } from '../adapters/provider-values';

const MAX_NAME_CHARACTERS = 200;
const MAX_PHONE_CHARACTERS = 50;
/** Maximum nesting depth of stored metadata, far below the limit of PostgreSQL's stack. */
const MAX_DEPTH = 50;
const MAX_CAPTION_CHARACTERS = 4096;
const MAX_REACTIONS = 10;
const MAX_REACTION_CHARACTERS = 40;
const BLANK = '[empty message]';

export interface InboundContent {
  body: string;
  metadata: object | null;
}

/**
 * Makes a message storable, because no customer's message is refused. Cuts a body that is too long, and
 * stores the whole body in the metadata.
 */
export function storableContent({
  body,
  metadata,
}: Pick<InboundMessage, 'body' | 'metadata'>): InboundContent {
  const text = storableText(body);
  const kept = metadata && storableJson(metadata);
  if (trimUnseen(text) === '') return { body: BLANK, metadata: kept };
  if (countCharacters(text) <= MAX_BODY_CHARACTERS) return { body: text, metadata: kept };
  return { body: cut(text, MAX_BODY_CHARACTERS), metadata: { ...kept, wholeBody: text } };
}

export function storableCustomer({ name, phone }: InboundMessage['customer']): {
  name: string | null;
  phone: string | null;
} {
  return {
    name: storableLabel(name, MAX_NAME_CHARACTERS),
    phone: storableLabel(phone, MAX_PHONE_CHARACTERS),
  };
}

/** Makes reactions storable. Removes duplicates, because several custom emojis can have one name. */
export function storableReactions(emojis: string[]): string[] {
  const stored = emojis
    .slice(0, MAX_REACTIONS)
    .map((emoji) => storableLabel(emoji, MAX_REACTION_CHARACTERS))
    .filter((emoji) => emoji !== null);
  return [...new Set(stored)];
}

export function storableCaption(caption: string | null): string | null {
  return storableLabel(caption, MAX_CAPTION_CHARACTERS);
}

/** Makes a text storable, without spaces at its ends, and cuts it; null if nothing is left. */
export function storableLabel(text: string | null, max: number): string | null {
  const line = storableText(text ?? '').trim();
  if (line === '') return null;
  return countCharacters(line) <= max ? line : cut(line, max);
}

function cut(text: string, max: number): string {
  return `${[...text].slice(0, max - 1).join('')}…`;
}

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store, by U+FFFD. */
function storableJson(value: object): object {
  if (isDeeperThan(MAX_DEPTH, value)) return { omitted: `nested more than ${MAX_DEPTH} deep` };
  const json = JSON.stringify(value).replace(/\\(?:u(0000|d[89a-f]..)|.)/g, (escape, unstorable) =>
    unstorable ? REPLACEMENT : escape,
  );
  return JSON.parse(json) as object;
}
