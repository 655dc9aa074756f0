import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { NoticeKey } from './answer-notices.repository';

const KEY_BYTES = 32;
/** Name of the purpose from which keys are derived, so that these keys serve nothing else. */
const KEY_PURPOSE = 'links to unread answers';
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
  private readonly keys: Uint8Array[];

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {
    this.keys = config.secretsKeys.map(
      ({ key }) => new Uint8Array(hkdfSync('sha256', key, '', KEY_PURPOSE, KEY_BYTES)),
    );
  }

  /** Returns a link. Its token is in the fragment, which browsers send to no server, so no log has it. */
  make(siteKey: string, notice: NoticeKey): string {
    const token = `${notice.id}.${sign(this.keys[0]!, notice)}`;
    return `${this.config.publicUrl}/channels/widget/${siteKey}/answers#${token}`;
  }

  /**
   * Finds the visitor whom a token lets in.
   * @returns null if the token is invalid or older than seven days, its notice was erased or followed by
   *   another one, or the visitor has begun another conversation
   */
  async findVisitor(widget: { tenantId: string; id: string }, token: string): Promise<LinkedVisitor | null> {
    const [id = '', signature = ''] = token.split('.');
    const notice = { tenantId: widget.tenantId, id };
    if (!isId(id) || !this.keys.some((key) => isSame(signature, sign(key, notice)))) return null;
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

function sign(key: Uint8Array, { tenantId, id }: NoticeKey): string {
  return createHmac('sha256', key).update(`${tenantId} ${id}`).digest('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
