import { AuditEntryEntity } from './audit-entry.entity';
import { headOf, lineOf } from './audit-lines';

const ENTRY: AuditEntryEntity = {
  tenantId: 't',
  id: 'i',
  action: 'api_key.revoked',
  entity: 'api_key',
  entityId: 'k',
  actorType: 'operator',
  actorId: null,
  actorName: 'lin, "the first"',
  address: '203.0.113.7',
  userAgent: '=HYPERLINK("https://example.com")',
  requestId: 'a\nb',
  before: null,
  after: { active: false },
  metadata: {},
  createdAt: new Date('2026-11-22T10:00:00Z'),
};

describe('lines of an export', () => {
  it('are JSON', () => {
    expect(headOf('ndjson')).toEqual([]);
    const line = lineOf(ENTRY, 'ndjson');
    expect(line).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(line)).toEqual({ ...ENTRY, createdAt: '2026-11-22T10:00:00.000Z' });
  });

  it('are CSV that Excel reads as UTF-8, in which no text is a formula (public report 63)', () => {
    expect(headOf('csv').join('') + lineOf(ENTRY, 'csv')).toBe(
      '\uFEFFid,createdAt,action,entity,entityId,actorType,actorId,actorName,address,userAgent,requestId,before,after,metadata\r\n' +
        'i,2026-11-22T10:00:00.000Z,api_key.revoked,api_key,k,operator,,"lin, ""the first""",203.0.113.7,' +
        `"'=HYPERLINK(""https://example.com"")","a\nb",,"{""active"":false}",{}\r\n`,
    );
  });

  it.each(['+1', '-1', '@SUM(A1)', '\tx', ' =1+1', '＝1+1', '＠SUM(A1)'])('have %j as text', (userAgent) => {
    expect(lineOf({ ...ENTRY, userAgent }, 'csv')).toContain(`,'${userAgent},`);
  });

  it('have no formula after what may end a cell elsewhere (OWASP, CSV injection)', () => {
    const cell = (userAgent: string) => lineOf({ ...ENTRY, userAgent }, 'csv').split('203.0.113.7,')[1]!;
    expect(cell('a;=1+1')).toMatch(/^a;'=1\+1,/);
    expect(cell('a\t@SUM(A1)')).toMatch(/^a\t'@SUM\(A1\),/);
    expect(cell('a\r\n=1')).toMatch(/^"a\r\n'=1",/);
    expect(cell('bot/2.1; +https://example.com a=b')).toMatch(/^bot\/2.1; \+https:\/\/example.com a=b,/);
  });
});
