import { IsBoolean, IsEmail, IsIn, IsOptional } from 'class-validator';
import { AGENT_ROLES, type AgentRole } from '../common/agent-role';
import { IsPlainEmail } from '../common/plain-email';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';

export class CreateAgent {
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name: string;

  /** Name that customers see in the widget. */
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  displayName?: string | null;

  /** E-mail address of the agent, unique within the workspace; case does not matter. */
  @IsEmail({}, { message: 'must be an e-mail address' })
  @IsPlainEmail()
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

/** Changes of an agent. A field that is left out does not change. */
export class UpdateAgent {
  /** Name that colleagues see. */
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  /** Name that customers see; null removes it. */
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  displayName?: string | null;

  @IsOptional()
  @IsIn(AGENT_ROLES)
  role?: AgentRole;

  @IsOptional()
  @IsBoolean()
  active?: boolean;
}
