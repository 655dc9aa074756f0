import { API_ERROR_STATUS } from '../common/app-error';
import { COMPONENT_NAME } from '../http/error-responses';
import { Components, Operation, Responses, Schema } from './document-types';

const values = { $ref: '#/components/schemas/ErrorValues' };

/** Schemas of the body that all error responses have, by name. */
export const errorSchemas: Record<string, Schema> = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'requestId'],
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string', description: 'For people. Its wording may change.' },
          reason: { type: 'string', description: 'Says more than the code. New reasons may appear.' },
          values,
          details: {
            type: 'array',
            description: 'What is wrong with which field.',
            items: { $ref: '#/components/schemas/ErrorDetail' },
          },
          requestId: { type: 'string', description: 'The same as in the X-Request-Id header.' },
        },
      },
    },
  },
  ErrorCode: { type: 'string', enum: Object.keys(API_ERROR_STATUS) },
  ErrorDetail: {
    type: 'object',
    required: ['field', 'message'],
    properties: {
      field: { type: 'string' },
      message: { type: 'string' },
      code: { type: 'string', description: 'Says what is wrong. New codes may appear.' },
      values,
    },
  },
  ErrorValues: {
    type: 'object',
    additionalProperties: true,
    description: 'Values that the message holds, such as a limit.',
  },
};

/** Moves error responses that operations share into components, and returns the components. */
export function shareErrors(operations: Operation[]): Responses {
  const shared: Responses = {};
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const { [COMPONENT_NAME]: name, ...documented } = response as Responses[string] & {
        [COMPONENT_NAME]?: string;
      };
      if (name === undefined) continue;
      shared[name] = documented;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  return shared;
}

/** Returns the components that a part of a document refers to, directly or through other components. */
export function pickComponents(part: unknown, components: Components): Components {
  const picked: Record<string, Record<string, unknown>> = {};
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref') visit(value);
      else pick(value as string);
    }
  };
  const pick = (reference: string): void => {
    const [kind, name] = reference.replace('#/components/', '').split('/') as [keyof Components, string];
    if (picked[kind]?.[name]) return;
    const component = (components[kind] as Record<string, unknown>)[name];
    (picked[kind] ??= {})[name] = component;
    visit(component);
  };
  visit(part);
  return picked;
}
