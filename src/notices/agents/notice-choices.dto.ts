import { ArrayUnique, IsArray, IsIn, IsOptional } from 'class-validator';

/**
 * Matters of which agents get notices: a customer's message in a conversation of the agent, or in one
 * without an agent; and a conversation that another actor has assigned to the agent.
 */
export const NOTICE_MATTERS = ['MINE', 'NOBODYS', 'ASSIGNMENT'] as const;
export type NoticeMatter = (typeof NOTICE_MATTERS)[number];

export type NoticeWay = 'MAIL' | 'PUSH';

/** Minutes that a message or an assignment waits until the agent gets a notice. */
export const QUIET_MINUTES = [0, 5, 15, 60, 240] as const;
export type QuietMinutes = (typeof QUIET_MINUTES)[number];

/** Notices that an agent gets by each way. A way without matters is off. */
export interface NoticeChoices {
  mailMatters: NoticeMatter[];
  mailAfterMinutes: QuietMinutes;
  pushMatters: NoticeMatter[];
  pushAfterMinutes: QuietMinutes;
}

/** Choices of an agent who has not chosen yet: none, because people expect no mail that they did not want. */
export const NO_NOTICES: NoticeChoices = {
  mailMatters: [],
  mailAfterMinutes: 15,
  pushMatters: [],
  pushAfterMinutes: 0,
};

export interface NoticeChoicesResponse extends NoticeChoices {
  /** Whether the service sends mails. */
  canMail: boolean;
  /** Whether the service sends push messages. */
  canPush: boolean;
  /** Time at which the mail server refused the agent's address. The next choice lets mails go out again. */
  mailRefusedAt: Date | null;
}

/** New choices. A field that is left out does not change. */
export class ChooseNotices implements Partial<NoticeChoices> {
  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @IsIn(NOTICE_MATTERS, { each: true })
  mailMatters?: NoticeMatter[];

  @IsOptional()
  @IsIn(QUIET_MINUTES)
  mailAfterMinutes?: QuietMinutes;

  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @IsIn(NOTICE_MATTERS, { each: true })
  pushMatters?: NoticeMatter[];

  @IsOptional()
  @IsIn(QUIET_MINUTES)
  pushAfterMinutes?: QuietMinutes;
}
