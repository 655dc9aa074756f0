import { Module } from '@nestjs/common';
import { Mailer } from './mailer';

/** Provides the way to the mail server, for mails of logins and for notices. */
@Module({ providers: [Mailer], exports: [Mailer] })
export class MailsModule {}
