import popular from 'popular-passwords';
import { requireGoodPassword } from './password-policy';

const COMMON = [expect.objectContaining({ field: 'password', code: 'password_common' })];
const refusal = (password: string, email = 'ada@example.com') =>
  requireGoodPassword(password, email, 'password').then(
    () => null,
    ({ details }: { details: unknown }) => details,
  );

describe('a new password', () => {
  it('is none of 3,000 common ones of a permitted length', async () => {
    const permitted = popular.filter((password) => password.length >= 12);
    expect(permitted.length).toBeGreaterThan(3_000);
    for (const password of permitted) expect([password, await refusal(password)]).toEqual([password, COMMON]);
  });

  it.each([
    'UNBELIEVABLE',
    'Administrator1!',
    'ｕｎｂｅｌｉｅｖａｂｌｅ',
    'Willkommen 2026',
    'welcome-12345',
    'hunter2hunter2',
    '123456789012',
    '210987654321',
  ])('is not %j', async (password) => {
    expect(await refusal(password)).toEqual(COMMON);
  });

  it('is not the e-mail address', async () => {
    expect(await refusal('Ada@Example.com')).toEqual([
      expect.objectContaining({ field: 'password', code: 'password_is_email' }),
    ]);
  });

  it.each(['Zwölf grüne Gurken', 'unbelievable potatoes', '12 monkeys and welcome'])(
    'may be %j',
    async (password) => {
      expect(await refusal(password)).toBeNull();
    },
  );
});
