import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { HIGHEST_ID, idTime } from '../common/ids';
import { Actor } from '../access/principal';
import { validate } from '../common/validate';
import { ContactsService } from '../contacts/contacts.service';
import { Database } from '../database/database';
import { isStatementTimeout } from '../database/driver/database-errors';
import { Closable } from '../common/work-budget';
import { WorkBudgets } from '../http/limits/work-budgets';
import {
  FoundConversation,
  FoundMessage,
  FoundMessages,
  SearchConversationsQuery,
  SearchMessagesQuery,
} from './message-search.dto';
import { MessageKeys } from './message-index.repository';
import { Candidate, IndexRange, MessageSearchRepository } from './message-search.repository';
import { findPhrases, makeExcerpt, parsePhrases, Phrase, termsOfPhrases } from './search-phrases';
import { splitText } from './text-atoms';

/** Largest number of messages whose texts are read for one page. */
const MAX_CANDIDATES = 1_000;
/** Number of buckets (of 4,096 messages) that one statement searches, so that it takes a bounded time. */
const BUCKETS = 1_000;
/** Largest number of statements that search buckets for one page. They cover 33 million messages. */
const MAX_RANGES = 8;
const TEXTS = 100;
const MAX_CONTACTS = 5;
const CONVERSATIONS = 3;

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
   * 200 at most. A message is found within 10 seconds after it was written. One call searches a limited
   * number of messages, so a page may be short although older messages match. Continue at `nextCursor`.
   * @param caller connection of the caller; the search ends when it closes
   * @throws AppError INVALID_QUERY; FORBIDDEN (the actor may not read conversations); RATE_LIMITED (too many
   *   searches of the workspace at once); UNAVAILABLE (too many in this process, or it takes too long)
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
   * Returns the 3 newest conversations of each of up to 5 contacts whose name, e-mail or phone contains
   * `text`. Newer contacts come first.
   * @param caller connection of the caller; the search ends when it closes
   * @throws AppError INVALID_QUERY; FORBIDDEN (no permission); RATE_LIMITED or UNAVAILABLE (too many at once)
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
    const isIndexComplete = range.isComplete;
    const data: FoundMessage[] = [];
    const lists = this.listCandidates(tenantId, { before, terms: termsOfPhrases(phrases), range }, caller);
    let list = await lists.next();
    for (; !list.done; list = await lists.next()) {
      refuseClosed(caller);
      const texts = await this.messages.findTexts(tenantId, list.value, status ?? null);
      data.push(...inOrder(list.value, texts).flatMap((one) => toFoundMessage(one, phrases) ?? []));
      // One message more than the limit shows that another page follows.
      if (data.length > limit) {
        const page = data.slice(0, limit);
        return { data: page, nextCursor: page.at(-1)!.id, searchedUntil: null, isIndexComplete };
      }
    }
    const last = list.value;
    return { data, nextCursor: last, searchedUntil: last === null ? null : idTime(last), isIndexComplete };
  }

  /**
   * Lists messages that have the hashes of all terms, newest first. Two terms may have the same hash.
   * @returns the id of the last message that was searched; null if all messages were searched
   */
  private async *listCandidates(
    tenantId: string,
    { before, terms, range }: { before: string; terms: Iterable<string>; range: IndexRange },
    caller: Closable | undefined,
  ): AsyncGenerator<MessageKeys[], string | null> {
    const end = Math.max(range.oldest, range.newest - MAX_RANGES * BUCKETS + 1);
    let left = MAX_CANDIDATES;
    let last: string | null = null;
    for (let newest = range.newest; newest >= end; newest -= BUCKETS) {
      refuseClosed(caller);
      const buckets = { newest, oldest: Math.max(end, newest - BUCKETS + 1) };
      const found = await this.messages.findByTerms(tenantId, { before, terms, buckets }, left);
      for (let at = 0; at < found.length; at += TEXTS) yield found.slice(at, at + TEXTS);
      left -= found.length;
      last = found.at(-1)?.id ?? last;
      if (left === 0) return last;
    }
    if (end === range.oldest) return null;
    refuseClosed(caller);
    const buckets = { newest: end + BUCKETS - 1, oldest: end };
    const passed = await this.messages.findLast(tenantId, { before, buckets, range });
    return passed && last && last < passed ? last : passed;
  }
}

function refuseClosed(caller: Closable | undefined): void {
  if (caller?.closed) throw AppError.busy();
}

function inOrder(keys: MessageKeys[], texts: Candidate[]): Candidate[] {
  const byId = new Map(texts.map((text) => [text.id, text]));
  return keys.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Makes a search result of a message; returns null if its text lacks one of the phrases. */
function toFoundMessage(message: Candidate, phrases: Phrase[]): FoundMessage | null {
  const { body, firstBody, contactId, contactName, ...rest } = message;
  for (const text of [body, firstBody ?? '']) {
    const hits = findPhrases(splitText(text), phrases);
    if (hits)
      return { ...rest, excerpt: makeExcerpt(text, hits), contact: { id: contactId, name: contactName } };
  }
  return null;
}
