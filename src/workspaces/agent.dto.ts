import { IsBoolean, IsEmail, IsIn, IsOptional } from 'class-validator';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';
import { AGENT_ROLES, type AgentRole } from './agent.entity';

/** An agent to be created. */
export class CreateAgent {
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name: string;

  /** Unique within the workspace, whatever its case. */
  @IsEmail({}, { message: 'must be an e-mail address' })
  email: string;

  @IsIn(AGENT_ROLES)
  role: AgentRole;

  @IsOptional()
  @IsBoolean()
  isBot?: boolean;

  @IsOptional()
  @IsBoolean()
  active?: boolean;
}

/** What of an agent is to change; what is left out stays. */
export class UpdateAgent {
  @IsOptional()
  @IsIn(AGENT_ROLES)
  role?: AgentRole;

  @IsOptional()
  @IsBoolean()
  active?: boolean;
}
