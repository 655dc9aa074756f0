import { Injectable } from '@nestjs/common';
import {
  type Actor,
  type AlertKind,
  AlertMailChoicesService,
  AlertsService,
  NoticeChoicesService,
} from 'conversation-messaging-service';
import {
  PushAddressesService,
  type SessionHolder,
  type SetPushAddress,
} from 'conversation-messaging-service/logins';

@Injectable()
export class Attention {
  constructor(
    private readonly alerts: AlertsService,
    private readonly alertMails: AlertMailChoicesService,
    private readonly notices: NoticeChoicesService,
    private readonly pushAddresses: PushAddressesService,
  ) {}

  /** Returns what a banner shows to an OWNER or ADMIN: the newest open alerts, and how many are open. */
  async showAlerts(workspaceId: string, actor: Actor) {
    const { data } = await this.alerts.list(workspaceId, { open: true, limit: 10 }, actor);
    return { newest: data, count: await this.alerts.countOpen(workspaceId, actor) };
  }

  /** Ends the mails about one kind of alert to an OWNER or ADMIN. */
  async muteAlertMails(workspaceId: string, actor: Actor, kind: AlertKind) {
    const { mutedKinds } = await this.alertMails.get(workspaceId, actor);
    const muted = [...new Set([...mutedKinds, kind])];
    return this.alertMails.update(workspaceId, { mutedKinds: muted }, actor);
  }

  /** Turns notices of the agent's own conversations on: by mail after 15 minutes, in the browser at once. */
  async turnNoticesOn(workspaceId: string, actor: Actor, holder: SessionHolder, browser: SetPushAddress) {
    await this.pushAddresses.set(holder, browser);
    return this.notices.set(
      workspaceId,
      { mailMatters: ['MINE'], mailAfterMinutes: 15, pushMatters: ['MINE'], pushAfterMinutes: 0 },
      actor,
    );
  }
}
