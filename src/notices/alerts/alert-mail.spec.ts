import { AlertRow } from '../../alerts/alert.dto';
import { alertMail } from './alert-mail';

const LINKS = {
  workspace: 'https://app.example/w/acme',
  account: 'https://app.example/account',
  end: 'https://service.example/alert-mails/t',
};
const failing: AlertRow = {
  id: 'a-1',
  kind: 'ENDPOINT_FAILING',
  subjectId: 'e-1',
  openedAt: new Date('2026-11-21T09:41:07Z'),
  resolvedAt: null,
  toldAt: null,
};
const over: AlertRow = { ...failing, resolvedAt: new Date('2026-11-21T09:50:00Z') };
const full: AlertRow = { ...failing, kind: 'FILES_NEARLY_FULL', subjectId: 'w-1' };

const NAMES = new Map([['e-1', 'Orders of https://evil.example']]);

const mailOf = (alerts: AlertRow[], locale: 'en' | 'de' | null = null, name = 'Acme') =>
  alertMail(locale, name, alerts, NAMES, LINKS);

describe('a mail about alerts', () => {
  it.each([
    [[failing], 'Acme: A webhook endpoint fails'],
    [[over], 'Acme: Over: A webhook endpoint fails'],
    [[failing, full], 'Acme: 2 alerts'],
  ])('names in its subject the one alert, or how many (%#)', (alerts, subject) => {
    expect(mailOf(alerts).subject).toBe(subject);
  });

  it('lists what is open with its name and a link to the page that mends it, and then what is over', () => {
    const { text } = mailOf([over, full, failing]);
    expect(text.indexOf('Open:')).toBeLessThan(text.indexOf('Over:'));
    for (const part of [
      '- A webhook endpoint fails: Orders of evil.example (2026-11-21 09:41 UTC)\n',
      'https://app.example/w/acme/settings/webhooks/e-1\n',
      'https://app.example/w/acme/settings/workspace\n',
      '- A webhook endpoint fails: Orders of evil.example (2026-11-21 09:41 UTC – 2026-11-21 09:50 UTC)',
      LINKS.account,
      LINKS.end,
    ])
      expect(text).toContain(part);
    expect(mailOf([failing]).text).not.toContain('Over:');
  });

  it('says that it names no more than fifty', () => {
    const many = (count: number) => mailOf(Array.from({ length: count }, () => failing)).text;
    expect(many(50)).toContain('A mail names 50 alerts at most');
    expect(many(49)).not.toContain('at most. The');
  });

  it('is in German for who reads German, and has no link of a workspace’s name', () => {
    const { subject, text } = mailOf([failing], 'de', 'https://evil.example');
    expect(subject).toBe('evil.example: Ein Webhook-Endpunkt ist gestört');
    expect(text).toContain('es gibt Neues von „evil.example“');
  });
});
