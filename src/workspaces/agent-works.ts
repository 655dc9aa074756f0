import { Injectable } from '@nestjs/common';
import { AgentKey } from '../database/tables/table-declaration';
import { Transaction } from '../database/transaction';

type DeactivationWork = (tx: Transaction, agent: AgentKey) => Promise<void>;

/** Holds functions that other features register. Each runs in the transaction that deactivates an agent. */
@Injectable()
export class AgentWorks {
  readonly deactivations: DeactivationWork[] = [];
}
