import { Logger } from '@nestjs/common';
import { parseDatabaseAddress } from '../../config/database-address';

/** The server that a connection leads to, and the era in which the connection was made. */
export interface Lead {
  readonly url: string;
  era: number;
}

/**
 * The servers of one address: knows which one is the primary, and which connections must be replaced since
 * the primary has changed.
 */
export class DatabaseHosts {
  private readonly logger = new Logger(DatabaseHosts.name);
  private readonly urls: string[];
  /** Whether a new connection must lead to a server that takes writes. */
  readonly requiresPrimary: boolean;
  /** Whether a statement on one of the connections has lacked a privilege; for `DatabasePool`. */
  hasLackedPrivilege = false;
  private next = 0;
  private primary: string | null = null;
  /** Number of the current era. Connections of an earlier era are not used again. */
  private era = 0;

  constructor(address: string) {
    const { urls, requiresPrimary } = parseDatabaseAddress(address);
    this.urls = urls;
    this.requiresPrimary = requiresPrimary;
  }

  get count(): number {
    return this.urls.length;
  }

  /** URL of the server to try next. */
  get current(): string {
    return this.urls[this.next]!;
  }

  lead(): Lead {
    return { url: this.current, era: this.era };
  }

  isCurrent(lead: Lead): boolean {
    return lead.era === this.era;
  }

  /** Moves on to the next server after one that failed, unless another call has done so already. */
  pass(url: string): void {
    if (url === this.current) this.next = (this.next + 1) % this.count;
  }

  /**
   * Records that a new connection has reached the primary. If another server was the primary before, all
   * earlier connections are replaced.
   */
  found(lead: Lead): void {
    if (this.primary !== null && this.primary !== lead.url) {
      this.renew();
      this.logger.warn({ host: new URL(lead.url).host }, 'the database has another primary');
    }
    this.primary = lead.url;
    this.next = this.urls.indexOf(lead.url);
    lead.era = this.era;
  }

  /** Begins a new era: connections that exist now are not used again. */
  renew(): void {
    this.era += 1;
  }
}
