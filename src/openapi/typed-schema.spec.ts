import { Type } from '@sinclair/typebox';
import { typedSchema } from './typed-schema';

const STATUS = Type.Union([Type.Literal('OPEN'), Type.Literal('CLOSED')]);

describe('a schema for typed clients', () => {
  it.each([
    ['a union of constants', STATUS, { type: 'string', enum: ['OPEN', 'CLOSED'] }],
    [
      'a union of constants, or null',
      Type.Union([STATUS, Type.Null()]),
      { type: ['string', 'null'], enum: ['OPEN', 'CLOSED', null] },
    ],
    [
      'a text or null',
      Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
      { type: ['string', 'null'], minLength: 1 },
    ],
    ['a constant text', Type.Literal('a'), { type: 'string', enum: ['a'] }],
    ['a constant truth value', Type.Literal(true), { type: 'boolean' }],
    [
      'an object of any keys',
      Type.Record(Type.String(), Type.Unknown()),
      { type: 'object', additionalProperties: true },
    ],
    [
      'a list',
      Type.Object({ one: Type.Array(STATUS) }),
      {
        type: 'object',
        required: ['one'],
        properties: { one: { type: 'array', items: { type: 'string', enum: ['OPEN', 'CLOSED'] } } },
      },
    ],
  ])('has %s', (_, schema, typed) =>
    expect(typedSchema(JSON.parse(JSON.stringify(schema)) as object)).toEqual(typed),
  );

  it('leaves a reference that may be null', () => {
    const union = { anyOf: [{ $ref: '#/components/schemas/Agent' }, { type: 'null' }] };
    expect(typedSchema(union)).toEqual(union);
  });
});
