import { Logger } from '@nestjs/common';
import { parseDatabaseAddress } from '../config/database-address';

/** Where a connection leads, and since which era. */
export interface Lead {
  readonly url: string;
  era: number;
}

/** The servers of one address, which of them is the primary, and which connections must go since that has changed. */
export class DatabaseHosts {
  private readonly logger = new Logger(DatabaseHosts.name);
  private readonly urls: string[];
  /** Whether a new connection must lead to a server that takes writes. */
  readonly requiresPrimary: boolean;
  private turn = 0;
  private primary: string | null = null;
  /** Connections of an earlier era are not used again. */
  private era = 0;

  constructor(address: string) {
    const { urls, requiresPrimary } = parseDatabaseAddress(address);
    this.urls = urls;
    this.requiresPrimary = requiresPrimary;
  }

  get count(): number {
    return this.urls.length;
  }

  /** Where the next connection leads. */
  get current(): string {
    return this.urls[this.turn]!;
  }

  /** For a new connection. */
  lead(): Lead {
    return { url: this.current, era: this.era };
  }

  isCurrent(lead: Lead): boolean {
    return lead.era === this.era;
  }

  /** The next one gets its turn, unless it has it already. */
  pass(url: string): void {
    if (url === this.current) this.turn = (this.turn + 1) % this.count;
  }

  /** A new connection has led to the primary. The first one to another host ends the era of all others. */
  found(lead: Lead): void {
    if (this.primary !== null && this.primary !== lead.url) {
      this.renew();
      this.logger.warn({ host: new URL(lead.url).host }, 'the database has another primary');
    }
    this.primary = lead.url;
    this.turn = this.urls.indexOf(lead.url);
    lead.era = this.era;
  }

  /** From now on only new connections are used. */
  renew(): void {
    this.era += 1;
  }
}
