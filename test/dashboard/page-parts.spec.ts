import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { faultText, fieldText, reasonText } from '../../dashboard/web/src/i18n/error-texts';
import { errorTextsDe } from '../../dashboard/web/src/i18n/error-texts-de';
import { AUDIT_NAMES } from '../../dashboard/web/src/pages/audit/audit-names';
import { curlCommand } from '../../dashboard/web/src/pages/deliveries/curl-command';
import { WORK_NAMES, WorkKind } from '../../src/http/limits/work-budgets';
import { FAULTS } from '../../src/common/fault-texts';
import { REASONS, THINGS } from '../../src/common/reason-texts';
import {
  generateEndpointSecret,
  serviceSignature,
  standardSignature,
} from '../../src/webhooks/sending/signature';

/** Tests of the parts of the dashboard's pages that need no page. */
describe('parts of the pages', () => {
  it('write a request as commands that sign it, and that a shell takes apart as it was', () => {
    const secret = generateEndpointSecret();
    const body = `{"it's":"$HOME \\ \`id\` ! 'quoted' ''","line":"\n@x"}`;
    const request = {
      method: 'POST' as const,
      url: "https://example.com/it's?a[1]=$(id)",
      headers: [
        { name: 'content-type', value: 'application/json' },
        { name: 'x-service-signature', value: null },
        { name: 'webhook-id', value: "a'b" },
        { name: 'webhook-timestamp', value: '1700000000' },
        { name: 'webhook-signature', value: null },
      ],
      body,
    };
    const shell = `curl() { printf '%s\\0' "$@"; }; ${curlCommand(request)}`;
    const env = { ...process.env, WEBHOOK_SECRET: secret };
    const given = execFileSync('/bin/sh', ['-c', shell], { encoding: 'utf8', env }).split('\0').slice(0, -1);
    const now = Number(given.find((one) => one.startsWith('webhook-timestamp: '))?.split(' ')[1]);
    expect(now).toBeGreaterThan(1_700_000_000);
    const headers = [
      'content-type: application/json',
      `x-service-signature: ${serviceSignature(secret, body)}`,
      "webhook-id: a'b",
      `webhook-timestamp: ${now}`,
      `webhook-signature: ${standardSignature(secret, "a'b", now, body)}`,
    ];
    expect(given).toEqual([
      ...['--globoff', '-X', 'POST', request.url],
      ...headers.flatMap((header) => ['-H', header]),
      ...['--data-raw', body],
    ]);
    const without = { ...process.env, WEBHOOK_SECRET: '' };
    expect(() => execFileSync('/bin/sh', ['-c', shell], { env: without, stdio: 'pipe' })).toThrow(
      'Set it to the secret of the endpoint.',
    );
  });

  it.each(['en', 'de'] as const)('have names in %s for every action of the audit log', (locale) => {
    const { entities, acts: known } = AUDIT_NAMES[locale];
    const rows = readFileSync('docs/reference/audit.md', 'utf8')
      .split('## Actions')[1]!
      .split('\n\n')[1]!
      .split('\n')
      .slice(2);
    const named = rows.map((row) =>
      [...row.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    );
    const acts = named.flatMap(([, ...names]) => names);
    expect(acts.length).toBeGreaterThan(50);
    expect(acts.filter((act) => !(act in known))).toEqual([]);
    expect(named.map(([entity]) => entity!).filter((entity) => !(entity in entities))).toEqual([]);
  });

  describe('say errors', () => {
    const writer = { texts: errorTextsDe, moment: (at: string) => `am ${at}` };
    const placesOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
    const english = { ...FAULTS, ...REASONS };
    const german: Record<string, string> = { ...errorTextsDe.faults, ...errorTextsDe.reasons };

    it('in German for every code, with the same values', () => {
      expect(Object.keys(german).sort()).toEqual(Object.keys(english).sort());
      for (const [code, text] of Object.entries(english)) {
        expect({ code, places: placesOf(german[code]!) }).toEqual({ code, places: placesOf(text) });
        expect({ code, text: german[code] }).not.toEqual({ code, text });
      }
      for (const thing of THINGS) expect(errorTextsDe.words).toHaveProperty([thing]);
    });

    it('in German with values, of which some have German words', () => {
      const fault = { message: 'must …', code: 'not_one_of', values: { choices: ['OWNER', 'x'] } } as const;
      expect(faultText(fault, writer)).toBe('Das muss eines davon sein: Eigentümer, x');
      expect(fieldText({ field: 'role', ...fault }, writer)).toBe(
        'Rolle: muss eines davon sein: Eigentümer, x',
      );
      for (const [field, name] of [
        ['attachments[0].uploadId', 'Datei 1'],
        ['attachments.1.uploadId', 'Datei 2'],
        ['attachments[0].caption', 'Beschriftung von Datei 1'],
        ['attachments', 'Anhänge'],
        ['credentials.allowedOrigins', 'Erlaubte Origins'],
        ['unknown.field', 'unknown.field'],
      ])
        expect(fieldText({ field: field!, message: '', code: 'upload_expired' }, writer)).toBe(
          `${name}: ist abgelaufen`,
        );
      const until = '2026-11-23T01:02:03.000Z';
      expect(reasonText({ reason: 'previous_secret_signs', values: { until } }, writer)).toContain(
        `bis am ${until}.`,
      );
    });

    it.each([
      'requests',
      'searches',
      'walks',
      'passwords',
      'exports',
      'lookups',
      'tests',
      'providers',
      'mails',
      'uploads',
      'downloads',
    ])('with a German word for too many %s at once', (kind) => {
      const values = { work: WORK_NAMES[kind as WorkKind] };
      const text = reasonText({ reason: 'too_many_at_once', values }, writer);
      expect(text).toMatch(/^Zu viele [A-ZÄÖÜ].* auf einmal\.$/);
      expect(text).not.toContain(values.work);
    });

    it('in German sentences with a subject under a field', () => {
      for (const code of Object.keys(FAULTS) as (keyof typeof FAULTS)[])
        expect(faultText({ message: FAULTS[code], code }, writer)).toMatch(
          /^(?:Das (?:muss|müssen|darf|ist|hat|fehlt|gehört|passt|steht|gibt|kann|braucht|wäre)\b|[A-ZÄÖÜ{])/,
        );
      expect(faultText({ message: FAULTS.not_origin, code: 'not_origin' }, writer)).toMatch(
        /^Das müssen Adressen wie/,
      );
      expect(faultText({ message: '', code: 'url_not_https' }, writer)).toBe(german.url_not_https);
    });

    it('in sentences with a subject in English too', () => {
      const plain = { ...writer, texts: null };
      for (const [field, message, text] of [
        ['allowedOrigins', FAULTS.not_origin, `Allowed origins ${FAULTS.not_origin}`],
        ['credentials.botToken', FAULTS.not_bot_token, `Bot token ${FAULTS.not_bot_token}`],
        ['events.0', FAULTS.required, 'Events is required'],
        ['accountId', FAULTS.blank, 'Account ID must not be blank'],
        ['url', FAULTS.url_not_https, FAULTS.url_not_https],
        ['url', 'localhost does not exist', 'localhost does not exist'],
      ] as const)
        expect([faultText({ field, message }, plain), fieldText({ field, message }, plain)]).toEqual([
          text,
          text,
        ]);
      expect(faultText({ message: FAULTS.required }, plain)).toBe(FAULTS.required);
      for (const message of Object.values(FAULTS).filter((text) => !text.startsWith('{')))
        expect(faultText({ field: 'name', message }, plain)).toMatch(/^[A-Z]/);
    });

    it('in the words of the service where there is no text', () => {
      const unknown = { message: 'is odd', code: 'odd' as 'required' };
      expect(faultText(unknown, writer)).toBe('is odd');
      expect(faultText({ ...unknown, code: 'required' }, { ...writer, texts: null })).toBe('is odd');
      expect(reasonText({ reason: 'odd' as 'busy' }, writer)).toBeUndefined();
    });
  });
});
