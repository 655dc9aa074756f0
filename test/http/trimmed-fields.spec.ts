import 'reflect-metadata';
import { ClassConstructor } from 'class-transformer';
import { CreateApiKey } from '../../src/auth/api-key.dto';
import { WidgetCredentialsInput } from '../../src/channels/adapters/widget/widget-adapter';
import { IdentityClaims, LoggedInVisitor } from '../../src/channels/widget/widget.dto';
import { CreateContact, UpdateContact } from '../../src/contacts/contact.dto';
import { toProviderForm } from '../../src/contacts/identity-forms';
import { RequestPasswordReset } from '../../src/logins/passwords/password.dto';
import { normalizeEmail } from '../../src/logins/people/people.repository';
import { CreateAgent } from '../../src/workspaces/agent.dto';
import { AppError } from '../../src/common/app-error';
import { validate } from '../../src/common/validate';

const UNSEEN = ['\u200b', '\ufeff', '\u00a0', '\u202a', '\u2060', '\u{e0020}', ' \t\r\n'];
const EMAIL = 'zoe@example.com';

interface Field {
  name: string;
  dto: ClassConstructor<object>;
  others: object;
  value: string;
  isList?: boolean;
}

const FIELDS: Field[] = [
  { name: 'email', dto: CreateContact, others: {}, value: EMAIL },
  { name: 'email', dto: UpdateContact, others: {}, value: EMAIL },
  { name: 'email', dto: IdentityClaims, others: { sub: '1' }, value: EMAIL },
  { name: 'email', dto: LoggedInVisitor, others: { id: '1', signature: 'a'.repeat(64) }, value: EMAIL },
  { name: 'email', dto: CreateAgent, others: { name: 'Zoë', role: 'AGENT' }, value: EMAIL },
  { name: 'email', dto: RequestPasswordReset, others: {}, value: EMAIL },
  {
    name: 'allowedNetworks',
    dto: CreateApiKey,
    others: { name: 'CRM', scopes: ['contacts:read'] },
    value: '203.0.113.0/24',
    isList: true,
  },
  {
    name: 'allowedOrigins',
    dto: WidgetCredentialsInput,
    others: {},
    value: 'https://shop.example',
    isList: true,
  },
];

describe.each(FIELDS)('$name of $dto.name', ({ name, dto, others, value, isList }) => {
  const given = (text: string) => ({ ...others, [name]: isList ? [text] : text });

  it.each(UNSEEN)('loses %j at its ends (public report 26)', (unseen) => {
    for (const text of [`${unseen}${value}`, `${value}${unseen}`, `${unseen}${value}${unseen}`])
      expect(validate(dto, given(text))).toMatchObject(given(value));
  });

  it('keeps nothing unseen inside', () => {
    expect(() => validate(dto, given(value.replace('.', '\u200b.')))).toThrow(AppError);
  });
});

it.each(UNSEEN)('%j at the ends of an address that a person logs in with does not count', (unseen) => {
  expect(normalizeEmail(`${unseen}Zoe@example.com${unseen}`)).toBe(EMAIL);
});

it.each(UNSEEN)('%j at the ends of a customer’s id does not count', (unseen) => {
  expect(toProviderForm('WHATSAPP', `${unseen}+34 600 11 22 33${unseen}`)).toBe('34600112233');
  expect(toProviderForm('TELEGRAM', `${unseen}1042${unseen}`)).toBe('1042');
});
