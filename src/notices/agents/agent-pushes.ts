import { Injectable } from '@nestjs/common';
import { AgentKey } from '../../database/tables/table-declaration';

/** Push message about conversations that wait for an agent. */
export interface AgentPush {
  /** Id of the message. A message that is sent again has the same id, so that it replaces the first. */
  id: string;
  title: string;
  body: string;
  /** Path of the dashboard's page that the message opens. */
  path: string;
}

type SendPush = (agent: AgentKey, push: AgentPush) => Promise<number>;

/** Holds the function that sends push messages. Without one, agents get no notices by push. */
@Injectable()
export class AgentPushes {
  private sendOne: SendPush | null = null;

  get isConfigured(): boolean {
    return this.sendOne !== null;
  }

  /** Registers the function that sends a push message. It returns the number of devices that took it. */
  sendBy(send: SendPush): void {
    this.sendOne = send;
  }

  /** Sends a push message to all devices of an agent, and returns how many took it. */
  async send(agent: AgentKey, push: AgentPush): Promise<number> {
    return this.sendOne ? this.sendOne(agent, push) : 0;
  }
}
