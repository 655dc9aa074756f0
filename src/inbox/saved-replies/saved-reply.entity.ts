import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Text that the agents of a workspace use again and again. */
@Entity('saved_replies')
export class SavedReplyEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  /** Name by which agents find it; no other of the workspace has it in any case. */
  @Column('text')
  name: string;

  /** Text with variables, such as `{{contact.firstName|there}}`. */
  @Column('text')
  body: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
