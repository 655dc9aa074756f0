import { Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { SampleFile } from './sample-files';

/** A message as the REST API shows it. */
export interface DeskMessage {
  id: string;
  senderType: string;
  body: string;
  delivery: { status: string | null };
  attachments: { kind: string; name: string; width: number | null }[];
}

const PAGE = 200;

/** Agents of the workspace, who use the REST API. */
export class SupportDesk {
  constructor(
    private readonly office: TestService,
    private readonly tenant: Tenant,
  ) {}

  /** Creates an agent whom visitors know by this name. */
  agent(displayName: string): Promise<{ id: string }> {
    return this.office.make.agent(this.tenant.workspace, { displayName });
  }

  /** Waits for the conversation whose latest message by a visitor has this text. */
  async conversationWith(body: string): Promise<DeskConversation> {
    const id = await waitFor(`"${body}" to arrive`, async () => {
      const [row] = await this.office.query<{ id: string }>(
        'SELECT conversation_id AS id FROM messages WHERE tenant_id = $1 AND body = $2 ORDER BY id DESC LIMIT 1',
        [this.tenant.workspace.id, body],
      );
      return row?.id;
    });
    return new DeskConversation(this.tenant, id);
  }
}

/** One visitor's conversation. */
export class DeskConversation {
  constructor(
    private readonly tenant: Tenant,
    readonly id: string,
  ) {}

  /**
   * Sends a message.
   * @param agent the sender; by default no agent is named
   */
  async reply(body: string, agent?: { id: string }): Promise<DeskMessage> {
    const message = { body, ...(agent && { senderAgentId: agent.id }) };
    const answer = await this.tenant.client.post(`/conversations/${this.id}/messages`, message);
    if (answer.status !== 201) throw new Error(`The reply was answered with ${answer.status}`);
    return answer.body.message as DeskMessage;
  }

  /** Sends a message that has files alone. */
  async replyWith(files: SampleFile[]): Promise<DeskMessage> {
    const attachments: { uploadId: string }[] = [];
    for (const { name, mimeType, buffer } of files) {
      const declared = { conversationId: this.id, name, contentType: mimeType, size: buffer.length };
      const { body } = await this.tenant.client.post('/uploads', declared);
      await this.tenant.client.send({
        method: 'PUT',
        path: `/api/v1/uploads/${body.id}/content`,
        raw: buffer,
        headers: { 'content-type': 'application/octet-stream' },
      });
      attachments.push({ uploadId: body.id as string });
    }
    const answer = await this.tenant.client.post(`/conversations/${this.id}/messages`, { attachments });
    if (answer.status !== 201) throw new Error(`The reply was answered with ${answer.status}`);
    return answer.body.message as DeskMessage;
  }

  /** Returns all messages, oldest first. */
  async messages(): Promise<DeskMessage[]> {
    const newestFirst = await this.tenant.client.all(`/conversations/${this.id}/messages`, PAGE);
    return (newestFirst as DeskMessage[]).reverse();
  }

  /** Returns the customer as the contact that agents see. */
  async contact(): Promise<{ name: string | null; email: string | null; verified: string[] }> {
    return (await this.tenant.client.get(`/conversations/${this.id}`)).body.contact;
  }

  async waitForStatus(body: string, status: string): Promise<void> {
    await waitFor(`"${body}" to be ${status}`, async () =>
      (await this.messages()).some((message) => message.body === body && message.delivery.status === status),
    );
  }
}
