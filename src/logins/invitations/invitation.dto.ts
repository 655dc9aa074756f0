import { IsIn, IsOptional } from 'class-validator';
import { type AgentRole } from '../../access/permissions';
import { type SentLink } from '../links/link.dto';
import { type Locale, LOCALES } from '../people/person.dto';

export class InviteAgent {
  /** Language of the mail; English by default. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale;
}

/** Invitation that can be accepted. */
export interface InvitationSummary {
  id: string;
  agentId: string;
  agentName: string;
  email: string;
  role: AgentRole;
  createdAt: Date;
  expiresAt: Date;
}

export interface SentInvitation extends SentLink {
  invitation: InvitationSummary;
}
