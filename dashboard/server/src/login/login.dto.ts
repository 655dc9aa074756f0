import { IsOptional, IsString, MaxLength } from 'class-validator';

/**
 * Limit of the characters of an input, more than any password, code or token has. The services check the
 * exact form.
 */
const MAX_TYPED = 1_000;
const IsTyped = () => MaxLength(MAX_TYPED, { message: `must be at most ${MAX_TYPED} characters` });

export class LogInBody {
  @IsTyped()
  @IsString()
  email: string;

  @IsTyped()
  @IsString()
  password: string;
}

/** Body with six digits of the app, or with a recovery code. */
export class CodeBody {
  @IsTyped()
  @IsString()
  code: string;
}

/** Body with the token of an invitation, or of a link that sets a new password. */
export class LinkBody {
  @IsTyped()
  @IsString()
  token: string;
}

export class AcceptLinkBody extends LinkBody {
  /** Name of a new person; the agent's name by default. */
  @IsOptional()
  @IsTyped()
  @IsString()
  name?: string;

  /** New password, where the link needs one. */
  @IsOptional()
  @IsTyped()
  @IsString()
  password?: string;
}
