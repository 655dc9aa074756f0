/** Page of a list. */
export interface Page<Row> {
  data: Row[];
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null;
}

/**
 * List of the API, newest first. Nothing is requested before it is read: by `for await` row by row, by
 * `pages()` page by page, or by `page()` once.
 */
export class PagedList<Row, RowPage extends Page<Row> = Page<Row>> implements AsyncIterable<Row> {
  readonly #read: (cursor?: string) => Promise<RowPage>;

  /** @param read requests the page at a cursor, or the first one */
  constructor(read: (cursor?: string) => Promise<RowPage>) {
    this.#read = read;
  }

  /** Returns the first page, or the one at the `cursor` of the list's query. */
  page(): Promise<RowPage> {
    return this.#read();
  }

  /** Returns every page from the first one on. The next page is requested when it is asked for. */
  async *pages(): AsyncGenerator<RowPage, void, undefined> {
    let page = await this.#read();
    yield page;
    while (page.nextCursor !== null) {
      page = await this.#read(page.nextCursor);
      yield page;
    }
  }

  /** Returns every row of every page. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }
}
