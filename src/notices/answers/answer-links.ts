import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { LinkSignatures } from '../link-signatures';
import { NoticeKey } from './answer-notices.repository';

const DAYS = 7;

/** Visitor as a link lets in: for one conversation alone. */
export interface LinkedVisitor {
  externalId: string;
  expiresAt: Date;
}

/**
 * Makes and checks the tokens in mails about unread answers. A token is an id of a notice, and a signature by
 * the first configured key; every configured key is accepted. A token is worth nothing without its notice.
 */
@Injectable()
export class AnswerLinks {
  private readonly signatures: LinkSignatures;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {
    this.signatures = new LinkSignatures(config.secretsKeys, 'links to unread answers');
  }

  /** Returns a link. Its token is in the fragment, which browsers send to no server, so no log has it. */
  make(siteKey: string, notice: NoticeKey): string {
    const token = `${notice.id}.${this.signatures.sign(notice.tenantId, notice.id)}`;
    return `${this.config.publicUrl}/channels/widget/${siteKey}/answers#${token}`;
  }

  /**
   * Finds the visitor whom a token lets in.
   * @returns null if the token is invalid or older than seven days, its notice was erased or followed by
   *   another one, or the visitor has begun another conversation
   */
  async findVisitor(widget: { tenantId: string; id: string }, token: string): Promise<LinkedVisitor | null> {
    const [id = '', signature = ''] = token.split('.');
    if (!isId(id) || !this.signatures.matches(signature, widget.tenantId, id)) return null;
    const [row] = await this.database.query<LinkedVisitor>(
      `SELECT c.identity_external_id AS "externalId", n.sent_at + interval '${DAYS} days' AS "expiresAt"
       FROM answer_notices n
       JOIN conversations c ON c.tenant_id = $1 AND c.id = n.conversation_id AND c.identity_external_id IS NOT NULL
       WHERE n.tenant_id = $1 AND n.id = $2 AND n.connection_id = $3 AND n.sent_at > now() - interval '${DAYS} days'
         AND NOT EXISTS (
           SELECT FROM conversations later WHERE later.tenant_id = $1 AND later.contact_id = c.contact_id
             AND later.source_channel = c.source_channel AND later.id > c.id)`,
      [widget.tenantId, id, widget.id],
    );
    return row ?? null;
  }
}
