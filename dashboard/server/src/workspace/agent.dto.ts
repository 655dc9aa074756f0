import { AGENT_ROLES, type AgentRole, type CreateAgent } from 'conversation-messaging-service';
import { IsIn, IsString } from 'class-validator';

/**
 * Body for adding a person who will log in: not a bot, and active from the start. The service checks the
 * rest.
 */
export class AddAgent implements Pick<CreateAgent, 'name' | 'email' | 'role'> {
  @IsString()
  name: string;

  @IsString()
  email: string;

  @IsIn(AGENT_ROLES)
  role: AgentRole;
}
