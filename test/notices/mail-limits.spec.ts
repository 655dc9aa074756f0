import { newId } from '../../src/common/ids';
import { MailLimit, MailLimits } from '../../src/notices/mail-limits';
import { TestService } from '../support/service';

const LIMIT: MailLimit = { kind: 'answer', toAddress: 3, ofWorkspace: 2 };

describe('the limits of mails', () => {
  let limits: MailLimits;

  beforeAll(async () => {
    limits = (await TestService.create({ role: 'worker' })).app.get(MailLimits);
  });

  const countMails = async (tenantId: string, ...emails: string[]) => {
    const taken: boolean[] = [];
    for (const email of emails) taken.push(await limits.countMail(LIMIT, tenantId, email));
    return taken;
  };

  it('count no mail to an address that a workspace above its limit may not send', async () => {
    const [one, other] = [newId(), newId()];
    expect(await countMails(one, 'zoe@example.com', 'zoe@example.com', 'zoe@example.com')).toEqual([
      true,
      true,
      false,
    ]);
    expect(await countMails(other, 'zoe@example.com')).toEqual([true]);
  });

  it('count no mail of a workspace to an address that gets no more', async () => {
    const address = 'ada@example.com';
    for (const tenantId of [newId(), newId(), newId()]) await limits.countMail(LIMIT, tenantId, address);
    expect(await countMails(newId(), address, address, 'ben@example.com', 'eva@example.com')).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
