import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { MessageEntity } from './message.entity';
import { keyParameters, MessageKey } from './message-status.repository';

export interface MessageEdit extends Pick<MessageEntity, 'body' | 'metadata'> {
  /** Caption that the message's first file has now, or null; missing if the channel does not name it. */
  caption?: string | null;
  /** Number that grows with each edit of the message; null if the channel sends none. */
  number: number | null;
}

export interface MessageReactions {
  emojis: string[];
  /** Number that grows with each change of the reactions; null if the channel sends none. */
  number: number | null;
}

type ChangeableMessage = Pick<
  MessageEntity,
  'senderType' | 'body' | 'firstBody' | 'replacedBodies' | 'unsentAt' | 'editNumber' | 'reactionNumber'
>;

const BY_KEY = 'tenant_id = $1 AND conversation_id = $2 AND id = $3';
const SELECT_CHANGEABLE = `
  SELECT sender_type AS "senderType", body, first_body AS "firstBody", unsent_at AS "unsentAt",
         replaced_bodies AS "replacedBodies", edit_number AS "editNumber", reaction_number AS "reactionNumber"
  FROM messages WHERE ${BY_KEY}`;

/** Maximum number of replaced texts that are stored for a message, in addition to its first text. */
const MAX_REPLACED = 20;

@Injectable()
export class MessageChangesRepository {
  async find(tx: Transaction, key: MessageKey): Promise<ChangeableMessage | null> {
    const [row] = await tx.query<ChangeableMessage>(SELECT_CHANGEABLE, keyParameters(key));
    return row ?? null;
  }

  /** Locks a message. The caller must have locked its conversation before. */
  async lock(tx: Transaction, key: MessageKey): Promise<ChangeableMessage | null> {
    const locking = `${SELECT_CHANGEABLE} FOR NO KEY UPDATE`;
    const [row] = await tx.query<ChangeableMessage>(locking, keyParameters(key));
    return row ?? null;
  }

  /**
   * Stores an edit of a message. New metadata are merged into the present ones by their keys.
   * @param editedAt time of the edit; null if the text is equal to the present one
   * @param isDescribed whether the new text says nothing beyond the message's files
   */
  async edit(
    tx: Transaction,
    key: MessageKey,
    { body, metadata, number }: MessageEdit,
    editedAt: Date | null,
    isDescribed: boolean,
  ): Promise<void> {
    await tx.query(
      `UPDATE messages SET body = $4, edited_at = coalesce($5, edited_at), edit_number = coalesce($6, edit_number),
         is_described = CASE WHEN $5::timestamptz IS NULL THEN is_described ELSE $8 END,
         first_body = CASE WHEN $5::timestamptz IS NULL THEN first_body ELSE coalesce(first_body, body) END,
         replaced_bodies = CASE WHEN $5::timestamptz IS NULL OR first_body IS NULL THEN replaced_bodies
           ELSE (replaced_bodies || body)[coalesce(cardinality(replaced_bodies), 0) + 2 - ${MAX_REPLACED}:] END,
         metadata = nullif((coalesce(metadata, '{}') - 'wholeBody'::text) || coalesce($7::jsonb, '{}'), '{}')
       WHERE ${BY_KEY}`,
      [...keyParameters(key), body, editedAt, number, metadata && JSON.stringify(metadata), isDescribed],
    );
  }

  /** Marks a message as unsent. Returns false if it was marked before. */
  async markUnsent(tx: Transaction, key: MessageKey, at: Date): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE messages SET unsent_at = $4
       WHERE ${BY_KEY} AND unsent_at IS NULL RETURNING 1`,
      [...keyParameters(key), at],
    );
    return rows.length > 0;
  }

  async setReactions(tx: Transaction, key: MessageKey, { emojis, number }: MessageReactions): Promise<void> {
    await tx.query(
      `UPDATE messages SET reactions = nullif($4::text[], '{}'), reaction_number = coalesce($5, reaction_number)
       WHERE ${BY_KEY}`,
      [...keyParameters(key), emojis, number],
    );
  }
}
