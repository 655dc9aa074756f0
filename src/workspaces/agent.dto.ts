import { ApiProperty, ApiSchema, PartialType, PickType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import { AGENT_ROLES, type AgentRole } from '../access/permissions';
import { IsEmailAddress, IsNullable, IsPlainEmail, IsText } from '../common/validators';
import { AgentEntity } from './agent.entity';

export class CreateAgent {
  @IsText(200)
  name: string;

  /** Name that customers see; null if they see none. */
  @IsNullable()
  @IsText(200)
  displayName?: string | null;

  /** E-mail address, unique in the workspace regardless of case. */
  @IsEmailAddress()
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
export class UpdateAgent extends PartialType(
  PickType(CreateAgent, ['name', 'displayName', 'role', 'active']),
) {}

/** Agent in the API. An erased agent's names and address are null. */
@ApiSchema({ name: 'Agent' })
export class AgentResponse {
  @ApiProperty({ example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f' })
  id: string;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'Ana Admin',
    description: 'The name that colleagues see; null after the agent was erased.',
  })
  name: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'Ana',
    description: 'The name that customers see; null if they see none.',
  })
  displayName: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'ana@example.com',
    description: 'null after the agent was erased.',
  })
  email: string | null;

  @ApiProperty({ enum: AGENT_ROLES, enumName: 'AgentRole', example: 'ADMIN' })
  role: AgentRole;

  @ApiProperty({ example: false, description: "True for a bot account, which can't log in." })
  isBot: boolean;

  @ApiProperty({
    example: true,
    description: 'Only active agents can be assigned conversations, and send messages.',
  })
  active: boolean;

  @ApiProperty({ example: '2026-11-02T08:15:30.000Z' })
  createdAt: Date;

  @ApiProperty({ example: '2026-11-18T16:20:00.000Z' })
  updatedAt: Date;
}

export function toAgentResponse(agent: AgentEntity): AgentResponse {
  const { id, name, displayName, email, role, isBot, active, erasedAt, createdAt, updatedAt } = agent;
  const names = erasedAt ? { name: null, displayName: null, email: null } : { name, displayName, email };
  return { id, ...names, role, isBot, active, createdAt, updatedAt };
}
