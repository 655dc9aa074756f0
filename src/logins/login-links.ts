import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';
import { Locale, SentLink } from './login.dto';
import { Mailer } from './mailer';
import type { ResetToken } from './reset-tokens';
import { invitationMail, resetMail } from './mail-texts';

/** The addresses that set a password. The token is the fragment, which no server gets, and so no log. */
@Injectable()
export class LoginLinks {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
  ) {}

  /** Whether links are mailed. Otherwise they are shown to the one who made them. */
  get areMailed(): boolean {
    return this.mailer.isConfigured;
  }

  invitation(token: string): string {
    return `${this.config.appUrl}/welcome#${token}`;
  }

  reset(token: string): string {
    return `${this.config.appUrl}/reset#${token}`;
  }

  /** @throws AppError UNAVAILABLE: the mail was not sent */
  async sendInvitation(
    { email, workspaceName, expiresAt }: { email: string; workspaceName: string; expiresAt: Date },
    token: string,
    locale?: Locale,
  ): Promise<SentLink> {
    const link = this.invitation(token);
    if (!this.areMailed) return { isMailed: false, link, expiresAt };
    await this.mailer.send(email, invitationMail(locale, workspaceName, link));
    return { isMailed: true, link: null, expiresAt };
  }

  /** @throws AppError UNAVAILABLE: the mail was not sent */
  async sendReset({ person, token, expiresAt }: ResetToken): Promise<SentLink> {
    const { email, locale } = person;
    const link = this.reset(token);
    if (!this.areMailed) return { isMailed: false, link, expiresAt };
    await this.mailer.send(email, resetMail(locale, link));
    return { isMailed: true, link: null, expiresAt };
  }

  /** @param make makes the link's token */
  sendResetInBackground(
    { email, locale }: { email: string; locale: Locale | null },
    make: () => Promise<string>,
  ): void {
    this.mailer.sendInBackground(async () => ({
      to: email,
      text: resetMail(locale, this.reset(await make())),
    }));
  }
}
