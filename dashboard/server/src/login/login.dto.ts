import { IsOptional, IsString, MaxLength } from 'class-validator';

/** Maximum characters of a text field: more than any password, code or token has. */
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

/** Body with a code of the second factor: six digits of an authenticator app, or a recovery code. */
export class CodeBody {
  @IsTyped()
  @IsString()
  code: string;
}

/** Body with the token of a link: an invitation, or a link for a new password. */
export class LinkBody {
  @IsTyped()
  @IsString()
  token: string;
}

export class AcceptLinkBody extends LinkBody {
  /** Name of a person who has no login; by default the name of the invited agent. */
  @IsOptional()
  @IsTyped()
  @IsString()
  name?: string;

  /** New password, if the link requires one. */
  @IsOptional()
  @IsTyped()
  @IsString()
  password?: string;
}
