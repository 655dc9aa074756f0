import { AGENT_ROLES, type AgentRole, type CreateAgent } from 'conversation-messaging-service';
import { IsIn, IsString } from 'class-validator';

/** Body for adding a person as an active agent. The service checks the fields' length and form. */
export class AddAgent implements Pick<CreateAgent, 'name' | 'email' | 'role'> {
  @IsString()
  name: string;

  @IsString()
  email: string;

  @IsIn(AGENT_ROLES)
  role: AgentRole;
}
