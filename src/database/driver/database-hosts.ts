import { Logger } from '@nestjs/common';
import { parseDatabaseAddress } from '../../config/database-address';

/**
 * Server of a connection, and the number of the era in which the connection was opened. A new era begins when
 * all existing connections must be replaced.
 */
export interface Lead {
  readonly url: string;
  era: number;
}

/** Records which server of an address is the primary, and which connections must be replaced. */
export class DatabaseHosts {
  private readonly logger = new Logger(DatabaseHosts.name);
  private readonly urls: string[];
  readonly requiresPrimary: boolean;
  /** Whether any connection's statement has failed for lack of a privilege. `DatabasePool` resets it. */
  hasLackedPrivilege = false;
  private next = 0;
  private primary: string | null = null;
  private era = 0;

  constructor(address: string) {
    const { urls, requiresPrimary } = parseDatabaseAddress(address);
    this.urls = urls;
    this.requiresPrimary = requiresPrimary;
  }

  get count(): number {
    return this.urls.length;
  }

  get current(): string {
    return this.urls[this.next]!;
  }

  lead(): Lead {
    return { url: this.current, era: this.era };
  }

  isCurrent(lead: Lead): boolean {
    return lead.era === this.era;
  }

  /** Selects the next server after a failed one, unless another call has done so already. */
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

  /** Begins a new era, so that no existing connection is used again. */
  renew(): void {
    this.era += 1;
  }
}
