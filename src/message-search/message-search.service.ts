import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { HIGHEST_ID, idTime } from '../common/ids';
import { Actor } from '../common/principal';
import { validate } from '../common/validate';
import { ContactsService } from '../contacts/contacts.service';
import { Database } from '../database/database';
import { isStatementTimeout } from '../database/database-errors';
import { Closable } from '../rate-limit/work-budget';
import { WorkBudgets } from '../rate-limit/work-budgets';
import {
  FoundConversation,
  FoundMessage,
  FoundMessages,
  SearchConversationsQuery,
  SearchMessagesQuery,
} from './message-search.dto';
import { MessageKeys } from './message-index.repository';
import { Candidate, MessageSearchRepository } from './message-search.repository';
import { findPhrases, makeExcerpt, parsePhrases, Phrase, termsOfPhrases } from './search-phrases';
import { splitText } from './text-atoms';

/** Limit of the messages whose texts one page looks at. */
const MAX_CANDIDATES = 1_000;
/** Number of texts that one statement reads. */
const TEXTS = 100;
/** Number of contacts whose conversations are found, and of the conversations of each. */
const MAX_CONTACTS = 5;
const CONVERSATIONS = 3;

/** Finds messages of a workspace by their words. */
@Injectable()
export class MessageSearchService {
  constructor(
    private readonly database: Database,
    private readonly budgets: WorkBudgets,
    private readonly messages: MessageSearchRepository,
    private readonly contacts: ContactsService,
  ) {}

  /**
   * Returns a page of the messages that have all words and phrases of `text`, newest first: 50 by default,
   * 200 at most. A message is found within 10 seconds after it was written. A page ends early after many
   * messages that only resemble the text, or are in conversations of another status: `nextCursor` goes on.
   * @param caller ends the search when it closes
   * @throws AppError INVALID_QUERY; FORBIDDEN; RATE_LIMITED (too many searches of the workspace at once);
   *   UNAVAILABLE (too many in this process, or the search takes too long)
   */
  async search(
    tenantId: string,
    input: Partial<SearchMessagesQuery>,
    actor: Actor,
    caller?: Closable,
  ): Promise<FoundMessages> {
    const query = validate(SearchMessagesQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const release = await this.budgets.acquire('searches', tenantId, caller);
    try {
      return await this.find(tenantId, query, caller);
    } catch (error) {
      throw isStatementTimeout(error) ? AppError.because('UNAVAILABLE', 'search_too_long') : error;
    } finally {
      release();
    }
  }

  /**
   * Returns the newest conversations of contacts with `text` in their name, e-mail or phone: of 5 contacts at
   * most, the newest first.
   * @param caller ends the search when it closes
   * @throws AppError INVALID_QUERY; FORBIDDEN; RATE_LIMITED, UNAVAILABLE: as `search`
   */
  async searchContacts(
    tenantId: string,
    input: Partial<SearchConversationsQuery>,
    actor: Actor,
    caller?: Closable,
  ): Promise<FoundConversation[]> {
    const { text } = validate(SearchConversationsQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const { data } = await this.contacts.list(tenantId, { q: text, limit: MAX_CONTACTS }, actor, caller);
    if (data.length === 0) return [];
    const contacts = new Map(data.map(({ id, name }) => [id, { id, name }]));
    const found = await this.messages.findConversations(tenantId, [...contacts.keys()], CONVERSATIONS);
    return found.map(({ contactId, ...conversation }) => ({
      ...conversation,
      contact: contacts.get(contactId)!,
    }));
  }

  private async find(
    tenantId: string,
    { text, status, cursor: before = HIGHEST_ID, limit }: SearchMessagesQuery,
    caller: Closable | undefined,
  ): Promise<FoundMessages> {
    const phrases = parsePhrases(text);
    const range = phrases.length > 0 ? await this.messages.findRange(tenantId, before) : null;
    if (!range) return { data: [], nextCursor: null, searchedUntil: null, isIndexComplete: true };
    const terms = termsOfPhrases(phrases);
    const search = { before, terms, range };
    const candidates = await this.messages.findByTerms(tenantId, search, MAX_CANDIDATES);
    const data: FoundMessage[] = [];
    const isIndexComplete = range.stage === 'DONE';
    for (let at = 0; at < candidates.length; at += TEXTS) {
      if (caller?.closed) throw AppError.busy();
      const read = candidates.slice(at, at + TEXTS);
      const texts = await this.messages.findTexts(tenantId, read, status ?? null);
      const found = inOrder(read, texts).flatMap((one) => toFoundMessage(one, phrases) ?? []);
      data.push(...found);
      // One more shows that the page is not the last.
      if (data.length > limit) {
        const page = data.slice(0, limit);
        return { data: page, nextCursor: page.at(-1)!.id, searchedUntil: null, isIndexComplete };
      }
    }
    const last = candidates.length < MAX_CANDIDATES ? null : candidates.at(-1)!.id;
    return { data, nextCursor: last, searchedUntil: last === null ? null : idTime(last), isIndexComplete };
  }
}

function inOrder(keys: MessageKeys[], texts: Candidate[]): Candidate[] {
  const byId = new Map(texts.map((text) => [text.id, text]));
  return keys.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Makes a result of a message; null when its text lacks one of the phrases. */
function toFoundMessage(message: Candidate, phrases: Phrase[]): FoundMessage | null {
  const { body, contactId, contactName, ...rest } = message;
  const hits = findPhrases(splitText(body), phrases);
  if (!hits) return null;
  return { ...rest, excerpt: makeExcerpt(body, hits), contact: { id: contactId, name: contactName } };
}
