export interface Page<Row> {
  data: Row[];
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

/**
 * Reads a list of the API: `for await` reads all rows, `pages()` all pages, and `page()` one page. The client
 * requests a page only when the program needs it.
 */
export class PagedList<Row, RowPage extends Page<Row> = Page<Row>> implements AsyncIterable<Row> {
  readonly #read: (cursor?: string) => Promise<RowPage>;

  /** @param read requests the page at a cursor, or the first page if no cursor is passed */
  constructor(read: (cursor?: string) => Promise<RowPage>) {
    this.#read = read;
  }

  /** Returns one page: the page at the `cursor` of the query, or the first page. */
  page(): Promise<RowPage> {
    return this.#read();
  }

  /** Yields the page that `page()` returns, and then all pages after it, each when it is needed. */
  async *pages(): AsyncGenerator<RowPage, void, undefined> {
    let page = await this.#read();
    yield page;
    while (page.nextCursor !== null) {
      page = await this.#read(page.nextCursor);
      yield page;
    }
  }

  /** Yields the rows of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }
}
