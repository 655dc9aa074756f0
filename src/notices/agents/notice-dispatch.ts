import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { Locale } from '../../logins/people/person.dto';
import { Mailer, MailOutcome } from '../../mails/mailer';
import { Metrics } from '../../metrics/metrics';
import { agentMail, agentPush } from './agent-texts';
import { NoticeContent, NoticeRecipient } from './agent-notices.repository';
import { NoticeWay } from './notice-choices.dto';
import { PushSender } from '../push/push-sender';

/** Person who gets a notice. */
export interface NoticeReader {
  email: string;
  locale: Locale | null;
}

/** Result of a try: as of a mail, or that the agent has no device that takes push messages. */
export type NoticeOutcome = MailOutcome | 'no_device';

/** Sends claimed notices by their way: in one mail, or in one push message to all devices of the agent. */
@Injectable()
export class NoticeDispatch {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly pushes: PushSender,
    private readonly metrics: Metrics,
  ) {}

  /** Lists the ways by which this process can send notices. */
  listWays(): NoticeWay[] {
    return [
      ...(this.mailer.isConfigured ? (['MAIL'] as const) : []),
      ...(this.pushes.isConfigured ? (['PUSH'] as const) : []),
    ];
  }

  /**
   * Sends notices once.
   * @param id of the mail or push message; the same at each try
   */
  async trySending(
    recipient: NoticeRecipient,
    { email, locale }: NoticeReader,
    id: string,
    contents: NoticeContent[],
  ): Promise<NoticeOutcome> {
    if (recipient.way === 'PUSH') {
      const { tenantId, agentId } = recipient;
      const { taken, failed } = await this.pushes.send(tenantId, agentId, {
        id,
        ...agentPush(locale, contents),
      });
      if (taken > 0) return 'sent';
      return failed > 0 ? 'failed' : 'no_device';
    }
    const { subject, text } = agentMail(locale, contents, this.config.appUrl);
    const senderName = contents[0]!.workspaceName;
    const outcome = await this.mailer.trySending({ to: email, senderName, id, subject, text });
    this.metrics.noticeMails.inc({ outcome });
    return outcome;
  }
}
