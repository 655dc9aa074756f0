import { IsOptional, IsString, MaxLength } from 'class-validator';

/** Longer than any password, code or token. The services say what each may be. */
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

/** Six digits of the app, or a recovery code. */
export class CodeBody {
  @IsTyped()
  @IsString()
  code: string;
}

/** Of an invitation, or of a link that sets a new password. */
export class LinkBody {
  @IsTyped()
  @IsString()
  token: string;
}

export class AcceptLinkBody extends LinkBody {
  /** Of a person who is new: the agent's by default. */
  @IsOptional()
  @IsTyped()
  @IsString()
  name?: string;

  /** Unless the person is logged in, and accepts a further workspace. */
  @IsOptional()
  @IsTyped()
  @IsString()
  password?: string;
}
