import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CustomersService } from '../../contacts/customers.service';
import { Database } from '../../database/database';
import { Visitor, Widget } from './visitor';
import { verifyIdentity } from './visitor-identity';
import { VisitorTokens, LOGGED_IN_PREFIX } from './visitor-tokens';
import { VisitorsRepository } from './visitors.repository';
import { SessionResponse } from './widget-answers.dto';
import { OpenSession, LoggedInVisitor } from './widget.dto';

const ANONYMOUS_PREFIX = 'visitor:';
const ANONYMOUS_BYTES = 24;

@Injectable()
export class VisitorSessionsService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly visitors: VisitorsRepository,
    private readonly tokens: VisitorTokens,
  ) {}

  /**
   * Begins a session, or renews the session of `current`. An anonymous visitor becomes a contact only with
   * the first message, because most never write.
   * @throws AppError UNAUTHENTICATED: the signature is invalid or has expired; INVALID_BODY
   */
  async open(widget: Widget, current: Visitor | null, { visitor }: OpenSession): Promise<SessionResponse> {
    const externalId = visitor
      ? await this.logIn(widget, visitor)
      : (current?.externalId ?? newAnonymousId());
    const state = await this.visitors.findState({
      tenantId: widget.tenantId,
      connectionId: widget.id,
      externalId,
    });
    const issued = await this.tokens.issue(widget, externalId);
    return { ...issued, conversationId: state?.conversationId ?? null };
  }

  private async logIn(widget: Widget, visitor: LoggedInVisitor): Promise<string> {
    const { id, signed, claimed } = await verifyIdentity(visitor, widget.credentials.identitySecret);
    const { tenantId, channel } = widget;
    const externalId = LOGGED_IN_PREFIX + id;
    await this.database.transaction(async (tx) => {
      const customer = { channel, externalId, name: null, phone: null };
      const { contactId } = await this.customers.identify(tx, tenantId, customer);
      await this.customers.updateProfile(tx, tenantId, contactId, { signed, claimed });
    });
    return externalId;
  }
}

function newAnonymousId(): string {
  return ANONYMOUS_PREFIX + randomBytes(ANONYMOUS_BYTES).toString('base64url');
}
