import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { validatorFault } from '../common/error-texts';
import { countCharacters, isStorableText } from '../common/validators';

export const MAX_ATTRIBUTES = 50;
export const MAX_ATTRIBUTE_NAME = 100;
export const MAX_ATTRIBUTE_TEXT = 500;
/** Limit of a contact's attributes in bytes of JSON: low, because each event of the contact contains all. */
export const MAX_ATTRIBUTES_BYTES = 16 * 1024;

export type AttributeValue = string | number | boolean;

/** OpenAPI schema of a contact's attributes in a request. */
export const ATTRIBUTES = {
  type: 'object' as const,
  maxProperties: MAX_ATTRIBUTES,
  additionalProperties: {
    oneOf: [{ type: 'string', maxLength: MAX_ATTRIBUTE_TEXT }, { type: 'number' }, { type: 'boolean' }],
  },
  description: `Other facts that the workspace keeps: up to ${MAX_ATTRIBUTES}, by names of at most ${MAX_ATTRIBUTE_NAME} characters, and 16 KiB of JSON in all.`,
  example: { city: 'Valencia' },
};

export function AreAttributes(): PropertyDecorator {
  return applyDecorators(
    ValidateBy(
      { name: 'areSmall', validator: { validate: areSmallAttributes } },
      validatorFault('attributes_too_large', { max: MAX_ATTRIBUTES_BYTES }),
    ),
    ValidateBy(
      { name: 'areAttributes', validator: { validate: areAttributes } },
      validatorFault('not_attributes', {
        max: MAX_ATTRIBUTES,
        name: MAX_ATTRIBUTE_NAME,
        text: MAX_ATTRIBUTE_TEXT,
      }),
    ),
  );
}

export function areSmallAttributes(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') <= MAX_ATTRIBUTES_BYTES;
}

function areAttributes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.length <= MAX_ATTRIBUTES && entries.every(([name, one]) => isName(name) && isAttribute(one));
}

function isName(name: string): boolean {
  return isStorableText(name) && name.trim() !== '' && countCharacters(name) <= MAX_ATTRIBUTE_NAME;
}

function isAttribute(value: unknown): value is AttributeValue {
  if (typeof value === 'string') return isStorableText(value) && countCharacters(value) <= MAX_ATTRIBUTE_TEXT;
  return typeof value === 'boolean' || Number.isFinite(value);
}
